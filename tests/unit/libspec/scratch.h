/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_LIBSPEC_SCRATCH_H
#define TESTS_LIBSPEC_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

#include "libspec/sample/sample_format.h"

/* A directory of the test's own, removed at its end. */
struct scratch {
	char path[64];
	int fd;
};

struct scratch scratch_new(void);
void scratch_fini(struct scratch *s);
/* Writes a file, making its directories. */
void scratch_write(const struct scratch *s, const char *path, const void *data,
		   size_t len);
/* Reads a whole file; heap; @len may be NULL. */
char *scratch_read(const struct scratch *s, const char *path, size_t *len);

/* What the format says of a file's bytes, checked without libspec's reader or writer. */
struct scratch_sums {
	uint32_t size, used;
	uint64_t total;
	size_t unreachable; /* nodes in use that the table does not lead to */
	size_t wrong;       /* table slots or chains that lead where they must not */
};
struct scratch_sums scratch_sums(const void *data, size_t len);

#endif
