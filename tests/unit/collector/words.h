/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_COLLECTOR_WORDS_H
#define TESTS_COLLECTOR_WORDS_H

#include <stdint.h>
#include <string.h>

#include "kernel/uapi/opfs_buffer.h"

/* A stream of the driver's event buffer, for tests. */
struct words {
	uint64_t w[8192];
	size_t nr;
};

#define WORDS(...)                                                                       \
	(const uint64_t[]){ __VA_ARGS__ },                                               \
		sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t)

static inline void put_note(struct words *s, uint32_t code, uint32_t arg,
			    const uint64_t *w, size_t nr)
{
	s->w[s->nr++] = OPK_ESCAPE;
	s->w[s->nr++] = OPK_HEAD(code, nr, arg);
	if (nr)
		memcpy(s->w + s->nr, w, nr * sizeof(*w));
	s->nr += nr;
}

static inline void put_hello(struct words *s)
{
	put_note(s, OPK_HELLO, OPK_BUFFER_VERSION,
		 WORDS(OPK_MAGIC, 1000, 2000, 4, 16, 100));
}

static inline void put_task(struct words *s, uint32_t tgid, uint32_t tid, uint32_t app)
{
	uint64_t comm[2] = { 0 };

	memcpy(comm, "prog", 4);
	put_note(s, OPK_TASK, tid, WORDS(tgid, app, 77, 1, comm[0], comm[1]));
}

static inline void put_image(struct words *s, uint32_t cookie, const char *path)
{
	uint64_t w[9 + 512] = { 8ULL << 32 | 1, 1000 + cookie, 0, 5000000000, 4096 };
	size_t len = strlen(path);

	w[8] = len;
	memcpy(w + 9, path, len);
	put_note(s, OPK_IMAGE, cookie, w, 9 + (len + 7) / 8);
}

static inline void put_sample(struct words *s, uint64_t pc, uint64_t event)
{
	s->w[s->nr++] = pc;
	s->w[s->nr++] = event;
}

static inline void put_bye(struct words *s, uint64_t taken)
{
	put_note(s, OPK_BYE, 0, WORDS(taken, 0, 0));
}

#endif
