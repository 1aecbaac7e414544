/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: libspec base */
/*
 * An abi and a sample file of any bytes, with a NUL between them: the abi is refused, or
 * the file is, or its nodes are all read, block by block and one by one.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "libspec/sample/sample_read.h"
#include "tests/fuzz/fuzz.h"

static void read_as(const char *path, const struct spec_abi *abi)
{
	CLEANUP(spec_sample_fini) struct spec_sample_reader r = { 0 };
	struct spec_sample_node node;
	uint64_t total = 0, sum = 0;
	struct err err = { 0 };

	if (spec_sample_open_as(AT_FDCWD, path, abi, &r, &err)) {
		require(err.code < 0 && !strncmp(err.msg, path, strlen(path)));
		return;
	}
	require(!spec_sample_total(&r, &total, &err));
	for (uint32_t i = 0; i < r.nr_nodes; i++) {
		require(spec_sample_read(&r, i, &node, 1, &err) == 1);
		sum += node.value;
	}
	require(sum == total);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = size ? memchr(data, '\0', size) : NULL;
	size_t len = nul ? (size_t)(nul - data) : size;
	struct spec_abi abi;
	struct err err = { 0 };
	char path[64];

	if (spec_abi_parse((const char *)data, len, &abi, &err)) {
		require(err.code < 0 && !strncmp(err.msg, SPEC_ABI ": ", 5));
		return 0;
	}
	CLEANUP(close_fd) int fd = memfd_create("f", MFD_CLOEXEC);
	require(fd >= 0);
	if (nul)
		require(!file_write_all(fd, nul + 1, size - len - 1));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_as(path, &abi);
	read_as(path, NULL);
	return 0;
}
