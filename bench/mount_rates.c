/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often a second the entries of DIR can be listed, and DIR/<each>/FILE stat'ed, or
 * opened, read and closed, from inside DIR.   usage: mount_rates DIR FILE SECONDS
 * Prints "opens/s stats/s entries/s bytes-a-file".
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char **paths;
static size_t nr;

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void collect(const char *file)
{
	DIR *d = opendir(".");
	struct dirent *e;

	if (!d)
		die(".");
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		paths = realloc(paths, (nr + 1) * sizeof(*paths));
		if (!paths || asprintf(&paths[nr++], "%s/%s", e->d_name, file) < 0)
			die("out of memory");
	}
	closedir(d);
}

static size_t read_one(const char *path)
{
	char buf[64 << 10];
	int fd = open(path, O_RDONLY);
	size_t all = 0;
	ssize_t got;

	if (fd < 0)
		die(path);
	while ((got = read(fd, buf, sizeof(buf))) > 0)
		all += (size_t)got;
	close(fd);
	return all;
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

/* What is done a second, doing it to all paths in turn. */
static double rate(size_t (*one)(const char *path), double seconds)
{
	double begin = now(), end;
	unsigned long done = 0;

	do {
		for (size_t i = 0; i < nr; i++)
			one(paths[i]);
		done += nr;
		end = now();
	} while (end - begin < seconds);
	return (double)done / (end - begin);
}

static double list_rate(const char *dir, double seconds)
{
	double begin = now(), end;
	unsigned long done = 0;

	do {
		done += list_one(dir);
		end = now();
	} while (end - begin < seconds);
	return (double)done / (end - begin);
}

int main(int argc, char **argv)
{
	double seconds, opens, stats;
	size_t bytes = 0;

	if (argc != 4) {
		fprintf(stderr, "usage: mount_rates DIR FILE SECONDS\n");
		return 2;
	}
	seconds = strtod(argv[3], NULL);
	if (chdir(argv[1]))
		die(argv[1]);
	collect(argv[2]);
	for (size_t i = 0; i < nr; i++)
		bytes += read_one(paths[i]);
	opens = rate(read_one, seconds);
	stats = rate(stat_one, seconds);
	printf("%.0f %.0f %.0f %zu\n", opens, stats, list_rate(".", seconds),
	       nr ? bytes / nr : 0);
	return 0;
}
