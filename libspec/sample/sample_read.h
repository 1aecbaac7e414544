/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_SAMPLE_SAMPLE_READ_H
#define LIBSPEC_SAMPLE_SAMPLE_READ_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "libspec/sample/abi.h"
#include "libspec/sample/sample_format.h"

/*
 * Reads a sample file with pread, never mapped: its owner may truncate it.  The file
 * may be written meanwhile; what is seen are the nodes that were complete at the open.
 */
struct spec_sample_reader {
	int fd;            /* > 0 */
	uint32_t nr_nodes; /* nodes in use; keys may repeat, values are then summed */
	off_t nodes_off;   /* where in @fd the first node in use is */
	struct spec_sample_header header;
	bool foreign;        /* of another kind of machine: nodes are converted */
	struct spec_abi abi; /* if so */
};

/**
 * spec_sample_open - opens and checks a file
 * @dirfd: directory that @path is relative to: the last component is then no symbolic
 *	link; or AT_FDCWD
 * Accepts everything OProfile 1.x's readers accept (a hash table of garbage, a size that
 * is no power of two, trailing bytes), and files whose length does not fit their size as
 * long as every node in use is there.
 * A file of another kind of machine is read if it can be recognised for certain.
 * Returns 0, -errno of open, or -EBADMSG with the reason (magic, version, cut short);
 * the message begins with @path.
 */
int spec_sample_open(int dirfd, const char *path, struct spec_sample_reader *out,
		     struct err *err);
/* The same as @abi says: of another kind of machine; NULL: spec_sample_open(). */
int spec_sample_open_as(int dirfd, const char *path, const struct spec_abi *abi,
			struct spec_sample_reader *out, struct err *err);
/* The same of a file that is @name in @dirfd; messages call it @path. */
int spec_sample_open_at(int dirfd, const char *name, const char *path,
			const struct spec_abi *abi, struct spec_sample_reader *out,
			struct err *err);
/* Accepts a zeroed reader: descriptor 0 is never used. */
void spec_sample_fini(struct spec_sample_reader *r);

/**
 * spec_sample_check - the checks of spec_sample_open() on a descriptor
 * @path: for messages
 * @descr: the descriptor block as it was read
 * For writers: a file of another kind of machine is refused.
 */
int spec_sample_check(int fd, const char *path, struct spec_sample_header *header,
		      struct spec_sample_descr *descr, struct err *err);

/**
 * spec_sample_read - copies nodes
 * @first: index of the first node wanted, 0 .. nr_nodes-1
 * Returns how many were stored in @nodes (0 at the end), -EBADMSG if the file shrank,
 * -errno if reading failed.
 */
ssize_t spec_sample_read(const struct spec_sample_reader *r, uint32_t first,
			 struct spec_sample_node *nodes, uint32_t max, struct err *err);

/* The first node from @at on that is in no hole of the file, or nr_nodes: those between
 * have no samples.  So reading costs what a file takes on its disk, and not what it
 * claims. */
uint32_t spec_sample_skip(const struct spec_sample_reader *r, uint32_t at);

/* Sum of all values, in 64 bits (2^32 nodes cannot overflow it). */
int spec_sample_total(const struct spec_sample_reader *r, uint64_t *total,
		      struct err *err);

#endif
