/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_WHO_IMAGES_H
#define COLLECTOR_WHO_IMAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "collector/rec/rec.h"
#include "collector/who/held.h"
#include "collector/who/identify.h"
#include "collector/who/mounts.h"
#include "collector/who/sighting.h"
#include "libspec/name/name.h"
#include "libspec/session/images.h"

/*
 * The binaries that samples were taken in.  A sighting is what a mapping says of its
 * file; it is identified once (collector/who/recognize.h), and then stands for an image:
 * one binary, whatever its path is called where.  A second binary under one path is
 * another image, stored as PATH#BUILDID8.
 */
struct coll_image {
	uint32_t id;            /* small, unique */
	struct spec_image name; /* how sample files call it */
	const char *path;       /* the real path, or the name again */
	struct build_id build_id;
	uint64_t mtime, size, inode; /* 0: unknown */
	uint32_t dev_major, dev_minor;
	enum coll_note note; /* for the images table */
	uint32_t tgid;       /* CONTAINER: of the process */
	uint64_t start;      /* ANON: the first address; @name has made-up ones */
	bool is_kernel;
	bool noted;              /* its rows are in the tables */
	bool wanted;             /* --image names it */
	struct coll_image *next; /* another binary of the same path */
	/* it is not known yet which binary this is: nothing may be filed under it */
	bool pending;
	/* its number in that table of stacks, each session having another one; 0: it
	 * cannot have one */
	uint32_t stack_number, stack_table;
	struct coll_image *became; /* it turned out to be this one; NULL: itself */
	bool kept;                 /* by the sweep that is going on */
};

struct coll_images {
	struct arena mem;            /* labels */
	struct map sightings, paths; /* what is known of a file; path -> first image */
	struct map others;           /* {kern} and {anon} images by name */
	struct spec_images saved;    /* the session's table, from earlier runs */
	struct build_id vdso;
	uint32_t nr, nr_moved;    /* images ever made; as it was when the session began */
	size_t swept_at;          /* sightings, when the next sweep is worth while */
	int session_fd;           /* borrowed; -1: no table is kept */
	struct coll_asker *asker; /* borrowed; NULL: files are looked at at once */
	struct coll_mounts mounts;
	struct coll_held held;    /* files of containers */
	uint64_t answers;         /* how many images were pending, and are not any more */
	struct coll_image *other; /* those of them that became another one */
	uint64_t warned_ns;
	/* --image: real paths and module names; NULL: everything is wanted */
	char **wanted;
	size_t nr_wanted;
};

/* Reads the table of a session that is appended to. */
int coll_images_init(struct coll_images *t, int session_fd, struct err *err);
void coll_images_fini(struct coll_images *t);

/**
 * coll_images_label - what memory without a file is called
 * Returns "anon", "[heap]", ..., which lives as long as @t, or NULL for a file (or if
 * out of memory: the name is then taken for a file's).
 */
const char *coll_images_label(struct coll_images *t, const struct coll_mmap *m);

/* The sighting of a mapped file; NULL if out of memory. */
struct coll_sighting *coll_images_see(struct coll_images *t, const struct coll_mmap *m);

/* What an image is known as by now. */
static inline const struct coll_image *coll_image_now(const struct coll_image *img)
{
	while (img && img->became)
		img = img->became;
	return img;
}

/* Frees the images in @other; no pointer to one may be left. */
void coll_images_drop_other(struct coll_images *t);

/* The image of a kernel or module without a path; NULL if out of memory. */
struct coll_image *coll_images_kern(struct coll_images *t, const char *name,
				    const struct build_id *id);

/* The image of memory without a file. */
struct coll_image *coll_images_anon(struct coll_images *t, const char *label,
				    uint32_t tgid, uint64_t start, uint64_t end);

/* Changes what --image names: of all images that are known, and will be. */
void coll_images_want(struct coll_images *t, char **wanted, size_t nr);

/*
 * A sweep frees what nothing refers to any more: coll_images_sweep_begin(), then
 * coll_images_keep() for every sighting, and coll_images_keep_image() for every image,
 * that somebody has a pointer to, then coll_images_sweep_end().
 */
/* True when so many sightings came since the last sweep that one is worth while. */
bool coll_images_sweep_due(const struct coll_images *t);
void coll_images_sweep_begin(struct coll_images *t);
void coll_images_keep(struct coll_sighting *s); /* and its image; NULL is fine */
void coll_images_keep_image(struct coll_image *img);
/* @images: free images as well; else sightings only, and nobody need tell of images. */
void coll_images_sweep_end(struct coll_images *t, bool images);

/* Goes on in another session, which has no table yet. */
void coll_images_move(struct coll_images *t, int session_fd);

/* Writes the image's row, once, and where memory without a file was.  0 or -errno. */
int coll_images_note(struct coll_images *t, struct coll_image *img, struct err *err);

/* ---- for collector/who/recognize.c */

/* An image that is in no table yet; NULL if out of memory. */
struct coll_image *coll_image_new(struct coll_images *t, enum spec_image_kind kind,
				  const char *stored, const char *path);

#endif
