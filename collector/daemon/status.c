/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/daemon/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "collector/daemon/log.h"
#include "collector/engine/filing.h"
#include "collector/store/route.h"
#include "collector/who/asker.h"
#include "libspec/name/clock.h"

/* One fact of it; numbers are numbers in JSON, text is text. */
struct fact {
	const char *key;
	char text[640];
	bool number;
};

enum { MAX_FACTS = 40 + SPEC_NR_STATS };

struct facts {
	struct fact facts[MAX_FACTS];
	size_t nr;
};

static struct fact *new_fact(struct facts *f, const char *key)
{
	struct fact *fact = &f->facts[f->nr < MAX_FACTS - 1 ? f->nr++ : MAX_FACTS - 1];

	*fact = (struct fact){ .key = key };
	return fact;
}

static void add_text(struct facts *f, const char *key, const char *text)
{
	struct fact *fact = new_fact(f, key);

	snprintf(fact->text, sizeof(fact->text), "%s", text);
}

static void add_number(struct facts *f, const char *key, uint64_t n)
{
	struct fact *fact = new_fact(f, key);

	snprintf(fact->text, sizeof(fact->text), "%" PRIu64, n);
	fact->number = true;
}

static void add_integer(struct facts *f, const char *key, int n)
{
	struct fact *fact = new_fact(f, key);

	snprintf(fact->text, sizeof(fact->text), "%d", n);
	fact->number = true;
}

static void add_time(struct facts *f, const char *key, uint64_t seconds)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	spec_clock_utc(seconds * SPEC_NS_PER_S, &text);
	add_text(f, key, strbuf_str(&text));
}

static uint64_t rss_bytes(void)
{
	CLEANUP(close_file) FILE *statm = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;

	if (!statm || fscanf(statm, "%*u %llu", &pages) != 1)
		return 0;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void add_settings(const struct daemon *d, struct facts *f)
{
	static const char *const as_given[] = { "rotate", "keep", "symbols", "min-free",
						"checkpoint" };
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	const struct coll_engine *e = &d->engine;

	for (size_t i = 0; i < e->opt->events.len; i++)
		strbuf_printf(&text, "%s%s:%" PRIu64, i ? "," : "", e->plan.sink[i].name,
			      e->plan.sink[i].count);
	add_text(f, "events", strbuf_str(&text));
	strbuf_reset(&text);
	add_number(f, "frequency", coll_options_hz(e->opt));
	coll_separate_print(e->opt->separate, &text);
	add_text(f, "separate", strbuf_str(&text));
	add_number(f, "max-files", e->opt->max_files);
	strbuf_reset(&text);
	coll_callgraph_print(&e->opt->callgraph, &text);
	if (e->opt->callgraph.how)
		add_text(f, "callgraph", strbuf_str(&text));
	else
		add_integer(f, "callgraph", 0);
	if (e->source && e->source->copy_bytes)
		add_number(f, "stack-copy", e->source->copy_bytes);
	for (size_t i = 0; i < sizeof(as_given) / sizeof(as_given[0]); i++)
		add_text(f, as_given[i], coll_config_value(&d->config, as_given[i]));
}

static void add_session(const struct daemon *d, struct facts *f)
{
	const struct coll_engine *e = &d->engine;
	const struct spec_stats *now = &e->collect.stats;
	const struct coll_sink *broken = coll_collect_broken(&e->collect);

	add_text(f, "session-dir", strbuf_str(&e->session.dir));
	add_number(f, "generation", e->session.live.generation);
	add_number(f, "session-seconds",
		   (clock_boot_ns() - d->session_ns) / SPEC_NS_PER_S);
	add_number(f, "session-bytes", coll_collect_bytes(&e->collect));
	for (int i = 0; i < SPEC_NR_STATS; i++)
		if (now->value[i] || i == SPEC_STAT_TAKEN || i == SPEC_STAT_STORED)
			add_number(f, spec_stat_info[i].name, now->value[i]);
	add_number(f, "lost", spec_stats_lost(now));
	add_number(f, "waiting", coll_collect_waiting(&e->collect));
	add_number(f, "past-samples", e->past.value[SPEC_STAT_TAKEN]);
	add_number(f, "past-lost",
		   spec_stats_lost(&e->past) + coll_keeper_lost(d->keeper));
	add_number(f, "rotations", d->rotations);
	add_number(f, "sessions-removed", coll_keeper_removed(d->keeper));
	if (broken)
		add_text(f, "not-stored", broken->why.msg);
}

static void add_self(const struct daemon *d, struct facts *f)
{
	const struct coll_collect *c = &d->engine.collect;
	add_number(f, "disk-free", daemon_disk_free(d));
	add_number(f, "memory", rss_bytes());
	add_number(f, "open-files", c->sink.open + c->stacks.sink.open);
	add_number(f, "sample-files", c->sink.nr + c->stacks.sink.nr);
	add_number(f, "processes", c->tasks.by_tgid.used);
	add_number(f, "mapped-files", c->images.sightings.used);
	add_number(f, "open-lookups", coll_asker_open(c->asker));
	add_number(f, "stuck-lookups", coll_asker_stuck(c->asker));
	add_integer(f, "nice", d->engine.priority.nice);
	add_number(f, "realtime", d->engine.priority.level);
}

static void collect(const struct daemon *d, struct facts *f)
{
	add_text(f, "state",
		 d->engine.running ? "sampling"
		 : d->deinit       ? "deinit"
				   : "stopped");
	if (!d->engine.running && *d->why_stopped)
		add_text(f, "why", d->why_stopped);
	add_time(f, "since", d->changed_s);
	add_number(f, "pid", (uint64_t)getpid());
	add_time(f, "started", d->begun_s);
	add_text(f, "source", d->engine.source ? d->engine.source->ops->name : "none");
	add_settings(d, f);
	add_session(d, f);
	add_self(d, f);
}

static void print_json(const struct facts *f, struct strbuf *out)
{
	struct json j = { .out = out };

	json_open(&j, '{');
	for (size_t i = 0; i < f->nr; i++) {
		json_line(&j);
		json_key(&j, f->facts[i].key);
		if (f->facts[i].number && *f->facts[i].text == '-')
			json_integer(&j, strtoll(f->facts[i].text, NULL, 10));
		else if (f->facts[i].number)
			json_number(&j, strtoull(f->facts[i].text, NULL, 10));
		else
			json_string(&j, f->facts[i].text);
	}
	json_line(&j);
	json_close(&j, '}');
}

static void print_text(const struct facts *f, struct strbuf *out)
{
	for (size_t i = 0; i < f->nr; i++)
		strbuf_printf(out, "%s%s: %s", i ? "\n" : "", f->facts[i].key,
			      f->facts[i].text);
}

void daemon_status(struct daemon *d, bool json, struct strbuf *out)
{
	struct facts f = { 0 };

	collect(d, &f);
	if (json)
		print_json(&f, out);
	else
		print_text(&f, out);
}

void daemon_settings(const struct daemon *d, struct strbuf *out)
{
	struct facts f = { 0 };

	add_settings(d, &f);
	print_text(&f, out);
}

void daemon_notify_status(const struct daemon *d)
{
	const struct spec_stats *s = &d->engine.collect.stats;

	sd_notifyf(0, "WATCHDOG=1\nSTATUS=%s: %" PRIu64 " samples, %" PRIu64 " lost",
		   d->engine.running ? "sampling" : "stopped",
		   s->value[SPEC_STAT_TAKEN] + d->engine.past.value[SPEC_STAT_TAKEN],
		   spec_stats_lost(s) + spec_stats_lost(&d->engine.past));
}
