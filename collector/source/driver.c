/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/source/driver.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "collector/source/driver_fs.h"
#include "collector/source/perf_open.h"
#include "collector/source/stream_fd.h"
#include "kernel/uapi/opfs_buffer.h"

enum {
	MAX_COUNTERS = 16,
	MAX_DEPTH = 128,
	MAX_STACK = 65536, /* bytes */
	USUAL_STACK = 32768,
	STACK_BUFFER = 1 << 21,     /* words */
	STACK_CPU_BUFFER = 1 << 17, /* words */
	READS_A_DRAIN = 16,
	LAST_MS = 100,    /* how long one read for the last samples may wait, */
	LAST_TRIES = 100, /* and how often */
};

struct driver_source {
	struct coll_source base;
	struct coll_driver_fs fs;
	struct coll_stream_fd in;
	int buffer, save;
	bool started, stopping;
};

static struct driver_source *self(struct coll_source *s)
{
	return (struct driver_source *)s;
}

static int driver_start(struct coll_source *base, struct err *err)
{
	struct driver_source *s = self(base);
	int rc = coll_driver_fs_put(&s->fs, "enable", "1", err);

	s->started = !rc;
	if (rc == -ENOENT || rc == -ENODEV || rc == -EOPNOTSUPP)
		return err_set(err, rc,
			       "the driver cannot count this: the processor, or the "
			       "virtual machine, has no such counter (dmesg says which); "
			       "TIMER works everywhere");
	return rc;
}

static int driver_poll_fd(const struct coll_source *base)
{
	return ((const struct driver_source *)base)->buffer;
}

/* What was taken before the stop comes until the stream ends. */
static int drain_rest(struct driver_source *s)
{
	struct pollfd p = { .fd = s->buffer, .events = POLLIN };

	for (int tries = 0; tries < LAST_TRIES;) {
		int rc = coll_stream_fd_read(&s->in);

		if (rc < 0 || rc == COLL_READ_END)
			return rc < 0 ? rc : 0;
		if (rc == COLL_READ_LATER) {
			poll(&p, 1, LAST_MS);
			tries++;
		}
	}
	log_err("the driver did not end its stream: its last samples may be missing");
	return 0;
}

static int driver_drain(struct coll_source *base, bool all, coll_consume consume,
			void *ctx)
{
	struct driver_source *s = self(base);

	s->in.stream.consume = consume;
	s->in.stream.ctx = ctx;
	if (all && s->stopping)
		return drain_rest(s);
	for (int i = 0; i < READS_A_DRAIN; i++) {
		int rc = coll_stream_fd_read(&s->in);

		if (rc < 0 || rc == COLL_READ_LATER)
			return rc < 0 ? rc : 0;
		if (rc == COLL_READ_END)
			return err_set(
				&s->in.err, -ECANCELED,
				"somebody stopped the driver (%s/enable); what was "
				"taken until then is stored",
				s->fs.dir);
	}
	return 1;
}

static const struct err *driver_why(const struct coll_source *base)
{
	return &((const struct driver_source *)base)->in.err;
}

static void driver_stop(struct coll_source *base)
{
	struct driver_source *s = self(base);
	struct err err = { 0 };

	if (!s->started || s->in.stream.ended)
		return;
	if (coll_driver_fs_put(&s->fs, "enable", "0", &err))
		log_err("%s", err.msg);
	s->stopping = true;
	s->started = false;
}

/* The stream's end tells of all losses; without it the driver's own figures do. */
static uint64_t driver_lost_untold(struct coll_source *base, uint64_t *tasks)
{
	struct driver_source *s = self(base);
	uint64_t received = 0, known = s->in.stream.told + s->in.stream.lost;

	(void)tasks;
	if (s->in.stream.ended || !s->in.stream.begun ||
	    coll_driver_fs_get(&s->fs, "stats/received", &received, NULL))
		return 0;
	return received > known ? received - known : 0;
}

static void driver_free(struct coll_source *base)
{
	struct driver_source *s = self(base);

	driver_stop(base);
	coll_stream_fd_fini(&s->in);
	/* closing the buffer ends sampling, and settings can be changed again */
	close_fd(&s->buffer);
	close_fd(&s->save);
	coll_driver_fs_fini(&s->fs);
	free(s);
}

static const struct coll_source_ops driver_ops = {
	.name = "kernel",
	.start = driver_start,
	.poll_fd = driver_poll_fd,
	.drain = driver_drain,
	.why = driver_why,
	.stop = driver_stop,
	.lost_untold = driver_lost_untold,
	.free = driver_free,
};

/* One file of a counter's directory. */
static int set(struct driver_source *s, const char *counter, const char *file,
	       uint64_t value, struct err *err)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", counter, file);
	return coll_driver_fs_set(&s->fs, path, value, err);
}

static int switch_off(struct driver_source *s, const char *counter, struct err *err)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/enabled", counter);
	return coll_driver_fs_has(&s->fs, path) ? coll_driver_fs_set(&s->fs, path, 0, err)
						: 0;
}

/* Counters that others left switched on are not ours. */
static int switch_all_off(struct driver_source *s, struct err *err)
{
	char name[16];
	int rc = 0;

	for (int i = 0; !rc && i < MAX_COUNTERS; i++) {
		snprintf(name, sizeof(name), "%d", i);
		rc = switch_off(s, name, err);
	}
	rc = rc ? rc : switch_off(s, "ibs_fetch", err);
	return rc ? rc : switch_off(s, "ibs_op", err);
}

static int set_counter(struct driver_source *s, unsigned i, const struct coll_event *e,
		       struct err *err)
{
	struct ev_driver told;
	int rc = ev_spec_driver(&e->spec, e->period, i, &told, err);

	for (unsigned f = 0; !rc && f < told.nr; f++)
		rc = set(s, told.dir, told.files[f].name, told.files[f].value, err);
	if (rc)
		return err_add(err, rc, "%s", e->spec.event.name);
	coll_stream_map(&s->in.stream, i, i);
	return 0;
}

static int check_event(const struct coll_source_want *opt, const struct coll_event *e,
		       struct err *err)
{
	const char *name = e->spec.event.name;

	if (e->spec.event.kind == EV_TIMER && (opt->nr_events > 1 || opt->ext->feature))
		return err_set(
			err, -EINVAL,
			"%s: the driver's timer goes with no other event: leave the "
			"others out, or take perf's interface (--source=perf)",
			name);
	if (e->spec.event.kind == EV_SOFTWARE)
		return err_set(
			err, -EINVAL,
			"%s: the driver counts events of the processor, and TIMER: "
			"this one is had with --source=perf only",
			name);
	if (!e->period)
		return err_set(err, -EINVAL,
			       "%s: the driver needs a count, not a rate: write -e "
			       "%s:COUNT",
			       name, name);
	return 0;
}

static int set_timer(struct driver_source *s, const struct coll_event *e, struct err *err)
{
	uint64_t hz = (1000000000ULL + e->period / 2) / e->period;
	int rc = coll_driver_fs_set_word(&s->fs, "source", "timer", err);

	if (!rc)
		rc = coll_driver_fs_set(&s->fs, "timer_hz", hz ? hz : 1, err);
	coll_stream_map(&s->in.stream, OPK_COUNTER_TIMER, 0);
	return rc;
}

static int set_events(struct driver_source *s, const struct coll_source_want *opt,
		      struct err *err)
{
	int rc = 0;

	if (opt->nr_events > MAX_COUNTERS)
		return err_set(err, -EINVAL,
			       "the driver has %d counters, and %zu events "
			       "were asked for",
			       MAX_COUNTERS, opt->nr_events);
	for (size_t i = 0; !rc && i < opt->nr_events; i++)
		rc = check_event(opt, &opt->events[i], err);
	if (!rc)
		rc = switch_all_off(s, err);
	if (!rc && opt->nr_events && opt->events[0].spec.event.kind == EV_TIMER)
		return set_timer(s, &opt->events[0], err);
	if (!rc)
		rc = coll_driver_fs_set_word(&s->fs, "source", "perf", err);
	for (size_t i = 0; !rc && i < opt->nr_events; i++)
		rc = set_counter(s, (unsigned)i, &opt->events[i], err);
	return rc;
}

static int set_ibs(struct driver_source *s, const char *dir,
		   const struct coll_ext_setup *x, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf type = { 0 };
	char path[64];
	int rc;

	if (!x->wanted)
		return 0;
	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", dir);
	if (!coll_driver_fs_has(&s->fs, dir) ||
	    file_slurp(AT_FDCWD, path, 32, &type, NULL))
		return err_set(
			err, -ENODEV,
			"IBS: this processor has none, or the kernel does not drive "
			"it (%s); it is had on AMD's, outside of most virtual "
			"machines",
			path);
	rc = set(s, dir, "type", strtoull(strbuf_str(&type), NULL, 10), err);
	rc = rc ? rc : set(s, dir, "count", x->count, err);
	rc = rc ? rc : set(s, dir, "unit_mask", x->unit_mask, err);
	rc = rc ? rc : set(s, dir, "kernel", 1, err);
	rc = rc ? rc : set(s, dir, "user", 1, err);
	return rc ? rc : set(s, dir, "enabled", 1, err);
}

static uint32_t max_stack(const char **why)
{
	*why = "the driver takes no more";
	return MAX_DEPTH + 1;
}

/* Of a stack of so many frames, the sampled one included; 0 would be no stacks. */
static uint32_t callers(uint32_t frames)
{
	if (!frames || frames > MAX_DEPTH)
		return MAX_DEPTH;
	return frames > 1 ? frames - 1 : 1;
}

/* Copies of stacks take more room than anything else. */
static int set_user_stack(struct driver_source *s, const struct coll_source_want *opt,
			  struct err *err)
{
	uint32_t bytes = opt->copy_bytes ? opt->copy_bytes : USUAL_STACK;
	int rc;

	if (!opt->callchain || !opt->user_stacks)
		bytes = 0;
	/* as an older driver has it */
	if (!coll_driver_fs_has(&s->fs, "user_stack"))
		return !bytes ? 0
			      : err_set(err, -EOPNOTSUPP,
					"the driver that is loaded copies no stacks: "
					"build and load that of this release (\"make "
					"driver driver-install\"), or unwind by frame "
					"pointers (--callgraph=fp)");
	if (bytes > MAX_STACK)
		bytes = MAX_STACK;
	rc = coll_driver_fs_set(&s->fs, "user_stack", bytes, err);
	if (!rc && bytes)
		rc = coll_driver_fs_set(&s->fs, "buffer_size", STACK_BUFFER, err);
	if (!rc && bytes && !opt->pages)
		rc = coll_driver_fs_set(&s->fs, "cpu_buffer_size", STACK_CPU_BUFFER, err);
	s->base.copy_bytes = bytes;
	return rc;
}

static int set_up(struct driver_source *s, const struct coll_source_want *opt,
		  struct err *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int rc = set_events(s, opt, err);

	if (!rc)
		rc = set_ibs(s, "ibs_fetch", &opt->ext->setup[COLL_EXT_IBS_FETCH], err);
	if (!rc)
		rc = set_ibs(s, "ibs_op", &opt->ext->setup[COLL_EXT_IBS_OP], err);
	if (!rc)
		rc = coll_driver_fs_set(&s->fs, "backtrace_depth",
					opt->callchain ? callers(opt->max_stack) : 0,
					err);
	if (!rc)
		rc = set_user_stack(s, opt, err);
	if (!rc && opt->pages)
		rc = coll_driver_fs_set(&s->fs, "cpu_buffer_size",
					opt->pages * page / sizeof(uint64_t), err);
	return rc;
}

/* Exclusively; what an earlier reader left is nobody's. */
static int open_buffer(struct driver_source *s, struct err *err)
{
	char old[16384];
	ssize_t n;

	s->buffer = openat(s->fs.fd, "buffer", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (s->buffer < 0 && errno == EBUSY)
		return err_set(
			err, -EBUSY,
			"%s/buffer: another program reads from the driver (another "
			"opcollect?), and there can be one only",
			s->fs.dir);
	if (s->buffer < 0)
		return err_errno(err, -errno, "%s/buffer", s->fs.dir);
	do
		n = s->fs.mounted ? 0 : read(s->buffer, old, sizeof(old));
	while (n > 0);
	return 0;
}

static int open_all(struct driver_source *s, const struct coll_source_want *opt,
		    struct err *err)
{
	uint64_t enabled = 0;
	int rc =
		coll_driver_fs_open(&s->fs, opt->path ? opt->path : COLL_DRIVER_DIR, err);

	if (!rc)
		rc = coll_driver_fs_get(&s->fs, "enable", &enabled, err);
	if (rc)
		return rc;
	if (enabled)
		return err_set(err, -EBUSY,
			       "%s/enable is 1: the driver samples for another program; "
			       "wait for its end, or stop it",
			       s->fs.dir);
	rc = open_buffer(s, err);
	if (!rc && opt->save) {
		s->save = open(opt->save, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (s->save < 0)
			rc = err_errno(err, -errno, "--save-stream=%s", opt->save);
	}
	return rc ? rc : coll_stream_fd_init(&s->in, s->buffer, s->save, err);
}

static int open_driver(const struct coll_source_want *opt, struct coll_source **out,
		       char notes[256], struct err *err)
{
	struct driver_source *s = calloc(1, sizeof(*s));
	int rc;

	notes[0] = '\0';
	if (!s)
		return err_errno(err, -ENOMEM, "driver");
	s->base.ops = &driver_ops;
	s->buffer = s->save = s->fs.fd = -1;
	rc = open_all(s, opt, err);
	if (!rc)
		rc = set_up(s, opt, err);
	if (rc) {
		driver_free(&s->base);
		return rc;
	}
	*out = &s->base;
	return 0;
}

const struct coll_source_kind coll_source_driver = {
	.name = "kernel",
	.note = "samples were taken by the driver opfs_sampler",
	.extended = true,
	.max_stack = max_stack,
	.can_save = true,
	.tells_who = true,
	.open = open_driver,
};
