/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/sample/sample_read.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"

enum { OLD_VERSION = 0x12, BLOCK_NODES = 4096, BLOCK_BYTES = 16 << 10 };

/* What a file begins with, and whose it is. */
struct start {
	struct spec_sample_header header;
	struct spec_sample_descr descr;
	uint64_t nodes_off; /* of node 0 */
	uint32_t node_bytes;
	bool foreign;
	struct spec_abi abi; /* if so */
};
_Static_assert(offsetof(struct start, nodes_off) == SPEC_SAMPLE_NODES_OFF,
	       "nodes follow at 104");

static void set_foreign(struct start *s, const struct spec_abi *abi, const void *bytes)
{
	s->foreign = true;
	s->abi = *abi;
	s->node_bytes = abi->value[SPEC_ABI_NODE];
	s->nodes_off = spec_abi_nodes_off(abi) - s->node_bytes;
	spec_abi_start(abi, bytes, &s->header, &s->descr);
}

static int check_header(const struct start *s, const char *path, struct err *err)
{
	const struct spec_sample_header *h = &s->header;
	const char *as = s->foreign ? spec_abi_describe(&s->abi) : "";

	if (memcmp(h->magic, SPEC_SAMPLE_MAGIC, sizeof(h->magic)) != 0)
		return err_set(err, -EBADMSG,
			       "%s: not a sample file: it does not begin with DAE", path);
	if (h->version == OLD_VERSION)
		return err_set(
			err, -EBADMSG,
			"%s: written by OProfile 0.9 (format 0x12); only format 0x13 "
			"of OProfile 1.x is read",
			path);
	if (h->version == __builtin_bswap32(SPEC_SAMPLE_VERSION))
		return err_set(err, -EBADMSG,
			       "%s: its byte order is not that of %s; copy the file abi "
			       "of the session directory that it is from",
			       path, *as ? "the file abi" : "this machine");
	if (h->version != SPEC_SAMPLE_VERSION)
		return err_set(err, -EBADMSG,
			       "%s: format version 0x%x, expected 0x%x%s%s", path,
			       h->version, SPEC_SAMPLE_VERSION,
			       *as ? ", as the file abi says: " : "", as);
	return 0;
}

/* A live file only grows: if it was too short before current_size was read, the length is
 * asked anew.  @len: what it was; 0: not known. */
static int check_length(int fd, const char *path, const struct start *s, off_t len,
			struct err *err)
{
	const struct spec_sample_descr *d = &s->descr;
	uint64_t need = s->nodes_off + (uint64_t)d->current_size * s->node_bytes;
	struct stat st = { .st_size = len };

	if (d->current_size > d->size)
		return err_set(err, -EBADMSG,
			       "%s: damaged: %u of its %u slots are in use", path,
			       d->current_size, d->size);
	if (!d->size)
		return err_set(err, -EBADMSG,
			       "%s: damaged, or of another kind of machine whose file "
			       "abi is not here: it has no slots",
			       path);
	if ((uint64_t)len < need && fstat(fd, &st))
		return err_errno(err, -errno, "%s", path);
	if ((uint64_t)st.st_size < need)
		return err_set(err, -EBADMSG,
			       "%s: cut short: %llu bytes, the samples need %llu", path,
			       (unsigned long long)st.st_size, (unsigned long long)need);
	return 0;
}

/* Nothing this machine writes has another version, or no slots. */
static bool is_strange(const struct start *s)
{
	return s->header.version != SPEC_SAMPLE_VERSION || !s->descr.size;
}

/* Whose file it is, from its first @len bytes. */
static void recognise(int fd, const void *bytes, size_t len, struct start *s)
{
	struct spec_abi abi;
	struct stat st;

	if (is_strange(s) && !fstat(fd, &st) &&
	    spec_abi_recognise(bytes, len, (uint64_t)st.st_size, &abi))
		set_foreign(s, &abi, bytes);
}

static int read_start(int fd, const char *path, const struct spec_abi *abi, off_t len,
		      struct start *s, struct err *err)
{
	uint8_t bytes[2 * SPEC_ABI_MAX_PART];
	size_t head = abi ? abi->value[SPEC_ABI_HEADER] : sizeof(s->header);
	size_t need = head + (abi ? abi->value[SPEC_ABI_DESCR] : sizeof(s->descr));
	ssize_t n = file_pread_all(fd, bytes, need, 0);
	int rc;

	if (n < 0)
		return err_errno(err, (int)n, "%s", path);
	memset(bytes + n, 0, need - (size_t)n);
	*s = (struct start){ .nodes_off = SPEC_SAMPLE_NODES_OFF,
			     .node_bytes = sizeof(struct spec_sample_node) };
	memcpy(s, bytes, SPEC_SAMPLE_NODES_OFF);
	if (abi)
		set_foreign(s, abi, bytes);
	else
		recognise(fd, bytes, (size_t)n, s);
	if ((size_t)n >= head) {
		rc = check_header(s, path, err);
		if (rc)
			return rc;
	}
	if ((size_t)n < need)
		return err_set(err, -EBADMSG,
			       "%s: cut short: %zd bytes, a header needs %zu", path, n,
			       need);
	return check_length(fd, path, s, len, err);
}

int spec_sample_check(int fd, const char *path, struct spec_sample_header *header,
		      struct spec_sample_descr *descr, struct err *err)
{
	struct start s;
	int rc = read_start(fd, path, NULL, 0, &s, err);

	if (!rc && s.foreign)
		rc = err_set(err, -EBADMSG,
			     "%s: of another kind of machine (%s): not added to", path,
			     spec_abi_describe(&s.abi));
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

int spec_sample_open_at(int dirfd, const char *name, const char *path,
			const struct spec_abi *abi, struct spec_sample_reader *out,
			struct err *err)
{
	struct start s;
	struct stat st;
	int rc;
	CLEANUP(close_fd) int fd = open_file(dirfd, name);

	if (fd < 0)
		return err_errno(err, fd, "%s", path);
	if (fstat(fd, &st))
		return err_errno(err, -errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EBADMSG, "%s: not a regular file", path);
	rc = read_start(fd, path, abi, st.st_size, &s, err);
	if (rc)
		return rc;
	*out = (struct spec_sample_reader){
		.fd = take_fd(&fd),
		.nr_nodes = s.descr.current_size ? s.descr.current_size - 1 : 0,
		.nodes_off = (off_t)(s.nodes_off + s.node_bytes),
		.header = s.header,
		.foreign = s.foreign,
		.abi = s.abi,
	};
	return 0;
}

int spec_sample_open_as(int dirfd, const char *path, const struct spec_abi *abi,
			struct spec_sample_reader *out, struct err *err)
{
	return spec_sample_open_at(dirfd, path, path, abi, out, err);
}

int spec_sample_open(int dirfd, const char *path, struct spec_sample_reader *out,
		     struct err *err)
{
	return spec_sample_open_as(dirfd, path, NULL, out, err);
}

void spec_sample_fini(struct spec_sample_reader *r)
{
	if (r->fd > 0)
		close(r->fd);
	*r = (struct spec_sample_reader){ 0 };
}

/* Reads @want bytes from @off on. */
static int read_bytes(const struct spec_sample_reader *r, void *to, size_t want,
		      off_t off, struct err *err)
{
	ssize_t n = file_pread_all(r->fd, to, want, off);

	if (n < 0)
		return err_errno(err, (int)n, "reading samples");
	if ((size_t)n < want)
		return err_set(err, -EBADMSG, "the file was cut short while it was read");
	return 0;
}

/* A block at a time, which is converted. */
static int read_foreign(const struct spec_sample_reader *r, uint32_t first,
			struct spec_sample_node *nodes, uint32_t nr, struct err *err)
{
	const size_t bytes = r->abi.value[SPEC_ABI_NODE];
	const uint32_t most = (uint32_t)(BLOCK_BYTES / bytes);
	uint8_t block[BLOCK_BYTES];
	int rc = 0;

	for (uint32_t at = 0, n; at < nr && !rc; at += n) {
		n = nr - at < most ? nr - at : most;
		rc = read_bytes(r, block, n * bytes,
				r->nodes_off + (off_t)(bytes * ((size_t)first + at)),
				err);
		if (!rc)
			spec_abi_nodes(&r->abi, block, n, nodes + at);
	}
	return rc;
}

ssize_t spec_sample_read(const struct spec_sample_reader *r, uint32_t first,
			 struct spec_sample_node *nodes, uint32_t max, struct err *err)
{
	int rc;

	if (first >= r->nr_nodes)
		return 0;
	if (max > r->nr_nodes - first)
		max = r->nr_nodes - first;
	rc = r->foreign ? read_foreign(r, first, nodes, max, err)
			: read_bytes(r, nodes, (size_t)max * sizeof(*nodes),
				     r->nodes_off + (off_t)first * (off_t)sizeof(*nodes),
				     err);
	return rc ? rc : (ssize_t)max;
}

uint32_t spec_sample_skip(const struct spec_sample_reader *r, uint32_t at)
{
	const off_t bytes = r->foreign ? (off_t)r->abi.value[SPEC_ABI_NODE]
				       : (off_t)sizeof(struct spec_sample_node);
	off_t off = r->nodes_off + (off_t)at * bytes, data;

	if (r->nr_nodes < BLOCK_NODES) /* not worth asking */
		return at;
	data = lseek(r->fd, off, SEEK_DATA);
	if (data < 0)
		return errno == ENXIO ? r->nr_nodes : at;
	data = (data - off) / bytes;
	return data < (off_t)(r->nr_nodes - at) ? at + (uint32_t)data : r->nr_nodes;
}

int spec_sample_total(const struct spec_sample_reader *r, uint64_t *total,
		      struct err *err)
{
	struct spec_sample_node nodes[BLOCK_NODES];
	uint64_t sum = 0;

	for (uint32_t at = 0; (at = spec_sample_skip(r, at)) < r->nr_nodes;) {
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
