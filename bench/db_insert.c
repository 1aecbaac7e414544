/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * links: libspec base
 * What an insert into a sample file costs: one JSON line a case, in CPU time.
 *	db_insert [DIRECTORY]     where the files are made, default a new one in /tmp
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "libspec/sample/sample_write.h"

enum { MILLION = 1000000, HOT_KEYS = 1000, HOT_ADDS = 50 * MILLION, FILES = 2000 };

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t random_u64(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* File offsets of a 64 MiB binary. */
static void random_keys(uint64_t *keys, size_t nr)
{
	uint64_t state = 88172645463325252u;

	for (size_t i = 0; i < nr; i++)
		keys[i] = random_u64(&state) & ((64u << 20) - 1);
}

static const struct spec_sample_header header = { .cpu_type = 4, .count = 1 };

/* Adds keys[0..nr) in turn until @adds were added. */
static int run(int dir, const char *name, const uint64_t *keys, size_t nr, size_t adds,
	       struct err *err)
{
	struct spec_sample_writer *w = NULL;
	uint64_t start = cpu_ns(), ns;
	int rc = spec_sample_writer_open(dir, name, &header, &w, err);

	for (size_t done = 0, i = 0; !rc && done < adds; done++) {
		rc = spec_sample_add(w, keys[i], 1, err);
		if (++i == nr)
			i = 0;
	}
	ns = cpu_ns() - start;
	spec_sample_writer_free(w);
	if (!rc)
		printf("{\"bench\":\"db_insert\",\"case\":\"%s\",\"inserts\":%zu,"
		       "\"ns_per_insert\":%.2f}\n",
		       name, adds, (double)ns / (double)adds);
	return rc;
}

/* Opens (or makes) and closes many small files. */
static int run_open(int dir, const char *name, struct err *err)
{
	uint64_t start = cpu_ns();

	for (int i = 0; i < FILES; i++) {
		struct spec_sample_writer *w = NULL;
		char path[64];
		int rc;

		snprintf(path, sizeof(path),
			 "{root}/f%d/{dep}/{root}/f%d/E.1.0.all.all.all", i, i);
		rc = spec_sample_writer_open(dir, path, &header, &w, err);
		if (!rc)
			rc = spec_sample_add(w, (uint64_t)i, 1, err);
		spec_sample_writer_free(w);
		if (rc)
			return rc;
	}
	printf("{\"bench\":\"db_insert\",\"case\":\"%s\",\"files\":%d,\"us_per_file\":%."
	       "2f}\n",
	       name, FILES, (double)(cpu_ns() - start) / FILES / 1000);
	return 0;
}

static int run_all(int dir, uint64_t *keys, struct err *err)
{
	int rc;

	random_keys(keys, MILLION);
	rc = run(dir, "hot-1000", keys, HOT_KEYS, HOT_ADDS, err);
	if (!rc)
		rc = run(dir, "random-1000000", keys, MILLION, MILLION, err);
	for (size_t i = 0; i < MILLION; i++)
		keys[i] = i;
	if (!rc)
		rc = run(dir, "consecutive-1000000", keys, MILLION, MILLION, err);
	if (!rc)
		rc = run_open(dir, "make-file", err);
	if (!rc)
		rc = run_open(dir, "open-file", err);
	return rc;
}

int main(int argc, char **argv)
{
	char dir[4096];
	struct err err = { 0 };
	CLEANUP(free_ptr) uint64_t *keys = calloc(MILLION, sizeof(*keys));
	CLEANUP(close_fd) int fd = -1;
	int rc;

	snprintf(dir, sizeof(dir), "%s/db_insert.XXXXXX", argc > 1 ? argv[1] : "/tmp");
	if (!keys || !mkdtemp(dir)) {
		fprintf(stderr, "db_insert: %s: %s\n", dir, strerror(errno));
		return 1;
	}
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rc = fd < 0 ? err_errno(&err, -errno, "%s", dir) : run_all(fd, keys, &err);
	if (rc)
		fprintf(stderr, "db_insert: %s\n", err.msg);
	file_remove_tree(AT_FDCWD, dir, NULL);
	return rc ? 1 : 0;
}
