/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "collector/route.h"

enum { MAX_EVENTS = 64, MAX_HZ = 1000000, MAX_PAGES = 1 << 20 };

int coll_set_event(void *ctx, const char *arg, struct err *err)
{
	struct coll_options *o = ctx;
	CLEANUP(free_ptr) char *copy = strdup(arg);
	char *rest = copy, *word;

	while (copy && (word = strsep(&rest, ","))) {
		struct coll_event e = { 0 };
		int rc = ev_spec_parse(word, &e.spec, err);

		if (rc)
			return rc;
		if (o->events.len == MAX_EVENTS)
			return err_set(err, -EINVAL, "-e: more than %d events", MAX_EVENTS);
		if (vec_push(&o->events, e))
			return err_errno(err, -ENOMEM, "-e");
	}
	/* the name of a raw code lies in the event itself, which may have moved */
	vec_for(&o->events, e)
		if (e->spec.event.raw)
			e->spec.event.name = e->spec.raw_name;
	return copy ? 0 : err_errno(err, -ENOMEM, "-e");
}

int coll_set_rate(void *ctx, const char *arg, struct err *err)
{
	struct coll_options *o = ctx;
	unsigned long long hz;
	int rc = opt_number(arg, "-F", 1, MAX_HZ, &hz, err);

	o->rate_hz = rc ? 0 : hz;
	return rc;
}

static int set_callgraph(void *ctx, const char *arg, struct err *err)
{
	(void)arg;
	(void)err;
	((struct coll_options *)ctx)->callgraph = true;
	return 0;
}

static int set_all(void *ctx, const char *arg, struct err *err)
{
	(void)arg;
	(void)err;
	((struct coll_options *)ctx)->all = true;
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
	int rc = opt_number(arg, "-m", 1, MAX_PAGES, &pages, err);

	if (rc)
		return rc;
	for (o->pages = 1; o->pages < pages; o->pages *= 2)
		;
	return 0;
}

static int set_pid(void *ctx, const char *arg, struct err *err)
{
	struct coll_options *o = ctx;
	CLEANUP(free_ptr) char *copy = strdup(arg);
	char *rest = copy, *word;
	unsigned long long pid;

	while (copy && (word = strsep(&rest, ","))) {
		int rc = opt_number(word, "-p", 1, INT_MAX, &pid, err);

		if (rc)
			return rc;
		if (vec_push(&o->pids, (uint32_t)pid))
			return err_errno(err, -ENOMEM, "-p");
	}
	return copy ? 0 : err_errno(err, -ENOMEM, "-p");
}

/* A word with a slash is a file, by the path the kernel will report; else a module. */
static int add_image(struct coll_options *o, const char *word, struct err *err)
{
	char *name;

	if (!*word)
		return err_set(err, -EINVAL, "--image: an empty name");
	name = strchr(word, '/') ? realpath(word, NULL) : strdup(word);
	if (!name && errno == ENOENT && word[0] == '/') {
		log_note("--image: %s: no such file here; only a process that sees it "
			 "elsewhere (a container) can match",
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

static const struct opt opts[] = {
#include "collector/sampling_list.h"
	{ 'g', "callgraph", NULL, "call chains by frame pointers, as call graph arcs",
	  set_callgraph },
	{ 'p', "pid", "PID[,PID]", "running processes, their threads and future children",
	  set_pid },
	{ 'a', "all", NULL, "every process on every CPU", set_all },
	{ 'd', "session-dir", "DIR", "write into DIR instead of ./oprofile_data",
	  coll_set_session_dir },
	{ 0, "append", NULL, "add to session \"current\" instead of setting it aside",
	  set_append },
	{ 0 },
};

static const char about[] =
	"Profiles a command, running processes, or the whole machine into the session\n"
	"\"current\" of ./oprofile_data; \"opfs mount\" shows it. A \"current\" that holds\n"
	"samples is first renamed by the time it was begun.\n"
	"\n"
	"Without -e: cycles, where the processor counts them, else TIMER (time). EVENT is a\n"
	"name of perf's or OProfile's, or rNNN for a raw code; KERNEL and USER are 1 or 0.\n"
	"\n"
	"--separate: with lib, what a program's libraries use is filed under the program, and\n"
	"the kernel by itself; kernel files kernel samples under the program as well (operf's\n"
	"way) and implies lib; none files every image by itself; thread and cpu keep threads\n"
	"and CPUs apart and add to lib (\"none,thread\" switches that off).\n"
	"\n"
	"Ends when COMMAND or all of the processes end, or with Ctrl-C; a second Ctrl-C does\n"
	"not wait for COMMAND. Exits with COMMAND's status, 128+N if signal N killed it, 1 if\n"
	"collecting failed, 2 for wrong usage, 127 or 126 if COMMAND cannot be run.";

static const struct opt_program program = {
	.name = "opcollect record",
	.synopsis = "[OPTIONS] [-p PID[,PID] | -a] [--] [COMMAND [ARGS]]",
	.about = about,
	.opts = opts,
};

static enum opt_result wrong(const char *what)
{
	fprintf(stderr, "%s: %s\ntry '%s --help'\n", program.name, what, program.name);
	return OPT_WRONG;
}

enum opt_result coll_options_parse(int argc, char **argv, struct coll_options *out)
{
	enum opt_result result;
	int first = argc;

	*out = (struct coll_options){ .separate = COLL_SEPARATE_LIB,
				      .pages = COLL_DEFAULT_PAGES };
	result = opt_parse(&program, argc, argv, out, &first);
	if (result != OPT_RUN)
		return result;
	if (first < argc)
		out->command = argv + first;
	if (out->all && out->pids.len)
		return wrong("-a and -p exclude each other");
	if (!out->all && !out->pids.len && !out->command)
		return wrong("what shall be profiled? Give a command, -p PID, or -a");
	if (out->vmlinux && out->no_vmlinux)
		return wrong("--vmlinux and --no-vmlinux exclude each other");
	return OPT_RUN;
}

void coll_options_fini(struct coll_options *o)
{
	vec_for(&o->images, image)
		free(*image);
	vec_fini(&o->images);
	vec_fini(&o->events);
	vec_fini(&o->pids);
}
