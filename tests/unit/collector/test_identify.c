/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "collector/who/identify.h"

/* What was opened below a directory while a file of it was identified. */
static ssize_t opens_of(const char *dir, char *path, struct coll_identity *id)
{
	char events[4096];
	CLEANUP(close_fd) int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	struct coll_sighting s = { .path = path };

	CLEANUP(strbuf_fini) struct strbuf question = { 0 };
	CLEANUP(strbuf_fini) struct strbuf answer = { 0 };
	CLEANUP(close_fd) int file = -1;

	cr_assert_geq(inotify_add_watch(watch, dir, IN_OPEN), 0);
	coll_identify_question(&s, 0, 0, &question);
	coll_identify_answer(question.data, question.len, &answer, &file);
	cr_assert(coll_identify_take(answer.data, answer.len, id));
	return read(watch, events, sizeof(events));
}

/* The path is the word of a process that means harm; opening a device does something. */
Test(identify, opens_regular_files_only)
{
	char dir[] = "/tmp/opfs-identify.XXXXXX", pipe[64], file[64];
	struct coll_identity id = { 0 };
	struct err e;

	cr_assert_not_null(mkdtemp(dir));
	snprintf(pipe, sizeof(pipe), "%s/pipe", dir);
	snprintf(file, sizeof(file), "%s/file", dir);
	cr_assert_eq(mkfifo(pipe, 0644), 0);
	cr_assert_eq(file_replace(AT_FDCWD, file, "text", 4, 0644, 0, &e), 0);

	cr_expect_eq(opens_of(dir, pipe, &id), -1);
	cr_expect_eq(id.note, COLL_NOTE_GONE);
	cr_expect_gt(opens_of(dir, file, &id), 0);
	cr_expect_eq(id.size, 4);
	cr_expect_eq(file_remove_tree(AT_FDCWD, dir, &e), 0);
}
