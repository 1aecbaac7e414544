/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/daemon/seal.h"

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
#include "collector/store/recover.h"
#include "collector/store/route.h"
#include "collector/store/session.h"
#include "libspec/name/clock.h"
#include "libspec/sample/sample_read.h"
#include "libspec/session/manifest.h"
#include "libspec/session/session.h"
#include "libspec/session/stats.h"
#include "libspec/spec/span.h"

enum { MAX_SETTINGS = 1 << 20, MAX_EVENTS = 64 };

static void add_line(struct strbuf *out, const char *key, const char *value)
{
	strbuf_printf(out, "%s ", key);
	escape_add(out, value, strlen(value), escape_plain_field);
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

void coll_seal_settings(const struct coll_options *o,
			const struct coll_sink_event *events, struct strbuf *out)
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
	strbuf_reset(&text);
	coll_callgraph_print(&o->callgraph, &text);
	add_line(out, "callgraph", strbuf_str(&text));
	vec_for(&o->images, image)
		add_line(out, "image", *image);
}

static bool has(int fd, const char *name)
{
	return !faccessat(fd, name, F_OK, AT_SYMLINK_NOFOLLOW);
}

bool coll_seal_due(int samples_fd, const char *name)
{
	CLEANUP(close_fd) int fd = coll_session_dir(samples_fd, name);

	return fd >= 0 && has(fd, COLL_SETTINGS) && !has(fd, SPEC_MANIFEST);
}

/* ---- the manifest */

static int describe(int fd, struct strbuf *text, struct spec_manifest_about *about,
		    const char **events, struct err *err)
{
	char *line, *rest;
	int rc = file_slurp(fd, COLL_SETTINGS, MAX_SETTINGS, text, err);

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

int coll_seal(int samples_fd, const char *name, struct coll_figures *figures,
	      uint64_t *lost, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	CLEANUP(close_fd) int fd = coll_session_dir(samples_fd, name);
	struct spec_manifest_about about = { .session = name };
	const char *events[MAX_EVENTS];
	struct spec_live live = { 0 };
	int rc;

	*lost = 0;
	if (fd < 0)
		return err_errno(err, fd, "%s", name);
	rc = coll_recover(fd, &live, err);
	if (!rc)
		rc = coll_confirm(fd, figures, &live, lost, err);
	if (!rc)
		rc = spec_stats_sync(fd, err);
	if (!rc)
		rc = describe(fd, &text, &about, events, err);
	if (spec_started_read(fd, &about.start_ns, NULL))
		about.start_ns = 0;
	about.end_ns = live.drained_ns;
	return rc ? rc : spec_manifest_write(fd, &about, err);
}
