/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/daemon/sampling.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "collector/daemon/seal.h"
#include "collector/engine/processes.h"

void daemon_read_cpus(char *text, size_t size)
{
	CLEANUP(strbuf_fini) struct strbuf cpus = { 0 };

	file_slurp(AT_FDCWD, "/sys/devices/system/cpu/online", 4096, &cpus, NULL);
	snprintf(text, size, "%.*s", (int)strcspn(strbuf_str(&cpus), "\n"),
		 strbuf_str(&cpus));
}

uint64_t daemon_disk_free(const struct daemon *d)
{
	struct statvfs st;

	if (fstatvfs(d->engine.session.fd, &st))
		return UINT64_MAX;
	return (uint64_t)st.f_bavail * st.f_frsize;
}

int daemon_start(struct daemon *d, struct err *err)
{
	struct coll_engine *e = &d->engine;
	int rc;

	if (e->running)
		return 0;
	coll_collect_forget(&e->collect);
	coll_engine_forget_notes(e);
	daemon_read_cpus(d->cpus, sizeof(d->cpus));
	/* records of processes first, then who is there already, then samples */
	rc = coll_engine_open_source(e, NULL, 0, false, err);
	if (!rc)
		rc = coll_processes_all(&e->collect, err);
	if (!rc) {
		coll_engine_note_limits(e);
		strbuf_reset(&e->settings);
		coll_seal_settings(e->opt, e->plan.sink, &e->settings);
		rc = coll_engine_start(e, err);
	}
	if (rc) {
		coll_engine_close_source(e);
		return rc;
	}
	d->cpus_ns = clock_mono_ns();
	d->deinit = false;
	d->why_stopped[0] = '\0';
	d->disk = DISK_FINE;
	d->changed_s = (uint64_t)time(NULL);
	log_note("sampling began");
	return 0;
}

/* In the words of oprofiled's log: what became of all samples. */
static void log_figures(const struct spec_stats *s)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	for (int i = 0; i < SPEC_NR_STATS; i++)
		if (s->value[i])
			strbuf_printf(&text, "%s%s %" PRIu64, text.len ? ", " : "",
				      spec_stat_info[i].name, s->value[i]);
	log_note("figures: %s", text.len ? strbuf_str(&text) : "no samples");
}

void daemon_stop(struct daemon *d, const char *why)
{
	struct coll_engine *e = &d->engine;
	int rc;

	if (!e->running)
		return;
	rc = coll_engine_stop(e);
	coll_engine_close_source(e);
	coll_engine_tell(e, true);
	snprintf(d->why_stopped, sizeof(d->why_stopped), "%s", why);
	if (rc < 0)
		log_err("the last samples could not be taken: %s", strerror(-rc));
	d->changed_s = (uint64_t)time(NULL);
	d->checkpoint_ns = 0; /* the rest is written back now that nothing else is done */
	log_note("sampling ended%s%s", *why ? ": " : "", why);
	log_figures(&e->collect.stats);
}

void daemon_tell_session(const struct daemon *d, struct strbuf *out)
{
	strbuf_printf(out, "session \"current\" of %s has %" PRIu64 " samples",
		      strbuf_str(&d->engine.session.dir),
		      d->engine.collect.stats.value[SPEC_STAT_TAKEN]);
}

/* What was sampled before this call is in the session after it. */
int daemon_drain(struct daemon *d)
{
	int rc = 0;

	/* a round hands over what is older than the round before */
	for (int i = 0; i < 2 && d->engine.running && rc >= 0; i++)
		rc = coll_engine_round(&d->engine);
	return rc < 0 ? rc : coll_engine_await(&d->engine, 1);
}

void daemon_keep_held(struct daemon *d)
{
	coll_held_fds held = { 0 };

	coll_held_copy(&d->engine.collect.images.held, &held);
	coll_keeper_hold(d->keeper, &held);
}

int daemon_empty(struct daemon *d, struct err *err)
{
	char name[32];
	int rc;

	do {
		/* a name that the keeper removes */
		snprintf(name, sizeof(name), ".gone.r%u", d->resets++);
		rc = daemon_rotate(d, name, NULL, err);
	} while (rc == -EEXIST && d->resets);
	return rc;
}

int daemon_rotate(struct daemon *d, const char *name, struct strbuf *out, struct err *err)
{
	struct coll_session_old old = { .fd = -1 };
	int rc = coll_engine_rotate(&d->engine, name, &old, err);

	if (!rc) {
		d->session_ns = clock_boot_ns();
		d->rotations++;
		d->told_broken = 0;
		d->checkpointing = false;
		if (!d->engine.running)
			coll_engine_tell(&d->engine, true);
		if (out)
			strbuf_puts(out, strbuf_str(&old.name));
		daemon_keep_held(d);
		coll_keeper_wake(d->keeper);
	}
	coll_session_old_fini(&old);
	return rc;
}
