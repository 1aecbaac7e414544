/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/sample/sample_read.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"

enum { OLD_VERSION = 0x12, BLOCK_NODES = 4096 };

/* What every file begins with. */
struct start {
	struct spec_sample_header header;
	struct spec_sample_descr descr;
};
_Static_assert(sizeof(struct start) == SPEC_SAMPLE_NODES_OFF, "nodes follow at 104");

static int check_header(const struct spec_sample_header *h, const char *path,
			struct err *err)
{
	if (memcmp(h->magic, SPEC_SAMPLE_MAGIC, sizeof(h->magic)) != 0)
		return err_set(err, -EBADMSG,
			       "%s: not a sample file: it does not begin with DAE", path);
	if (h->version == OLD_VERSION)
		return err_set(
			err, -EBADMSG,
			"%s: written by OProfile 0.9 (format 0x12); only format 0x13 "
			"of OProfile 1.x is read",
			path);
	if (h->version != SPEC_SAMPLE_VERSION)
		return err_set(err, -EBADMSG, "%s: format version 0x%x, expected 0x%x",
			       path, h->version, SPEC_SAMPLE_VERSION);
	return 0;
}

/* The length is asked after current_size was read: a live file only grows. */
static int check_length(int fd, const char *path, const struct spec_sample_descr *d,
			struct err *err)
{
	uint64_t need = SPEC_SAMPLE_NODES_OFF +
			(uint64_t)d->current_size * sizeof(struct spec_sample_node);
	struct stat st;

	if (d->current_size > d->size)
		return err_set(err, -EBADMSG,
			       "%s: damaged: %u of its %u slots are in use", path,
			       d->current_size, d->size);
	if (fstat(fd, &st))
		return err_errno(err, -errno, "%s", path);
	if ((uint64_t)st.st_size < need)
		return err_set(err, -EBADMSG,
			       "%s: cut short: %llu bytes, the samples need %llu", path,
			       (unsigned long long)st.st_size, (unsigned long long)need);
	return 0;
}

int spec_sample_check(int fd, const char *path, struct spec_sample_header *header,
		      struct spec_sample_descr *descr, struct err *err)
{
	struct start s;
	ssize_t n = file_pread_all(fd, &s, sizeof(s), 0);
	int rc;

	if (n < 0)
		return err_errno(err, (int)n, "%s", path);
	if ((size_t)n >= sizeof(s.header)) {
		rc = check_header(&s.header, path, err);
		if (rc)
			return rc;
	}
	if ((size_t)n < sizeof(s))
		return err_set(err, -EBADMSG,
			       "%s: cut short: %zd bytes, a header needs %zu", path, n,
			       sizeof(s));
	rc = check_length(fd, path, &s.descr, err);
	if (rc)
		return rc;
	*header = s.header;
	*descr = s.descr;
	return 0;
}

/*
 * The file, with a descriptor above those of standard input and output.
 * O_NONBLOCK: a named pipe without a writer must not hold us up.
 */
static int open_file(int dirfd, const char *path)
{
	int fd = file_open_within(dirfd, path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
	int high;

	if (fd > STDERR_FILENO || fd < 0)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (high < 0)
		high = -errno;
	close(fd);
	return high;
}

int spec_sample_open(int dirfd, const char *path, struct spec_sample_reader *out,
		     struct err *err)
{
	struct spec_sample_header header;
	struct spec_sample_descr descr;
	struct stat st;
	int rc;
	CLEANUP(close_fd) int fd = open_file(dirfd, path);

	if (fd < 0)
		return err_errno(err, fd, "%s", path);
	if (fstat(fd, &st))
		return err_errno(err, -errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EBADMSG, "%s: not a regular file", path);
	rc = spec_sample_check(fd, path, &header, &descr, err);
	if (rc)
		return rc;
	*out = (struct spec_sample_reader){
		.fd = take_fd(&fd),
		.nr_nodes = descr.current_size ? descr.current_size - 1 : 0,
		.nodes_off = SPEC_SAMPLE_NODES_OFF + sizeof(struct spec_sample_node),
		.header = header,
	};
	return 0;
}

void spec_sample_fini(struct spec_sample_reader *r)
{
	if (r->fd > 0)
		close(r->fd);
	*r = (struct spec_sample_reader){ 0 };
}

ssize_t spec_sample_read(const struct spec_sample_reader *r, uint32_t first,
			 struct spec_sample_node *nodes, uint32_t max, struct err *err)
{
	size_t want;
	ssize_t n;

	if (first >= r->nr_nodes)
		return 0;
	if (max > r->nr_nodes - first)
		max = r->nr_nodes - first;
	want = (size_t)max * sizeof(*nodes);
	n = file_pread_all(r->fd, nodes, want,
			   r->nodes_off + (off_t)first * (off_t)sizeof(*nodes));
	if (n < 0)
		return err_errno(err, (int)n, "reading samples");
	if ((size_t)n < want)
		return err_set(err, -EBADMSG, "the file was cut short while it was read");
	return max;
}

int spec_sample_total(const struct spec_sample_reader *r, uint64_t *total,
		      struct err *err)
{
	struct spec_sample_node nodes[BLOCK_NODES];
	uint64_t sum = 0;

	for (uint32_t at = 0; at < r->nr_nodes;) {
		ssize_t n = spec_sample_read(r, at, nodes, BLOCK_NODES, err);

		if (n < 0)
			return (int)n;
		for (ssize_t i = 0; i < n; i++)
			sum += nodes[i].value;
		at += (uint32_t)n;
	}
	*total = sum;
	return 0;
}
