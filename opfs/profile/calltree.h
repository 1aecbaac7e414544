/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_PROFILE_CALLTREE_H
#define OPFS_PROFILE_CALLTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/viewer.h"

/*
 * The stacks of a profile as one tree of functions: a node is a function below its
 * callers.  Immutable.
 */
enum frame_kind {
	FRAME_PROGRAM, /* code of the application's own binary */
	FRAME_LIBRARY, /* of another file */
	FRAME_MEMORY,  /* memory that no file backs */
	FRAME_JIT,     /* code made at run time that has names */
	FRAME_KERNEL,  /* the kernel or a module */
	FRAME_INLINED, /* inlined into the function before, whatever that is */
	FRAME_NONE,    /* no code: why the stack ends early, "[truncated: depth limit]" */
	FRAME_NR_KINDS
};

struct calltree_func {
	/* Demangled.  Of code without a symbol: the image's base name with the address of
	 * its entry, "cc1plus+0x6b2f40"; in none, "[cc1plus]".  Never NULL nor "". */
	const char *name;
	const char *image; /* its shown name; "" if it is FRAME_NONE */
	enum frame_kind kind;
};

struct calltree_node {
	uint32_t parent; /* less than the node's own number; of nodes 0 and below it: 0 */
	uint32_t func; /* index into funcs; of node 0, which stands for all: UINT32_MAX */
	uint32_t first, next; /* first child, next sibling; 0: none */
};

/* Children of one node are of different functions, in the order of strcmp() of names,
 * then of images. */
struct calltree {
	const struct calltree_node *nodes;
	size_t nr_nodes; /* at least 1 */
	const struct calltree_func *funcs;
	size_t nr_funcs, nr_classes;
	/* Samples, [node * nr_classes + class]: in the function itself, and in it and all
	 * below it.  total[class] of node 0 is the sum. */
	const uint64_t *self, *total;
	/* The same of the older side of a comparison; else NULL. */
	const uint64_t *was_self, *was_total;
	struct arena arena; /* of all this, but for strings of functions */
};

struct profile;

/* Whoever writes a table of stacks can make its trees as large as he likes. */
#define CALLTREE_MAX_NODES (4u << 20)
#define CALLTREE_MAX_SUMS (16u << 20) /* nodes times classes */

struct calltree_options {
	bool inverted;    /* a node is a function below what it called: the roots are the
			    * functions that were sampled */
	bool sum_classes; /* all of them are one */
	bool by_name;     /* functions of one name are one, whatever image they are in */
	const uint8_t *stacks; /* 1 of each that is in the tree; NULL: all are */
	/* What of them is left out, 0 if nothing is: as many functions as this of an
	 * @inverted tree, each of these frames of another one. */
	uint32_t skip;
	const uint8_t *skips;
	/* The older side of a comparison, with stacks: its nodes are in the tree, and
	 * was_self and was_total are what it had.  Functions are the same if their names
	 * and the base names of their images are.  NULL: none, as with @stacks. */
	const struct profile *was;
};

/**
 * calltree_build - the tree of the stacks of a profile
 * @p: with stacks, outlives @out; of a filtered one, those of the samples in its rows
 * Returns 0, -EINTR, -ENOMEM; -E2BIG: it has too many nodes.
 */
int calltree_build(const struct profile *p, const struct calltree_options *o,
		   const struct viewer *v, struct calltree *out, struct err *err);
void calltree_fini(struct calltree *t); /* accepts a zeroed one */

#endif
