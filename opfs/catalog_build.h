/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_CATALOG_BUILD_H
#define OPFS_CATALOG_BUILD_H

#include "base/strbuf.h"
#include "base/vec.h"
#include "opfs/catalog.h"

/*
 * What the files catalog*.c share.
 *	catalog.c        sample files, what stands beside them, the whole
 *	catalog_image.c  images
 *	catalog_tasks.c  processes
 *	catalog_parts.c  sessions that were read before
 */

/* A catalog that is being made. */
struct catalog_build {
	struct catalog *c;
	const struct viewer *viewer;
	uint32_t dir;   /* that is being read */
	bool copying;   /* it is live: its samples are copied */
	off_t copy_end; /* length of the copy */
	struct map images; /* kind and shown name -> index */
	struct map binaries; /* path and build-id -> index */
	VEC(struct catalog_image) image_list;
	VEC(struct catalog_file) flat, cg;
	VEC(struct catalog_bad) bad;
	VEC(char *) lines; /* notes, throttled events */
	struct strbuf text;
	struct err *err;
};

int catalog_no_memory(struct catalog_build *b);
int catalog_add_bad(struct catalog_build *b, const char *path, const char *reason);

/* A sample file @path called @n, whose nodes are @copy_off in the copy of a live session. */
int catalog_add_file(struct catalog_build *b, const struct spec_name *n, const char *path,
		     const struct spec_sample_reader *r, uint64_t total, off_t copy_off);

/**
 * catalog_add_image - the index of an image of the session that is being read
 * One binary is one image, whatever sessions call it: what a session stored as PATH#ID
 * may be PATH in another.  Another binary under a name that is taken gets a name so made.
 */
int catalog_add_image(struct catalog_build *b, const struct spec_image *name,
		      uint32_t *out);

/* Who the processes were whose samples were kept apart, from the files @flat and @cg on. */
int catalog_read_tasks(struct catalog_build *b, struct catalog_dir *d, size_t flat,
		       size_t cg);

#endif
