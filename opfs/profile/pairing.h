/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_PROFILE_PAIRING_H
#define OPFS_PROFILE_PAIRING_H

#include "opfs/profile/profile.h"

/* Which image of one side of a comparison is which of the other. */
struct profile_pairing {
	uint32_t *now_of, *was_of; /* of each image of a side: its index in out->cat */
	bool *merged;              /* images of out->cat whose rows are merged by name */
};

/**
 * profile_pair_images - gives @out a catalog of the images of both sides, and ->images
 * @out: its arena and @out->loaded are set; the catalog owns everything in it but borrows
 *	from those of @now and @was, which must outlive it
 * Images are paired by path; else if each is the only application; else by a basename
 * that only one has on either side.  Anonymous memory is one image for each label;
 * several regions of it are called by the label alone.
 * Returns 0 or -ENOMEM.
 */
int profile_pair_images(const struct profile *now, const struct profile *was,
			struct profile *out, struct profile_pairing *to);
void profile_pairing_fini(struct profile_pairing *p);

#endif
