/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/log.h"
#include "base/vec.h"
#include "collector/route.h"
#include "libspec/clock.h"
#include "libspec/manifest.h"
#include "libspec/sample_read.h"
#include "libspec/session.h"
#include "libspec/span.h"
#include "libspec/stats.h"

enum { MAX_SETTINGS = 1 << 20, MAX_EVENTS = 64 };

static const char settings_file[] = "settings";

static bool plain(unsigned char c)
{
	return c >= ' ' && c != 0x7f && c != '%';
}

static void add_line(struct strbuf *out, const char *key, const char *value)
{
	strbuf_printf(out, "%s ", key);
	escape_add(out, value, strlen(value), plain);
	strbuf_putc(out, '\n');
}

/* "AMD EPYC 7B13", or nothing. */
static void add_cpu(struct strbuf *out)
{
	CLEANUP(close_file) FILE *f = fopen("/proc/cpuinfo", "re");
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		char *value = strchr(line, ':');

		if (!value || strncmp(line, "model name", 10) != 0)
			continue;
		value[strcspn(value, "\n")] = '\0';
		add_line(out, "cpu", value + 1 + strspn(value + 1, " "));
		return;
	}
}

void coll_seal_settings(const struct coll_options *o, const struct coll_sink_event *events,
			struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	add_cpu(out);
	for (size_t i = 0; i < o->events.len; i++) {
		const struct coll_event *e = &o->events.data[i];

		strbuf_reset(&text);
		strbuf_printf(&text, "%s:%" PRIu64 ":%" PRIu64 ":%d:%d", events[i].name,
			      events[i].count, events[i].unit_mask,
			      e->spec.kernel && !e->user_only, e->spec.user);
		add_line(out, "event", strbuf_str(&text));
	}
	strbuf_reset(&text);
	coll_separate_print(o->separate, &text);
	add_line(out, "separate", strbuf_str(&text));
	strbuf_printf(out, "callgraph %d\n", o->callgraph);
	vec_for(&o->images, image)
		add_line(out, "image", *image);
}

static bool has(int fd, const char *name)
{
	return !faccessat(fd, name, F_OK, AT_SYMLINK_NOFOLLOW);
}

static int open_session(int samples_fd, const char *name)
{
	int fd = openat(samples_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	return fd < 0 ? -errno : fd;
}

bool coll_seal_due(int samples_fd, const char *name)
{
	CLEANUP(close_fd) int fd = open_session(samples_fd, name);

	return fd >= 0 && has(fd, settings_file) && !has(fd, SPEC_MANIFEST);
}

/* ---- what a killed collector left */

struct sums {
	int fd;
	uint64_t flat, arcs;
};

static int sum_file(void *ctx, struct spec_session_file *file)
{
	CLEANUP(spec_sample_fini) struct spec_sample_reader r = { 0 };
	struct sums *s = ctx;
	struct err why = { 0 };
	uint64_t total = 0;
	int rc = file->bad ? err_set(&why, -EBADMSG, "%s", file->bad->msg) :
			     spec_sample_open(s->fd, file->path, &r, &why);

	if (!rc)
		rc = spec_sample_total(&r, &total, &why);
	if (rc == -ENOMEM)
		return rc;
	if (rc) {
		log_warn("a file of a session that was cut short is damaged: %s", why.msg);
		spec_stats_note(s->fd, why.msg, NULL);
		return 0;
	}
	if (file->name->callee.name)
		s->arcs += total;
	else
		s->flat += total;
	return 0;
}

/* Samples that were stored and not yet told were taken, too. */
static int complete(int fd, struct spec_live *live, struct err *err)
{
	struct sums s = { .fd = fd };
	struct spec_stats stats;
	int rc = spec_session_walk(fd, spec_session_escaped(fd), sum_file, &s, err);

	if (rc)
		return rc;
	if (spec_stats_read(fd, &stats, NULL))
		stats = (struct spec_stats){ 0 }; /* cut short by a power failure */
	stats.value[SPEC_STAT_STORED] = s.flat;
	stats.value[SPEC_STAT_ARCS] = s.arcs;
	stats.value[SPEC_STAT_TAKEN] =
		s.flat + spec_stats_lost(&stats) + spec_stats_ignored(&stats);
	rc = spec_stats_write(fd, &stats, err);
	if (!rc)
		rc = spec_stats_note(fd,
				     "the collector was killed: figures were made from the "
				     "sample files, losses of its last second are unknown",
				     err);
	live->generation++;
	live->closed = true;
	return rc ? rc : spec_live_write(fd, live, err);
}

/* ---- the manifest */

static int describe(int fd, struct strbuf *text, struct spec_manifest_about *about,
		    const char **events, struct err *err)
{
	char *line, *rest;
	int rc = file_slurp(fd, settings_file, MAX_SETTINGS, text, err);

	if (rc)
		return rc;
	rest = text->data;
	while (rest && (line = strsep(&rest, "\n"))) {
		char *value = strchr(line, ' ');

		if (!value)
			continue;
		*value++ = '\0';
		if (!strcmp(line, "cpu"))
			about->cpu = value;
		else if (!strcmp(line, "event") && about->nr_events < MAX_EVENTS)
			events[about->nr_events++] = value;
	}
	about->events = events;
	return 0;
}

int coll_seal(int samples_fd, const char *name, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	CLEANUP(close_fd) int fd = open_session(samples_fd, name);
	struct spec_manifest_about about = { .session = name };
	const char *events[MAX_EVENTS];
	struct spec_live live = { 0 };
	int rc = 0;

	if (fd < 0)
		return err_errno(err, fd, "%s", name);
	if (spec_live_read(fd, &live, NULL))
		live = (struct spec_live){ 0 };
	if (!live.closed)
		rc = complete(fd, &live, err);
	if (!rc)
		rc = describe(fd, &text, &about, events, err);
	if (spec_started_read(fd, &about.start_ns, NULL))
		about.start_ns = 0;
	about.end_ns = live.drained_ns;
	return rc ? rc : spec_manifest_write(fd, &about, err);
}
