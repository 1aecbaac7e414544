/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/count/tally.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/percent.h"

void coll_tally_fini(struct coll_tally *t)
{
	vec_for(&t->fds, fd)
		close(*fd);
	vec_fini(&t->fds);
	vec_fini(&t->so_far);
	vec_fini(&t->counts);
	ids_fini(&t->places);
}

static void close_from(struct coll_tally *t, size_t nr)
{
	while (t->fds.len > nr)
		close(t->fds.data[--t->fds.len]);
}

static int open_place(struct coll_tally *t, const struct coll_perf_open *how,
		      uint32_t place, struct err *err)
{
	size_t before = t->fds.len;
	int rc = 0;

	for (size_t i = 0; !rc && i < t->events->len; i++) {
		int fd = coll_perf_open_event(&t->events->data[i].event, how, err);

		if (fd < 0) {
			rc = fd;
		} else if (vec_push(&t->fds, fd)) {
			close(fd);
			rc = err_errno(err, -ENOMEM, "counters");
		}
	}
	if (!rc && vec_push(&t->places, place))
		rc = err_errno(err, -ENOMEM, "counters");
	if (rc)
		close_from(t, before);
	return rc;
}

int coll_tally_open(struct coll_tally *t, const struct coll_tally_want *want,
		    struct err *err)
{
	struct coll_perf_open how = { .pid = -1,
				      .cpu = -1,
				      .inherit = want->inherit,
				      .on_exec = want->on_exec,
				      .counts = true };
	int rc = 0;

	*t = (struct coll_tally){ .events = want->events };
	for (size_t i = 0; i < want->places->len; i++) {
		uint32_t place = want->places->data[i];

		*(want->cpus ? &how.cpu : &how.pid) = (int)place;
		rc = open_place(t, &how, place, err);
		if (rc && (rc != -ESRCH || want->cpus))
			return rc;
	}
	if (!t->fds.len)
		return rc;
	for (size_t i = 0; i < t->fds.len; i++)
		if (vec_push(&t->so_far, (struct coll_perf_value){ 0 }) ||
		    vec_push(&t->counts, (struct coll_count){ 0 }))
			return err_errno(err, -ENOMEM, "counters");
	return 0;
}

int coll_tally_start(struct coll_tally *t, struct err *err)
{
	vec_for(&t->fds, fd)
		if (ioctl(*fd, PERF_EVENT_IOC_ENABLE, 0))
			return err_errno(err, -errno, "counters: enable");
	return 0;
}

void coll_tally_take(struct coll_tally *t)
{
	for (size_t i = 0; i < t->fds.len; i++) {
		const struct coll_event *e = &t->events->data[i % t->events->len].event;
		struct coll_perf_value *last = &t->so_far.data[i], now, since;

		/* given up, as of a CPU that went offline: nothing more comes of it */
		if (!coll_perf_read(t->fds.data[i], &now))
			now = *last;
		since = (struct coll_perf_value){ .count = now.count - last->count,
						  .enabled = now.enabled - last->enabled,
						  .running =
							  now.running - last->running };
		t->counts.data[i] =
			coll_count_of(&since, e->spec.event.kind == EV_HARDWARE);
		*last = now;
	}
}

const struct coll_count *coll_tally_at(const struct coll_tally *t, size_t event,
				       size_t place)
{
	return &t->counts.data[place * t->events->len + event];
}

struct coll_count coll_tally_total(const struct coll_tally *t, size_t event)
{
	struct coll_count sum = { 0 };

	for (size_t i = 0; i < t->places.len; i++) {
		const struct coll_count *c = coll_tally_at(t, event, i);

		sum.count += c->count;
		sum.raw += c->raw;
		sum.enabled += c->enabled;
		sum.running += c->running;
	}
	return sum;
}

struct coll_count coll_count_of(const struct coll_perf_value *value, bool hardware)
{
	struct coll_count c = { .count = value->count,
				.raw = value->count,
				.enabled = value->enabled,
				.running = value->running };
	unsigned __int128 scaled;

	if (!hardware || !c.running || c.running >= c.enabled)
		return c;
	scaled = ((unsigned __int128)c.raw * c.enabled + c.running / 2) / c.running;
	c.count = scaled > UINT64_MAX ? UINT64_MAX : (uint64_t)scaled;
	return c;
}

double coll_count_percent(const struct coll_count *c)
{
	return c->enabled ? percent_of(c->running, c->enabled) : 100;
}

bool coll_count_missing(const struct coll_count *c)
{
	return c->enabled && !c->running;
}
