/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/libspec/scratch.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

struct scratch scratch_new(void)
{
	struct scratch s = { .path = "/tmp/opfs-test.XXXXXX" };

	cr_assert(mkdtemp(s.path));
	s.fd = open(s.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(s.fd, 0);
	return s;
}

void scratch_fini(struct scratch *s)
{
	close(s->fd);
	file_remove_tree(AT_FDCWD, s->path, NULL);
}

void scratch_write(const struct scratch *s, const char *path, const void *data,
		   size_t len)
{
	char dir[4096];
	char *slash;
	int fd;

	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	if (slash) {
		*slash = '\0';
		cr_assert_eq(file_mkdirs(s->fd, dir, 0755, NULL), 0);
	}
	fd = openat(s->fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	cr_assert_geq(fd, 0);
	cr_assert_eq(file_write_all(fd, data, len), 0);
	close(fd);
}

char *scratch_read(const struct scratch *s, const char *path, size_t *len)
{
	int fd = openat(s->fd, path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *data;

	cr_assert_geq(fd, 0, "%s", path);
	cr_assert_eq(fstat(fd, &st), 0);
	data = calloc(1, (size_t)st.st_size + 1);
	cr_assert_eq(file_pread_all(fd, data, (size_t)st.st_size, 0), st.st_size);
	close(fd);
	if (len)
		*len = (size_t)st.st_size;
	return data;
}

static uint32_t u32_at(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
}

static uint32_t slot_at(const unsigned char *node, uint32_t size)
{
	uint32_t t = u32_at(node) ^ u32_at(node + 4);

	return (t ^ (t >> 8)) & (size - 1);
}

struct scratch_sums scratch_sums(const void *data, size_t len)
{
	const unsigned char *p = data, *nodes = p + 104, *table;
	struct scratch_sums s = { .size = u32_at(p + 72), .used = u32_at(p + 76) };
	char *seen = calloc(s.used, 1);

	cr_assert_eq(len, 104 + 20 * (size_t)s.size);
	cr_assert_leq(s.used, s.size);
	table = nodes + 16 * (size_t)s.size;
	for (uint32_t slot = 0; slot < s.size; slot++) {
		uint32_t at = u32_at(table + 4 * slot);

		for (; at; at = u32_at(nodes + 16 * at + 12)) {
			if (at >= s.used || seen[at] ||
			    slot_at(nodes + 16 * at, s.size) != slot) {
				s.wrong++;
				break;
			}
			seen[at] = 1;
		}
	}
	for (uint32_t i = 1; i < s.used; i++) {
		s.total += u32_at(nodes + 16 * i + 8);
		s.unreachable += !seen[i];
	}
	free(seen);
	return s;
}
