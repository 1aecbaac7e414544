/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "collector/daemon/seal.h"
#include "libspec/sample/sample_write.h"
#include "tests/unit/collector/fake_source.h"

/*
 * Every call that writes, makes, grows or renames fails once, and for good: a collector
 * goes on, and what it says that it stored is in its files, no more and no less.
 */
static bool armed, for_good;
static unsigned long calls, fail_at;
static int fail_code;

static bool fault(void)
{
	if (!armed)
		return false;
	calls++;
	if (calls != fail_at && !(for_good && fail_at && calls > fail_at))
		return false;
	errno = fail_code;
	return true;
}

#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

int openat64(int dir, const char *path, int flags, ...)
{
	mode_t mode;
	va_list ap;

	va_start(ap, flags);
	mode = va_arg(ap, mode_t);
	va_end(ap);
	if (flags & O_CREAT && fault())
		return -1;
	return NEXT(openat64)(dir, path, flags, mode);
}

ssize_t write(int fd, const void *data, size_t len)
{
	return fault() ? -1 : NEXT(write)(fd, data, len);
}

int fallocate64(int fd, int mode, off64_t off, off64_t len)
{
	return fault() ? -1 : NEXT(fallocate64)(fd, mode, off, len);
}

int posix_fallocate64(int fd, off64_t off, off64_t len)
{
	return fault() ? fail_code : NEXT(posix_fallocate64)(fd, off, len);
}

int ftruncate64(int fd, off64_t len)
{
	return fault() ? -1 : NEXT(ftruncate64)(fd, len);
}

int renameat(int a, const char *from, int b, const char *to)
{
	return fault() ? -1 : NEXT(renameat)(a, from, b, to);
}

int renameat2(int a, const char *from, int b, const char *to, unsigned flags)
{
	return fault() ? -1 : NEXT(renameat2)(a, from, b, to, flags);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
	return fault() ? -1 : NEXT(mkdirat)(dir, path, mode);
}

int mkdir(const char *path, mode_t mode)
{
	return fault() ? -1 : NEXT(mkdir)(path, mode);
}

int linkat(int a, const char *from, int b, const char *to, int flags)
{
	return fault() ? -1 : NEXT(linkat)(a, from, b, to, flags);
}

ssize_t pwrite64(int fd, const void *data, size_t len, off64_t off)
{
	return fault() ? -1 : NEXT(pwrite64)(fd, data, len, off);
}

int fsync(int fd)
{
	return fault() ? -1 : NEXT(fsync)(fd);
}

int msync(void *at, size_t len, int flags)
{
	return fault() ? -1 : NEXT(msync)(at, len, flags);
}

/* ---- what a collector does, and what came of it */

struct outcome {
	struct fake_count count;
	unsigned long calls;
	uint64_t taken, stored, losses, stacks, lost_stacks, refused;
	bool opened, failed; /* it could begin; it said that something went wrong */
	char why[512];
};

static char dir[64];
static struct outcome *out;

static void setup(void)
{
	out = mmap(NULL, sizeof(*out), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		   -1, 0);
	cr_assert_neq(out, MAP_FAILED);
	snprintf(dir, sizeof(dir), "%s/opfs-faults.XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	cr_assert(mkdtemp(dir));
}

static void teardown(void)
{
	file_remove_tree(AT_FDCWD, dir, NULL);
}

TestSuite(faults, .init = setup, .fini = teardown, .timeout = 1000);

static void add(const struct spec_stats *s)
{
	out->taken += s->value[SPEC_STAT_TAKEN];
	out->stored += s->value[SPEC_STAT_STORED];
	out->losses += spec_stats_lost(s);
	out->stacks += s->value[SPEC_STAT_STACKS];
	out->lost_stacks += s->value[SPEC_STAT_LOST_STACKFILE];
	out->refused += s->value[SPEC_STAT_LOST_WRITE_BACK];
}

/* Closes a session; what it turned out to have lost is of the run's figures. */
static void seal(struct coll_engine *e, const struct coll_session_old *old)
{
	struct coll_figures figures = { 0 };
	struct spec_stats told = { 0 };
	struct err err = { 0 };
	uint64_t lost = 0, lost_stacks = 0;

	spec_stats_read(old->fd, &told, NULL);
	out->failed |= coll_seal(e->session.samples_fd, old->name.data, &figures, &lost,
				 &err) != 0;
	if (figures.known &&
	    figures.stats.value[SPEC_STAT_STACKS] < told.value[SPEC_STAT_STACKS])
		lost_stacks = told.value[SPEC_STAT_STACKS] -
			      figures.stats.value[SPEC_STAT_STACKS];
	e->past.value[SPEC_STAT_STORED] -= lost;
	e->past.value[SPEC_STAT_LOST_WRITE_BACK] += lost;
	e->past.value[SPEC_STAT_STACKS] -= lost_stacks;
	e->past.value[SPEC_STAT_LOST_STACKFILE] += lost_stacks;
	out->failed |= lost || lost_stacks;
}

static void work(struct fake *f)
{
	struct coll_engine *e = &f->engine;

	for (int round = 0; round < 10; round++) {
		struct coll_session_old old = { .fd = -1 };
		struct err err = { 0 };

		coll_engine_round(e);
		if (round % 2)
			coll_engine_tell(e, false);
		if (round == 4 || round == 7) {
			coll_engine_settle(e);
			out->failed |= spec_stats_sync(e->session.fd, &err) != 0;
		}
		out->failed |= coll_collect_broken(&e->collect) || e->untold;
		if (round == 3 || round == 5)
			out->failed |= coll_engine_rotate(e, round == 3 ? NULL : "saved",
							  &old, &err) != 0;
		if (old.name.len)
			seal(e, &old);
		coll_session_old_fini(&old);
	}
	coll_engine_stop(e);
	coll_engine_settle(e);
	coll_engine_make_arcs(e);
	coll_engine_tell(e, true);
	out->failed |= coll_collect_broken(&e->collect) || e->untold;
}

static void discard(enum log_level level, const char *text)
{
	(void)level;
	(void)text;
}

_Noreturn static void live(void)
{
	struct err err = { 0 };
	struct fake f;

	log_set_sink(discard);
	armed = true;
	if (fake_open(&f, dir, &out->count, 7, true, &err)) {
		armed = false;
		snprintf(out->why, sizeof(out->why), "%s", err.msg);
		_exit(0);
	}
	out->opened = true;
	work(&f);
	armed = false;
	add(&f.engine.past);
	add(&f.engine.collect.stats);
	out->calls = calls;
	_exit(0);
}

static void run(unsigned long at, int code)
{
	int status;
	pid_t pid;

	*out = (struct outcome){ 0 };
	cr_assert_eq(file_remove_tree(AT_FDCWD, dir, NULL), 0);
	cr_assert_eq(mkdir(dir, 0755), 0);
	fail_at = at;
	fail_code = code;
	pid = fork();
	if (!pid)
		live();
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status) && !WEXITSTATUS(status), "call %lu: it died: %x", at,
		  (unsigned)status);
}

static void check(unsigned long at, int code)
{
	struct err err = { 0 };
	struct fake_sum sum;

	if (!out->opened) {
		cr_expect(*out->why, "call %lu: no reason", at);
		return;
	}
	cr_assert_eq(fake_sum(dir, &sum, &err), 0, "call %lu (%s): %s", at,
		     strerror(code), err.msg);
	cr_expect_eq(out->taken, out->count.done);
	cr_expect_eq(out->taken, out->stored + out->losses);
	/* a disk that never says again that it has something is not believed */
	cr_expect(for_good ? sum.in_files >= out->stored : sum.in_files == out->stored,
		  "call %lu (%s): %lu in files, %lu were stored", at, strerror(code),
		  (unsigned long)sum.in_files, (unsigned long)out->stored);
	cr_expect(for_good ? sum.stacks >= out->stacks : sum.stacks == out->stacks,
		  "call %lu (%s): %lu stacks in files, %lu were stored", at,
		  strerror(code), (unsigned long)sum.stacks, (unsigned long)out->stacks);
	/* samples that the disk refused may have had a stack */
	cr_expect(out->stacks + out->lost_stacks >= out->stored &&
			  out->stacks + out->lost_stacks <= out->stored + out->refused,
		  "call %lu (%s): %lu stacks stored, %lu lost, of %lu samples", at,
		  strerror(code), (unsigned long)out->stacks,
		  (unsigned long)out->lost_stacks, (unsigned long)out->stored);
	cr_expect(out->refused || !sum.excess, "call %lu: stacks without samples", at);
	cr_expect((!out->losses && !out->lost_stacks) || out->failed,
		  "call %lu: lost and not told", at);
	if (out->failed)
		return;
	cr_expect_eq(sum.taken, out->taken, "call %lu (%s): the figures are others", at,
		     strerror(code));
}

static void fail_each(unsigned long step)
{
	static const int codes[] = { ENOSPC, EIO, EDQUOT };
	unsigned long all;

	run(0, 0);
	cr_assert(out->opened);
	cr_assert_not(out->failed);
	check(0, 0);
	all = out->calls;
	cr_assert_gt(all, 100);
	for (unsigned long at = 1; at <= all; at += step) {
		int code = codes[at % 3];

		run(at, code);
		check(at, code);
	}
	cr_log_info("%lu calls", all);
}

/* OPFS_STEP=1: every call, else some of them, others at each place. */
static unsigned long step_or(unsigned long step)
{
	const char *text = getenv("OPFS_STEP");

	return text ? strtoul(text, NULL, 10) : step;
}

Test(faults, of_one_call_lose_at_most_what_is_told)
{
	fail_each(step_or(17));
}

Test(faults, that_stay_lose_at_most_what_is_told)
{
	for_good = true;
	fail_each(step_or(59));
}
