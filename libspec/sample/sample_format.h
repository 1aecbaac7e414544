/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_SAMPLE_SAMPLE_FORMAT_H
#define LIBSPEC_SAMPLE_SAMPLE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

/*
 * OProfile 1.x's sample file on disk, x86-64 layout, little endian: a header of 72
 * bytes, a descriptor of 32, then size nodes of 16 bytes (node 0 unused), then a hash
 * table of size u32 node numbers.  Told at length in doc/internals.md "Sample files".
 */
#define SPEC_SAMPLE_MAGIC "DAE\n"
#define SPEC_SAMPLE_VERSION 0x13u
#define SPEC_SAMPLE_MIN_NODES 128u
#define SPEC_SAMPLE_MAX_NODES (1u << 27) /* the next doubling would pass 4 GiB */

struct spec_sample_header {
	char magic[4];
	uint32_t version;
	uint32_t cpu_type; /* index into OProfile's op_cpu enumeration; 4 is the timer */
	uint32_t event;    /* event code of that CPU type */
	uint32_t unit_mask;
	uint32_t count;     /* events per sample */
	uint32_t is_kernel; /* of the {dep} image */
	uint32_t pad0;
	double cpu_mhz; /* <= 0: unknown */
	uint64_t mtime; /* of the {dep} image, seconds; 0: unknown */
	uint32_t cg_to_is_kernel;
	uint32_t pad1;
	uint64_t anon_start;
	uint64_t cg_to_anon_start;
};

struct spec_sample_descr {
	uint32_t size;         /* node slots, and hash slots */
	uint32_t current_size; /* next free node; 1 in an empty file */
	uint8_t pad[24];
};

struct spec_sample_node {
	uint64_t key;   /* flat: file offset of the pc; {cg}: from << 32 | to */
	uint32_t value; /* samples */
	uint32_t next;  /* hash chain; readers ignore it */
};

#define SPEC_SAMPLE_NODES_OFF 104u

_Static_assert(sizeof(struct spec_sample_header) == 72, "header is 72 bytes");
_Static_assert(sizeof(struct spec_sample_descr) == 32, "descriptor is 32 bytes");
_Static_assert(sizeof(struct spec_sample_node) == 16, "node is 16 bytes");
_Static_assert(offsetof(struct spec_sample_header, cpu_mhz) == 32, "no hidden padding");

#endif
