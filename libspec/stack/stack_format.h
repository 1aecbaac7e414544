/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_STACK_STACK_FORMAT_H
#define LIBSPEC_STACK_STACK_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * A session's stacks, in its directory "stacks": a table of frames, a table of images
 * (stack_images.h), and sample files of the same names as the session's, whose keys are
 * numbers of nodes: the sampled frame.  Told at length in doc/internals.md "Stacks".
 *
 * frames: a header, then nodes, little endian.  A node is a frame below its caller.
 */
#define SPEC_STACK_DIR "stacks"
#define SPEC_STACK_FRAMES "frames"
#define SPEC_STACK_TABLE SPEC_STACK_DIR "/" SPEC_STACK_FRAMES
#define SPEC_STACK_MAGIC "OPFSSTK\n"
#define SPEC_STACK_VERSION 1u

struct spec_stack_header {
	char magic[8];
	uint32_t version;
	uint32_t node_bytes; /* 16 */
	uint64_t nr;         /* the first node that is free */
	uint32_t separate;   /* SPEC_STACK_LIB, SPEC_STACK_KERNEL */
	uint32_t zero[9];
};

/* What samples of the session are filed under their application. */
#define SPEC_STACK_LIB 1u
#define SPEC_STACK_KERNEL 2u

struct spec_stack_node {
	uint32_t parent; /* the caller, less than the node's own number; 0: none */
	uint32_t image;  /* of the table of images; 0: no frame, @off says why */
	uint64_t off;    /* as a key of flat files; with SPEC_STACK_EXACT or without */
};

/* The address is one that was about to be executed: sampled, or interrupted.  Otherwise
 * it is where a call returns to, and the byte before it is the call's. */
#define SPEC_STACK_EXACT (1ull << 63)

/* The offset itself.  One that is an address of the kernel, since its table was not
 * known, has all upper bits set. */
static inline uint64_t spec_stack_off(uint64_t off)
{
	return (off & ~SPEC_STACK_EXACT) | (off & SPEC_STACK_EXACT >> 1) << 1;
}

/* Why image 0 stands there. */
enum spec_stack_end {
#define END(number, id, text) SPEC_STACK_##id = (number),
#include "libspec/stack/stack_end_list.h"
#undef END
	SPEC_STACK_ENDS /* the last number there is, and one */
};

/* Is it the header of a table that this version knows?  0 or -EBADMSG. */
int spec_stack_header_check(const struct spec_stack_header *h, struct err *err);

/* What a person is told: "depth limit"; NULL for a number that nobody knows. */
const char *spec_stack_end_text(uint64_t number);

#define SPEC_STACK_FIRST 1u /* node 1 of every table is (0, 0, SPEC_STACK_FULL) */
#define SPEC_STACK_MAX_IMAGES (1u << 20)
#define SPEC_STACK_MAX_END 63u /* the highest number that may be given to an end */

/*
 * Whether a node can be one that a writer finished.  It stores parent, off and image in
 * this order, so that what a power failure leaves of a node is none: without its image it
 * has an offset that is no end's number.
 */
static inline bool spec_stack_sound(const struct spec_stack_node *n, uint32_t number)
{
	return n->parent < number && n->image < SPEC_STACK_MAX_IMAGES &&
	       (n->image || (n->off && n->off <= SPEC_STACK_MAX_END));
}

/* Bytes of a file with @nr nodes, node 0 (all zero) included. */
static inline uint64_t spec_stack_len(uint64_t nr)
{
	return sizeof(struct spec_stack_header) + nr * sizeof(struct spec_stack_node);
}

_Static_assert(sizeof(struct spec_stack_header) == 64, "header is 64 bytes");
_Static_assert(sizeof(struct spec_stack_node) == 16, "node is 16 bytes");
_Static_assert(offsetof(struct spec_stack_header, nr) == 16, "no hidden padding");

#endif
