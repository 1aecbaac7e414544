/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_STACK_STACK_READ_H
#define LIBSPEC_STACK_STACK_READ_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "libspec/stack/stack_format.h"

/*
 * A table of stacks in memory, as far as it makes sense: for every node i,
 * nodes[i].parent < i.  Nodes are never changed, so what a writer adds meanwhile is of no
 * interest to who read sample files before.
 */
struct spec_stacks {
	struct spec_stack_node *nodes; /* [0] is all zero: no frame; heap */
	uint32_t nr;                   /* node 0 included; 0: there is no table */
	uint32_t separate;             /* SPEC_STACK_LIB, SPEC_STACK_KERNEL */
	uint64_t damaged; /* nodes that the table says it has and that are not here */
};

/**
 * spec_stacks_open - opens the table of a session
 * @session_fd: the session's directory
 * Returns a descriptor, -ENOENT if there is none, or another -errno.
 */
int spec_stacks_open(int session_fd, struct err *err);

/* Reads and checks the header: @out->nr nodes are there.  Errors of
 * spec_stacks_read(). */
int spec_stacks_header(int fd, struct spec_stack_header *out, struct err *err);

/**
 * spec_stacks_read - reads and checks a table
 * @fd: from spec_stacks_open()
 * @max: how many nodes are read at most; what the table has beyond is damaged
 * The first node that makes no sense (spec_stack_sound()) and all behind it are left out:
 * whoever counts there shows SPEC_STACK_NODE_LOST.  Costs what the file takes on its
 * disk, whatever it claims.
 * Returns 0, -EBADMSG for a file that is no table, -ENOMEM, another -errno.
 */
int spec_stacks_read(int fd, uint32_t max, struct spec_stacks *out, struct err *err);
void spec_stacks_fini(struct spec_stacks *t); /* accepts a zeroed one */

#endif
