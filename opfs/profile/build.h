/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_PROFILE_BUILD_H
#define OPFS_PROFILE_BUILD_H

#include "base/err.h"
#include "base/vec.h"
#include "opfs/profile/profile.h"

/* A profile as it is being loaded: what the modules of this room share. */

struct profile_pick { /* a selected file; sorted by image, then by application */
	const struct catalog_file *file;
	uint32_t app; /* where it is shown: see profile_app_of() */
	uint32_t class;
	uint64_t base; /* where its offsets begin in the image: see regions.h */
};

struct profile_arc_file { /* a selected file of arcs; in the catalog's order */
	const struct catalog_file *file;
	uint32_t caller,
		callee; /* images; those of the flat files where the names differ */
	uint64_t caller_base, callee_base; /* as in struct profile_pick */
	uint32_t class;
};

/* Where to look for binaries that have moved (tags root: and image-path:). */
struct profile_where {
	const char *root;                /* put before every path; NULL: not given */
	const struct sym_places *places; /* below @root; NULL: the usual ones */
	struct sym_found *found;         /* below image-path:; NULL: not given */
};

struct profile_inlined {  /* the functions that are inlined in an image */
	struct sym *syms; /* SYM_INLINED; begin at the first byte that was asked for */
	size_t nr;
};

struct profile_build {
	struct profile *p;
	const struct profile_query *q;
	struct profile_pick *picks;
	size_t nr_picks;
	struct profile_arc_file *arc_files; /* p->arc_files */
	struct profile_stacks *stacks;      /* p->stacks */
	const size_t *first_stack; /* of a slice: of each file of the catalog the first
				    * of its stacks, and the end; else NULL */
	uint32_t kernel_app; /* with merge_kernel: that of the kernel and its modules */
	const struct profile_inlined *inlined; /* of each image; NULL: not asked for */
	uint64_t hit_bytes;
	struct profile_where where;
	struct sym_cache *syms;
	const struct viewer *v;
	struct err *err;
	VEC(struct profile_row) rows;
	VEC(struct profile_arc) arcs; /* ends are indices into @rows */
	VEC(struct catalog_bad) bad;
};

/* The application that samples in @image are shown in; they are filed under @app. */
uint32_t profile_app_of(const struct profile_build *b, uint32_t app, uint32_t image);

/* One past the last pick of the same image (and application, if @same_app) as pick @i. */
size_t profile_picks_end(const struct profile_build *b, size_t i, bool same_app);

/**
 * profile_read_nodes - passes the nodes of a file to a visitor, block by block
 * A file that was damaged after the catalog was made counts as far as it can be read;
 * the reason is then in @why, which is empty otherwise.
 * Returns 0, -ENOMEM, or what the visitor returned.
 */
typedef int (*profile_nodes_visit)(void *ctx, const struct spec_sample_node *nodes,
				   size_t nr);
int profile_read_nodes(const struct catalog *cat, const struct catalog_file *file,
		       profile_nodes_visit visit, void *ctx, struct err *why);
/* The same of its stacks, which it must have: keys are numbers of frames. */
int profile_read_stack_nodes(const struct catalog *cat, const struct catalog_file *file,
			     profile_nodes_visit visit, void *ctx, struct err *why);
/* Lists a file as damaged if @why is not empty. */
int profile_note_bad(struct profile_build *b, const struct catalog_file *file,
		     const struct err *why);

/* Returns -ENOMEM with a message. */
int profile_no_memory(struct profile_build *b);
int profile_interrupted(struct profile_build *b);

#endif
