/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_ARCHIVE_ARCHIVE_H
#define OPFS_REPORT_ARCHIVE_ARCHIVE_H

#include "base/strbuf.h"
#include "base/vec.h"
#include "opfs/report/archive/chosen.h"
#include "opfs/report/archive/tar.h"
#include "opfs/report/report.h"

/*
 * archive.tar while it is filled, which becomes a session directory again (see
 * opfs/session/archive_dir.h):
 *	abi			that of the session directory
 *	samples/SESSION/...	sample files and tables as they are; of a live session, as
 *				they were when the catalog was read
 *	symbols/NAME		names that were kept
 *	archive/PATH		binaries, their debug files, sources, files of the kernel
 *	LEFT_OUT		what could not be put in, and why
 *	MANIFEST		checksums
 */
struct archive {
	struct tar *t;
	struct sym_server
		*server;     /* opens files that are not of the session directory: */
	struct cred who;     /* with these rights; its groups are the archive's own */
	struct catalog *cat; /* reference: members are read from its descriptors */
	int session_dir;     /* closed at the end, as these are: */
	int root;            /* of the archive that the session is from; -1: none */
	VEC(int) fds;        /* members are read from them */
	/* While it is filled: */
	const struct report_job *job;
	struct chosen chosen;
	struct strbuf left_out;
	struct strbuf name; /* of the member at hand */
	struct err *err;
};

/* Notes in LEFT_OUT that something is missing; returns 0. */
int archive_left_out(struct archive *a, const char *what, const char *why);
/* Adds a file that may be missing: a failure is noted; @path as in tar_add_file(). */
int archive_try_file(struct archive *a, const char *name, bool executable, int dirfd,
		     const char *path, const struct tar_want *want);
/* The same of a file of the session directory, if it is there. */
int archive_try_own(struct archive *a, const char *name);
int archive_no_memory(struct archive *a);
/* A tar_open; @ctx is the archive. */
int archive_open(void *ctx, const char *path, bool for_all, struct err *err);

#endif
