/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_NAME_GLOB_H
#define LIBSPEC_NAME_GLOB_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/strbuf.h"

/*
 * Words of a specification: wildcards, comma lists, escapes.  Told in doc/opfs.5
 * "Values".
 */

/**
 * spec_glob - does a pattern match a whole name?
 * As fnmatch(3) without flags in the C locale: * ? and [ ] match "/" and leading dots
 * too; \ takes the next byte as it is.  Time is bounded by the product of the lengths.
 */
bool spec_glob(const char *pattern, const char *name);
/* The same for the first @len bytes of @name. */
bool spec_glob_n(const char *pattern, const char *name, size_t len);

/* One item of a comma list. */
struct spec_item {
	char *text;    /* the name it spells, where it is no glob */
	char *pattern; /* the same for spec_glob() */
	bool glob;     /* has a wildcard that is not escaped */
	bool all;      /* is the word all, not escaped */
};

struct spec_items {
	struct spec_item *items;
	size_t nr;
	bool open; /* ends in a comma: more may follow */
};

/**
 * spec_items_parse - takes a list apart
 * @raw: as typed: "," separates, "\," is a comma, other "\" stay, %XX is a literal byte
 *	that never separates nor matches anything but itself; empty items stay, but the
 *	last one
 * @out: the caller's, spec_items_fini()
 * Returns 0, -EINVAL for %00, -E2BIG for more than 1024 items, -ENOMEM.
 */
int spec_items_parse(const char *raw, struct spec_items *out, struct err *err);
void spec_items_fini(struct spec_items *l);

/* Appends the name that all of @raw spells where it is no list: only %XX is decoded. */
void spec_decode(const char *raw, struct strbuf *out);

/* A listed name is at most this many bytes. */
enum { SPEC_LISTED_MAX = 200 };

/**
 * spec_listed - appends a name as directories list it
 * Escapes / , * ? [ \ %, control bytes, a leading "-", invalid UTF-8, and the names all,
 * "." and "..".  What is then longer than SPEC_LISTED_MAX is cut and ends in "~" and
 * spec_hash8() of the name, and so is everything if @ambiguous.
 * @id: what tells names apart that read the same (@ambiguous), else the name itself
 */
void spec_listed(const char *name, bool ambiguous, const char *id, struct strbuf *out);
/* The same, whole: a value that means exactly @name. */
void spec_escape(const char *name, struct strbuf *out);
/* Could @raw be a name that spec_listed() cut: does it end in "~" and 8 digits? */
bool spec_listed_cut(const char *raw);
/* 8 hexadecimal digits and a NUL that stay the same in every process (FNV-1a). */
void spec_hash8(const char *s, char out[9]);

#endif
