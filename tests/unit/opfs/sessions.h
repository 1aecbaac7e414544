/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_OPFS_SESSIONS_H
#define TESTS_UNIT_OPFS_SESSIONS_H

#include <stdbool.h>
#include <stdint.h>

/* A session directory on disk, made by hand. */
struct sessions {
	char dir[64];
	int fd;
};

void sessions_init(struct sessions *s);
void sessions_fini(struct sessions *s);

struct sessions_file {
	const char *session, *app, *image,
		*event;    /* NULL: current, /bin/demo, as @app, EV */
	int64_t tgid, cpu; /* 0: all */
	uint32_t count;    /* 0: 1000 */
	uint32_t samples;  /* added to those at offset 0x1000 */
};
void sessions_add(struct sessions *s, struct sessions_file f);
/* stats/live of "current". */
void sessions_live(struct sessions *s, uint64_t generation, bool closed);
/* rm -r of a path in the directory. */
void sessions_remove(struct sessions *s, const char *path);
void sessions_write(struct sessions *s, const char *path, const char *text);

#endif
