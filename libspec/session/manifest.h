/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_SESSION_MANIFEST_H
#define LIBSPEC_SESSION_MANIFEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"

/*
 * MANIFEST: the checksum of each file below a directory, and what these files are.  Text:
 *	# opfs manifest 1
 *	# KEY VALUE			facts, any number; values are %-escaped
 *	SHA-256  PATH			each file, as sha256sum(1) writes and checks it
 *	# sum SHA-256			of all lines before
 * A session that nobody writes to any more has one with the facts of SPEC_FACT_...; an
 * archive (opfs/report/archive/tar.h) has one without facts.
 */
#define SPEC_MANIFEST "MANIFEST"
enum { SPEC_SUM_BYTES = 32 };

#define SPEC_FACT_SESSION "session" /* its name when it was closed */
#define SPEC_FACT_START "start"     /* 2026-11-21T09:00:00.123456789Z */
#define SPEC_FACT_END "end"
#define SPEC_FACT_HOST "host"
#define SPEC_FACT_KERNEL "kernel" /* as uname -srm */
#define SPEC_FACT_CPU "cpu"
#define SPEC_FACT_EVENT "event" /* NAME:COUNT:MASK:KERNEL:USER; one a line */
#define SPEC_FACT_FIGURE                                                                 \
	"figure"                /* "NAME NUMBER": all of stats/, also those that are 0 */
#define SPEC_FACT_IMAGE "image" /* "BUILD-ID STORED-NAME"; "-" if it has no build-id */

/* What the files of a session do not tell.  NULL and 0: not known, left out. */
struct spec_manifest_about {
	const char *session;
	uint64_t start_ns, end_ns; /* CLOCK_REALTIME */
	const char *cpu;
	const char *const *events;
	size_t nr_events;
};

/**
 * spec_manifest_write - closes a session: describes it, and sums up all its files
 * @session_fd: samples/NAME, which nobody writes to; its stats/ and images are read
 * Removes what killed writers left: names that begin with "." (.new, .tmp.N).  Replaces
 * the MANIFEST that is there, through a rename and synchronised.  Reads every byte of
 * the session, so not from where samples wait.
 * Returns 0, or -errno and the MANIFEST as it was.
 */
int spec_manifest_write(int session_fd, const struct spec_manifest_about *about,
			struct err *err);

/* ---- reading */

struct spec_manifest_fact {
	char *key, *value;
};

struct spec_manifest_file {
	char *path;
	uint8_t sum[SPEC_SUM_BYTES];
};

struct spec_manifest {
	struct spec_manifest_fact *facts;
	size_t nr_facts, cap_facts;
	struct spec_manifest_file *files;
	size_t nr_files, cap_files;
};

/**
 * spec_manifest_read - reads the MANIFEST of a directory
 * Returns 0; -ENOENT: there is none; -EBADMSG: not one, or not as it was written; -EFBIG;
 * -ENOMEM; another -errno.
 */
int spec_manifest_read(int dirfd, struct spec_manifest *out, struct err *err);
/* The same of a text; what fuzzers call. */
int spec_manifest_parse(const char *text, size_t len, struct spec_manifest *out,
			struct err *err);
/* The first value of a key, or NULL.  Dies with @m. */
const char *spec_manifest_fact(const struct spec_manifest *m, const char *key);
/* The facts start or end as CLOCK_REALTIME ns; 0: not there, or no time. */
uint64_t spec_manifest_time(const struct spec_manifest *m, const char *key);
void spec_manifest_fini(struct spec_manifest *m); /* accepts a zeroed one */

/**
 * spec_manifest_verify - compares the files below a directory with its manifest
 * @finding: called for each file that differs, with what is wrong with it ("has changed",
 *	"is missing", "is not in the MANIFEST", why it cannot be read); stops and returns
 *	what it returns unless that is 0
 * Follows no links.  Returns 0 also if there were findings; -ENOMEM; -errno of @dirfd.
 */
int spec_manifest_verify(int dirfd, const struct spec_manifest *m,
			 int (*finding)(void *ctx, const char *path, const char *what),
			 void *ctx, struct err *err);

/* ---- the text, for those who have the sums: begin, then lines, then end */

void spec_manifest_begin(struct strbuf *out);
void spec_manifest_line(struct strbuf *out, const uint8_t sum[SPEC_SUM_BYTES],
			const char *path);
/* Ends what began at @out->data[0]. */
void spec_manifest_end(struct strbuf *out);
/* Bytes of a line, and of beginning and end together. */
size_t spec_manifest_line_len(const char *path);
size_t spec_manifest_frame_len(void);

#endif
