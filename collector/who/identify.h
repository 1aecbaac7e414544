/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_WHO_IDENTIFY_H
#define COLLECTOR_WHO_IDENTIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "collector/who/sighting.h"

/* What the images table says of how sure it is that a file is the one that was mapped. */
enum coll_note {
	COLL_NOTE_NONE,
	COLL_NOTE_DELETED,
	COLL_NOTE_CONTAINER,   /* found through the root of the process */
	COLL_NOTE_GONE,        /* not found any more */
	COLL_NOTE_UNVERIFIED,  /* a file of that path, which may be another */
	COLL_NOTE_UNREACHABLE, /* nobody answers: asked again later */
	COLL_NR_NOTES
};

/* NULL for NONE; CONTAINER goes on with the process. */
const char *coll_note_text(enum coll_note note);

/* What could be learnt of a mapped file. */
struct coll_identity {
	struct build_id build_id;
	uint64_t mtime, size, inode; /* 0: unknown */
	uint32_t dev_major, dev_minor;
	enum coll_note note;
	uint32_t tgid; /* CONTAINER: of the process */
};

/*
 * Finding the file of a sighting is a question for a helper (collector/who/asker.h): it
 * looks at the path, through the roots of the processes, and at the mapping itself, and
 * takes the first file with the build-id (or, without one, the inode) that the kernel
 * reported.  Without such a file only the build-id is known, and the note says "gone".
 */
/* @tgid, @parent: processes, or 0 */
void coll_identify_question(const struct coll_sighting *s, uint32_t tgid, uint32_t parent,
			    struct strbuf *out);
/* In the helper.  @file: the file, if it is a container's. */
void coll_identify_answer(char *question, size_t len, struct strbuf *out, int *file);
/* In a helper that needs the file itself: opens the one that is certain to have been
 * mapped, for reading.  Returns the descriptor, or -1: there is none. */
int coll_identify_open(char *question, size_t len);
/* False: that is no answer. */
bool coll_identify_take(const char *answer, size_t len, struct coll_identity *out);

/* What the sighting itself says, for one that nobody could look at. */
void coll_identity_unseen(const struct coll_sighting *s, enum coll_note note,
			  struct coll_identity *out);

#endif
