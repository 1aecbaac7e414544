/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flood USER CPU files DIR N [SAMPLES]: executes code in N files in DIR, which it makes
 *	if they are not there, in each until so many samples (1) were taken.
 * flood USER CPU mtimes FILE N [SAMPLES]: does so in FILE, which craft made, N times, and
 *	changes its mtime in between.
 * flood USER CPU chains DIR N [SAMPLES]: executes code N times below callers, each of
 *	which is in a file of its own, in DIR.
 *
 * It is this user, on this CPU.  USER is a number; USER:SUB is the user SUB of a user
 * namespace that USER made, which the others know by 100000 + SUB.  N is 0: goes on until
 * it is killed, with at most LAST files at a time.  Prints how many samples there were.
 */
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "visit.h"

/* TRIES: so often is code executed for a sample that does not come: nobody samples. */
enum { ROUNDS = 100000, TRIES = 500, LAST = 512, CALLERS = 125 };

typedef void (*spin_fn)(unsigned long rounds);

static unsigned long times, samples = 1;
static int taken_fd;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* Samples that were taken on this CPU. */
static unsigned long taken(void)
{
	char text[32] = "";

	if (taken_fd < 0 || pread(taken_fd, text, sizeof(text) - 1, 0) < 0)
		return 0;
	return strtoul(text, NULL, 10);
}

static void visit(spin_fn spin)
{
	unsigned long want = taken() + samples;

	for (unsigned long i = 0; i < TRIES * samples && taken() < want; i++)
		spin(ROUNDS);
}

/* ---- files */

static void *map(const char *path, int fd)
{
	void *at;

	if (fd < 0)
		fail(path);
	at = mmap(NULL, VISIT_PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		fail("mmap");
	close(fd);
	return at;
}

static int create(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	char page[VISIT_PAGE] = "";

	memcpy(page + VISIT_OFF, __start_visit_code, visit_size());
	if (fd < 0 || write(fd, page, sizeof(page)) != sizeof(page))
		fail(path);
	return fd;
}

/* Maps a file of ours; those that an earlier call of the program made are used again. */
static void *map_nr(const char *dir, unsigned long nr)
{
	char path[PATH_MAX];
	int fd = -1;

	snprintf(path, sizeof(path), "%s/%lu", dir, nr % LAST);
	if (nr < LAST)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	else if (unlink(path))
		fail(path);
	return map(path, fd < 0 ? create(path) : fd);
}

static spin_fn code_in(void *at)
{
	spin_fn spin;

	*(void **)&spin = (char *)at + VISIT_OFF;
	return spin;
}

static void visit_files(const char *dir)
{
	for (unsigned long i = 0; i < times; i++) {
		void *at = map_nr(dir, i);

		visit(code_in(at));
		munmap(at, VISIT_PAGE);
	}
}

static void visit_mtimes(const char *path)
{
	void *at = map(path, open(path, O_RDONLY | O_CLOEXEC));

	for (unsigned long i = 0; i < times; i++) {
		struct timespec both[2] = { { .tv_nsec = UTIME_OMIT },
					    { .tv_sec = (time_t)i,
					      .tv_nsec = getpid() } };

		visit(code_in(at));
		if (utimensat(AT_FDCWD, path, both, 0))
			fail(path);
	}
}

/* ---- callers */

/* As a frame pointer finds it. */
struct frame {
	const struct frame *next;
	uintptr_t pc;
};

/* Executes code as if our own caller had been called by @callers. */
__attribute__((noinline, noclone)) static void visit_below(const struct frame *callers)
{
	volatile struct frame *own = __builtin_frame_address(0);
	const struct frame *next = own->next;

	own->next = callers;
	visit(visit_spin);
	own->next = next;
}

static void visit_chains(const char *dir)
{
	struct frame callers[CALLERS]; /* further up the stack than what it calls */
	void *at[CALLERS];

	for (unsigned long i = 0; i < times; i++) {
		for (unsigned long n = 0; n < CALLERS; n++) {
			at[n] = map_nr(dir, i * CALLERS + n);
			callers[n].next = n + 1 < CALLERS ? &callers[n + 1] : NULL;
			callers[n].pc = (uintptr_t)at[n] + VISIT_OFF;
		}
		visit_below(callers);
		for (unsigned long n = 0; n < CALLERS; n++)
			munmap(at[n], VISIT_PAGE);
	}
}

/* ---- users */

static void map_users(pid_t pid)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/uid_map", (int)pid);
	f = fopen(path, "w");
	if (!f || fprintf(f, "0 100000 65536\n") < 0 || fclose(f))
		fail(path);
	exit(0);
}

/* Enters a new user namespace; a process that is root still says whom its users are. */
static void new_namespace(unsigned user)
{
	pid_t pid = getpid(), helper;
	int ready[2], status;
	char byte;

	if (pipe(ready))
		fail("pipe");
	helper = fork();
	if (!helper) {
		close(ready[1]);
		if (read(ready[0], &byte, 1) == 1)
			map_users(pid);
		exit(1);
	}
	if (setresuid(user, user, user) || unshare(CLONE_NEWUSER))
		fail("unshare");
	if (write(ready[1], "", 1) != 1 || waitpid(helper, &status, 0) < 0 || status)
		exit(1);
	close(ready[0]);
	close(ready[1]);
}

static void become(const char *name)
{
	char *sub;
	unsigned user = (unsigned)strtoul(name, &sub, 10);

	if (*sub) {
		new_namespace(user);
		user = (unsigned)strtoul(sub + 1, NULL, 10);
	}
	if (setresuid(user, user, user))
		fail("setresuid");
}

static void bind_to(unsigned cpu)
{
	char path[64];
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		fail("sched_setaffinity");
	snprintf(path, sizeof(path), "/dev/oprofile/stats/cpu%u/received", cpu);
	taken_fd = open(path, O_RDONLY | O_CLOEXEC);
}

static const struct {
	const char *name;
	void (*run)(const char *path);
} modes[] = {
	{ "files", visit_files },
	{ "mtimes", visit_mtimes },
	{ "chains", visit_chains },
};

int main(int argc, char **argv)
{
	unsigned long before;

	if (argc < 6)
		return 2;
	times = strtoul(argv[5], NULL, 10);
	if (!times)
		times = ULONG_MAX;
	if (argc > 6)
		samples = strtoul(argv[6], NULL, 10);
	bind_to((unsigned)atoi(argv[2]));
	become(argv[1]);
	before = taken();
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(modes[i].name, argv[3]))
			continue;
		modes[i].run(argv[4]);
		printf("%lu\n", taken() - before);
		return 0;
	}
	return 2;
}
