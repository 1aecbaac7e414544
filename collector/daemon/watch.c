/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/daemon/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "collector/daemon/log.h"
#include "collector/daemon/status.h"

#define SECOND_NS 1000000000ULL
#define LOOK_NS SECOND_NS              /* how often it looks at all of this */
#define CONTAINERS_NS (10 * SECOND_NS) /* and for files of ended containers */
#define CPUS_NS (5 * SECOND_NS) /* and whether each CPU is sampled: that interrupts it */
#define DISK_NS (3 * SECOND_NS) /* how long removing a session may take to help */
#define WRITE_NS (SECOND_NS / 50) /* of a round, for writing back */

enum { MAX_IMAGES = 200000 }; /* images and files without a rotation */

static void rotate(struct daemon *d, const char *why)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };
	struct err err = { 0 };

	if (daemon_rotate(d, NULL, &name, &err)) {
		log_err("the session goes on instead of a new one: %s", err.msg);
		d->session_ns = clock_boot_ns(); /* not at once again */
		return;
	}
	log_debug(LOG_MISC, "session %s: %s", strbuf_str(&name), why);
}

/* Nothing is rotated away that holds nothing. */
static void look_at_session(struct daemon *d)
{
	const struct coll_rotate *r = &d->opt.rotate;
	const struct coll_collect *c = &d->engine.collect;

	coll_keeper_current(d->keeper, coll_collect_bytes(c));
	/* else what is removed for lack of room is made again */
	if (d->disk != DISK_FINE)
		return;
	if (!c->stats.value[SPEC_STAT_TAKEN]) {
		if (r->after_ns && clock_boot_ns() - d->session_ns >= r->after_ns &&
		    !d->engine.running)
			d->session_ns = clock_boot_ns();
		return;
	}
	if (r->after_ns && clock_boot_ns() - d->session_ns >= r->after_ns)
		rotate(d, "long enough");
	else if (r->bytes && coll_collect_bytes(c) >= r->bytes)
		rotate(d, "large enough");
	else if (c->images.nr - c->images.nr_moved > MAX_IMAGES)
		rotate(d, "too many images for one session");
}

static void tell_broken(struct daemon *d)
{
	const struct coll_sink *sink = coll_collect_broken(&d->engine.collect);

	if (sink && !d->told_broken)
		log_err("not everything is stored: %s", sink->why.msg);
	d->told_broken = sink ? sink->broken : 0;
}

/*
 * Rotate early, so that the session is whole and what is old may go; let the keeper
 * remove old sessions, one by one; then stop.
 */
static void disk_is_low(struct daemon *d, uint64_t left, uint64_t now)
{
	uint64_t removed = coll_keeper_removed(d->keeper);
	const struct coll_keep *k = &d->opt.keep;
	bool may_remove = k->count || k->age_s || k->bytes;
	char why[128];

	if (d->disk == DISK_FINE) {
		log_warn("the disk is nearly full: %" PRIu64
			 " MiB are left, --min-free is "
			 "%" PRIu64 " MiB",
			 left >> 20, d->opt.min_free >> 20);
		rotate(d, "the disk is nearly full");
		d->disk = DISK_ROTATED;
	}
	if (coll_keeper_busy(d->keeper))
		return;
	if (may_remove && (d->disk == DISK_ROTATED || removed != d->removed)) {
		d->removed = removed;
		d->disk = DISK_MAKING_ROOM;
		d->disk_ns = now;
		coll_keeper_make_room(d->keeper);
		return;
	}
	if (may_remove && now - d->disk_ns < DISK_NS)
		return;
	snprintf(why, sizeof(why),
		 "the disk is nearly full (%" PRIu64 " MiB left); make room, then "
		 "\"opcollect start\"",
		 left >> 20);
	daemon_stop(d, why);
}

static void look_at_disk(struct daemon *d, uint64_t now)
{
	uint64_t left;

	tell_broken(d);
	if (!d->engine.running)
		return;
	left = daemon_disk_free(d);
	if (left < d->opt.min_free || d->told_broken == -ENOSPC ||
	    d->told_broken == -EDQUOT)
		disk_is_low(d, left, now);
	else
		d->disk = DISK_FINE;
}

static void begin_anew(struct daemon *d, const char *why)
{
	struct err err = { 0 };

	log_note("%s", why);
	if (spec_stats_note(d->engine.session.fd, why, &err))
		log_warn("notes of the session: %s", err.msg);
	daemon_stop(d, "CPUs came or went");
	if (!daemon_start(d, &err))
		return;
	snprintf(d->why_stopped, sizeof(d->why_stopped), "%s", err.msg);
	log_err("sampling could not go on: %s", err.msg);
}

/* The kernel's events stay with the CPUs that were there: all are opened anew. */
static void look_at_cpus(struct daemon *d, uint64_t now)
{
	struct coll_source *source = d->engine.source;
	char cpus[sizeof(d->cpus)];
	char why[2 * sizeof(cpus) + 128];

	if (!d->engine.running)
		return;
	daemon_read_cpus(cpus, sizeof(cpus));
	if (strcmp(cpus, d->cpus) != 0) {
		snprintf(why, sizeof(why),
			 "CPUs %s are online, before it was %s: sampling began anew, and "
			 "missed up to a second of one that came",
			 cpus, d->cpus);
		begin_anew(d, why);
		return;
	}
	if (now - d->cpus_ns < CPUS_NS)
		return;
	d->cpus_ns = now;
	if (source->ops->stalled && source->ops->stalled(source)) {
		snprintf(why, sizeof(why),
			 "a CPU went and came, or the machine slept: sampling began "
			 "anew, and missed up to %d seconds of a CPU",
			 (int)(2 * CPUS_NS / SECOND_NS));
		begin_anew(d, why);
	}
}

/* Files one after another, a little in each round, so that samples are taken
 * meanwhile. */
static void checkpoint(struct daemon *d, uint64_t now)
{
	struct err err = { 0 };
	int rc;

	if (!d->checkpointing) {
		if (!d->opt.checkpoint_s ||
		    now - d->checkpoint_ns < d->opt.checkpoint_s * SECOND_NS)
			return;
		d->checkpointing = true;
		d->checkpoint_ns = now;
		coll_engine_checkpoint(&d->engine);
	}
	if (coll_engine_write_back(&d->engine, now + WRITE_NS))
		return;
	rc = spec_stats_sync(d->engine.session.fd, &err);
	if (rc)
		log_err("checkpoint: %s", err.msg);
	d->checkpointing = false;
}

/* Whose process has ended keeps its file system busy no longer than it must. */
static void look_at_containers(struct daemon *d, uint64_t now)
{
	coll_held_fds ended = { 0 };

	if (now - d->containers_ns < CONTAINERS_NS)
		return;
	d->containers_ns = now;
	coll_held_take_ended(&d->engine.collect.images.held, &ended);
	coll_keeper_hold(d->keeper, &ended);
}

void daemon_watch(struct daemon *d)
{
	uint64_t now = clock_mono_ns();

	coll_engine_tell_sometimes(&d->engine, now);
	checkpoint(d, now);
	if (now - d->looked_ns < LOOK_NS)
		return;
	d->looked_ns = now;
	look_at_session(d);
	look_at_disk(d, now);
	look_at_containers(d, now);
	daemon_notify_status(d);
	look_at_cpus(d, now);
}
