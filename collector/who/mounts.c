/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/who/mounts.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"

enum { MAX_TEXT = 16 << 20 };

void coll_unescape(char *s)
{
	char *to = s;

	while (*s) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' &&
		    s[2] <= '7' && s[3] >= '0' && s[3] <= '7') {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 |
				       (s[3] - '0'));
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	*to = '\0';
}

void coll_mounts_fini(struct coll_mounts *m)
{
	vec_for(&m->list, mount)
		free(mount->dir);
	vec_fini(&m->list);
}

/* ID PARENT MAJOR:MINOR ROOT DIR ... */
static void read_line(struct coll_mounts *m, char *line)
{
	struct coll_mount mount = { 0 };
	int at = 0;
	char *dir;

	if (sscanf(line, "%*u %*u %" SCNu32 ":%" SCNu32 " %*s %n", &mount.dev_major,
		   &mount.dev_minor, &at) != 2 ||
	    !at)
		return;
	dir = line + at;
	dir[strcspn(dir, " ")] = '\0';
	coll_unescape(dir);
	mount.dir = strdup(dir);
	if (!mount.dir || vec_push(&m->list, mount))
		free(mount.dir);
}

static void read_mounts(struct coll_mounts *m)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	char *rest, *line;

	coll_mounts_fini(m);
	if (file_slurp(AT_FDCWD, "/proc/self/mountinfo", MAX_TEXT, &text, NULL))
		return;
	rest = text.data;
	while ((line = strsep(&rest, "\n")))
		read_line(m, line);
}

static bool is_below(const char *path, const char *dir, size_t len)
{
	return !strncmp(path, dir, len) && (!path[len] || path[len] == '/' || len == 1);
}

void coll_mounts_device(struct coll_mounts *m, const char *path, uint32_t *dev_major,
			uint32_t *dev_minor)
{
	uint64_t now = clock_mono_ns();
	size_t best = 0;

	if (!m->read_ns || now - m->read_ns > CLOCK_NS_PER_S) {
		read_mounts(m);
		m->read_ns = now;
	}
	*dev_major = *dev_minor = 0;
	/* of several at one place the last one covers the others */
	vec_for(&m->list, mount) {
		size_t len = strlen(mount->dir);

		if (len < best || !is_below(path, mount->dir, len))
			continue;
		best = len;
		*dev_major = mount->dev_major;
		*dev_minor = mount->dev_minor;
	}
}
