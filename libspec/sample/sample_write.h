/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_SAMPLE_SAMPLE_WRITE_H
#define LIBSPEC_SAMPLE_SAMPLE_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "libspec/sample/sample_disk.h"
#include "libspec/sample/sample_format.h"

/*
 * Counts in place in a mapped sample file.  A writer killed after any store leaves a
 * file that every reader accepts and that can be appended to; new files and files that
 * grow are made aside and renamed into place.  One writer at a time: whoever has
 * the lock of the session directory.  Sample files are not locked, for readers may open
 * them, and whoever may open a file may lock it.
 *
 * A writer costs one descriptor and one mapping.  Blocks are reserved before they are
 * mapped, so that a full disk is -ENOSPC here and no signal later; a disk that fails all
 * the same is no signal either (libspec/sample/guard.h).  A writer belongs to one thread.
 */
struct spec_sample_writer;

/**
 * spec_sample_writer_open - opens a file to count in, or makes it
 * @session_fd: the session's directory (samples/NAME); @path is relative to it, and
 *	new files are made in its .new/.  Borrowed until the writer is freed.
 * @header: what a new file says (magic, version and padding are filled in here); an
 *	existing one must agree in event, count, unit mask, mtime and is_kernel: -ESTALE
 *	otherwise, and nothing is touched
 * Missing directories are made.  An existing file that readers accept but that has no
 * sound hash table (size no power of two, cut behind its nodes) is laid anew.
 * Returns 0, -ENOSPC, -EBADMSG for an existing file that is damaged, or another -errno.
 */
int spec_sample_writer_open(int session_fd, const char *path,
			    const struct spec_sample_header *header,
			    struct spec_sample_writer **out, struct err *err);

/**
 * spec_sample_add - adds @count to the value of @key
 * Saturating values continue in a second node of the same key; readers sum.
 * Returns 0, -ENOSPC or -EFBIG if the file cannot grow, -ENOENT if its directory was
 * removed (nothing was counted then, and the writer stays usable).  -EIO: the mapping
 * failed, as spec_sample_failed() says; what was counted before may be lost as well.
 */
int spec_sample_add(struct spec_sample_writer *w, uint64_t key, uint32_t count,
		    struct err *err);

/**
 * spec_sample_sync - writes back
 * Nodes first, then current_size: a checkpoint against power failure.  Returns 0, or
 * -errno if the disk refused a part, now or since the last call: free the writer then,
 * and ask spec_disk_find() what is left.
 */
int spec_sample_sync(struct spec_sample_writer *w, struct err *err);
/* Begins to write back what is changed, and does not wait. */
void spec_sample_sync_soon(const struct spec_sample_writer *w);
/* Whether the mapping failed (SIGBUS): nothing is counted in the file any more. */
bool spec_sample_failed(const struct spec_sample_writer *w);
/* What the file holds, and how much of it is on the disk: nothing of a new file. */
struct spec_disk spec_sample_disk(const struct spec_sample_writer *w);
/* What is in the file was not written back by whoever had it open before. */
void spec_sample_doubt(struct spec_sample_writer *w, uint64_t sure);
/* Bytes of the file, which are all reserved on the disk, and mapped. */
size_t spec_sample_len(const struct spec_sample_writer *w);
/* Closes; NULL is fine.  What was added is in the file whether or not this is called. */
void spec_sample_writer_free(struct spec_sample_writer *w);

/**
 * spec_sample_replace - writes a whole file, in place of the one that may be there
 * @nodes: as in a file: the first of them is none, and what @next says is made anew
 * @used: how many, that one included
 * Written aside, on the disk, and then renamed; missing directories are made.
 * Returns 0, -ENOSPC, -EFBIG for too many nodes, or another -errno and the old file.
 */
int spec_sample_replace(int session_fd, const char *path,
			const struct spec_sample_header *header,
			const struct spec_sample_node *nodes, uint32_t used,
			struct err *err);

/**
 * spec_sample_sweep - removes what killed writers left in the session's .new/
 * Call it before collecting, with the lock of the session directory.
 */
int spec_sample_sweep(int session_fd, struct err *err);

#endif
