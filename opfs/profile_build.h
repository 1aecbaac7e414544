/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_PROFILE_BUILD_H
#define OPFS_PROFILE_BUILD_H

#include "base/err.h"
#include "base/vec.h"
#include "opfs/profile.h"

/* What profile_load() is made of; private to opfs/profile*.c. */

struct profile_pick { /* a selected file; sorted by image, then application */
	const struct catalog_file *file;
	uint32_t app; /* where it is shown: its own image with merge:lib */
	uint32_t class;
};

struct profile_arc_file { /* a selected file of arcs; in the order of the catalog */
	const struct catalog_file *file;
	uint32_t caller,
		callee; /* images; those that flat files have, where names differ */
	uint32_t class;
};

/* Places with samples that a profile may hold: 64 Mi, and 2 GiB of them. */
#define PROFILE_MAX_HITS (64u << 20)
#define PROFILE_MAX_HIT_BYTES (2ull << 30)
/* Arcs between different pairs of rows. */
#define PROFILE_MAX_ARCS (16u << 20)

/* Where binaries are that are not where they were (tags root: and image-path:). */
struct profile_where {
	const char *root;                /* put before every path; NULL: not given */
	const struct sym_places *places; /* below @root; NULL: the usual ones */
	struct sym_found *found;         /* below image-path:; NULL: not given */
};

struct profile_build {
	struct profile *p;
	const struct profile_query *q;
	struct profile_pick *picks;
	size_t nr_picks;
	struct profile_arc_file *arc_files; /* p->arc_files */
	uint64_t hit_bytes;
	struct profile_where where;
	struct sym_cache *syms;
	const struct viewer *v;
	struct err *err;
	VEC(struct profile_row) rows;
	VEC(struct profile_arc) arcs; /* ends are indices into @rows */
	VEC(struct catalog_bad) bad;
};

/* The row of an application, image and symbol as long as it is being built. */
struct profile_place {
	uint32_t app, image;
	const struct sym *sym; /* NULL: outside every symbol, or there are none */
};

/* True if only entries of the PLT have names: what is outside them is the image itself. */
static inline bool profile_stripped(const struct sym_table *t)
{
	return t->state == SYM_NO_SYMBOLS;
}

/* One past the last pick with the image (and application, if @same_app) of pick @i. */
size_t profile_picks_end(const struct profile_build *b, size_t i, bool same_app);

/**
 * profile_load_images - fills p->images: every binary is opened once, several at a time
 * Returns 0, -EINTR or -ENOMEM; an image without symbols has a state and a reason.
 */
int profile_load_images(struct profile_build *b);

/**
 * profile_find_binaries - fills b->where (profile_find.c)
 * @names: what images are called, as profile_found() will be asked for
 * Returns 0, -EINVAL for a value that names no directory, -EINTR, -ENOMEM.
 */
int profile_find_binaries(struct profile_build *b, const char *const *names, size_t nr,
			  const struct sym_cred *cred);
void profile_where_fini(struct profile_where *w);
/* @path below root:, in the arena.  NULL if out of memory. */
const char *profile_below_root(struct profile_build *b, const char *path);

/**
 * profile_found - the file that image-path: has for a name
 * @name: a basename, with @module also a module's name
 * @why: if there is not exactly one, a remark about that, in the arena
 */
const char *profile_found(struct profile_build *b, const char *name, bool module,
			  const char **why);

/* Fills b->rows from the sample files; rows of symbols have their raw name. */
int profile_count(struct profile_build *b);
/* Adds a row without samples.  NULL if out of memory. */
struct profile_row *profile_add_row(struct profile_build *b,
				    const struct profile_place *at);

/**
 * profile_read_nodes - gives the nodes of a file to a visitor, block by block
 * A file that went bad since the catalog was made counts as far as it can be read; why
 * is then in @why, which is else empty.
 * Returns 0, -ENOMEM, or what the visitor gave.
 */
int profile_read_nodes(const struct catalog *cat, const struct catalog_file *file,
		       int (*visit)(void *ctx, const struct spec_sample_node *nodes,
				    size_t nr),
		       void *ctx, struct err *why);
/* Notes a file as bad if @why says so. */
int profile_note_bad(struct profile_build *b, const struct catalog_file *file,
		     const struct err *why);

/* profile_hits.c: samples by offset of one image in one application. */
struct profile_spot {
	uint64_t off;
	uint32_t value, class;
};
struct profile_spots {
	VEC(struct profile_spot) list;
	struct profile_spot *spare; /* as long as @list, for sorting */
	size_t nr_spare;
};
void profile_spots_fini(struct profile_spots *s);
/* Sorts @s by offset; those of one offset and class stay several.  0 or -ENOMEM. */
int profile_spots_sort(struct profile_spots *s);

/**
 * profile_spots_share - hands sorted spots out to rows
 * @slots: of every distinct offset, in order, the slot it is counted in
 * @row_of_slot: of each of those slots the index of its row in b->rows
 * Returns 0, -ENOMEM, -E2BIG.
 */
int profile_spots_share(struct profile_build *b, const struct profile_spots *s,
			const uint32_t *slots, size_t nr_offs,
			const uint32_t *row_of_slot);

/* Reads the arcs: fills b->arcs, adds rows that only they know.  (profile_arcs.c) */
int profile_read_arcs(struct profile_build *b);
/* What the first name of anonymous memory is among flat files.  (profile_arcs.c) */
void profile_join_anonymous(struct profile_build *b);

/* Gives the rows of symbols their demangled names. */
int profile_name_rows(struct profile_build *b);

/* -ENOMEM with a message. */
int profile_no_memory(struct profile_build *b);
int profile_interrupted(struct profile_build *b);

#endif
