/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_IMAGES_IMPL_H
#define COLLECTOR_IMAGES_IMPL_H

#include <stdbool.h>
#include <stddef.h>

#include "collector/images.h"

/* For collector/images*.c only. */

enum { COLL_IMAGES_MIN_SWEEP = 8192 }; /* sightings */

/* Not in the table any more. */
void coll_sighting_free(struct coll_sighting *s);
void coll_image_free(struct coll_image *img);
/* An image that is in no table yet; NULL if out of memory. */
struct coll_image *coll_image_new(struct coll_images *t, enum spec_image_kind kind,
				  const char *stored, const char *path);
/* Whether --image names it. */
bool coll_image_wanted(const struct coll_images *t, const char *path);
/* Whether a key of "others" is that of a label, not of an image. */
bool coll_images_is_label(const void *key, size_t len);

#endif
