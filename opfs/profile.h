/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_PROFILE_H
#define OPFS_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "libsym/cache.h"
#include "libsym/symtab.h"
#include "opfs/catalog.h"
#include "opfs/viewer.h"

/*
 * The samples of a selection, counted by application, image and symbol, one column a
 * profile class.  Loaded once for a directory and shared by all its files; immutable
 * afterwards; lives by reference count.
 */
struct profile_class {
	const char *event;
	uint64_t count, unit_mask;
	const struct spec_sample_header *header; /* of its first file: cpu type, event code */
	uint64_t total;                          /* samples in the selection */
};

enum profile_row_kind {
	PROFILE_ROW_SYMBOL, /* samples inside one symbol */
	PROFILE_ROW_NONE,   /* "(no symbol)": image has symbols, these samples are outside */
	PROFILE_ROW_IMAGE,  /* the image shown as itself: no symbols, missing, changed ... */
};

struct profile_row {
	enum profile_row_kind kind;
	uint32_t app, image;   /* indices into catalog->images */
	const struct sym *sym; /* SYMBOL */
	const char *name;      /* demangled, or the image's shown name; never NULL */
	uint64_t vma;
	uint64_t *samples;     /* one a class */
};

struct profile_pair {  /* what one image collected inside one application */
	uint32_t app, image;
	uint64_t *samples; /* one a class */
};

struct profile_image { /* parallel to catalog->images; only those in the selection are set */
	bool used;
	struct sym_table *table; /* NULL: shown as itself */
	enum sym_state state;    /* with a table SYM_NO_SYMBOLS: it names PLT entries only */
	const char *reason;      /* for `status`; NULL if all is well */
};

#define PROFILE_PAIRS 0u   /* totals of applications and images: enough for summary */
#define PROFILE_SYMBOLS 1u /* rows by symbol too */

struct profile {
	int refs; /* atomic */
	unsigned loaded; /* PROFILE_SYMBOLS or not */
	struct catalog *cat;
	struct arena arena;
	struct profile_class *classes;
	struct profile_pair *pairs;
	struct profile_row *rows; /* by image, application; symbols in no order */
	struct profile_image *images;
	const uint32_t *selected; /* file indices of the catalog, the caller's selection copied */
	size_t nr_classes, nr_pairs, nr_rows, nr_selected;
	uint64_t bytes; /* what it costs without its symbol tables, for the cache */
	const char *session; /* shown name, for headers and status */
	struct catalog_bad *bad; /* files that could not be read after the catalog was */
	size_t nr_bad;
	struct sym_names *names; /* what demangled names point into; free() */
	struct profile *parent; /* NULL, or the one that profile_filter() chose from: a
				 * reference; @images and the rows' strings are its own */
	/* Everything else that is pointed to is in @arena. */
};

/* Columns a profile may have: more events than anybody counts at once. */
#define PROFILE_MAX_CLASSES 256

/**
 * profile_load - reads and counts a selection
 * @cat: a reference is taken
 * @selected: indices of @cat's files, flat ones; copied
 * @syms: outlives the profile; NULL: every image is shown as itself
 * @v: whose rights open the binaries; may be NULL (those of this process)
 * With PROFILE_PAIRS totals are the catalog's; with PROFILE_SYMBOLS all figures are what
 * the files hold when they are read, so that rows always add up to pairs and totals.
 * Returns 0, -EINTR if the viewer has gone, -ENOMEM, -E2BIG for too many events.  Never
 * fails for a damaged file or binary: those are in cat->bad, bad and images[].reason.
 */
int profile_load(struct catalog *cat, const uint32_t *selected, size_t nr, unsigned needs,
		 struct sym_cache *syms, const struct viewer *v, struct profile **out,
		 struct err *err);

/**
 * profile_filter - the part of a profile that some of its rows are (tag symbol:)
 * @full: loaded with PROFILE_SYMBOLS; referenced by the result
 * Totals, classes and pairs of the result count the rows kept only; classes keep their
 * places, also empty ones.  (profile_filter.c)
 * Returns 0 or -ENOMEM.
 */
int profile_filter(struct profile *full,
		   bool (*keep)(void *ctx, const struct profile_row *row), void *ctx,
		   struct profile **out, struct err *err);
struct profile *profile_get(struct profile *p);
void profile_put(struct profile *p); /* NULL is fine */

#endif
