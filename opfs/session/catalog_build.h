/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_SESSION_CATALOG_BUILD_H
#define OPFS_SESSION_CATALOG_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "base/viewer.h"
#include "libspec/sample/abi.h"
#include "libspec/sample/sample_read.h"
#include "opfs/session/catalog.h"
#include "opfs/session/catalog_load.h"

/* A catalog that is being made: what catalog_load() gathers. */
struct catalog_build {
	struct catalog *c;
	const struct catalog_source *from;
	const struct viewer *viewer;
	const struct spec_abi *abi; /* as in struct catalog_dir */
	uint32_t dir;               /* index of the session that is being read */
	bool copying;               /* it is live: its samples are copied */
	off_t copy_end;             /* length of the copy */
	off_t copied;               /* bytes of it that are no holes */
	struct map images;          /* kind and shown name -> index */
	struct map binaries;        /* path and build-id -> index */
	VEC(struct catalog_image) image_list;
	VEC(struct catalog_file) flat, cg;
	VEC(struct catalog_bad) bad;
	VEC(char *) lines; /* notes, throttled events */
	struct strbuf text;
	struct err *err;
	/* Of the session that is being read, if that is bounded; else @max_ns is 0. */
	uint64_t begun_ns, begun_cpu_ns; /* CLOCK_MONOTONIC, clock_thread_ns() */
	uint64_t max_ns;
	size_t max_arena; /* bytes */
	off_t max_copied; /* bytes */
};

/* All below return 0 or -errno, with b->err set. */

/* With room for @nr_dirs sessions. */
int catalog_build_begin(struct catalog_build *b, size_t nr_dirs);
/* Moves what was gathered into the catalog: flat files first. */
int catalog_build_finish(struct catalog_build *b);
void catalog_build_fini(struct catalog_build *b);
/* -ENOMEM */
int catalog_build_no_memory(struct catalog_build *b);

/* @path: as in struct catalog_bad */
int catalog_build_push_bad(struct catalog_build *b, const char *path, const char *reason);
/* @path: in the session that is being read */
int catalog_build_bad(struct catalog_build *b, const char *path, const char *reason);

/**
 * catalog_build_image - the index of an image of the session that is being read
 * A binary is one image whatever sessions call it: one that a session stored as PATH#ID
 * may be PATH in another.  A second binary of the same name gets a name of this form.
 */
int catalog_build_image(struct catalog_build *b, const struct spec_image *name,
			uint32_t *out);

/**
 * catalog_build_file - adds a sample file of the session that is being read
 * @n, @path: its name, and its path in the session; copied
 * @r: its header and the number of its nodes
 * @total: the sum of these
 * @copy_off: where they are in the copy
 */
int catalog_build_file(struct catalog_build *b, const struct spec_name *n,
		       const char *path, const struct spec_sample_reader *r,
		       uint64_t total, off_t copy_off);

/* Keeps a copy of a line for catalog_build_lines().  @ctx: the build */
int catalog_build_line(void *ctx, const char *line);
/* Moves the lines to an array of the catalog. */
int catalog_build_lines(struct catalog_build *b, char ***out, size_t *nr);

#endif
