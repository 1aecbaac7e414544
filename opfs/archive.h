/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_ARCHIVE_H
#define OPFS_ARCHIVE_H

#include "base/strbuf.h"
#include "base/vec.h"
#include "opfs/report.h"
#include "opfs/tar.h"

/*
 * What is in archive.tar; private to archive*.c and report_archive.c:
 *	samples/SESSION/...	sample files and tables, as they are; of a live session as
 *				they were when the catalog was read (archive_session.c)
 *	archive/PATH		binaries, their debug files, sources (archive_files.c)
 *	LEFT_OUT		what could not be put in, and why
 *	MANIFEST		checksums
 * which is a session directory again, see archive_dir.h.
 */
struct archive {
	struct tar *t;
	struct catalog *cat; /* reference: members are read from its descriptors */
	VEC(int) fds;        /* closed at the end: members are read from them */
	/* While it is filled: */
	const struct report_job *job;
	struct strbuf left_out;
	struct strbuf name; /* of the member at hand */
	struct err *err;
};

/* Each returns 0, -EINTR or -ENOMEM. */
int archive_add_sessions(struct archive *a);
int archive_add_images(struct archive *a);
int archive_add_kernel(struct archive *a);
int archive_add_vdso(struct archive *a, const struct sym_id *id);

/* Notes in LEFT_OUT that something is not there; returns 0. */
int archive_left_out(struct archive *a, const char *what, const char *why);
/* A file that need not be there: its failure is noted; @path as in tar_add_file(). */
int archive_try_file(struct archive *a, const char *name, bool executable, int dirfd,
		     const char *path, const struct tar_want *want);
int archive_no_memory(struct archive *a);

#endif
