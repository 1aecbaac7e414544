/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_SAMPLE_SAMPLE_DISK_H
#define LIBSPEC_SAMPLE_SAMPLE_DISK_H

#include <stdint.h>

#include "base/err.h"

/*
 * What of a sample file is known to be on the disk.  A store into a mapping is in the
 * page cache; the disk takes or refuses it later, and says so only to who asks.
 */
struct spec_disk {
	uint64_t total; /* samples in the file, as far as anybody was told */
	uint64_t sure;  /* of those, on the disk when it was last asked */
};

/**
 * spec_disk_sync - waits until a closed file is on the disk
 * Returns 0, or -errno: it, or a part of it that was written back before, is not there.
 */
int spec_disk_sync(int session_fd, const char *path, struct err *err);

/**
 * spec_disk_find - what a file holds whose write-back failed
 * @sure: taken for the truth, if it is less, where the disk still fails
 * @found: receives how many samples; also on failure
 * It is read from the disk as far as the kernel lets go of what it has in memory: nobody
 * may have it mapped.  What is no sample file any more, as the disk did not even take its
 * beginning, is removed.  Returns 0, or -errno if it cannot be read.
 */
int spec_disk_find(int session_fd, const char *path, uint64_t sure, uint64_t *found,
		   struct err *err);

/**
 * spec_disk_total - spec_disk_sync(), and what the file then holds
 * @found: as of spec_disk_find() if it failed
 * Returns 0 also if the disk refused a part; -EBADMSG: another reason why it is no sample
 * file; or another -errno.
 */
int spec_disk_total(int session_fd, const char *path, uint64_t *found, struct err *err);

#endif
