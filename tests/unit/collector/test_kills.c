/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/dirlist.h"
#include "base/file.h"
#include "base/log.h"
#include "collector/daemon/seal.h"
#include "libspec/session/manifest.h"
#include "tests/unit/collector/fake_source.h"

/*
 * A collector that counts, writes figures, rotates and writes back is killed at random
 * points.  OPFS_KILLS says how often, OPFS_SEED makes it other points.
 */
enum { KILLS = 40, LIVES = 10 /* in one directory */, MAX_LIFE_US = 40000 };

/* In memory, if possible: more happens before each kill. */
static char dir[64];
static struct fake_count *count;

static unsigned long setting(const char *name, unsigned long other)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 10) : other;
}

static void setup(void)
{
	count = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(count, MAP_FAILED);
	snprintf(dir, sizeof(dir), "%s/opfs-kills.XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	cr_assert(mkdtemp(dir));
	log_set_level(LOG_ERROR);
}

static void teardown(void)
{
	file_remove_tree(AT_FDCWD, dir, NULL);
}

TestSuite(kills, .init = setup, .fini = teardown, .timeout = 1000);

_Noreturn static void live(uint64_t seed)
{
	struct err err = { 0 };
	struct fake f;

	if (fake_open(&f, dir, count, seed, true, &err)) {
		dprintf(STDERR_FILENO, "%s\n", err.msg);
		_exit(3);
	}
	for (;;) {
		struct coll_session_old old = { .fd = -1 };
		uint64_t r = fake_random(&f);

		if (coll_engine_round(&f.engine) < 0)
			_exit(4);
		if (!(r & 3))
			coll_engine_tell(&f.engine, false);
		if (!(r & 0x70)) {
			if (coll_engine_rotate(&f.engine, NULL, &old, &err))
				_exit(5);
			coll_session_old_fini(&old);
		}
		if (!(r & 0xf00)) {
			coll_engine_checkpoint(&f.engine);
			coll_engine_write_back(&f.engine, clock_mono_ns() + 1000000);
		}
	}
}

static void nap(long us)
{
	nanosleep(&(struct timespec){ .tv_nsec = us * 1000 }, NULL);
}

static void live_and_die(unsigned long seed)
{
	pid_t pid = fork();
	int status;

	cr_assert_geq(pid, 0);
	if (!pid)
		live(seed * 0x9e3779b97f4a7c15ULL);
	nap((long)(seed * 7919 % MAX_LIFE_US));
	kill(pid, SIGKILL);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "it ended: %d",
		  WEXITSTATUS(status));
}

/* What the next collector makes of it: every session whole, with a manifest. */
static void seal_all(uint64_t in_files)
{
	struct names names = { 0 };
	struct err err = { 0 };
	struct fake_sum sum;
	struct fake f;
	uint64_t lost;
	int fd, rc;

	cr_assert_eq(fake_open(&f, dir, count, 1, true, &err), 0, "%s", err.msg);
	fd = f.engine.session.samples_fd;
	cr_assert_eq(dirlist_read(fd, &names), 0);
	for (size_t i = 0; i < names.len; i++) {
		if (names.data[i][0] == '.' || !strcmp(names.data[i], "current"))
			continue;
		if (!coll_seal_due(fd, names.data[i]))
			continue;
		rc = coll_seal(fd, names.data[i], &(struct coll_figures){ 0 }, &lost,
			       &err);
		cr_assert_eq(rc, 0, "%s", err.msg);
		cr_expect_eq(lost, 0);
	}
	names_fini(&names);
	cr_assert_eq(fake_sum(dir, &sum, &err), 0, "%s", err.msg);
	cr_expect_eq(sum.in_files, in_files);
	cr_expect_eq(sum.stored, sum.in_files);
	cr_expect_eq(sum.taken, sum.stored + sum.losses);
	cr_expect_eq(sum.told_stacks, sum.stacks);
	cr_expect_eq(sum.stored, sum.told_stacks + sum.lost_stacks,
		     "%lu samples, %lu with and %lu without a stack",
		     (unsigned long)sum.stored, (unsigned long)sum.told_stacks,
		     (unsigned long)sum.lost_stacks);
	f.engine.source = NULL;
	fake_close(&f);
}

Test(kills, lose_nothing_that_was_drained_and_raise_no_count)
{
	unsigned long kills = setting("OPFS_KILLS", KILLS),
		      seed = setting("OPFS_SEED", 1);
	unsigned sessions = 0;
	uint64_t samples = 0;

	for (unsigned long i = 0; i < kills; i++) {
		struct err err = { 0 };
		struct fake_sum sum;

		live_and_die(seed + i + 1);
		cr_assert_eq(fake_sum(dir, &sum, &err), 0, "kill %lu: %s", i, err.msg);
		cr_assert_geq(sum.in_files, count->done,
			      "kill %lu: %lu in files, %lu were given", i,
			      (unsigned long)sum.in_files, (unsigned long)count->done);
		cr_assert_leq(sum.in_files, count->begun, "kill %lu: %lu in files of %lu",
			      i, (unsigned long)sum.in_files,
			      (unsigned long)count->begun);
		cr_assert_leq(sum.stored, sum.in_files);
		/* the one that was being counted has no stack yet, in each life */
		cr_assert_eq(sum.excess, 0, "kill %lu: more stacks than samples", i);
		cr_assert_leq(sum.stacks, sum.in_files);
		cr_assert_geq(sum.stacks + 1 + i % LIVES, sum.in_files,
			      "kill %lu: %lu stacks of %lu samples", i,
			      (unsigned long)sum.stacks, (unsigned long)sum.in_files);
		if ((i + 1) % LIVES)
			continue;
		sessions += sum.sessions;
		samples += sum.in_files;
		seal_all(sum.in_files);
		cr_assert_eq(file_remove_tree(AT_FDCWD, dir, &err), 0, "%s", err.msg);
		cr_assert_eq(mkdir(dir, 0755), 0);
		count->begun = count->done = 0;
	}
	cr_log_info("%lu kills, %u sessions, %lu samples", kills, sessions,
		    (unsigned long)samples);
	cr_expect(kills < LIVES || samples);
}
