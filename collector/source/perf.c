/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/source/perf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/vec.h"
#include "collector/source/alarm.h"
#include "collector/source/counters.h"
#include "collector/source/cpus.h"
#include "collector/source/decode.h"
#include "collector/source/order.h"
#include "collector/source/perf_open.h"
#include "collector/source/ring.h"

enum {
	MIN_PAGES = 8,
	DEFAULT_PAGES = 256,
	/* of rings for copies of stacks: of each, and of all together */
	COPY_RING = 4 << 20,
	COPY_RINGS = 64 << 20,
	COPY_BYTES = 32768, /* of a stack, where there are such rings; else */
	COPY_SHARE = 64,    /* this part of a ring, */
	COPY_LEAST = 4096,  /* but not less; */
	COPY_MOST = 4,      /* and no more than this part, whatever was asked for */
};

struct perf_source {
	struct coll_source base;
	struct coll_decoder decoder;
	struct coll_order order;
	/* Of each CPU.  For whole CPUs there are two: in the first is what tasks do, in
	 * the second are samples, so no user can make so many mappings that samples of
	 * others are lost. */
	VEC(struct coll_ring) rings;
	size_t per_cpu; /* rings */
	struct ids cpus;
	VEC(int) ring_fds; /* the event that maps each ring */
	VEC(int) sideband, sampling;
	VEC(struct coll_reading) sampled; /* which each of @sampling is; no times */
	/* ns that the first sampling event of each CPU was enabled, when asked last */
	VEC(uint64_t) enabled;
	VEC(char *) events; /* names */
	int epoll;          /* of rings */
	struct coll_alarm alarm;
	size_t pages;
	bool on_exec;
	bool news; /* the drain that is going on found more than samples */
	uint64_t lost_told, tasks_told; /* of records lost */
	coll_consume consume;           /* of the drain that is going on */
	void *ctx;
};

static struct perf_source *self(struct coll_source *s)
{
	return (struct perf_source *)s;
}

static void close_all(int *fds, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		close(fds[i]);
}

static void close_events(struct perf_source *s)
{
	vec_for(&s->rings, r)
		coll_ring_fini(r);
	close_all(s->sideband.data, s->sideband.len);
	close_all(s->sampling.data, s->sampling.len);
	vec_fini(&s->rings);
	vec_fini(&s->ring_fds);
	vec_fini(&s->sideband);
	vec_fini(&s->sampling);
	vec_fini(&s->sampled);
	coll_decoder_fini(&s->decoder);
}

static void perf_free(struct coll_source *base)
{
	struct perf_source *s = self(base);

	close_events(s);
	coll_alarm_fini(&s->alarm);
	close_fd(&s->epoll);
	ids_fini(&s->cpus);
	vec_fini(&s->enabled);
	vec_for(&s->events, name)
		free(*name);
	vec_fini(&s->events);
	free(s);
}

static int enable(const int *fds, size_t nr, unsigned long request)
{
	for (size_t i = 0; i < nr; i++)
		if (ioctl(fds[i], request, 0))
			return -errno;
	return 0;
}

static int perf_start(struct coll_source *base, struct err *err)
{
	struct perf_source *s = self(base);
	int rc = s->on_exec ? 0
			    : enable(s->sampling.data, s->sampling.len,
				     PERF_EVENT_IOC_ENABLE);

	return rc ? err_errno(err, rc, "perf events: enable") : 0;
}

static void tell_shares(const struct perf_source *s)
{
	CLEANUP(free_ptr)
	struct coll_reading *readings = calloc(s->sampling.len + 1, sizeof(*readings));
	struct coll_share share;
	struct coll_perf_value r;

	for (size_t i = 0; readings && i < s->sampling.len; i++) {
		coll_perf_read(s->sampling.data[i], &r);
		readings[i] = s->sampled.data[i];
		readings[i].enabled = r.enabled;
		readings[i].running = r.running;
	}
	for (size_t i = 0; readings && i < s->events.len; i++) {
		coll_share_sum(readings, s->sampling.len, i, &share);
		coll_share_tell(s->events.data[i], &share);
	}
}

static void perf_stop(struct coll_source *base)
{
	struct perf_source *s = self(base);

	enable(s->sampling.data, s->sampling.len, PERF_EVENT_IOC_DISABLE);
	enable(s->sideband.data, s->sideband.len, PERF_EVENT_IOC_DISABLE);
	tell_shares(s);
}

static int perf_poll_fd(const struct coll_source *base)
{
	const struct perf_source *s = (const struct perf_source *)base;

	return base->quiet ? s->alarm.epoll : s->epoll;
}

/* Is the record that is being handed over in a ring without samples? */
static bool is_of_tasks(const struct perf_source *s)
{
	return s->per_cpu > 1 && (s->order.from - s->rings.data) % 2 == 0;
}

static int take(void *ctx, const void *data, size_t len)
{
	struct perf_source *s = ctx;
	struct coll_rec rec;

	if (coll_decode(&s->decoder, data, len, &rec, NULL)) {
		/* a record that makes no sense is one record lost */
		rec = (struct coll_rec){ .kind = COLL_REC_LOST, .lost = 1 };
		return s->consume(s->ctx, &rec);
	}
	if (rec.kind == COLL_REC_NONE)
		return 0;
	s->news |= rec.kind != COLL_REC_SAMPLE;
	if (rec.kind == COLL_REC_LOST && is_of_tasks(s)) {
		rec.why = SPEC_STAT_TASKS_LOST;
		s->tasks_told += rec.lost;
	} else if (rec.kind == COLL_REC_LOST) {
		s->lost_told += rec.lost;
	}
	return s->consume(s->ctx, &rec);
}

/* Did no process begin, end or map anything, and does whoever waits hear of the next one
 * that begins?  @woken: he just did. */
static bool is_quiet(const struct perf_source *s, bool woken)
{
	bool news = woken || s->news || s->alarm.epoll < 0;

	for (size_t i = 0; i < s->rings.len && !news; i += 2) /* those of tasks */
		news = coll_ring_backlog(&s->rings.data[i]) > 0;
	return !news;
}

static int perf_drain(struct coll_source *base, bool all, coll_consume consume, void *ctx)
{
	struct perf_source *s = self(base);
	uint64_t bad = s->order.bad;
	bool woken;
	int rc;

	s->consume = consume;
	s->ctx = ctx;
	woken = coll_forget_wakeups(s->epoll);
	woken |= coll_forget_wakeups(s->alarm.epoll);
	s->news = false;
	rc = coll_order_round(&s->order, all ? UINT64_MAX : clock_mono_ns(), take, s);
	if (rc >= 0 && s->order.bad != bad) {
		struct coll_rec rec = { .kind = COLL_REC_LOST, .lost = 1 };

		consume(ctx, &rec);
	}
	base->quiet = is_quiet(s, woken);
	return rc;
}

static uint64_t lost_of(const int *fds, size_t nr)
{
	uint64_t lost = 0;
	struct coll_perf_value r;

	for (size_t i = 0; i < nr; i++) {
		coll_perf_read(fds[i], &r);
		lost += r.lost;
	}
	return lost;
}

static uint64_t perf_lost_untold(struct coll_source *base, uint64_t *tasks)
{
	struct perf_source *s = self(base);
	uint64_t lost = lost_of(s->sampling.data, s->sampling.len);
	uint64_t others = lost_of(s->sideband.data, s->sideband.len);

	if (s->per_cpu == 1)
		lost += others;
	else if (others > s->tasks_told)
		*tasks = others - s->tasks_told;
	return lost > s->lost_told ? lost - s->lost_told : 0;
}

/*
 * The kernel takes an event away from a CPU that goes offline, also for a sleep of the
 * machine, and does not give it back: its time stands still from then on.
 */
static bool perf_stalled(struct coll_source *base)
{
	struct perf_source *s = self(base);
	bool first = s->enabled.len != s->cpus.len, stalled = false;

	if (s->sampling.len != s->cpus.len * s->events.len)
		return false; /* single threads: their events are of no CPU */
	if (first)
		s->enabled.len = 0;
	for (size_t i = 0; i < s->cpus.len; i++) {
		struct coll_perf_value r;

		coll_perf_read(s->sampling.data[i * s->events.len], &r);
		if (first && vec_push(&s->enabled, r.enabled))
			return false;
		stalled |= !first && r.enabled == s->enabled.data[i];
		s->enabled.data[i] = r.enabled;
	}
	return stalled;
}

static const struct coll_source_ops perf_ops = {
	.name = "perf",
	.start = perf_start,
	.poll_fd = perf_poll_fd,
	.drain = perf_drain,
	.stop = perf_stop,
	.lost_untold = perf_lost_untold,
	.stalled = perf_stalled,
	.free = perf_free,
};

/* Maps one of the CPU's rings.  -ENOBUFS: it may be had with less memory. */
static int map_ring(struct perf_source *s, int fd, size_t pages, struct err *err)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	struct coll_ring ring = { 0 };
	int rc = coll_ring_map(&ring, fd, pages, &s->decoder.layout, err);

	if ((rc == -EPERM || rc == -ENOMEM) && s->pages > MIN_PAGES)
		return -ENOBUFS;
	if (rc == -EPERM)
		return err_set(err, rc,
			       "perf ring: more memory than this user may lock: sysctl "
			       "kernel.perf_event_mlock_kb (now %ld) or ulimit -l",
			       coll_sysctl("perf_event_mlock_kb", 0));
	if (rc)
		return rc;
	if (vec_push(&s->rings, ring)) {
		coll_ring_fini(&ring);
		return err_errno(err, -ENOMEM, "perf ring");
	}
	if (vec_push(&s->ring_fds, fd))
		return err_errno(err, -ENOMEM, "perf ring");
	if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &ev))
		return err_errno(err, -errno, "perf ring: epoll");
	return 0;
}

/* The event's records go to its CPU's ring, which the first event of a CPU makes. */
static int attach(struct perf_source *s, size_t cpu, bool sampling, int fd,
		  struct err *err)
{
	size_t ring = cpu * s->per_cpu + (sampling && s->per_cpu > 1);
	bool small = !sampling && s->per_cpu > 1 && s->base.copy_bytes;

	if (ring == s->rings.len)
		return map_ring(s, fd,
				small && s->pages > DEFAULT_PAGES ? DEFAULT_PAGES
								  : s->pages,
				err);
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, s->ring_fds.data[ring]))
		return err_errno(err, -errno, "perf ring: sharing");
	return 0;
}

static int keep(struct perf_source *s, bool sampling, int fd, struct err *err)
{
	int rc = sampling ? vec_push(&s->sampling, fd) : vec_push(&s->sideband, fd);

	if (!rc)
		return 0;
	close(fd);
	return err_errno(err, rc, "perf events");
}

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static int open_one(struct perf_source *s, const struct coll_source_want *opt, size_t cpu,
		    const struct coll_perf_open *how, struct err *err)
{
	struct coll_reading which = { .whose = how->pid == -1 ? how->cpu : how->pid };
	uint64_t id;
	int fd = coll_perf_open_sideband(how, err), rc;

	if (fd < 0)
		return fd;
	rc = keep(s, false, fd, err);
	if (!rc)
		rc = attach(s, cpu, false, fd, err);
	for (size_t i = 0; !rc && i < opt->nr_events; i++) {
		fd = coll_perf_open_event(&opt->events[i], how, err);
		if (fd < 0)
			return fd;
		which.event = i;
		if (vec_push(&s->sampled, which)) {
			close(fd);
			return err_errno(err, -ENOMEM, "perf events");
		}
		rc = keep(s, true, fd, err);
		if (!rc)
			rc = attach(s, cpu, true, fd, err);
		if (!rc && ioctl(fd, PERF_EVENT_IOC_ID, &id))
			rc = err_errno(err, -errno, "perf events: id");
		if (!rc && coll_decoder_add(&s->decoder, id, (uint32_t)i))
			rc = err_errno(err, -ENOMEM, "perf events");
	}
	return rc;
}

/* A thread or CPU that went away since it was listed is no failure. */
static int open_all(struct perf_source *s, const struct coll_source_want *opt,
		    struct err *err)
{
	struct coll_perf_open how = {
		.pid = -1,
		.inherit = opt->nr_tids,
		.on_exec = opt->on_exec,
		.callchain = opt->callchain,
		.copy_bytes = s->base.copy_bytes,
		.max_stack = opt->max_stack,
		.watermark = s->pages * page_size() / 4,
	};
	size_t nr = opt->nr_tids ? opt->nr_tids : 1, opened = 0;
	int rc = 0;

	for (size_t c = 0; c < s->cpus.len; c++) {
		how.cpu = (int)s->cpus.data[c];
		for (size_t t = 0; t < nr; t++) {
			if (opt->nr_tids)
				how.pid = (pid_t)opt->tids[t];
			rc = open_one(s, opt, c, &how, err);
			if (rc && !(rc == -ESRCH && nr > 1))
				return rc;
			opened += !rc;
		}
	}
	return opened ? 0 : rc;
}

/* Rings that were not asked for as large as they should be. */
static size_t choose_pages(const struct perf_source *s, const struct coll_source_want *w)
{
	size_t bytes = COPY_RING;

	if (w->pages || !w->user_stacks)
		return w->pages ? w->pages : DEFAULT_PAGES;
	while (bytes * s->cpus.len > COPY_RINGS && bytes > DEFAULT_PAGES * page_size())
		bytes /= 2;
	return bytes / page_size();
}

/* How much of a stack is copied into rings of such a size. */
static uint32_t choose_copy(const struct perf_source *s, const struct coll_source_want *w)
{
	size_t ring = s->pages * page_size();
	size_t most = ring / COPY_MOST, bytes = w->copy_bytes;

	if (!w->user_stacks)
		return 0;
	if (!bytes)
		bytes = ring >= COPY_RING                ? COPY_BYTES
			: ring / COPY_SHARE > COPY_LEAST ? ring / COPY_SHARE
							 : COPY_LEAST;
	return (uint32_t)(bytes < most ? bytes : most);
}

static void set_layout(struct perf_source *s, const struct coll_source_want *w)
{
	struct perf_event_attr attr = { 0 };

	s->base.copy_bytes = choose_copy(s, w);
	coll_layout_ask(w->callchain, s->base.copy_bytes, &attr);
	coll_layout_init(&s->decoder.layout, &attr, NULL); /* of what is asked for */
	s->decoder.layout.max_frames = coll_perf_max_stack(w->max_stack);
}

/* With smaller rings, if so much may not be locked. */
static int open_fitting(struct perf_source *s, const struct coll_source_want *w,
			struct err *err)
{
	int rc;

	set_layout(s, w);
	while ((rc = open_all(s, w, err)) == -ENOBUFS) {
		close_events(s);
		s->pages /= 2;
		set_layout(s, w);
	}
	return rc;
}

static int copy_names(struct perf_source *s, const struct coll_source_want *opt,
		      struct err *err)
{
	for (size_t i = 0; i < opt->nr_events; i++) {
		char *name = strdup(opt->events[i].spec.event.name);

		if (!name || vec_push(&s->events, name)) {
			free(name);
			return err_errno(err, -ENOMEM, "events");
		}
	}
	return 0;
}

static int open_perf(const struct coll_source_want *opt, struct coll_source **out,
		     char notes[256], struct err *err)
{
	struct perf_source *s = calloc(1, sizeof(*s));
	size_t pages = 0;
	int rc;

	if (!s)
		return err_errno(err, -ENOMEM, "perf events");
	s->base.ops = &perf_ops;
	s->on_exec = opt->on_exec;
	s->per_cpu = opt->nr_tids ? 1 : 2;
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->alarm.epoll = -1;
	notes[0] = '\0';
	file_raise_limit(); /* events need many */
	rc = s->epoll < 0 ? err_errno(err, -errno, "epoll")
			  : coll_cpus_online(&s->cpus, err);
	if (!rc)
		rc = copy_names(s, opt, err);
	if (!rc)
		pages = s->pages = choose_pages(s, opt);
	if (!rc)
		rc = open_fitting(s, opt, err);
	/* mappings and names from now on; samples from start() */
	if (!rc && !opt->on_exec)
		rc = enable(s->sideband.data, s->sideband.len, PERF_EVENT_IOC_ENABLE);
	if (rc) {
		perf_free(&s->base);
		return rc;
	}
	s->order.rings = s->rings.data;
	s->order.nr = s->rings.len;
	if (s->per_cpu > 1)
		coll_alarm_init(&s->alarm, s->epoll, &s->cpus);
	if (s->pages < pages)
		snprintf(notes, 256,
			 "rings of %zu KiB instead of %zu, since no more memory may be "
			 "locked (sysctl kernel.perf_event_mlock_kb, ulimit -l)",
			 s->pages * page_size() / 1024, pages * page_size() / 1024);
	else
		coll_counters_note(opt->events, opt->nr_events, notes);
	*out = &s->base;
	return 0;
}

static uint32_t max_stack(const char **why)
{
	*why = "sysctl kernel.perf_event_max_stack allows no more; root can raise it "
	       "while nobody records stacks";
	return coll_perf_max_stack(0);
}

const struct coll_source_kind coll_source_perf = {
	.name = "perf",
	.per_task = true,
	.limited = true,
	.max_stack = max_stack,
	.open = open_perf,
};
