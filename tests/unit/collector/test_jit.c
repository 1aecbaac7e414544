/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "collector/who/jit.h"
#include "collector/who/procfs.h"

/* Where code is made; nobody but the map says so. */
#define CODE UINT64_C(0x500000000000)
#define HOUR_NS (3600 * CLOCK_NS_PER_S)

static char dir[] = "/tmp/opfs-jit-XXXXXX", map[64];
static struct coll_jit jit;
static struct coll_task task;

/* A process that sleeps, with a map that names code. */
static void begin(void)
{
	FILE *f;

	cr_assert(mkdtemp(dir));
	coll_jit_init(&jit, open(dir, O_RDONLY | O_DIRECTORY));
	jit.asker = coll_asker_new(&coll_asks_questions, "/proc/self/exe");
	cr_assert(jit.asker);
	task.tgid = (uint32_t)fork();
	if (!task.tgid) {
		pause();
		_exit(0);
	}
	task.start_ns = coll_proc_start(task.tgid);
	snprintf(map, sizeof(map), "/tmp/perf-%" PRIu32 ".map", task.tgid);
	f = fopen(map, "w");
	cr_assert(f);
	for (uint64_t i = 0; i < 4; i++)
		fprintf(f, "%" PRIx64 " 10 name%" PRIu64 "\n", CODE + i * 0x1000, i);
	fclose(f);
}

static void end(void)
{
	kill((pid_t)task.tgid, SIGKILL);
	waitpid((pid_t)task.tgid, NULL, 0);
	unlink(map);
	coll_asker_free(jit.asker);
	close(jit.session_fd);
	coll_jit_fini(&jit);
	cr_assert_eq(file_remove_tree(AT_FDCWD, dir, NULL), 0);
}

TestSuite(jit, .init = begin, .fini = end);

/* A sample of region @i. */
static void sample(unsigned i)
{
	coll_jit_region(&jit, &task, "//anon", CODE + i * 0x1000,
			CODE + i * 0x1000 + 0x800);
}

/* How often @word is in a file of the session. */
static unsigned count(const char *name, const char *word)
{
	char path[128], text[1024] = "";
	unsigned nr = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "r");
	if (!f)
		return 0;
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	for (const char *at = text; (at = strstr(at, word)); at++)
		nr++;
	return nr;
}

static unsigned named(const char *word)
{
	char name[32];

	snprintf(name, sizeof(name), "jit/%" PRIu32, task.tgid);
	return count(name, word);
}

Test(jit, names_are_fetched_when_the_process_ends)
{
	sample(1);
	coll_asker_finish(jit.asker);
	cr_expect_eq(named("name"), 0);
	coll_jit_end(&jit, task.tgid);
	coll_asker_finish(jit.asker);
	cr_expect_eq(named("name1"), 1);
	cr_expect_eq(named("name"), 1);
	cr_expect_eq(jit.by_id.used, 0);
}

Test(jit, names_are_fetched_though_nobody_has_looked_at_the_process_yet)
{
	sample(1);
	coll_jit_fetch(&jit);
	coll_asker_finish(jit.asker);
	cr_expect_eq(named("name1"), 1);
}

Test(jit, another_process_of_the_number_has_names_of_its_own)
{
	task.start_ns -= HOUR_NS;
	sample(1);
	coll_asker_finish(jit.asker);
	task.start_ns += HOUR_NS;
	sample(2);
	coll_jit_fetch(&jit);
	coll_asker_finish(jit.asker);
	cr_expect_eq(named("name2"), 1);
}

Test(jit, a_program_that_is_executed_has_names_while_those_of_the_one_before_are_read)
{
	sample(0);
	coll_asker_finish(jit.asker);
	coll_jit_end(&jit, task.tgid);
	sample(1);
	coll_asker_finish(jit.asker);
	sample(2);
	coll_jit_end(&jit, task.tgid);
	sample(3);
	coll_jit_fetch(&jit);
	coll_asker_finish(jit.asker);
	for (unsigned i = 0; i < 4; i++) {
		const char name[] = { 'n', 'a', 'm', 'e', (char)('0' + i), '\0' };

		cr_expect_geq(named(name), 1, "%s", name);
	}
	cr_expect_eq(jit.by_id.used, 1);
}

Test(jit, names_that_come_too_late_for_a_session_are_told_of)
{
	sample(1);
	coll_jit_fetch(&jit);
	coll_jit_move(&jit, jit.session_fd);
	coll_asker_finish(jit.asker);
	cr_expect_eq(named("name1"), 0);
	cr_expect_eq(count("stats/notes", "1 processes had names that could not be read"),
		     1);
	sample(1);
	coll_jit_fetch(&jit);
	coll_asker_finish(jit.asker);
	cr_expect_eq(named("name1"), 1);
}

Test(jit, names_of_a_process_that_ended_are_not_those_of_the_next_session)
{
	sample(1);
	coll_jit_end(&jit, task.tgid);
	cr_expect_eq(count("stats/notes", "could not be read"), 0);
	coll_jit_move(&jit, jit.session_fd);
	cr_expect_eq(count("stats/notes", "1 processes had names that could not be read"),
		     1);
	coll_asker_finish(jit.asker);
	cr_expect_eq(named("name"), 0);
	cr_expect_eq(jit.by_id.used, 0);
}

Test(jit, a_process_is_remembered_while_its_files_are_asked_how_code_is_unwound)
{
	const struct coll_jit_region region = { CODE, CODE + 0x800 };
	struct strbuf question = { 0 };
	uint64_t asked;

	sample(0);
	coll_asker_finish(jit.asker);
	cr_assert_eq(coll_jit_unwinding(&jit, task.tgid, &region, &question, &asked),
		     COLL_JIT_KNOWS);
	coll_jit_end(&jit, task.tgid);
	coll_asker_finish(jit.asker);
	cr_expect_eq(jit.by_id.used, 1);
	cr_expect_eq(jit.dirs.len, 1);
	coll_jit_knew(&jit, asked, COLL_JIT_TOLD_NOTHING);
	cr_expect_eq(jit.by_id.used, 0);
	cr_expect_eq(jit.dirs.len, 0);
	strbuf_fini(&question);
}
