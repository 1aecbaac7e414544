/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_PROFILE_STACKS_H
#define OPFS_PROFILE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "opfs/profile/build.h"
#include "opfs/profile/calltree.h"

/*
 * The stacks of a selection: the frames that lead to its samples, those of all its
 * sessions in one table, and how often each stack was sampled.
 */
struct profile_frame {   /* below its caller */
	uint32_t parent; /* less than its own index; 0: none is known */
	uint32_t image;  /* in the catalog; CATALOG_NO_IMAGE: no frame, see @off */
	uint64_t off;    /* as in struct spec_stack_node */
	uint32_t func;   /* index into funcs */
	bool inlined;    /* the same code as the frame before: inlined there */
};

/* A function that is in a stack. */
struct profile_func {
	uint32_t image; /* CATALOG_NO_IMAGE: why a stack ends early */
	const struct sym
		*sym; /* NULL: code without a symbol, or of an image without any */
	const struct sym_section *entry; /* of code without a symbol; NULL: in none */
	const char *name;                /* as in struct calltree_func */
	const char
		*in_rows; /* of code without a symbol: the name of its row; else NULL */
	enum frame_kind kind;
};

/* A sample file whose stacks these are. */
struct profile_stack_file {
	const struct catalog_file *file;
	uint32_t app; /* that its rows are shown in */
	uint32_t class;
	bool lib, kernel; /* which frames belong to the file's application */
	uint64_t stored;  /* samples whose stack is known */
	/* Samples that were counted, and whose stack is not: there was no room for it, or
	 * the disk lost it. */
	uint64_t full, lost;
};

/* How often the stack that ends at a frame was sampled. */
struct profile_stack {
	uint32_t file; /* index into files */
	uint32_t frame;
	uint64_t samples;
};

struct profile_stacks {
	struct profile_frame *frames; /* [0] is none */
	struct profile_func *funcs; /* by image; behind them those without one, then those
				     * that are inlined */
	struct profile_stack_file *files;   /* by application, then by class */
	const struct profile_stack *stacks; /* by file */
	size_t nr_frames, nr_funcs, nr_files, nr_stacks;
};

/* ---- while a profile is loaded */

/* Reads the stacks of the picked files: all of p->stacks but the functions.  Marks the
 * images of frames as used. */
int profile_read_stacks(struct profile_build *b);

/* The same of a slice, from those that are kept of @whole: fills b->first_stack too. */
int profile_slice_stacks(struct profile_build *b, const struct profile_stacks *whole,
			 const uint8_t *keep);
/* Passes what a file has of a slice to a visitor, as profile_read_nodes() does. */
int profile_slice_nodes(const struct profile_build *b, const struct catalog_file *file,
			profile_nodes_visit visit, void *ctx);

/* ---- afterwards */

/* The application that a frame in a stack of @f belongs to; as in a catalog. */
uint32_t profile_frame_app(const struct profile_stack_file *f,
			   const struct profile_frame *frame, const struct catalog *cat);
/* The offset of a frame as struct sym counts it: of a call, the call's. */
uint64_t profile_frame_off(const struct profile *p, const struct profile_frame *frame);

#endif
