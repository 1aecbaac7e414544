/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: libspec base */
/*
 * A sample file of any bytes: readers and writer refuse it, or read it and can go on in
 * it without losing a sample.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "libspec/sample/sample_read.h"
#include "libspec/sample/sample_write.h"
#include "tests/fuzz/fuzz.h"

enum { ADDS = 300 };

static int dir_fd = -1;

static void make_dir(void)
{
	if (dir_fd >= 0)
		return;
	dir_fd = fuzz_dir_open();
}

/*
 * The total, through both ways of reading; false if the file is refused, or of another
 * kind of machine, which is not added to.
 */
static bool read_total(uint64_t *total, struct spec_sample_header *header)
{
	CLEANUP(spec_sample_fini) struct spec_sample_reader r = { 0 };
	struct err err = { 0 };
	struct spec_sample_node node;
	uint64_t sum = 0;

	if (spec_sample_open(dir_fd, "f", &r, &err)) {
		require(err.code < 0 && !strncmp(err.msg, "f: ", 3));
		return false;
	}
	require(!spec_sample_total(&r, total, &err));
	for (uint32_t i = 0; i < r.nr_nodes; i++) {
		require(spec_sample_read(&r, i, &node, 1, &err) == 1);
		sum += node.value;
	}
	require(sum == *total);
	*header = r.header;
	return !r.foreign;
}

static void go_on(uint64_t total, const struct spec_sample_header *header)
{
	struct spec_sample_writer *w = NULL;
	struct spec_sample_header after;
	uint64_t sum = 0;

	require(!spec_sample_writer_open(dir_fd, "f", header, &w, NULL));
	for (uint64_t i = 0; i < ADDS; i++)
		require(!spec_sample_add(w, i % 7 ? i << 7 : i, 1, NULL));
	spec_sample_writer_free(w);
	require(read_total(&sum, &after) && sum == total + ADDS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct spec_sample_header header = { 0 };
	uint64_t total = 0;
	int fd;

	make_dir();
	fd = openat(dir_fd, "f", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	require(fd >= 0 && !file_write_all(fd, data, size));
	close(fd);
	if (read_total(&total, &header)) {
		go_on(total, &header);
	} else {
		struct spec_sample_writer *w = NULL;

		require(spec_sample_writer_open(dir_fd, "f", &header, &w, NULL) < 0);
	}
	return 0;
}
