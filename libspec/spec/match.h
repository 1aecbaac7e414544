/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_SPEC_MATCH_H
#define LIBSPEC_SPEC_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "libspec/name/name.h"
#include "libspec/spec/field.h"
#include "libspec/spec/spec.h"

/*
 * Which sample files a specification selects, told in doc/opfs.5 "Matching".  Every tag
 * that is given takes files away, so their order does not matter.
 */

/* The kernel and all its modules as one item, where no image is called so. */
#define SPEC_MATCH_KERNEL "kernel"
/* Memory of which code made at run time is known by name, where no image is called so. */
#define SPEC_MATCH_JIT "[jit]"

/* What an image can be called; borrowed. */
struct spec_match_image {
	const char *shown; /* spec_image_show() */
	const char *base;  /* its last component; all of it for anonymous memory */
	const char *label; /* anonymous memory: "[heap]"; else NULL */
	const char
		*listed; /* what tells it from others of that basename: "ls~2"; or NULL */
	bool kernel;     /* the kernel or a module, however it is called */
};

/* What specifications are matched with: everything in a session. */
struct spec_match {
	const struct spec_match_image *images;
	size_t nr_images;
	/* Is an image called so, by one of its names?  If only one is, *only may become
	 * its index, so that the others need no look. */
	bool (*has_image)(void *ctx, const char *name, size_t *only);
	bool (*has_event)(void *ctx, const char *name);
	/*
	 * Appends @path without symbolic links, as far as it exists.  0; -ENOENT: there
	 * are none; another -errno ends the matching.  May be NULL.
	 */
	int (*resolve)(void *ctx, const char *path, struct strbuf *out);
	/* Marks what SPEC_MATCH_JIT means, of nr_images.  0 or -errno, as above. */
	int (*mark_jit)(void *ctx, bool *bits);
	void *ctx;
};

/**
 * spec_match_images - which images a value of an image tag means
 * An item without "/" means every image of that basename or label, an item with one a
 * whole path, where the leading "/" may be missing; SPEC_MATCH_KERNEL, [kernel] and
 * {kern} the kernel and its modules, SPEC_MATCH_JIT what m->mark_jit() says.
 * What is called exactly so comes before wildcards; an item that means nothing is tried
 * again with the symbolic links of its path resolved.
 * @prefix: not these images, but those of which the last item (as far as typed) is a
 *	directory on the way
 * @bits: nr_images answers
 * Returns 0, -ENOMEM, or what m->resolve() or m->mark_jit() gave.
 */
int spec_match_images(const struct spec_match *m, const struct spec_value *v, bool prefix,
		      bool *bits, struct err *err);

/* Does one item of a list of images mean one?  Errors as spec_match_images(). */
int spec_match_item(const struct spec_match *m, const struct spec_value *v, size_t item,
		    bool *found, struct err *err);

/* Does a list of event names hold this one?  Names of the cycles event find each other
 * where the name itself does not exist. */
bool spec_match_event(const struct spec_match *m, const struct spec_value *v,
		      const char *event);
/* Does a list of numbers hold this one?  SPEC_ALL (not separated): never. */
bool spec_match_number(const struct spec_value *v, int64_t number);
/* Does a value of comm: or cgroup: mean this text?  NULL: only all does.  An item for a
 * cgroup that has no "/" means any component of its path. */
bool spec_match_task(const struct spec_tag *tag, const struct spec_value *v,
		     const char *text);

/* A specification made ready to be asked about many files. */
struct spec_select {
	const struct spec *spec; /* borrowed */
	const struct spec_match *match;
	bool *bits[SPEC_NR_TAGS]; /* by image, for the tags of images; NULL: not given */
	const struct spec_field *fields[SPEC_NR_TAGS]; /* those that are given */
	size_t nr_fields;
};

/* One sample file. */
struct spec_match_file {
	const struct spec_name *name;
	uint32_t app, image;          /* indices into spec_match.images */
	const struct spec_task *task; /* NULL: not separated, or not known */
};

/**
 * spec_select_init - prepares
 * @prefix: NULL, or a tag of images whose value in @spec is not complete: files below
 *	that directory are then selected
 * All arguments are borrowed until spec_select_fini().  Errors of spec_match_images().
 */
int spec_select_init(struct spec_select *s, const struct spec *spec,
		     const struct spec_match *match, const struct spec_tag *prefix,
		     struct err *err);
/* Session and symbol tags are not asked: they are no matter of files. */
bool spec_select_file(const struct spec_select *s, const struct spec_match_file *f);
void spec_select_fini(struct spec_select *s);

#endif
