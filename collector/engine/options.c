/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/engine/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/number.h"
#include "base/priority.h"
#include "collector/source/replay.h"
#include "collector/source/sources.h"
#include "collector/store/route.h"
#include "collector/store/session.h"

enum { MAX_EVENTS = 64, MAX_HZ = 1000000, MAX_PAGES = 1 << 20 };

const char *coll_default_event(void)
{
	return coll_perf_has_pmu() ? "cycles" : "TIMER";
}

const char *coll_event_word(const char *word, const char *by_default,
			    char room[COLL_EVENT_WORD])
{
	size_t len = strcspn(word, ":");
	int n;

	if (len != strlen("default") || strncmp(word, "default", len) != 0)
		return word;
	if (!by_default)
		by_default = coll_default_event();
	n = snprintf(room, COLL_EVENT_WORD, "%s%s", by_default, word + len);
	return n < COLL_EVENT_WORD ? room : word;
}

static int add_event(struct coll_options *o, const char *word, struct err *err)
{
	struct coll_event e = { 0 };
	char room[COLL_EVENT_WORD];
	int rc = ev_spec_parse(coll_event_word(word, NULL, room), &e.spec, err);

	if (rc)
		return rc;
	if (o->events.len == MAX_EVENTS)
		return err_set(err, -EINVAL, "-e: more than %d events", MAX_EVENTS);
	return vec_push(&o->events, e) ? err_errno(err, -ENOMEM, "-e") : 0;
}

/* The name of a raw code is stored in the event itself, which may have moved. */
static void own_names(struct coll_options *o)
{
	vec_for(&o->events, e)
		if (e->spec.event.raw)
			e->spec.event.name = e->spec.raw_name;
}

/* What the word means depends on the source, which may be given later. */
static int keep_word(struct coll_options *o, const char *word, struct err *err)
{
	char *copy = strdup(word);

	if (copy && !vec_push(&o->derived, copy))
		return 0;
	free(copy);
	return err_errno(err, -ENOMEM, "-e");
}

int coll_set_event(void *ctx, const char *arg, struct err *err)
{
	struct coll_options *o = ctx;
	CLEANUP(free_ptr) char *copy = strdup(arg);
	char *rest = copy, *word;

	while (copy && (word = strsep(&rest, ","))) {
		int rc = coll_ext_knows(word) ? keep_word(o, word, err)
					      : add_event(o, word, err);

		if (rc)
			return rc;
	}
	own_names(o);
	return copy ? 0 : err_errno(err, -ENOMEM, "-e");
}

int coll_set_rate(void *ctx, const char *arg, struct err *err)
{
	struct coll_options *o = ctx;
	unsigned long long hz;
	long most = coll_sysctl("perf_event_max_sample_rate", 0);
	int rc;

	o->rate_max = !strcmp(arg, "max");
	if (o->rate_max && most <= 0)
		return err_set(
			err, -EINVAL,
			"-F max: sysctl kernel.perf_event_max_sample_rate cannot be "
			"read; give a number");
	if (o->rate_max) {
		o->rate_hz = (uint64_t)most < MAX_HZ ? (uint64_t)most : MAX_HZ;
		return 0;
	}
	rc = opt_number(arg, "-F", 1, MAX_HZ, &hz, err);
	o->rate_hz = rc ? 0 : hz;
	return rc;
}

int coll_set_max_files(void *ctx, const char *arg, struct err *err)
{
	unsigned long long nr = 0;
	int rc = opt_number(arg, "--max-files", 0, UINT32_MAX, &nr, err);

	((struct coll_options *)ctx)->max_files = (uint32_t)nr;
	return rc;
}

uint64_t coll_options_hz(const struct coll_options *o)
{
	if (o->rate_hz)
		return o->rate_hz;
	return o->default_hz ? o->default_hz : COLL_DEFAULT_HZ;
}

int coll_set_callgraph(void *ctx, const char *arg, struct err *err)
{
	return coll_callgraph_parse(arg, &((struct coll_options *)ctx)->callgraph, err);
}

/* perf's way to say it, whose argument may be a word of its own. */
static int set_call_graph(void *ctx, const char *arg, struct err *err)
{
	if (!strcmp(arg, "lbr"))
		return err_set(
			err, -EINVAL,
			"--call-graph: \"lbr\", branch records, is not known here; "
			"give fp, or dwarf, which needs no frame pointers");
	return coll_set_callgraph(ctx, arg, err);
}

static int set_session(void *ctx, const char *arg, struct err *err)
{
	struct coll_options *o = ctx;
	struct err why = { 0 };

	if (!strcmp(arg, "current")) {
		o->session = NULL;
		return 0;
	}
	if (coll_session_name_check(arg, &why))
		return err_set(err, why.code, "--session: %s", why.msg);
	if (coll_session_name_is_time(arg))
		return err_set(err, -EINVAL,
			       "--session: %s: such names are of sessions that were set "
			       "aside; choose another",
			       arg);
	o->session = arg;
	return 0;
}

static int set_all(void *ctx, const char *arg, struct err *err)
{
	(void)arg;
	(void)err;
	((struct coll_options *)ctx)->all = true;
	return 0;
}

static int set_lazy(void *ctx, const char *arg, struct err *err)
{
	(void)ctx;
	(void)arg;
	(void)err;
	return 0;
}

static int set_append(void *ctx, const char *arg, struct err *err)
{
	(void)arg;
	(void)err;
	((struct coll_options *)ctx)->append = true;
	return 0;
}

int coll_set_no_vmlinux(void *ctx, const char *arg, struct err *err)
{
	(void)arg;
	(void)err;
	((struct coll_options *)ctx)->no_vmlinux = true;
	return 0;
}

int coll_set_vmlinux(void *ctx, const char *arg, struct err *err)
{
	(void)err;
	((struct coll_options *)ctx)->vmlinux = arg;
	return 0;
}

int coll_set_session_dir(void *ctx, const char *arg, struct err *err)
{
	if (!*arg)
		return err_set(err, -EINVAL, "--session-dir: no directory given");
	((struct coll_options *)ctx)->session_dir = arg;
	return 0;
}

int coll_set_separate(void *ctx, const char *arg, struct err *err)
{
	return coll_separate_parse(arg, &((struct coll_options *)ctx)->separate, err);
}

int coll_set_pages(void *ctx, const char *arg, struct err *err)
{
	struct coll_options *o = ctx;
	unsigned long long pages;
	int rc;

	if (!strcmp(arg, "auto")) {
		o->pages = 0;
		return 0;
	}
	rc = opt_number(arg, "-m", 1, MAX_PAGES, &pages, err);
	if (rc)
		return rc;
	for (o->pages = 1; o->pages < pages; o->pages *= 2)
		;
	return 0;
}

int coll_set_realtime(void *ctx, const char *arg, struct err *err)
{
	struct coll_options *o = ctx;
	unsigned long long level = 0;
	int rc = opt_number(arg, "--realtime", 0, PRIORITY_MAX, &level, err);

	o->realtime = rc ? o->realtime : (unsigned)level;
	return rc;
}

static int set_pid(void *ctx, const char *arg, struct err *err)
{
	return ids_parse(&((struct coll_options *)ctx)->pids, arg, "-p", err);
}

/* A word with a slash is a file, by the path the kernel will report; else a module. */
static int add_image(struct coll_options *o, const char *word, struct err *err)
{
	char *name;

	if (!*word)
		return err_set(err, -EINVAL, "--image: an empty name");
	if (o->lookup == COLL_LOOKED_UP && strchr(word, '/') && word[0] != '/')
		return err_set(err, -EINVAL,
			       "--image: \"%s\" is neither a whole path nor a name",
			       word);
	name = strchr(word, '/') && o->lookup != COLL_LOOKED_UP ? realpath(word, NULL)
								: strdup(word);
	if (!name && errno == ENOENT && word[0] == '/') {
		if (o->lookup == COLL_LOOK_UP_AND_TELL)
			log_note("--image: %s: no such file here; only a process that "
				 "sees it elsewhere (a container) can match",
				 word);
		name = strdup(word);
	}
	if (!name)
		return err_errno(err, -errno, "--image: %s", word);
	if (vec_push(&o->images, name)) {
		free(name);
		return err_errno(err, -ENOMEM, "--image");
	}
	return 0;
}

int coll_set_image(void *ctx, const char *arg, struct err *err)
{
	CLEANUP(free_ptr) char *copy = strdup(arg);
	char *rest = copy, *word;
	int rc = 0;

	while (!rc && copy && (word = strsep(&rest, ",")))
		rc = add_image(ctx, word, err);
	return copy ? rc : err_errno(err, -ENOMEM, "--image");
}

int coll_set_stack_limit(void *ctx, const char *arg, struct err *err)
{
	const struct number_unit *unit;
	uint64_t n;

	if (number_amount(arg, &unit, &n) || !n || !unit || !unit->bytes)
		return err_set(err, -EINVAL, "--stack-limit: \"%s\" is no size (64M, 1G)",
			       arg);
	((struct coll_options *)ctx)->stack_limit = n;
	return 0;
}

int coll_set_source(void *ctx, const char *arg, struct err *err)
{
	struct coll_options *o = ctx;

	return coll_source_find(arg, &o->source, err);
}

static int set_save(void *ctx, const char *arg, struct err *err)
{
	(void)err;
	((struct coll_options *)ctx)->save = arg;
	return 0;
}

int coll_set_feature(void *ctx, const char *arg, struct err *err)
{
	return coll_ext_parse(&((struct coll_options *)ctx)->ext, arg, err);
}

static int set_kallsyms(void *ctx, const char *arg, struct err *err)
{
	(void)err;
	((struct coll_options *)ctx)->kallsyms = arg;
	return 0;
}

static int set_modules(void *ctx, const char *arg, struct err *err)
{
	(void)err;
	((struct coll_options *)ctx)->modules = arg;
	return 0;
}

int coll_set_symbols(void *ctx, const char *arg, struct err *err)
{
	const struct number_unit *unit;
	uint64_t n;

	if (number_amount(arg, &unit, &n) || (n && (!unit || !unit->bytes)))
		return err_set(err, -EINVAL, "--symbols: \"%s\" is no size (500M, 2G)",
			       arg);
	((struct coll_options *)ctx)->symbols =
		(struct coll_symbols){ .none = !n, .limit = n };
	return 0;
}

#define SESSION_OPTS                                                                     \
	{ 'd', "session-dir", "DIR",                                                     \
	  "write into DIR ($OPFS_SESSION_DIR, ./oprofile_data)", coll_set_session_dir }, \
		{ 'o', "output", "DIR", "the same, as perf calls it",                    \
		  coll_set_session_dir },                                                \
		{ 0, "session", "NAME",                                                  \
		  "write session NAME, a new one, instead of \"current\"",               \
		  set_session },                                                         \
		COLL_OPT_SYMBOLS,                                                        \
	{                                                                                \
		0, "append", NULL, "add to the session instead of beginning another",    \
			set_append                                                       \
	}

const struct opt_alias coll_option_aliases[] = { { "call-graph", "callgraph" }, { 0 } };

static const struct opt opts[] = {
#include "collector/engine/sampling_list.h"
	{ 'g', "callgraph", "[HOW]",
	  "stacks, by frame pointers; HOW: fp[,FRAMES], or dwarf[,SIZE[,FRAMES]]",
	  coll_set_callgraph },
	{ 0, "call-graph", "HOW", "as perf has it: the same as --callgraph=HOW",
	  set_call_graph },
	{ 'p', "pid", "PID[,PID]", "running processes, their threads and future children",
	  set_pid },
	{ 'a', "all", NULL, "every process on every CPU", set_all },
	SESSION_OPTS,
	{ 'l', "lazy-conversion", NULL, "for operf's sake; does nothing", set_lazy },
	{ 0, "save-stream", "FILE", "what the driver says also goes to FILE, for replay",
	  set_save },
	{ 0 },
};

static const struct opt replay_opts[] = {
	{ 'g', "callgraph", NULL, "the stacks in it", coll_set_callgraph },
#include "collector/engine/filing_list.h"
	{ 0, "ext-feature", "NAME:ARGS",
	  "ibs:fetch:EVENT,...:COUNT:MASK|op:EVENT,...:COUNT:MASK", coll_set_feature },
	SESSION_OPTS,
	{ 'k', "vmlinux", "FILE", "the kernel that ran", coll_set_vmlinux },
	{ 0, "kallsyms", "FILE", "a copy of its /proc/kallsyms", set_kallsyms },
	{ 0, "modules", "FILE", "a copy of its /proc/modules", set_modules },
	{ 0, "no-vmlinux", NULL, "file kernel samples as no-vmlinux, without symbols",
	  coll_set_no_vmlinux },
	{ 0 },
};

static const char about[] =
	"Profiles a command, running processes, or the whole machine into the session\n"
	"\"current\" of ./oprofile_data; \"opfs mount\" shows it. A \"current\" that "
	"holds\n"
	"samples is first renamed by the time it was begun.\n"
	"\n"
	"Without -e: cycles, where the processor counts them, else TIMER (time). EVENT "
	"is a\n"
	"name of perf's or OProfile's, or rNNN for a raw code; KERNEL and USER are 1 or "
	"0.\n"
	"\n"
	"--separate: with kernel, what a program uses in libraries and causes in the "
	"kernel is\n"
	"filed under the program (operf's way); lib does so with libraries only, and "
	"files the\n"
	"kernel by itself; none files every image by itself; thread and cpu keep "
	"threads and\n"
	"CPUs apart and add to kernel (\"lib,thread\" and \"none,thread\": to these).\n"
	"\n"
	"Ends when COMMAND or all of the processes end, or with Ctrl-C; a second Ctrl-C "
	"does\n"
	"not wait for COMMAND. Exits with COMMAND's status, 128+N if signal N killed it, "
	"1 if\n"
	"collecting failed, 2 for wrong usage, 127 or 126 if COMMAND cannot be run.";

/* perf's; doc/from-perf.md has more of each */
static const struct instead instead[] = {
	{ { "-C", "--cpu" },
	  "record all CPUs with -a --separate=cpu, and read one: opfs cat "
	  "current/cpu:0/report" },
	{ { "-c", "--count" }, "the count is part of the event: -e page-faults:10" },
	{ { "-t", "--tid" },
	  "record its process with --separate=thread -p PID, and read one thread: opfs "
	  "cat current/tid:TID/report" },
	{ { "-G", "--cgroup" },
	  "record with -a --separate=thread, and choose one: opfs ls current/cgroup:" },
	{ { "-b", "--branch-any" }, "there are no branch records here; -g takes stacks" },
	{ { "-s", "--stat" }, "--separate=thread keeps threads apart" },
	{ { "-r" }, "write --realtime=PRIORITY" },
	{ { "--max-stack" }, "write --callgraph=fp,FRAMES" },
	{ { "--switch-output", "--overwrite" },
	  "the daemon rotates its session: opcollect daemon --rotate=1m" },
	{ { "-i", "--no-inherit" }, "children are always sampled; paths choose later" },
	{ { "-D", "--delay" }, "samples are taken from the start" },
	{ { 0 }, NULL },
};

/* -gdwarf is not -g -d warf. */
static bool is_meant(const struct opt *o, const char *text)
{
	return o->set == coll_set_callgraph && coll_callgraph_is_named(text);
}

static const struct opt_program program = {
	.name = "opcollect record",
	.synopsis = "[OPTIONS] [-p PID[,PID] | -a] [--] [COMMAND [ARGS]]",
	.about = about,
	.opts = opts,
	.instead = instead,
	.topics = true,
	.meant = is_meant,
};

static const struct opt_program replay_program = {
	.name = "opcollect replay",
	.synopsis = "[OPTIONS] FILE",
	.about =
		"Files the samples of a saved stream of the driver's event buffer "
		"(\"opcollect\n"
		"record --source=kernel --save-stream=FILE\") as they would have been "
		"filed when\n"
		"they were taken. FILE may be -, standard input.\n"
		"\n"
		"Kernel samples have no symbols (no-vmlinux) unless --kallsyms or "
		"--vmlinux say\n"
		"which kernel ran. Binaries are looked for by their paths, and are taken "
		"for those\n"
		"that ran if their build-ids agree.",
	.opts = replay_opts,
	.aliases = coll_option_aliases,
	.topics = true,
};

static enum opt_result wrong_usage(const struct opt_program *p, const char *what)
{
	fprintf(stderr, "%s: %s\ntry '%s --help'\n", p->name, what, p->name);
	return OPT_WRONG;
}

static enum opt_result wrong(const char *what)
{
	return wrong_usage(&program, what);
}

static void forget_words(struct coll_options *o)
{
	vec_for(&o->derived, word)
		free(*word);
	vec_fini(&o->derived);
}

int coll_options_derive(struct coll_options *o, struct err *err)
{
	int rc = 0;

	vec_for(&o->derived, word) {
		if (rc)
			break;
		rc = o->source->extended ? coll_ext_event(&o->ext, *word, err)
					 : add_event(o, *word, err);
		if (rc && !o->source->extended)
			err_add(err, rc,
				"events of extended features need --source=kernel");
	}
	forget_words(o);
	own_names(o);
	if (!rc && o->ext.feature && !o->source->extended)
		rc = err_set(err, -EINVAL, "--ext-feature needs --source=kernel");
	return rc;
}

enum opt_result coll_options_parse(int argc, char **argv, struct coll_options *out)
{
	enum opt_result result;
	struct err err = { 0 };
	int first = argc;

	*out = (struct coll_options){ .separate = COLL_SEPARATE_DEFAULT,
				      .realtime = 1,
				      .source = coll_sources[0] };
	result = opt_parse(&program, argc, argv, out, &first);
	if (result != OPT_RUN)
		return result;
	if (coll_options_derive(out, &err))
		return wrong(err.msg);
	if (first < argc)
		out->command = argv + first;
	if (out->all && out->pids.len)
		return wrong("-a and -p exclude each other");
	if (!out->all && !out->pids.len && !out->command)
		return wrong("what shall be profiled? Give a command, -p PID, or -a");
	if (out->vmlinux && out->no_vmlinux)
		return wrong("--vmlinux and --no-vmlinux exclude each other");
	if (out->save && !out->source->can_save)
		return wrong("--save-stream needs --source=kernel");
	return OPT_RUN;
}

enum opt_result coll_options_parse_replay(int argc, char **argv, struct coll_options *out)
{
	enum opt_result result;
	int first = argc;

	*out = (struct coll_options){ .separate = COLL_SEPARATE_DEFAULT,
				      .source = &coll_source_replay };
	result = opt_parse(&replay_program, argc, argv, out, &first);
	if (result != OPT_RUN)
		return result;
	if (first + 1 != argc)
		return wrong_usage(&replay_program, "give the file of one saved stream");
	out->replay = argv[first];
	if (out->no_vmlinux && (out->vmlinux || out->kallsyms || out->modules))
		return wrong_usage(
			&replay_program,
			"--no-vmlinux excludes --vmlinux, --kallsyms, --modules");
	if (out->modules && !out->kallsyms)
		return wrong_usage(&replay_program, "--modules goes with --kallsyms");
	return OPT_RUN;
}

void coll_options_fini(struct coll_options *o)
{
	vec_for(&o->images, image)
		free(*image);
	vec_fini(&o->images);
	forget_words(o);
	coll_ext_fini(&o->ext);
	vec_fini(&o->events);
	ids_fini(&o->pids);
}
