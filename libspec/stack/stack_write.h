/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_STACK_STACK_WRITE_H
#define LIBSPEC_STACK_STACK_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "libspec/name/name.h"
#include "libspec/stack/stack_format.h"

/*
 * Adds frames to a session's table of stacks, in its mapping.  A writer killed after any
 * store leaves a table that every reader accepts and that can be appended to.  One writer
 * at a time, as for sample files; it belongs to one thread.
 *
 * The numbers of a session's nodes are keys of the sample files beside the table, so the
 * node must be there before the count: spec_stack_sync() before spec_sample_sync().
 */
struct spec_stack_writer;

/**
 * spec_stack_writer_open - opens the table of a session, or makes it
 * @session_fd: the session's directory; "stacks" in it is made
 * @separate: SPEC_STACK_LIB, SPEC_STACK_KERNEL: what the header says from now on
 * @max_bytes: of nodes
 * Nodes that a power failure left undone become (0, 0, SPEC_STACK_NODE_LOST).  In a table
 * that was not closed, no number below the length of its file is given again, for it may
 * have been counted.
 * Returns 0; -EBADMSG for a file that is no table, which is not touched; -ENOSPC or
 * another -errno.
 */
int spec_stack_writer_open(int session_fd, uint32_t separate, size_t max_bytes,
			   struct spec_stack_writer **out, struct err *err);

/* The directory "stacks": its sample files are relative to it.  Borrowed. */
int spec_stack_dir(const struct spec_stack_writer *w);

/**
 * spec_stack_image - the number of an image
 * @kernel: the kernel or a module
 * One that has none yet gets a row in the table of images, written before this returns.
 * Returns 0, -E2BIG beyond SPEC_STACK_MAX_IMAGES, or another -errno.
 */
int spec_stack_image(struct spec_stack_writer *w, const struct spec_image *image,
		     bool kernel, uint32_t *number, struct err *err);

/**
 * spec_stack_add - the node of a frame below its caller
 * @parent: the caller's node; 0: none is known
 * @image: 0 or what spec_stack_image() said; @off: see struct spec_stack_node
 * The same frame below the same caller is the same node.
 * Returns its number; 0 if there is no room for it: @max_bytes are taken, or the disk is
 * full (spec_stack_why() tells; after some hundred further frames it is tried again), or
 * the mapping failed (spec_stack_failed()).
 */
uint32_t spec_stack_add(struct spec_stack_writer *w, uint32_t parent, uint32_t image,
			uint64_t off);

/**
 * spec_stack_fetch - says which frames will be added, so that adding them need not wait
 * @parent: the node below which the first of them is
 * @called: each called by the one before; their parents are not looked at
 * Where the table is larger than the caches, a frame waits for memory otherwise, and the
 * next one waits for it.
 */
void spec_stack_fetch(const struct spec_stack_writer *w, uint32_t parent,
		      const struct spec_stack_node *called, size_t nr);

/* Why the last spec_stack_add() that returned 0 did: -EFBIG: @max_bytes are taken;
 * -ENOSPC ...; -EINVAL: no frame; with a message. */
int spec_stack_why(const struct spec_stack_writer *w, struct err *err);
/* Whether the mapping failed: nothing can be added any more, and what was may be lost. */
bool spec_stack_failed(const struct spec_stack_writer *w);

/* Waits until all nodes, and the names of their images, are on the disk.  0 or -errno. */
int spec_stack_sync(struct spec_stack_writer *w, struct err *err);

/* Nodes, node 0 included; and bytes of the file, all reserved on the disk. */
uint32_t spec_stack_nr(const struct spec_stack_writer *w);
size_t spec_stack_bytes(const struct spec_stack_writer *w);

/* Closes, and cuts the file behind its last node; NULL is fine. */
void spec_stack_writer_free(struct spec_stack_writer *w);

#endif
