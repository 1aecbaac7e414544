/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/collector/stack_dump.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/vec.h"
#include "libspec/sample/sample_read.h"
#include "libspec/session/session.h"
#include "libspec/stack/stack_images.h"
#include "libspec/stack/stack_read.h"

struct dump {
	int session_fd, fd; /* the session; its directory "stacks" */
	const char *file;
	struct spec_stacks table;
	struct spec_stack_images images;
	VEC(uint64_t) counts; /* by node */
	struct stack_sum sum;
	struct err *err;
};

static void dump_fini(struct dump *d)
{
	close_fd(&d->fd);
	spec_stacks_fini(&d->table);
	spec_stack_images_fini(&d->images);
	vec_fini(&d->counts);
}

static int add_nodes(struct dump *d, const char *path)
{
	CLEANUP(spec_sample_fini) struct spec_sample_reader r = { 0 };
	struct spec_sample_node node;
	int rc = spec_sample_open(d->fd, path, &r, d->err);

	for (uint32_t i = 0; !rc && i < r.nr_nodes; i++) {
		if (spec_sample_read(&r, i, &node, 1, d->err) != 1)
			return -EBADMSG;
		if (!node.key || node.key >= d->table.nr)
			return err_set(d->err, -EBADMSG, "%s: no node %" PRIu64, path,
				       node.key);
		d->counts.data[node.key] += node.value;
	}
	return rc;
}

static int total_of(int fd, const char *path, uint64_t *total, struct err *err)
{
	CLEANUP(spec_sample_fini) struct spec_sample_reader r = { 0 };
	int rc = spec_sample_open(fd, path, &r, err);

	return rc ? rc : spec_sample_total(&r, total, err);
}

static int take(void *ctx, struct spec_session_file *f)
{
	struct dump *d = ctx;
	uint64_t stacks = 0, samples = 0;
	int rc = f->bad ? err_set(d->err, -EBADMSG, "%s", f->bad->msg)
			: total_of(d->fd, f->path, &stacks, d->err);

	if (!rc && total_of(d->session_fd, f->path, &samples, NULL))
		samples = 0;
	d->sum.excess += stacks > samples;
	d->sum.stacks += stacks;
	return rc || (d->file && strcmp(d->file, f->path) != 0) ? rc
								: add_nodes(d, f->path);
}

static int read_all(struct dump *d)
{
	CLEANUP(close_fd) int fd = -1;
	int rc;

	d->fd = file_open_within(d->session_fd, SPEC_STACK_DIR, O_RDONLY | O_DIRECTORY);
	if (d->fd == -ENOENT)
		return 0;
	fd = spec_stacks_open(d->session_fd, d->err);
	if (fd == -ENOENT) { /* it was killed before */
		uint64_t none = 0;

		return vec_push(&d->counts, none);
	}
	rc = fd < 0 ? fd : spec_stacks_read(fd, UINT32_MAX, &d->table, d->err);
	if (!rc && d->table.damaged)
		rc = err_set(d->err, -EBADMSG, "%d nodes make no sense",
			     (int)d->table.damaged);
	if (!rc)
		rc = spec_stack_images_read(d->fd, &d->images, d->err);
	if (!rc && vec_reserve(&d->counts, d->table.nr))
		rc = -ENOMEM;
	if (rc)
		return rc;
	d->counts.len = d->table.nr;
	memset(d->counts.data, 0, d->counts.len * sizeof(*d->counts.data));
	return spec_session_walk(d->fd, true, take, d, d->err);
}

static void add_frame(const struct dump *d, uint32_t node, struct strbuf *out)
{
	const struct spec_stack_node *n = &d->table.nodes[node];
	const char *name, *slash;

	if (n->parent) {
		add_frame(d, n->parent, out);
		strbuf_putc(out, ';');
	}
	if (!n->image) {
		strbuf_printf(out, "[%s]", spec_stack_end_text(n->off));
		return;
	}
	name = n->image < d->images.nr ? d->images.by_number[n->image].name.name : NULL;
	slash = name ? strrchr(name, '/') : NULL;
	strbuf_printf(out, "%s+%" PRIx64 "%s",
		      slash  ? slash + 1
		      : name ? name
			     : "?",
		      (uint64_t)(n->off & ~SPEC_STACK_EXACT),
		      n->off & SPEC_STACK_EXACT ? "!" : "");
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int stack_dump(int session_fd, const char *file, struct strbuf *out, struct err *err)
{
	CLEANUP(dump_fini)
	struct dump d = { .session_fd = session_fd, .file = file, .fd = -1, .err = err };
	VEC(char *) lines = { 0 };
	int rc = read_all(&d);

	for (uint32_t i = 1; !rc && i < d.counts.len; i++) {
		struct strbuf line = { 0 };

		if (!d.counts.data[i])
			continue;
		add_frame(&d, i, &line);
		strbuf_printf(&line, " %" PRIu64 "\n", d.counts.data[i]);
		rc = strbuf_error(&line) ? -ENOMEM : vec_push(&lines, line.data);
	}
	if (lines.len)
		qsort(lines.data, lines.len, sizeof(*lines.data), by_text);
	vec_for(&lines, line) {
		strbuf_puts(out, *line);
		free(*line);
	}
	vec_fini(&lines);
	return rc;
}

int stack_sum(int session_fd, struct stack_sum *out, struct err *err)
{
	CLEANUP(dump_fini)
	struct dump d = { .session_fd = session_fd, .fd = -1, .err = err };
	int rc = read_all(&d);

	*out = d.sum;
	return rc;
}
