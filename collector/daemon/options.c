/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/daemon/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/number.h"
#include "collector/source/sources.h"
#include "collector/store/route.h"

#define SECOND_NS 1000000000ULL
#define MIB (1ULL << 20)

enum { MAX_CHECKPOINT = 86400 };

static struct coll_daemon_options *self(void *ctx)
{
	return ctx;
}

static int set_rotate(void *ctx, const char *arg, struct err *err)
{
	struct coll_rotate r = { 0 };
	const struct number_unit *unit;
	uint64_t n;

	if (strcmp(arg, "never") != 0) {
		if (number_amount(arg, &unit, &n) || !unit || !n ||
		    n > UINT64_MAX / SECOND_NS || (unit->bytes && n < MIB))
			return err_set(err, -EINVAL,
				       "--rotate: \"%s\" is neither a time (2s, 10m, 1h, "
				       "7d), nor a size from 1M (100M, 2G), nor never",
				       arg);
		if (unit->bytes)
			r.bytes = n;
		else
			r.after_ns = n * SECOND_NS;
	}
	self(ctx)->rotate = r;
	return 0;
}

static int set_keep(void *ctx, const char *arg, struct err *err)
{
	CLEANUP(free_ptr) char *copy = strdup(arg);
	struct coll_keep k = { 0 };
	char *rest = copy, *word;
	const struct number_unit *unit;
	uint64_t n;

	if (!copy)
		return err_errno(err, -ENOMEM, "--keep");
	while (strcmp(arg, "all") != 0 && (word = strsep(&rest, ","))) {
		if (number_amount(word, &unit, &n) || !n)
			return err_set(
				err, -EINVAL,
				"--keep: \"%s\" is neither a number of sessions (48), "
				"nor an age (7d), nor a size (10G), nor all",
				word);
		if (!unit)
			k.count = n;
		else if (unit->bytes)
			k.bytes = n;
		else
			k.age_s = n;
	}
	self(ctx)->keep = k;
	return 0;
}

static int set_min_free(void *ctx, const char *arg, struct err *err)
{
	const struct number_unit *unit;
	uint64_t n;

	if (number_amount(arg, &unit, &n) || (n && (!unit || !unit->bytes)))
		return err_set(err, -EINVAL, "--min-free: \"%s\" is no size (64M, 1G)",
			       arg);
	self(ctx)->min_free = n;
	return 0;
}

static int set_checkpoint(void *ctx, const char *arg, struct err *err)
{
	const struct number_unit *unit;
	uint64_t n;

	if (number_amount(arg, &unit, &n) || (unit && unit->bytes) || n > MAX_CHECKPOINT)
		return err_set(
			err, -EINVAL,
			"--checkpoint: \"%s\" is no time up to a day (30s, 5m, or 0)",
			arg);
	self(ctx)->checkpoint_s = n;
	return 0;
}

static int set_socket(void *ctx, const char *arg, struct err *err)
{
	enum { MAX_SOCKET = 100 }; /* with room for a suffix in sockaddr_un */

	if (!*arg || strlen(arg) > MAX_SOCKET)
		return err_set(err, -EINVAL,
			       "--socket: a path of 1 to %d bytes is needed", MAX_SOCKET);
	self(ctx)->socket = arg;
	return 0;
}

static int set_group(void *ctx, const char *arg, struct err *err)
{
	(void)err;
	self(ctx)->group = *arg ? arg : NULL;
	return 0;
}

static int set_log(void *ctx, const char *arg, struct err *err)
{
	if (!strchr(arg, '/') && strcmp(arg, "auto") != 0 && strcmp(arg, "stderr") != 0 &&
	    strcmp(arg, "journal") != 0)
		return err_set(
			err, -EINVAL,
			"--log: \"%s\" is none of auto, stderr, journal, nor the path "
			"of a file",
			arg);
	self(ctx)->log = arg;
	return 0;
}

static int set_detach(void *ctx, const char *arg, struct err *err)
{
	(void)arg;
	(void)err;
	self(ctx)->detach = true;
	return 0;
}

static int set_stopped(void *ctx, const char *arg, struct err *err)
{
	(void)arg;
	(void)err;
	self(ctx)->stopped = true;
	return 0;
}

/* Read before all others: which file that is. */
static int set_config(void *ctx, const char *arg, struct err *err)
{
	(void)ctx;
	(void)arg;
	(void)err;
	return 0;
}

const struct opt coll_daemon_opts[] = {
#include "collector/engine/sampling_list.h"
	{ 'g', "callgraph", "HOW",
	  "stacks: fp[,FRAMES], by frame pointers; dwarf[,SIZE[,FRAMES]]; 0: none",
	  coll_set_callgraph },
	{ 'd', "session-dir", "DIR", "write into DIR (/var/lib/oprofile)",
	  coll_set_session_dir },
	{ 0, "rotate", "TIME|SIZE", "begin another session after that (1m)", set_rotate },
	{ 0, "keep", "LIST",
	  "keep so many rotated sessions, so old or large: COUNT, AGE, SIZE (7d,2G)",
	  set_keep },
	COLL_OPT_SYMBOLS,
	{ 0, "min-free", "SIZE", "leave so much of the disk free (64M)", set_min_free },
	{ 0, "checkpoint", "TIME", "samples are on the disk at least every TIME (60s)",
	  set_checkpoint },
	{ 0, "socket", "PATH", "where commands are taken (" COLL_DEFAULT_SOCKET ")",
	  set_socket },
	{ 0, "group", "GROUP", "may give commands, besides root", set_group },
	{ 0, "log", "WHERE", "auto, stderr, journal, or a file", set_log },
	{ 0, "detach", NULL, "run in the background; returns when samples are taken",
	  set_detach },
	{ 0, "stopped", NULL, "take no samples until \"opcollect start\"", set_stopped },
	{ 0, "config", "FILE", "read options from FILE (" COLL_DEFAULT_CONFIG ")",
	  set_config },
	{ 0 },
};

static const struct fact {
	const char *name, *value; /* NULL: none */
	bool may_set;
} facts[] = {
	{ "event", NULL, true },
	{ "frequency", COLL_DAEMON_HZ, true },
	{ "separate", "kernel", true },
	{ "image", NULL, true },
	{ "callgraph", "0", true },
	{ "max-files", "1000", true },
	{ "stack-limit", "64M", true },
	{ "source", "perf", true },
	{ "ext-feature", NULL, true },
	{ "mmap-pages", "auto", false },
	{ "realtime", "1", false }, /* as of "record" */
	{ "session-dir", "/var/lib/oprofile", false },
	{ "rotate", "1m", true },
	{ "keep", "7d,2G", true },
	{ "symbols", "1G", true },
	{ "min-free", "64M", true },
	{ "checkpoint", "60s", true },
	{ "socket", COLL_DEFAULT_SOCKET, false },
	{ "log", "auto", false },
};

static const struct fact *fact_of(const char *name)
{
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (!strcmp(facts[i].name, name))
			return &facts[i];
	return NULL;
}

const char *coll_daemon_default(const char *name)
{
	const struct fact *f = fact_of(name);

	return f ? f->value : NULL;
}

bool coll_daemon_may_set(const char *name)
{
	const struct fact *f = fact_of(name);

	return f && f->may_set;
}

void coll_daemon_options_init(struct coll_daemon_options *o)
{
	*o = (struct coll_daemon_options){
		.sampling = { .separate = COLL_SEPARATE_DEFAULT,
			      .source = coll_sources[0],
			      .all = true },
	};
}

void coll_daemon_options_fini(struct coll_daemon_options *o)
{
	coll_options_fini(&o->sampling);
}
