/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_CATALOG_H
#define OPFS_CATALOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "libspec/images.h"
#include "libspec/match.h"
#include "libspec/name.h"
#include "libspec/sample_format.h"
#include "libspec/sample_read.h"
#include "libspec/span.h"
#include "libspec/stats.h"
#include "libspec/tasks.h"
#include "opfs/archive_dir.h"
#include "opfs/viewer.h"

/*
 * What one generation of a session (or of several, summed) holds: every sample file's
 * name, header and total.  Immutable once loaded, shared by reference count; all
 * strings die with it.
 */
struct catalog_image {
	struct spec_image name;
	char *shown;                     /* spec_image_show(): what image: tags name */
	const char *base;                /* its basename; all of it for anonymous memory */
	const char *label;               /* anonymous memory: "[heap]"; else NULL */
	bool kernel;                     /* the kernel or a module, also one with a path */
	const struct spec_image_row *row; /* which binary it really was, or NULL */
};

#define CATALOG_NO_IMAGE UINT32_MAX

struct catalog_file {
	struct spec_name name;
	char *path;                /* relative to the session's directory */
	uint32_t dir;              /* index into catalog.dirs */
	uint32_t app, image;       /* indices into catalog.images */
	uint32_t callee;           /* CATALOG_NO_IMAGE: a flat file */
	uint64_t total;            /* sum of its values */
	off_t copy_off;            /* its nodes in catalog.copy_fd, if there is one */
	uint32_t nr_nodes;
	struct spec_sample_header header;
	const struct spec_task *task; /* whose samples; NULL: not separated, not known */
};

struct catalog_dir {
	char *session;
	int fd; /* -1: "current" that is not there yet */
	uint64_t dev, ino, mtime_ns;
	bool sealed;          /* it has a MANIFEST: it will not change */
	bool escaped;         /* names in it are: it is a session of ours */
	struct catalog *part; /* that all of this is borrowed from; NULL: it is our own */
	struct spec_images rows;
	struct spec_tasks tasks; /* empty unless samples are separated by thread */
	struct spec_stats stats;
	struct spec_live live;
	bool has_live; /* written by a collector of ours */
	struct spec_span when; /* from its start to the last drain; 0, 0: not known */
	char **notes;  /* stats/notes: lines for `status` */
	size_t nr_notes;
	char **throttled; /* events */
	size_t nr_throttled;
};

struct catalog_bad {   /* a file that could not be read: named in `status` */
	char *path, *reason;
};

struct catalog {
	int refs;            /* atomic; first: see join_images() in profile_compare.c */
	uint64_t generation; /* changes whenever anything below would be read differently */
	bool saved;          /* no session of it will change: may be cached for long */
	bool borrows;        /* all it points to is another's, but for @arena */
	bool live;           /* somebody may be counting in one at this moment */
	uint64_t drained_ns; /* CLOCK_REALTIME of the last drain: mtime of what is shown */
	struct arena arena;
	struct catalog_dir *dirs;
	struct catalog_image *images;
	struct catalog_file *files; /* flat ones first, then {cg} */
	struct catalog_bad *bad;
	struct spec_match_image *names; /* parallel to @images */
	struct map by_image; /* every shown name, base and label */
	struct map by_event;
	uint64_t total; /* of the flat files */
	struct archive_dir archive; /* files of the sampled machine, or none */
	int copy_fd;    /* nodes of the live sessions, as they were at the load; or -1 */
	size_t nr_dirs, nr_images, nr_files, nr_flat, nr_bad;
};

struct catalog_parts; /* opfs/catalog_parts.h */

/**
 * catalog_load - reads what a set of sessions holds
 * @session_dir_fd: the session directory; sessions are samples/NAME below it
 * @names: sessions to sum; one that is called "current" and absent is empty
 * @parts: what is remembered of sessions, for sums of several; NULL: nothing
 * A damaged file is put in @bad and left out; the others are there.
 * Returns 0, -ENOENT for another session that is absent, -EINTR if @v has gone.
 */
int catalog_load(int session_dir_fd, char *const *names, size_t nr,
		 struct catalog_parts *parts, const struct viewer *v,
		 struct catalog **out, struct err *err);

/* A catalog of one sample file, wherever it is.  The name is taken from its path, which
 * holds {root} or {kern}.  -EINVAL if it does not, -EBADMSG for a damaged file. */
int catalog_load_file(const char *path, struct catalog **out, struct err *err);

/**
 * catalog_samples - opens what this generation saw of a file
 * The copy for a live session, so that all that is made of a generation agrees; else
 * the file.  Errors of spec_sample_open().
 */
int catalog_samples(const struct catalog *c, const struct catalog_file *f,
		    struct spec_sample_reader *out, struct err *err);
/* Somebody may be counting in it: what the catalog has of it is a copy in copy_fd. */
bool catalog_is_live(const struct catalog_dir *d);
struct catalog *catalog_get(struct catalog *c);
void catalog_put(struct catalog *c);

/*
 * The store of catalogs: one a set of sessions, as fresh as design says: stats/live is
 * asked; sessions without one are looked at again when older than a second and give a
 * new generation only if something changed.  Thread safe; concurrent loads of one set
 * are done once.
 */
struct catalog_store;
int catalog_store_new(const char *session_dir, struct catalog_store **out, struct err *err);
void catalog_store_free(struct catalog_store *s);
int catalog_store_fd(const struct catalog_store *s); /* the session directory */
const char *catalog_store_path(const struct catalog_store *s);
/* True if catalog_store_get() would answer at once, without reading a session. */
bool catalog_store_ready(struct catalog_store *s, char *const *names, size_t nr);
int catalog_store_get(struct catalog_store *s, char *const *names, size_t nr,
		      const struct viewer *v, struct catalog **out, struct err *err);

#endif
