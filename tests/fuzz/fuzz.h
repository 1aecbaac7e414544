/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

/* What fuzzers share. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the fuzzer with a message that names the line and what is not so there. */
#define require(what) ((what) ? (void)0 : fuzz_fail(__FILE__, __LINE__, #what))

static inline _Noreturn void fuzz_fail(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
	abort();
}

static char fuzz_dir_path[] = "/dev/shm/opfs-fuzz.XXXXXX";

static inline void fuzz_dir_remove(void)
{
	file_remove_tree(AT_FDCWD, fuzz_dir_path, NULL);
}

/* A new directory, in memory if possible, which goes at exit. */
static inline int fuzz_dir_open(void)
{
	static const char other[] = "/tmp/opfs-fuz.XXXXXX";
	int fd;

	if (!mkdtemp(fuzz_dir_path)) {
		memcpy(fuzz_dir_path, other, sizeof(other));
		require(mkdtemp(fuzz_dir_path));
	}
	fd = open(fuzz_dir_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	require(fd >= 0);
	atexit(fuzz_dir_remove);
	return fd;
}

#endif
