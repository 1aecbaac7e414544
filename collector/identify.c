/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/identify.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "collector/aside.h"
#include "collector/elf_id.h"

enum { MAX_SLOW = 16, SLOW_SECONDS = 60 };

/* File systems that did not answer, and until when they are not asked again. */
static struct slow {
	uint32_t dev_major, dev_minor;
	time_t until;
} slow[MAX_SLOW];

/* How sure it is that a file is the one that was mapped. */
enum trust { NOT_IT, MAYBE, CERTAIN };

static enum trust compare(const struct coll_sighting *s, const struct coll_identity *id)
{
	if (s->build_id.len)
		return id->build_id.len >= s->build_id.len &&
				       !memcmp(id->build_id.bytes, s->build_id.bytes,
					       s->build_id.len) ?
			       CERTAIN :
			       NOT_IT;
	/* device numbers of btrfs and overlayfs differ between maps and stat */
	if (s->inode && s->inode == id->inode)
		return CERTAIN;
	return MAYBE;
}

/*
 * Opens a regular file and nothing else: the path is the profiled process's word, and
 * opening a device, or the end of a FIFO, does something.
 */
static int open_regular(const char *path, struct stat *st)
{
	CLEANUP(close_fd) int at = open(path, O_PATH | O_CLOEXEC);
	char self[32];

	if (at < 0 || fstat(at, st) || !S_ISREG(st->st_mode))
		return -1;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", at);
	return open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static enum trust look_at(const struct coll_sighting *s, const char *path,
			  struct coll_identity *out)
{
	struct coll_identity id = { 0 };
	CLEANUP(close_fd) int fd = -1;
	enum trust trust;
	struct stat st;

	fd = open_regular(path, &st);
	if (fd < 0)
		return NOT_IT;
	id.mtime = (uint64_t)st.st_mtime;
	id.size = (uint64_t)st.st_size;
	id.inode = st.st_ino;
	id.dev_major = major(st.st_dev);
	id.dev_minor = minor(st.st_dev);
	coll_elf_build_id(fd, &id.build_id);
	trust = compare(s, &id);
	if (trust != NOT_IT)
		*out = id;
	return trust;
}

/* The places where the file may be, in order; false: not for this sighting. */
static bool place(int i, const struct coll_sighting *s, uint32_t tgid, uint32_t parent,
		  char *path, size_t size, const char **note)
{
	uint32_t pid = i == 3 ? parent : tgid;
	int n;

	*note = s->deleted ? "deleted" : NULL;
	switch (i) {
	case 0:
		n = snprintf(path, size, "%s", s->path);
		break;
	case 1:
	case 3:
		*note = s->deleted ? "deleted" : "container";
		n = snprintf(path, size, "/proc/%" PRIu32 "/root%s", pid, s->path);
		break;
	case 2:
		n = snprintf(path, size, "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64,
			     pid, s->start, s->end);
		break;
	default:
		n = snprintf(path, size, "/proc/%" PRIu32 "/exe", pid);
	}
	return (i == 0 || pid) && n > 0 && (size_t)n < size;
}

static void nothing_but(const struct coll_sighting *s, const char *note,
			struct coll_identity *out)
{
	*out = (struct coll_identity){ .build_id = s->build_id, .mtime = s->mtime,
				       .size = s->size, .note = note };
	if (s->build_id.len)
		return;
	out->inode = s->inode;
	out->dev_major = s->dev_major;
	out->dev_minor = s->dev_minor;
}

static void identify(const struct coll_sighting *s, uint32_t tgid, uint32_t parent,
		     struct coll_identity *out)
{
	struct coll_identity maybe = { 0 };
	bool have_maybe = false;
	char path[PATH_MAX + 32];
	const char *note;

	for (int i = 0; i < 5; i++) {
		enum trust trust;

		if (!place(i, s, tgid, parent, path, sizeof(path), &note))
			continue;
		trust = look_at(s, path, out);
		if (trust == CERTAIN) {
			out->note = note;
			return;
		}
		if (trust == MAYBE && !have_maybe && i < 4) {
			maybe = *out;
			have_maybe = true;
		}
	}
	nothing_but(s, "gone", out);
	if (have_maybe) {
		*out = maybe;
		out->note = "unverified";
	}
}

/* What another process is asked; it answers with a struct coll_identity. */
struct question {
	struct coll_sighting sighting; /* without what it points to */
	uint32_t tgid, parent;
	char path[];
};

static void answer(struct coll_aside *a)
{
	struct question *q = (void *)a->data;
	struct coll_identity id;

	q->sighting.path = q->path;
	identify(&q->sighting, q->tgid, q->parent, &id);
	memcpy(a->data, &id, sizeof(id));
	a->len = sizeof(id);
}

static bool is_slow(const struct coll_sighting *s, time_t now)
{
	for (size_t i = 0; i < MAX_SLOW; i++)
		if (slow[i].until > now && slow[i].dev_major == s->dev_major &&
		    slow[i].dev_minor == s->dev_minor)
			return true;
	return false;
}

static void note_slow(const struct coll_sighting *s, time_t now)
{
	struct slow *oldest = &slow[0];

	log_warn("%s: its file system does not answer: what is on it (device %u:%u) is "
		 "counted without being looked at",
		 s->path, s->dev_major, s->dev_minor);
	for (size_t i = 1; i < MAX_SLOW; i++)
		if (slow[i].until < oldest->until)
			oldest = &slow[i];
	*oldest = (struct slow){ s->dev_major, s->dev_minor, now + SLOW_SECONDS };
}

void coll_identify(const struct coll_sighting *s, uint32_t tgid, uint32_t parent,
		   struct coll_identity *out)
{
	CLEANUP(strbuf_fini) struct strbuf in = { 0 };
	CLEANUP(strbuf_fini) struct strbuf out_text = { 0 };
	struct question q = { .sighting = *s, .tgid = tgid, .parent = parent };
	int rc;

	nothing_but(s, "unreachable", out);
	if (is_slow(s, (time_t)(clock_mono_ns() / CLOCK_NS_PER_S)))
		return;
	strbuf_add(&in, &q, sizeof(q));
	strbuf_add(&in, s->path, strlen(s->path) + 1);
	if (strbuf_error(&in))
		return;
	rc = coll_aside(answer, in.data, in.len, &out_text, COLL_ASIDE_MS);
	if (rc == -ETIMEDOUT)
		note_slow(s, (time_t)(clock_mono_ns() / CLOCK_NS_PER_S));
	/* notes are constants: the other process has them at the same place */
	if (!rc && out_text.len == sizeof(*out))
		memcpy(out, out_text.data, sizeof(*out));
}
