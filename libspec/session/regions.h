/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_SESSION_REGIONS_H
#define LIBSPEC_SESSION_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/cred.h"
#include "base/err.h"
#include "base/map.h"
#include "libspec/name/name.h"

/*
 * The table samples/SESSION/regions: where memory without a file was.  Names of sample
 * files, which everybody may list, have made-up addresses for it, or they would tell
 * where the memory of each process is.  Text like "images", first line
 * "# opfs regions 1":  stored-name start
 * stored-name is as spec_image_show() gives it, start is the true first address, in
 * hexadecimal.  For the owner and the group of the session (mode 0640).
 */
struct spec_regions {
	struct map starts; /* stored name -> true start */
	struct stat file;  /* whose owner and mode say who may read it */
};

/* A session without the table, or with one that may not be read, has no rows.  Returns 0,
 * -EBADMSG if it is not a table of this version, -EFBIG, or -errno.  @out->file is set
 * also on failure. */
int spec_regions_read(int session_fd, struct spec_regions *out, struct err *err);
/**
 * spec_regions_find - where a region really was
 * @stored: as its name in the session shows it
 * @who: who asks; NULL: this process
 * @img: its name, whose addresses become the true ones
 * False if there is no row, or not for @who.
 */
bool spec_regions_find(const struct spec_regions *t, const char *stored,
		       const struct cred *who, struct spec_image *img);
/* May the same people be told as when it was read? */
bool spec_regions_same_readers(const struct spec_regions *t, int session_fd);
/* Appends a row.  @img: as it is stored.  0 or -errno. */
int spec_regions_append(int session_fd, const struct spec_image *img, uint64_t start,
			struct err *err);
/* Accepts a zeroed table. */
void spec_regions_fini(struct spec_regions *t);

#endif
