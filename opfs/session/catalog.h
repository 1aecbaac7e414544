/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_SESSION_CATALOG_H
#define OPFS_SESSION_CATALOG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "base/viewer.h"
#include "libspec/name/name.h"
#include "libspec/sample/abi.h"
#include "libspec/sample/sample_format.h"
#include "libspec/sample/sample_read.h"
#include "libspec/session/images.h"
#include "libspec/session/regions.h"
#include "libspec/session/stats.h"
#include "libspec/session/tasks.h"
#include "libspec/spec/match.h"
#include "libspec/spec/span.h"
#include "libspec/stack/stack_images.h"
#include "opfs/session/archive_dir.h"
#include "opfs/session/catalog_index.h"

/*
 * What one generation of a session (or of several, summed) holds: every sample file's
 * name, header and total.  Immutable once loaded, shared by reference count; all
 * strings are freed with it.
 */
struct catalog_image {
	struct spec_image name;
	char *shown;       /* spec_image_show(): what image: tags name */
	const char *base;  /* its basename; all of it for anonymous memory */
	const char *label; /* anonymous memory: "[heap]"; else NULL */
	/* what directories list: its label or basename; each of several files of one
	 * basename "NAME~NUMBER", in the order in which they were first sampled, or, of
	 * several sessions, of their paths */
	const char *listed;
	bool kernel; /* the kernel or a module, also one with a path */
	const struct spec_image_row
		*row; /* its row in the session's table of images, or NULL */
};

#define CATALOG_NO_IMAGE UINT32_MAX

/* The sample file of the same name in the session's "stacks": its keys are numbers of
 * nodes of the table of frames. */
struct catalog_stacks {
	uint64_t total;
	off_t copy_off;    /* as of the file itself */
	uint32_t nr_nodes; /* 0: there is none */
};

struct catalog_file {
	struct spec_name name;
	char *path;          /* relative to the session's directory */
	uint32_t dir;        /* index into catalog.dirs */
	uint32_t app, image; /* indices into catalog.images */
	uint32_t callee;     /* CATALOG_NO_IMAGE: a flat file */
	uint64_t total;      /* sum of its values */
	off_t copy_off;      /* its nodes in catalog.copy_fd, if there is one */
	uint32_t nr_nodes;
	struct catalog_stacks stacks; /* of a flat file */
	struct spec_sample_header header;
	const struct spec_task *task; /* NULL: not separated, or unknown; see
				       * catalog_task() */
};

struct catalog_dir {
	char *session;
	int fd; /* -1: "current" is not there yet */
	uint64_t dev, ino, mtime_ns;
	bool sealed; /* it has a MANIFEST: it will not change */
	uid_t owner;
	bool given_up; /* too large to be read; of a sum */
	bool escaped;  /* names in it are escaped: it is a session of ours */
	const struct spec_abi
		*abi;         /* of another kind of machine; NULL: of this, or none */
	const char *machine;  /* static: that other kind; NULL: this one */
	struct catalog *part; /* all of this is borrowed from it; NULL: owned */
	int frames_fd;        /* the table of its stacks; -1: it has none */
	uint32_t max_frames;  /* that are read of it, also if it grows */
	struct spec_stack_images stack_images;
	/* of each number in these the index into catalog.images, or CATALOG_NO_IMAGE; not
	 * borrowed */
	const uint32_t *image_of_stack;
	struct spec_images rows;
	struct spec_regions regions;
	struct spec_tasks tasks; /* empty unless samples are separated by thread */
	struct spec_stats stats;
	struct spec_live live;
	bool has_live;         /* written by a collector of ours */
	struct spec_span when; /* from its start to the last drain; 0, 0: unknown */
	char **notes;          /* stats/notes: lines for `status` */
	size_t nr_notes;
	char **throttled; /* events */
	size_t nr_throttled;
};

/* A file that could not be read; `status` lists it.  SPEC_ABI is that of the session
 * directory, other paths begin with a session. */
struct catalog_bad {
	char *path, *reason;
};

struct catalog {
	int refs;            /* atomic; first: see catalog_borrow() */
	uint64_t generation; /* another one whenever anything below changes */
	bool saved;          /* no session of it will change */
	bool live;           /* a collector may be writing to one */
	uint64_t drained_ns; /* CLOCK_REALTIME of the last drain: mtime of its files */
	struct arena arena;
	struct catalog_dir *dirs; /* sorted by session, with strcmp() */
	struct catalog *from;     /* what is borrowed from, a reference; or NULL */
	struct catalog_image *images;
	struct catalog_file *files; /* flat ones first, then {cg} */
	struct catalog_bad *bad;
	struct spec_match_image *names; /* parallel to @images */
	/* every shown name, base, label and listed name -> its image, or
	 * CATALOG_NO_IMAGE: several are called so */
	struct map by_image;
	struct map by_event;
	struct catalog_index index[CATALOG_NR_INDICES];
	uint64_t total;             /* of the flat files */
	struct archive_dir archive; /* files of the sampled machine, or none */
	const char *session_dir;    /* absolute; NULL: none, it is of a file alone */
	const char *symbols; /* absolute: where names were kept, if any; NULL: nowhere */
	int copy_fd;         /* nodes of the live sessions when it was loaded; or -1 */
	bool known;          /* see catalog_known.h */
	uint64_t hash;       /* see catalog_hash() */
	uint64_t charged;    /* bytes, see catalog_charge() */
	uid_t charged_to;
	size_t nr_dirs, nr_images, nr_files, nr_flat, nr_bad;
	size_t nr_stacks; /* flat files that have stacks */
};

/**
 * catalog_samples - opens the samples of a file as this generation saw them
 * The copy for a live session, so that all reports of a generation agree; else the file.
 * Errors of spec_sample_open().
 */
int catalog_samples(const struct catalog *c, const struct catalog_file *f,
		    struct spec_sample_reader *out, struct err *err);
/* The same of its stacks, which it must have. */
int catalog_stack_samples(const struct catalog *c, const struct catalog_file *f,
			  struct spec_sample_reader *out, struct err *err);
/* May a collector be writing to it?  Then the catalog has a copy of it in copy_fd. */
bool catalog_is_live(const struct catalog_dir *d);
/**
 * catalog_borrow - the same, but for its images
 * It owns its arena and there has room for @max images, of which it has none yet and
 * which it does not know by name; all else belongs to @from, which it keeps a reference
 * to.  NULL: no memory.
 */
struct catalog *catalog_borrow(struct catalog *from, size_t max);
/* Is it of that session, alone or in a sum? */
bool catalog_is_of(const struct catalog *c, const char *session);
/* Whose samples a file has, if @reader (NULL: this process) may be told; else NULL. */
const struct spec_task *catalog_task(const struct catalog *c,
				     const struct catalog_file *f,
				     const struct viewer *reader);
/* May the same people be told of its tasks and regions as when it was read? */
bool catalog_same_readers(const struct catalog_dir *d);
/* Frees what was read of a session that is not borrowed. */
void catalog_dir_fini(struct catalog_dir *d);
/**
 * catalog_charge - counts what it takes, without what it borrows, until it is freed
 * @uid: of a sum, who had it read; of one session, its owner
 * All that one user may have read is bounded, see base/share.h: what was looked up is
 * kept as long as the kernel remembers it.
 * Returns 0, -ENFILE: more than others leave for @uid, -ENOMEM.
 */
int catalog_charge(struct catalog *c, uid_t uid, struct err *err);
struct catalog *catalog_get(struct catalog *c);
void catalog_put(struct catalog *c);

#endif
