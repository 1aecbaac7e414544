/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/opfs/sessions.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "libspec/name/name.h"
#include "libspec/sample/sample_write.h"
#include "libspec/session/stats.h"

void sessions_init(struct sessions *s)
{
	strcpy(s->dir, "/tmp/opfs-sessions.XXXXXX");
	cr_assert(mkdtemp(s->dir));
	s->fd = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(s->fd, 0);
}

void sessions_fini(struct sessions *s)
{
	close(s->fd);
	file_remove_tree(AT_FDCWD, s->dir, NULL);
}

static int open_session(struct sessions *s, const char *session)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "samples/%s", session);
	cr_assert_eq(file_mkdirs(s->fd, path, 0755, NULL), 0);
	fd = openat(s->fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(fd, 0);
	return fd;
}

void sessions_add(struct sessions *s, struct sessions_file f)
{
	CLEANUP(close_fd) int fd = open_session(s, f.session ? f.session : "current");
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	const char *app = f.app ? f.app : "/bin/demo";
	const char *image = f.image ? f.image : app;
	struct spec_name name = {
		.app = { .kind = SPEC_IMAGE_ROOT, .name = (char *)app },
		.image = { .kind = SPEC_IMAGE_ROOT, .name = (char *)image },
		.event = (char *)(f.event ? f.event : "EV"),
		.count = f.count ? f.count : 1000,
		.tgid = f.tgid ? f.tgid : SPEC_ALL,
		.tid = f.tgid ? f.tgid : SPEC_ALL,
		.cpu = f.cpu ? f.cpu : SPEC_ALL,
	};
	struct spec_sample_header header = { .magic = { 'D', 'A', 'E', '\n' },
					     .version = SPEC_SAMPLE_VERSION,
					     .cpu_type = 4,
					     .count = f.count ? f.count : 1000 };
	struct spec_sample_writer *w;
	struct err err;

	cr_assert_eq(spec_name_format(&name, &path, &err), 0, "%s", err.msg);
	cr_assert_eq(spec_sample_writer_open(fd, path.data, &header, &w, &err), 0, "%s",
		     err.msg);
	cr_assert_eq(spec_sample_add(w, 0x1000, f.samples, &err), 0, "%s", err.msg);
	spec_sample_writer_free(w);
}

void sessions_live(struct sessions *s, uint64_t generation, bool closed)
{
	CLEANUP(close_fd) int fd = open_session(s, "current");
	struct spec_live live = { .generation = generation,
				  .drained_ns = 1,
				  .closed = closed };

	cr_assert_eq(spec_live_write(fd, &live, NULL), 0);
}

void sessions_remove(struct sessions *s, const char *path)
{
	cr_assert_eq(file_remove_tree(s->fd, path, NULL), 0);
}

void sessions_write(struct sessions *s, const char *path, const char *text)
{
	char dir[512];
	int fd;

	snprintf(dir, sizeof(dir), "%s", path);
	*strrchr(dir, '/') = '\0';
	cr_assert_eq(file_mkdirs(s->fd, dir, 0755, NULL), 0);
	fd = openat(s->fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	cr_assert_geq(fd, 0);
	cr_assert_eq(file_write_all(fd, text, strlen(text)), 0);
	close(fd);
}
