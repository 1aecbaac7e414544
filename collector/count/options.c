/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/count/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/number.h"

#define MIN_INTERVAL_NS (10 * CLOCK_NS_PER_MS)
#define MAX_INTERVAL_NS (1000000 * CLOCK_NS_PER_S)

enum { MAX_EVENTS = 64, FRACTION_DIGITS = 9 };

/* ---- events */

/* What is counted without -e. */
static const struct usual {
	const char *word;
	bool hardware;
} usual[] = {
	{ "cycles", true },
	{ "instructions", true },
	{ "task-clock", false },
	{ "page-faults", false },
	{ "context-switches", false },
	{ "cpu-migrations", false },
};

static int add_event(struct coll_count_options *o, const char *word, struct err *err)
{
	const char *fields = strchrnul(word, ':');
	struct coll_counted c = { 0 };
	int rc = ev_spec_parse_counted(word, &c.event.spec, err);

	if (rc)
		return rc;
	if (o->events.len == MAX_EVENTS)
		return err_set(err, -EINVAL, "-e: more than %d events", MAX_EVENTS);
	if (asprintf(&c.label, "%s%s", c.event.spec.event.name, fields) < 0)
		return err_errno(err, -ENOMEM, "-e");
	vec_for(&o->events, e)
		if (!strcmp(e->label, c.label))
			rc = err_set(err, -EINVAL, "-e: %s is given twice", c.label);
	if (!rc && vec_push(&o->events, c))
		rc = err_errno(err, -ENOMEM, "-e");
	if (rc) {
		free(c.label);
		return rc;
	}
	/* the name of a raw code is stored in the event itself, which may have moved */
	vec_for(&o->events, e)
		if (e->event.spec.event.raw)
			e->event.spec.event.name = e->event.spec.raw_name;
	return 0;
}

static int add_usual(struct coll_count_options *o, struct err *err)
{
	bool hardware = coll_perf_has_pmu();
	int rc = 0;

	for (size_t i = 0; !rc && i < sizeof(usual) / sizeof(usual[0]); i++)
		if (hardware || !usual[i].hardware)
			rc = add_event(o, usual[i].word, err);
	return rc;
}

static int set_event(void *ctx, const char *arg, struct err *err)
{
	CLEANUP(free_ptr) char *copy = strdup(arg);
	char *rest = copy, *word;
	int rc = copy ? 0 : err_errno(err, -ENOMEM, "-e");

	while (!rc && (word = strsep(&rest, ",")))
		rc = add_event(ctx, word, err);
	return rc;
}

/* ---- whom, and how it is told */

static int set_pid(void *ctx, const char *arg, struct err *err)
{
	return ids_parse(&((struct coll_count_options *)ctx)->pids, arg, "-p", err);
}

static int set_thread(void *ctx, const char *arg, struct err *err)
{
	return ids_parse(&((struct coll_count_options *)ctx)->tids, arg, "-r", err);
}

static int set_cpus(void *ctx, const char *arg, struct err *err)
{
	return ids_parse_ranges(&((struct coll_count_options *)ctx)->cpus, arg, "-C",
				err);
}

static int set_all(void *ctx, const char *arg, struct err *err)
{
	(void)arg;
	(void)err;
	((struct coll_count_options *)ctx)->all = true;
	return 0;
}

static int set_by_cpu(void *ctx, const char *arg, struct err *err)
{
	(void)arg;
	(void)err;
	((struct coll_count_options *)ctx)->by_cpu = true;
	return 0;
}

static int set_by_thread(void *ctx, const char *arg, struct err *err)
{
	(void)arg;
	(void)err;
	((struct coll_count_options *)ctx)->by_thread = true;
	return 0;
}

/* "2", "0.5": in nanoseconds; what follows, or NULL if that is no time in range. */
static const char *parse_seconds(const char *text, uint64_t *ns)
{
	uint64_t whole, fraction = 0;
	size_t len = number_digits(text, 10, &whole), digits = 0;

	if (!len || whole > MAX_INTERVAL_NS / CLOCK_NS_PER_S)
		return NULL;
	text += len;
	if (*text == '.') {
		digits = number_digits(++text, 10, &fraction);
		if (!digits || digits > FRACTION_DIGITS)
			return NULL;
		text += digits;
	}
	for (; digits < FRACTION_DIGITS; digits++)
		fraction *= 10;
	*ns = whole * CLOCK_NS_PER_S + fraction;
	return *ns < MIN_INTERVAL_NS || *ns > MAX_INTERVAL_NS ? NULL : text;
}

static int set_interval(void *ctx, const char *arg, struct err *err)
{
	struct coll_count_options *o = ctx;
	const char *rest = parse_seconds(arg, &o->interval_ns);

	o->times = 0;
	if (rest && *rest == ':' && number_parse(rest + 1, 10, UINT32_MAX, &o->times) &&
	    o->times)
		return 0;
	if (rest && !*rest)
		return 0;
	return err_set(err, -EINVAL,
		       "-i: \"%s\" is not SECONDS[:TIMES], as 2, 0.5 or 1:10, of 0.01 to "
		       "1000000 seconds",
		       arg);
}

static int set_format(struct coll_count_options *o, const struct coll_count_format *f,
		      struct err *err)
{
	if (o->format && o->format != f)
		return err_set(err, -EINVAL, "-b and --json exclude each other");
	o->format = f;
	return 0;
}

static int set_brief(void *ctx, const char *arg, struct err *err)
{
	(void)arg;
	return set_format(ctx, &coll_count_brief, err);
}

static int set_json(void *ctx, const char *arg, struct err *err)
{
	(void)arg;
	return set_format(ctx, &coll_count_json, err);
}

static int set_output(void *ctx, const char *arg, struct err *err)
{
	if (!*arg)
		return err_set(err, -EINVAL, "-f: no file given");
	((struct coll_count_options *)ctx)->output = arg;
	return 0;
}

static const struct opt opts[] = {
	{ 'e', "event", "EVENT",
	  "count NAME:UNITMASK:KERNEL:USER; may be repeated, or a list", set_event },
	{ 'p', "pid", "PID[,PID]", "running processes, their threads and future children",
	  set_pid },
	{ 'r', "thread-list", "TID[,TID]", "running threads, without their children",
	  set_thread },
	{ 'a', "all", NULL, "every process on every CPU", set_all },
	{ 'C', "cpu-list", "CPU[,CPU-CPU]", "every process on these CPUs", set_cpus },
	{ 'c', "separate-cpu", NULL, "with -a or -C: a row for each CPU", set_by_cpu },
	{ 't', "separate-thread", NULL, "with -p or -r: a row for each thread",
	  set_by_thread },
	{ 'i', "time-interval", "SECONDS[:TIMES]",
	  "print counts so often, so many times, instead of once at the end",
	  set_interval },
	{ 'b', "brief-format", NULL, "print lines [CPU or thread,]EVENT,COUNT,PERCENT",
	  set_brief },
	{ 0, "json", NULL, "print JSON: an object with an array \"intervals\"",
	  set_json },
	{ 'f', "output-file", "FILE", "print into FILE instead of to standard output",
	  set_output },
	{ 0 },
};

static const char about[] =
	"Counts events of a command, running processes or threads, CPUs, or the whole\n"
	"machine, without taking samples. \"opcollect events\" lists the events;\n"
	"without -e: cycles and instructions, where the processor counts them, and\n"
	"task-clock, page-faults, context-switches and cpu-migrations.\n"
	"\n"
	"Where events share the processor's counters, counts are scaled up to all of\n"
	"the time; the last column tells for which share of it they were counted.\n"
	"\n"
	"Ends when COMMAND or all of the processes or threads end, or with Ctrl-C; a\n"
	"second Ctrl-C does not wait for COMMAND. Exits with COMMAND's status, 128+N if\n"
	"signal N killed it, 1 if counting failed, 2 for wrong usage, 127 or 126 if\n"
	"COMMAND cannot be run.";

static const struct opt_program program = {
	.name = "opcollect count",
	.synopsis = "[OPTIONS] [-p PID[,PID] | -r TID[,TID] | -a | -C CPU] [--] [COMMAND "
		    "[ARGS]]",
	.about = about,
	.opts = opts,
};

static enum opt_result wrong(const char *what)
{
	fprintf(stderr, "%s: %s\ntry '%s --help'\n", program.name, what, program.name);
	return OPT_WRONG;
}

enum opt_result coll_count_options_parse(int argc, char **argv,
					 struct coll_count_options *out)
{
	enum opt_result result;
	struct err err = { 0 };
	int first = argc, modes;

	*out = (struct coll_count_options){ 0 };
	result = opt_parse(&program, argc, argv, out, &first);
	if (result != OPT_RUN)
		return result;
	if (first < argc)
		out->command = argv + first;
	if (!out->format)
		out->format = &coll_count_text;
	modes = !!out->pids.len + !!out->tids.len + !!out->cpus.len + out->all;
	if (modes > 1)
		return wrong("-p, -r, -a and -C exclude each other");
	if (!modes && !out->command)
		return wrong("what shall be counted? Give a command, -p PID, -r TID, -a, "
			     "or -C CPU");
	if (out->by_cpu && !out->all && !out->cpus.len)
		return wrong("-c needs -a or -C: only whole CPUs are told apart");
	if (out->by_thread && !out->pids.len && !out->tids.len)
		return wrong("-t needs -p or -r: only threads that run already are told "
			     "apart");
	if (!out->events.len && add_usual(out, &err))
		return wrong(err.msg);
	return OPT_RUN;
}

void coll_count_options_fini(struct coll_count_options *o)
{
	vec_for(&o->events, e)
		free(e->label);
	vec_fini(&o->events);
	ids_fini(&o->pids);
	ids_fini(&o->tids);
	ids_fini(&o->cpus);
}
