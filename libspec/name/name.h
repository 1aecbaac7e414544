/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_NAME_NAME_H
#define LIBSPEC_NAME_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"

/* What a sample file's path says.  Grammar: doc/internals.md "Names of sample files". */

enum spec_image_kind {
	SPEC_IMAGE_NONE, /* no {cg} part: a flat file */
	SPEC_IMAGE_ROOT, /* a file, by absolute path */
	SPEC_IMAGE_KERN, /* kernel or module without a path */
	SPEC_IMAGE_ANON, /* anonymous memory of one process */
};

struct spec_image {
	enum spec_image_kind kind;
	char *name; /* ROOT: "/bin/ls"; KERN: "ext4"; ANON: the label, "anon", "[vdso]" */
	uint32_t tgid;       /* ANON */
	uint64_t start, end; /* ANON: first and last address */
};

#define SPEC_ALL (-1)

struct spec_name {
	struct spec_image app;    /* the application */
	struct spec_image image;  /* after {dep}: where the pc was; {cg}: the caller */
	struct spec_image callee; /* after {cg} */
	char *event;
	uint64_t count; /* events per sample */
	uint64_t unit_mask;
	int64_t tgid, tid, cpu; /* SPEC_ALL: not separated */
};

/* Accepts a zeroed image. */
void spec_image_fini(struct spec_image *img);
/* @to is overwritten, not freed; owned by the caller.  0 or -ENOMEM. */
int spec_image_copy(struct spec_image *to, const struct spec_image *from,
		    struct err *err);
/* Same kind, name and, for anonymous memory, tgid and range. */
bool spec_image_equal(const struct spec_image *a, const struct spec_image *b);

/**
 * spec_image_show - the image as reports and image: tags call it
 * ROOT: the path; KERN: "/" NAME; ANON: "LABEL (tgid:N range:0xLO-0xHI)".
 */
void spec_image_show(const struct spec_image *img, struct strbuf *out);

/**
 * spec_image_format - appends an image as names of sample files of ours have it
 * "{root}/bin/ls", "{kern}/ext4", "{anon:[heap]}/12.0x1000.0x1fff".
 * Errors are those of spec_name_format(); what it wrote can be parsed.
 */
int spec_image_format(const struct spec_image *img, struct strbuf *out, struct err *err);
/* The inverse.  @out: owned by the caller.  0, -EINVAL, -ENOMEM. */
int spec_image_parse(const char *text, struct spec_image *out, struct err *err);

/**
 * spec_name_parse - takes a path apart
 * @path: relative to the session's directory, "{root}/bin/ls/{dep}/..."; what stands
 *	before the first {root} or {kern} is passed over, repeated slashes are one
 * @escaped: the session has a table "images", so %7B and %25 stand for { and % where
 *	sample files of ours write them; without it every name is verbatim
 * @out: owned by the caller, spec_name_fini()
 * A callee written as {cg}/{root}/no-vmlinux, as operf does for a user caller, is taken
 * for {kern}/no-vmlinux.
 * Returns 0, -EINVAL with the reason for a path that is not a sample file's, -ENOMEM;
 * @out is untouched then.
 */
int spec_name_parse(const char *path, bool escaped, struct spec_name *out,
		    struct err *err);

/**
 * spec_name_format - the inverse: appends the path, escaped as this project writes it
 * Returns 0, -ENAMETOOLONG if a component passes 255 bytes or the whole PATH_MAX, -EINVAL
 * for a name without a place in the grammar (a relative path, "..", no event), -ENOMEM;
 * @out is as before then.
 */
int spec_name_format(const struct spec_name *n, struct strbuf *out, struct err *err);
void spec_name_fini(struct spec_name *n);

/**
 * spec_event_escape - an event's name as file names hold it
 * Every byte but [A-Za-z0-9_-] as %XX, since "." separates the fields.
 */
void spec_event_escape(const char *event, struct strbuf *out);
/* The inverse; %00 and a % without two digits stay as they are. */
void spec_event_unescape(const char *s, size_t len, struct strbuf *out);

#endif
