/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/who/identify.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "base/regular.h"
#include "collector/who/elf_id.h"

/* How sure it is that a file is the one that was mapped. */
enum trust { NOT_IT, MAYBE, CERTAIN };

struct place {
	char path[PATH_MAX + 32];
	uint32_t tgid; /* @path is its root directory; 0: the file itself */
	enum coll_note note;
};

static enum trust compare(const struct coll_sighting *s, const struct coll_identity *id)
{
	if (s->build_id.len)
		return id->build_id.len >= s->build_id.len &&
				       !memcmp(id->build_id.bytes, s->build_id.bytes,
					       s->build_id.len)
			       ? CERTAIN
			       : NOT_IT;
	/* device numbers of btrfs and overlayfs differ between maps and stat */
	if (s->inode && s->inode == id->inode)
		return CERTAIN;
	return MAYBE;
}

/* One that holds the file without having it open: closing it asks no file system. */
static int open_path(int fd)
{
	char self[32];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	return open(self, O_PATH | O_CLOEXEC);
}

/* Opens what is there, and says what it is; -1: nothing. */
static int open_place(const struct coll_sighting *s, const struct place *p,
		      struct coll_identity *id)
{
	struct stat st;
	int fd = p->tgid ? regular_open_at(p->path, s->path, &st)
			 : regular_open(p->path, &st);

	if (fd < 0)
		return -1;
	*id = (struct coll_identity){ .note = p->note,
				      .tgid = p->tgid,
				      .mtime = (uint64_t)st.st_mtime,
				      .size = (uint64_t)st.st_size,
				      .inode = st.st_ino,
				      .dev_major = major(st.st_dev),
				      .dev_minor = minor(st.st_dev) };
	coll_elf_build_id(fd, &id->build_id);
	return fd;
}

static enum trust look_at(const struct coll_sighting *s, const struct place *p,
			  struct coll_identity *out, int *file)
{
	struct coll_identity id;
	CLEANUP(close_fd) int fd = open_place(s, p, &id);
	enum trust trust;

	if (fd < 0)
		return NOT_IT;
	trust = compare(s, &id);
	if (trust != NOT_IT)
		*out = id;
	if (trust == CERTAIN && p->note == COLL_NOTE_CONTAINER)
		*file = open_path(fd);
	return trust;
}

enum { NR_PLACES = 5 };

/* The places where the file may be, in order; false: not for this sighting. */
static bool place(int i, const struct coll_sighting *s, uint32_t tgid, uint32_t parent,
		  struct place *p)
{
	uint32_t pid = i == 3 ? parent : tgid;
	int n;

	p->note = s->deleted ? COLL_NOTE_DELETED : COLL_NOTE_NONE;
	p->tgid = 0;
	switch (i) {
	case 0:
		n = snprintf(p->path, sizeof(p->path), "%s", s->path);
		break;
	case 1:
	case 3:
		p->note = s->deleted ? COLL_NOTE_DELETED : COLL_NOTE_CONTAINER;
		p->tgid = pid;
		n = snprintf(p->path, sizeof(p->path), "/proc/%" PRIu32 "/root", pid);
		break;
	case 2:
		n = snprintf(p->path, sizeof(p->path),
			     "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, pid,
			     s->start, s->end);
		break;
	default:
		n = snprintf(p->path, sizeof(p->path), "/proc/%" PRIu32 "/exe", pid);
	}
	return (i == 0 || pid) && n > 0 && (size_t)n < sizeof(p->path);
}

void coll_identity_unseen(const struct coll_sighting *s, enum coll_note note,
			  struct coll_identity *out)
{
	*out = (struct coll_identity){
		.build_id = s->build_id, .mtime = s->mtime, .size = s->size, .note = note
	};
	if (s->build_id.len)
		return;
	out->inode = s->inode;
	out->dev_major = s->dev_major;
	out->dev_minor = s->dev_minor;
}

static void identify(const struct coll_sighting *s, uint32_t tgid, uint32_t parent,
		     struct coll_identity *out, int *file)
{
	struct coll_identity maybe = { 0 };
	bool have_maybe = false;
	struct place p;

	for (int i = 0; i < NR_PLACES; i++) {
		enum trust trust;

		if (!place(i, s, tgid, parent, &p))
			continue;
		trust = look_at(s, &p, out, file);
		if (trust == CERTAIN)
			return;
		if (trust == MAYBE && !have_maybe && i < 4) {
			maybe = *out;
			have_maybe = true;
		}
	}
	coll_identity_unseen(s, COLL_NOTE_GONE, out);
	if (have_maybe) {
		*out = maybe;
		out->note = COLL_NOTE_UNVERIFIED;
	}
}

const char *coll_note_text(enum coll_note note)
{
	static const char *const texts[COLL_NR_NOTES] = {
		[COLL_NOTE_DELETED] = "deleted",
		[COLL_NOTE_CONTAINER] = SPEC_IMAGE_CONTAINER,
		[COLL_NOTE_GONE] = "gone",
		[COLL_NOTE_UNVERIFIED] = "unverified",
		[COLL_NOTE_UNREACHABLE] = "unreachable",
	};

	return texts[note];
}

/* A COLL_ASK_FILE.  The answer is a struct coll_identity. */
struct question {
	struct coll_sighting sighting; /* without what it points to */
	uint32_t tgid, parent;
	char path[];
};

void coll_identify_question(const struct coll_sighting *s, uint32_t tgid, uint32_t parent,
			    struct strbuf *out)
{
	const struct question q = { .sighting = *s, .tgid = tgid, .parent = parent };

	strbuf_add(out, &q, sizeof(q));
	strbuf_add(out, s->path, strlen(s->path) + 1);
}

void coll_identify_answer(char *question, size_t len, struct strbuf *out, int *file)
{
	struct question *q = (void *)question;
	struct coll_identity id;

	if (len <= sizeof(*q))
		return;
	q->sighting.path = q->path;
	identify(&q->sighting, q->tgid, q->parent, &id, file);
	strbuf_add(out, &id, sizeof(id));
}

int coll_identify_open(char *question, size_t len)
{
	struct question *q = (void *)question;
	struct coll_identity id;
	struct place p;

	if (len <= sizeof(*q))
		return -1;
	q->sighting.path = q->path;
	for (int i = 0; i < NR_PLACES; i++) {
		CLEANUP(close_fd) int fd = -1;

		if (place(i, &q->sighting, q->tgid, q->parent, &p))
			fd = open_place(&q->sighting, &p, &id);
		if (fd >= 0 && compare(&q->sighting, &id) == CERTAIN)
			return take_fd(&fd);
	}
	return -1;
}

bool coll_identify_take(const char *answer, size_t len, struct coll_identity *out)
{
	if (len != sizeof(*out))
		return false;
	memcpy(out, answer, sizeof(*out));
	return (unsigned)out->note < COLL_NR_NOTES;
}
