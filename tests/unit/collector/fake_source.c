/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/collector/fake_source.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/dirlist.h"
#include "collector/source/perf_open.h"
#include "collector/source/sources.h"
#include "libspec/sample/sample_read.h"
#include "libspec/session/session.h"
#include "tests/unit/collector/stack_dump.h"

enum { TGID = 10, STEP = 0x10000 };

uint64_t fake_random(struct fake *f)
{
	f->random ^= f->random << 13;
	f->random ^= f->random >> 7;
	f->random ^= f->random << 17;
	return f->random;
}

static struct fake *self(struct coll_source *s)
{
	return (struct fake *)s;
}

static int start(struct coll_source *s, struct err *err)
{
	(void)s;
	(void)err;
	return 0;
}

static int poll_fd(const struct coll_source *s)
{
	(void)s;
	return -1;
}

static int map_images(coll_consume consume, void *ctx)
{
	struct coll_rec exec = { .kind = COLL_REC_COMM,
				 .tgid = TGID,
				 .tid = TGID,
				 .comm = { .name = "prog", .exec = true } };
	int rc = consume(ctx, &exec);

	for (uint64_t i = 0; i < FAKE_IMAGES && !rc; i++) {
		struct coll_rec rec = { .kind = COLL_REC_MMAP,
					.tgid = TGID,
					.tid = TGID };
		char name[64];

		snprintf(name, sizeof(name), "/opt/opfs-test/image%d", (int)i);
		rec.mmap = (struct coll_mmap){ .start = (i + 1) * STEP,
					       .len = STEP,
					       .filename = name,
					       .inode = i + 1 };
		rc = consume(ctx, &rec);
	}
	return rc;
}

/* Mostly of one of a few ways, so that known stacks come again; some in no mapping. */
static void make_chain(struct fake *f, struct coll_sample *s)
{
	uint64_t r = fake_random(f);

	if (r % 4)
		s->ip = (1 + r % 4) * STEP;
	f->ips[0] = (uint64_t)PERF_CONTEXT_USER;
	f->ips[1] = s->ip;
	s->nr_ips = 2 + (r >> 8) % (FAKE_DEPTH - 2);
	for (size_t i = 2; i < s->nr_ips; i++)
		f->ips[i] = (1 + (r >> 16) % (FAKE_IMAGES + 1)) * STEP + 16 * i;
	s->ips = f->ips;
}

static int drain(struct coll_source *base, bool all, coll_consume consume, void *ctx)
{
	struct fake *f = self(base);
	int rc = f->mapped ? 0 : map_images(consume, ctx);

	f->mapped = true;
	for (int i = 0; i < FAKE_ROUND && !rc && !all; i++) {
		struct coll_rec rec = { .kind = COLL_REC_SAMPLE,
					.tgid = TGID,
					.tid = TGID };
		uint64_t r = fake_random(f);

		rec.sample.domain = COLL_USER;
		rec.sample.ip = (1 + r % FAKE_IMAGES) * STEP + (r >> 32) % 0x400;
		if (f->opt.callgraph.how)
			make_chain(f, &rec.sample);
		f->count->begun++;
		rc = consume(ctx, &rec);
		f->count->done++;
	}
	return rc;
}

static void stop(struct coll_source *s)
{
	(void)s;
}

static uint64_t lost_untold(struct coll_source *s, uint64_t *tasks)
{
	(void)s;
	(void)tasks;
	return 0;
}

static const struct coll_source_ops ops = {
	.name = "made up",
	.start = start,
	.poll_fd = poll_fd,
	.drain = drain,
	.stop = stop,
	.lost_untold = lost_untold,
	.free = stop,
};

int fake_open(struct fake *f, const char *dir, struct fake_count *count, uint64_t seed,
	      bool stacks, struct err *err)
{
	struct coll_event event = { 0 };
	int rc;

	*f = (struct fake){ .engine = COLL_ENGINE_NONE,
			    .count = count,
			    .random = seed | 1,
			    .base = { .ops = &ops } };
	f->opt = (struct coll_options){ .separate = COLL_SEPARATE_LIB,
					.source = coll_sources[0],
					.session_dir = dir,
					.no_vmlinux = true,
					.callgraph.how = stacks,
					.pages = 8 };
	rc = ev_spec_parse("TIMER:1000000", &event.spec, err);
	if (!rc)
		rc = vec_push(&f->opt.events, event);
	if (!rc)
		rc = coll_engine_plan(&f->engine, &f->opt, err);
	if (!rc)
		rc = coll_engine_open_session(&f->engine, false, err);
	if (rc)
		return rc;
	/* what is counted is in the files at once */
	coll_asker_free(f->engine.collect.asker);
	f->engine.collect.asker = NULL;
	f->engine.collect.images.asker = f->engine.collect.tasks.asker = NULL;
	strbuf_puts(&f->engine.settings, "event TIMER:1000000:0:1:1\n");
	f->engine.source = &f->base;
	coll_tasks_need(&f->engine.collect.tasks, TGID)->known = true;
	return coll_engine_start(&f->engine, err);
}

void fake_close(struct fake *f)
{
	coll_engine_fini(&f->engine);
	coll_options_fini(&f->opt);
}

/* ---- what is on the disk */

struct walk {
	int fd;
	uint64_t sum;
	struct err *err;
};

static int add_file(void *ctx, struct spec_session_file *file)
{
	CLEANUP(spec_sample_fini) struct spec_sample_reader r = { 0 };
	struct walk *w = ctx;
	uint64_t total;
	int rc;

	if (file->name && file->name->callee.name)
		return 0;
	rc = file->bad ? err_set(w->err, -EBADMSG, "%s", file->bad->msg)
		       : spec_sample_open(w->fd, file->path, &r, w->err);

	if (!rc)
		rc = spec_sample_total(&r, &total, w->err);
	if (!rc)
		w->sum += total;
	return rc;
}

static int add_session(int fd, struct fake_sum *out, struct err *err)
{
	struct walk w = { .fd = fd, .err = err };
	struct spec_stats stats;
	struct stack_sum stacks = { 0 };
	int rc = spec_session_walk(fd, spec_session_escaped(fd), add_file, &w, err);

	if (!rc)
		rc = stack_sum(fd, &stacks, err);
	out->stacks += stacks.stacks;
	out->excess += stacks.excess;

	if (!rc)
		rc = spec_stats_read(fd, &stats, err);
	if (rc)
		return rc;
	out->taken += stats.value[SPEC_STAT_TAKEN];
	out->stored += stats.value[SPEC_STAT_STORED];
	out->losses += spec_stats_lost(&stats);
	out->in_files += w.sum;
	out->told_stacks += stats.value[SPEC_STAT_STACKS];
	out->lost_stacks += stats.value[SPEC_STAT_LOST_STACKFILE];
	out->sessions++;
	return 0;
}

int fake_sum(const char *dir, struct fake_sum *out, struct err *err)
{
	CLEANUP(names_fini) struct names names = { 0 };
	CLEANUP(close_fd) int samples = -1;
	char path[512];
	int rc;

	*out = (struct fake_sum){ 0 };
	snprintf(path, sizeof(path), "%s/samples", dir);
	samples = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (samples < 0)
		return errno == ENOENT ? 0 : err_errno(err, -errno, "%s", path);
	rc = dirlist_read(samples, &names);
	for (size_t i = 0; i < names.len && !rc; i++) {
		CLEANUP(close_fd)
		int fd = openat(samples, names.data[i],
				O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd >= 0)
			rc = add_session(fd, out, err);
	}
	return rc;
}
