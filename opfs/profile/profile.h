/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_PROFILE_PROFILE_H
#define OPFS_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/viewer.h"
#include "libspec/spec/class.h"
#include "libspec/spec/spec.h"
#include "libsym/server/cache.h"
#include "libsym/table/symtab.h"
#include "opfs/profile/held.h"
#include "opfs/session/catalog.h"

/*
 * The samples of a selection, counted by application, image and symbol, one column a
 * profile class.  Loaded once for a directory and shared by all its files; immutable
 * afterwards; lives by reference count.
 */
struct profile_class {
	const char *event;
	uint64_t count, unit_mask;
	int64_t tgid, tid, cpu; /* SPEC_ALL, but with split: */
	const struct spec_sample_header
		*header;    /* of its first file: cpu type, event code */
	uint64_t total;     /* samples in the selection */
	uint64_t was_total; /* in a comparison: of the older side */
};

enum profile_row_kind {
	PROFILE_ROW_SYMBOL, /* samples inside one symbol */
	PROFILE_ROW_NONE,   /* "(no symbol)": samples outside the image's symbols */
	PROFILE_ROW_IMAGE,  /* the image itself: no symbols, missing, changed ... */
};

struct profile_row { /* there may be millions: as long as a line of the CPU's cache */
	enum profile_row_kind kind : 8;
	bool gone;             /* only on the older side: @samples are of there */
	bool aside;            /* filtered out: here only as end of an arc of others */
	bool has_children;     /* see profile_children() */
	uint32_t app, image;   /* indices into catalog->images */
	uint32_t nr_hits;      /* of @hits */
	const char *name;      /* demangled, or the image's shown name; never NULL */
	uint64_t *samples;     /* one a class; all 0: a symbol that only arcs know */
	const struct sym *sym; /* SYMBOL */
	union {
		uint64_t vma;         /* SYMBOL: see profile_vma() */
		const char *in_trees; /* of others: see profile_in_trees() */
	};
	const uint64_t *was; /* in a comparison: the older side's; NULL: not there */
	/* With PROFILE_HITS, by offset; also for rows without @sym, but not for images
	 * that are shown as themselves: their offsets are keys.  Offsets are as in struct
	 * sym; behind them are their samples, see profile_hit_samples(). */
	const uint64_t *hits;
};

/* Where it begins; 0 if it is no symbol. */
static inline uint64_t profile_vma(const struct profile_row *row)
{
	return row->kind == PROFILE_ROW_SYMBOL ? row->vma : 0;
}

/* The name in call trees of a row that is no symbol; NULL: it may have several there. */
static inline const char *profile_in_trees(const struct profile_row *row)
{
	return row->kind == PROFILE_ROW_SYMBOL ? NULL : row->in_trees;
}

/* With PROFILE_ARCS, where there are stacks: samples in it and all that it called, of
 * each stack once; else NULL. */
static inline uint64_t *profile_children(const struct profile_row *row, size_t nr_classes)
{
	return row->has_children ? row->samples + nr_classes : NULL;
}

/* Those of row->hits[@hit], one a class. */
static inline const uint64_t *profile_hit_samples(const struct profile_row *row,
						  size_t hit, size_t nr_classes)
{
	return row->hits + row->nr_hits + hit * nr_classes;
}

/* With PROFILE_ARCS: sampled calls between two rows, in one application. */
struct profile_arc {
	uint32_t caller, callee; /* indices into rows */
	uint64_t *samples;       /* one a class */
};

/* With PROFILE_ARCS: the same as the files have it, see profile_each_arc(). */
struct profile_raw_arc {
	uint32_t app, caller, callee; /* images; @callee: the one called */
	uint64_t from,
		to; /* offsets in them as in struct sym; keys if there is no table */
	uint32_t class;
	uint64_t value;
};

struct profile_pair { /* what one image collected inside one application */
	uint32_t app, image;
	uint64_t *samples;   /* one a class */
	const uint64_t *was; /* as in struct profile_row */
	bool gone;
};

/* Of code made at run time, in an image that stands for several: see regions.h. */
struct profile_region {
	uint64_t base; /* where in the image it begins */
	const struct spec_image *name;
};

struct profile_image { /* parallel to catalog->images; set for those selected */
	bool used;
	bool jit;   /* code made at run time: @table is of names that the session kept */
	bool whole; /* in a comparison: its functions are known on one side only */
	struct sym_table *table; /* NULL: shown as itself */
	/* With a table SYM_NO_SYMBOLS: it has names of PLT entries only, and entries. */
	enum sym_state state;
	const char *reason;                   /* for `status`; NULL if all is well */
	const struct profile_region *regions; /* by base */
	size_t nr_regions;                    /* 0: it is none, or one, itself */
	bool has_job;
	const char *found;  /* a module's file, where image-path: has it; or NULL */
	struct sym_job job; /* loaded it, and loads its lines and code; without cred */
};

/* What has the bits of another one has all of it. */
#define PROFILE_PAIRS 0u           /* totals of applications and images */
#define PROFILE_IMAGES 1u          /* and memory that has names is called [jit] */
#define PROFILE_SYMBOLS 3u         /* rows by symbol too */
#define PROFILE_HITS 7u            /* and where in them the samples are */
#define PROFILE_STACKS 19u         /* rows by symbol, and the stacks */
#define PROFILE_ARCS 27u           /* and the arcs between rows */
#define PROFILE_INLINES 39u        /* hits; code is of the functions inlined there */
#define PROFILE_INLINES_LINES 103u /* and of these the source lines are known */

static inline bool profile_has_symbols(unsigned needs)
{
	return (needs & PROFILE_SYMBOLS) == PROFILE_SYMBOLS;
}

static inline bool profile_has_stacks(unsigned needs)
{
	return (needs & PROFILE_STACKS) == PROFILE_STACKS;
}

static inline bool profile_has_arcs(unsigned needs)
{
	return (needs & PROFILE_ARCS) == PROFILE_ARCS;
}

/* What rows are ordered by: the samples of all classes. */
static inline uint64_t profile_sum(const uint64_t *samples, size_t nr_classes)
{
	uint64_t sum = 0;

	for (size_t c = 0; c < nr_classes; c++)
		sum += samples[c];
	return sum;
}

/* Adds samples, one a class; NULL: there are none. */
static inline void profile_add_samples(uint64_t *to, const uint64_t *from, size_t nr)
{
	for (size_t i = 0; to && from && i < nr; i++)
		to[i] += from[i];
}

struct profile {
	int refs;                     /* atomic */
	unsigned loaded;              /* PROFILE_... */
	bool merge_lib, merge_kernel; /* as asked: whose kernel it is is not */
	enum spec_axis axis;          /* what the classes differ in */
	struct catalog *cat; /* with merge_kernel: one with one more image, [kernel] */
	struct arena arena;
	struct profile_class *classes;
	struct profile_pair *pairs;
	struct profile_row *rows; /* by image, application; symbols in no order */
	void *own_rows;           /* the same if they are not in @arena; free() */
	struct profile_arc *arcs; /* by caller, then callee */
	struct profile_image *images;
	const struct profile_stacks *stacks; /* NULL: none were recorded, or loaded */
	struct lines *inlines; /* with PROFILE_INLINES: what tells them; else NULL */
	const uint32_t
		*selected; /* file indices of the catalog: @nr_selected flat ones, then
			    * @nr_arc_files of arcs */
	const struct profile_arc_file *arc_files; /* private; the {cg} ones selected */
	size_t nr_classes, nr_pairs, nr_rows, nr_arcs, nr_selected, nr_arc_files;
	uint64_t bytes;      /* what it costs without its symbol tables, for the cache */
	const char *session; /* shown name, for headers and status */
	struct catalog_bad *bad; /* files that could not be read after the catalog was */
	size_t nr_bad;
	struct sym_names *names; /* what demangled names point into; free() */
	struct profile
		*base; /* NULL, or the older side of profile_compare(): a reference */
	struct profile *parent; /* NULL, or the one that profile_filter() chose from: a
				 * reference; @images and the rows' strings are its own */
	/* NULL, or the one that this is a slice of, see profile_slice(), or the same as,
	 * see profile_inline(): a reference; @images and the rows' strings are its own */
	struct profile *whole;
	/* Loading it anew may then show more: where a binary was missing or only exported
	 * names are known, another file may have been installed.  See base/until.h. */
	int64_t until;
	struct cache *made; /* see profile_made() */
			    /* Everything else that is pointed to is in @arena. */
};

/* Columns a profile may have: more events than anybody counts at once. */
#define PROFILE_MAX_CLASSES 256

/* What is to be loaded, and how. */
struct profile_query {
	struct catalog *cat;      /* a reference is taken */
	const uint32_t *selected; /* indices of its files, flat and {cg}; copied */
	size_t nr_selected;
	unsigned needs; /* PROFILE_... */
	struct spec_class_rules classes;
	bool merge_lib;    /* an image is its own application */
	bool merge_kernel; /* the kernel and its modules are one application, [kernel] */
	bool regions;      /* memory of each process is an image of its own */
	enum sym_demangle_style demangle;
	const struct spec_value *image_path,
		*root;                   /* where binaries are; NULL: not given */
	const struct profile_held *held; /* NULL: none */
	struct sym_cache
		*syms; /* outlives the profile; NULL: images are shown as themselves */
	const struct viewer
		*viewer; /* whose rights open binaries; NULL: this process's */
	const struct viewer
		*reader; /* who is told where memory was; NULL: may know all */
};

/**
 * profile_load - reads and counts a selection
 * With PROFILE_PAIRS totals are the catalog's; with PROFILE_SYMBOLS all figures are what
 * the files hold when they are read, so that rows always add up to pairs and totals.
 * Returns 0, -EINTR if the viewer has gone, -ENOMEM, -EINVAL for classes that differ in
 * more than one axis, -E2BIG for too many.  Never fails for a damaged file or binary:
 * those are in cat->bad, bad and images[].reason.
 */
int profile_load(const struct profile_query *q, struct profile **out, struct err *err);

/* Those of a row or pair: is there one in any class? */
static inline bool profile_any_sample(const uint64_t *samples, size_t nr_classes)
{
	for (size_t c = 0; c < nr_classes; c++)
		if (samples[c])
			return true;
	return false;
}

/* Behind the last of @rows, which are by image, that is of the same one as row @first. */
static inline size_t profile_image_end(const struct profile_row *rows, size_t nr,
				       size_t first)
{
	size_t end = first + 1;

	while (end < nr && rows[end].image == rows[first].image)
		end++;
	return end;
}

/**
 * profile_slice - the samples of some stacks
 * @whole: with PROFILE_STACKS; a reference is taken
 * @keep: of each of its stacks whether it is in the slice
 * @needs: what reports need of it: PROFILE_SYMBOLS, HITS, STACKS, ARCS
 * Its rows, hits, stacks and arcs are those of the samples with these stacks.  Samples
 * whose own frame is not known count as code without a symbol.
 * Returns 0, -EINTR, -ENOMEM, -E2BIG.
 */
int profile_slice(struct profile *whole, const uint8_t *keep, unsigned needs,
		  const struct viewer *v, struct profile **out, struct err *err);

/* The pair of an application and an image, or NULL; looks at one after another. */
struct profile_pair *profile_pair_of(struct profile *p, uint32_t app, uint32_t image);

/* The link-time address of row->hits[@hit]; the offset itself if it has none. */
uint64_t profile_hit_vma(const struct profile *p, const struct profile_row *row,
			 size_t hit);

/*
 * Where reports keep what they have made from a profile with PROFILE_HITS and need again
 * for their next file; a filtered profile uses its parent's.  It is freed with the
 * profile and takes at most twice as much memory.  NULL: none.
 */
struct cache *profile_made(const struct profile *p);

struct profile *profile_get(struct profile *p);
void profile_put(struct profile *p); /* NULL is fine */
static inline void profile_putp(struct profile **p)
{
	profile_put(*p);
}
/* Profiles in a cache. */
extern const struct cache_kind profile_kind;

#endif
