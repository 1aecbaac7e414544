/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/session/catalog_read.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

enum { COPY_NODES = 4096 };

/* Of a session whose owner is not trusted: one user must not keep others waiting, nor
 * fill memory and disk.  50,000 files took 4 s of processor time. */
#define FREE_NS (100 * CLOCK_NS_PER_MS)
enum { MAX_ARENA = 64 << 20, MAX_COPY = 256 << 20 };

/* ---- bounds */

int catalog_read_too_large(const struct catalog_build *b, struct err *err)
{
	return err_set(err, -EFBIG,
		       "session %.100s: too large to be read for several users (its "
		       "owner is not trusted with more): read it with opfs cat, or mount "
		       "it for yourself",
		       b->c->dirs[b->dir].session);
}

/* The time that reading this session took: of the processor, or, while it waited for the
 * disk or for others, half of it. */
static uint64_t spent_ns(const struct catalog_build *b)
{
	uint64_t cpu = clock_thread_ns() - b->begun_cpu_ns;
	uint64_t all = clock_mono_ns() - b->begun_ns;

	return cpu > all / 2 ? cpu : all / 2;
}

uint64_t catalog_read_cost_ns(const struct catalog_build *b)
{
	uint64_t spent = spent_ns(b);

	return spent > FREE_NS ? spent - FREE_NS : 0;
}

int catalog_read_check(const struct catalog_build *b, struct err *err)
{
	if (viewer_gone(b->viewer))
		return err_set(err, -EINTR, "interrupted");
	if (b->max_ns && (spent_ns(b) > b->max_ns || b->c->arena.total > b->max_arena ||
			  b->copied > b->max_copied))
		return catalog_read_too_large(b, err);
	return 0;
}

void catalog_read_bound(struct catalog_build *b, uint64_t left_ns)
{
	b->begun_ns = clock_mono_ns();
	b->begun_cpu_ns = clock_thread_ns();
	b->max_ns = left_ns < CATALOG_READ_MAX_NS ? left_ns : CATALOG_READ_MAX_NS;
	b->max_arena = b->c->arena.total + MAX_ARENA;
	b->max_copied = b->copied + MAX_COPY;
}

/* ---- files */

/* Writes nodes to the copy; a hole stays a hole, so a damaged length takes no room. */
static int write_nodes(struct catalog_build *b, uint32_t at,
		       const struct spec_sample_node *nodes, size_t nr)
{
	static const struct spec_sample_node zeros[COPY_NODES];
	ssize_t bytes = (ssize_t)(nr * sizeof(*nodes)), n = bytes;
	off_t to = b->copy_end + (off_t)at * (off_t)sizeof(*nodes);

	if (memcmp(nodes, zeros, (size_t)bytes) != 0) {
		n = pwrite(b->c->copy_fd, nodes, (size_t)bytes, to);
		b->copied += n > 0 ? n : 0;
	}
	return n == bytes ? 0 : n < 0 ? -errno : -ENOSPC; /* short: the disk is full */
}

/* Lets a node have at most @left samples; how many it has. */
static uint32_t cut(struct spec_sample_node *node, uint64_t left)
{
	if (node->value > left)
		node->value = (uint32_t)left;
	return node->value;
}

/*
 * Sums a file's nodes and, of a live one, copies them.  Each is read once, so that all
 * reports of this generation agree with its total.
 */
static int take_nodes(struct catalog_build *b, const struct spec_sample_reader *r,
		      uint64_t max, uint64_t *total, struct err *err)
{
	struct spec_sample_node nodes[COPY_NODES];
	int rc = 0;

	for (uint32_t at = 0; (at = spec_sample_skip(r, at)) < r->nr_nodes && !rc;) {
		ssize_t n = spec_sample_read(r, at, nodes, COPY_NODES, err);

		if (n < 0)
			return (int)n;
		rc = catalog_read_check(b, err);
		if (rc)
			return rc;
		for (ssize_t i = 0; i < n; i++)
			*total += cut(&nodes[i], max - *total);
		if (b->copying)
			rc = write_nodes(b, at, nodes, (size_t)n);
		at += (uint32_t)n;
	}
	return rc ? err_errno(err, rc, "copying samples to a temporary file") : 0;
}

int catalog_read_nodes(struct catalog_build *b, const struct spec_sample_reader *r,
		       uint64_t max, uint64_t *total, struct err *err)
{
	off_t bytes = (off_t)r->nr_nodes * (off_t)sizeof(struct spec_sample_node);
	int rc;

	if (!b->copying)
		return take_nodes(b, r, max, total, err);
	if (b->c->copy_fd < 0)
		b->c->copy_fd = file_unnamed();
	if (b->c->copy_fd < 0)
		return err_errno(err, b->c->copy_fd, "a temporary file for live samples");
	rc = take_nodes(b, r, max, total, err);
	if (!rc)
		b->copy_end += bytes;
	/* what a failed copy left must not show through holes */
	else if (ftruncate(b->c->copy_fd, b->copy_end))
		return err_errno(err, -errno, "a temporary file for live samples");
	return rc;
}
