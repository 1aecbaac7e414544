/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often a second READERS processes can open, read and close DIR/<each>/FILE, stat it,
 * or list DIR, from inside DIR, and what each time takes of the processor.
 *   usage: mount_rates DIR FILE open|read|stat|list SECONDS READERS PID <NAMES
 * NAMES: what <each> is, a line each.  "read" is "open" of a file that the kernel has not
 * in its cache.  SECONDS 0: each file, or the list by each reader, only once.
 * PID: who serves DIR, whose time is counted too.
 * Prints "times-a-second microseconds-of-CPU bytes-or-entries-a-time".
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char **paths;
static size_t nr;

static double seconds_of(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static size_t read_all(const char *path, bool cached)
{
	static char buf[128 << 10];
	int fd = open(path, O_RDONLY);
	size_t all = 0;
	ssize_t got;

	if (fd < 0 || (!cached && posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED)))
		die(path);
	while ((got = read(fd, buf, sizeof(buf))) > 0)
		all += (size_t)got;
	close(fd);
	return all;
}

static size_t open_one(const char *path)
{
	return read_all(path, true);
}

static size_t read_one(const char *path)
{
	return read_all(path, false);
}

static size_t stat_one(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		die(path);
	return (size_t)st.st_size;
}

static size_t list_one(const char *dir)
{
	DIR *d = opendir(dir);
	size_t n = 0;

	if (!d)
		die(dir);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static const struct what {
	const char *name;
	size_t (*one)(const char *path);
} whats[] = { { "open", open_one },
	      { "read", read_one },
	      { "stat", stat_one },
	      { "list", list_one } };
enum { NR_WHATS = sizeof(whats) / sizeof(whats[0]) };

/* The names come from standard input: listing DIR would make the kernel know it. */
static void read_paths(const char *file)
{
	char name[256];

	while (scanf("%255s", name) == 1) {
		paths = realloc(paths, (nr + 1) * sizeof(*paths));
		if (!paths || asprintf(&paths[nr++], "%s/%s", name, file) < 0)
			die("out of memory");
	}
}

struct result {
	size_t done, bytes;
};

/* Reader number @me of @all. */
static void run(const struct what *w, double seconds, size_t me, size_t all,
		struct result *out)
{
	double end = seconds_of(CLOCK_MONOTONIC) + seconds;
	bool lists = w->one == list_one;
	size_t step = seconds > 0 ? 1 : all;

	do {
		for (size_t i = seconds > 0 ? 0 : me; i < nr; i += lists ? nr : step) {
			out->bytes += w->one(lists ? "." : paths[i]);
			out->done++;
		}
	} while (seconds_of(CLOCK_MONOTONIC) < end);
}

static double cpu_of_readers(void)
{
	struct rusage r;

	getrusage(RUSAGE_CHILDREN, &r);
	return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
	       (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
}

/* All begin when the pipe is closed.  Returns how long they took. */
static double run_all(const struct what *w, double seconds, size_t readers,
		      struct result *results)
{
	double begun;
	int gate[2];
	char byte;

	if (pipe(gate))
		die("pipe");
	for (size_t i = 0; i < readers; i++) {
		pid_t child = fork();

		if (child < 0)
			die("fork");
		if (child)
			continue;
		close(gate[1]);
		if (read(gate[0], &byte, 1) == 0)
			run(w, seconds, i, readers, &results[i]);
		_exit(0);
	}
	close(gate[0]);
	begun = seconds_of(CLOCK_MONOTONIC);
	close(gate[1]);
	while (wait(NULL) > 0)
		;
	return seconds_of(CLOCK_MONOTONIC) - begun;
}

int main(int argc, char **argv)
{
	struct result *results, sum = { 0 };
	const struct what *w = whats;
	double served, took;
	clockid_t server;
	size_t readers;

	if (argc != 7) {
		fprintf(stderr, "usage: mount_rates DIR FILE open|read|stat|list SECONDS "
				"READERS PID <NAMES\n");
		return 2;
	}
	while (w < whats + NR_WHATS - 1 && strcmp(w->name, argv[3]) != 0)
		w++;
	readers = strtoul(argv[5], NULL, 10);
	if (clock_getcpuclockid((pid_t)strtol(argv[6], NULL, 10), &server))
		die(argv[6]);
	read_paths(argv[2]);
	if (chdir(argv[1]))
		die(argv[1]);
	results = mmap(NULL, readers * sizeof(*results), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (results == MAP_FAILED)
		die("mmap");
	served = seconds_of(server);
	took = run_all(w, strtod(argv[4], NULL), readers, results);
	served = seconds_of(server) - served;
	for (size_t i = 0; i < readers; i++) {
		sum.done += results[i].done;
		sum.bytes += results[i].bytes;
	}
	if (!sum.done)
		die("nothing was done");
	printf("%.0f %.2f %zu\n", (double)sum.done / took,
	       1e6 * (served + cpu_of_readers()) / (double)sum.done,
	       sum.bytes / sum.done);
	return 0;
}
