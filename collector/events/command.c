/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/events/command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/number.h"
#include "base/opt.h"
#include "collector/engine/options.h"
#include "collector/events/answers.h"
#include "collector/events/formats.h"
#include "events/describe.h"
#include "events/event_spec.h"
#include "libspec/sample/cpu_type.h"

struct wish {
	const char *cpu, *search;
	const struct coll_answer *answer; /* NULL: the list, for people */
	unsigned long long callgraph;
};

/* A number is one of OProfile's, which sample files have. */
static int set_cpu(void *ctx, const char *arg, struct err *err)
{
	struct wish *w = ctx;
	uint64_t number;

	w->cpu = arg;
	if (!number_parse(arg, 10, UINT32_MAX, &number))
		return 0;
	w->cpu = spec_cpu_type((uint32_t)number);
	if (w->cpu)
		return 0;
	return err_set(err, -EINVAL,
		       "--cpu-type: %s is no number of a processor type that is known; "
		       "--list-cpu-types tells their names",
		       arg);
}

static int set_search(void *ctx, const char *arg, struct err *err)
{
	if (!*arg)
		return err_set(err, -EINVAL, "--search: an empty word");
	((struct wish *)ctx)->search = arg;
	return 0;
}

static int set_callgraph(void *ctx, const char *arg, struct err *err)
{
	return opt_number(arg, "--callgraph", 0, UINT16_MAX,
			  &((struct wish *)ctx)->callgraph, err);
}

/* Options without a setter are answers. */
static int take(void *ctx, const struct opt *o, const char *arg, struct err *err)
{
	const struct coll_answer *a = coll_answers;
	struct wish *w = ctx;

	if (o->set)
		return o->set(ctx, arg, err);
	while (strcmp(a->option, o->name) != 0)
		a++;
	if (w->answer && w->answer != a)
		return err_set(err, -EINVAL,
			       "--%s and --%s exclude each other: ask one by one",
			       w->answer->option, o->name);
	w->answer = a;
	return 0;
}

static const struct opt opts[] = {
	{ 'c', "cpu-type", "TYPE",
	  "of the processor type TYPE, or OProfile's number of it", set_cpu },
	{ 's', "search", "WORD", "only those with WORD in their names or descriptions",
	  set_search },
	{ 0, "json", NULL, "as JSON: an object with an array \"events\"", NULL },
	{ 'X', "xml", NULL, "as XML, as OProfile's ophelp -X", NULL },
	{ 'e', "check-events", NULL, "check EVENTs, and print the counter of each",
	  NULL },
	{ 0, "callgraph", "DEPTH",
	  "check that counts suit call chains: 15 times the minimum", set_callgraph },
	{ 'u', "unit-mask", NULL, "the unit mask of EVENT, as a decimal number", NULL },
	{ 'E', "extra-mask", NULL, "the extra bits of it, likewise", NULL },
	{ 0, "code", NULL, "the code of EVENT, likewise", NULL },
	{ 'd', "get-default-event", NULL, "the event that is sampled without -e", NULL },
	{ 'r', "get-cpu-type", NULL, "the processor type of this machine", NULL },
	{ 0, "get-cpu-frequency", NULL, "its frequency in MHz", NULL },
	{ 0, "list-cpu-types", NULL, "the processor types there are tables of", NULL },
	{ 0 },
};

static const struct opt_program program = {
	.name = "opcollect events",
	.synopsis = "[OPTIONS] [EVENT]...",
	.about = "Lists the events that can be sampled, or those given: what they count, "
		 "how "
		 "few of them\na sample may take, and their unit masks. EVENT may be as "
		 "-e of opcollect record takes it;\nit is checked then.",
	.opts = opts,
	.take = take,
};

static bool holds(const struct ev_def *d, const char *word)
{
	if (strcasestr(d->name, word) || strcasestr(d->doc, word))
		return true;
	for (size_t i = 0; d->masks && i < d->masks->all.len; i++) {
		const struct ev_mask *m = &d->masks->all.data[i];

		if (strcasestr(m->doc, word) || (m->name && strcasestr(m->name, word)))
			return true;
	}
	return false;
}

static int find_all(struct coll_events *e, const char *search, struct err *err)
{
	for (unsigned i = 0; i < e->tables.nr; i++)
		vec_for(&e->tables.all[i]->defs, d) {
			struct ev_event event;

			if (search && !holds(d, search))
				continue;
			ev_event_of(e->tables.all[i], d, &event);
			if (vec_push(&e->found, event))
				return err_errno(err, -ENOMEM, "events");
		}
	if (search && !e->found.len)
		return err_set(err, -ENOENT,
			       "no event has \"%s\" in its names or its "
			       "description",
			       search);
	return 0;
}

/* OProfile asks for that many times the minimum count where call chains are taken. */
enum { CALLGRAPH_SCALE = 15 };

static int check_callgraph(const struct ev_spec *s, const char *word, struct err *err)
{
	uint64_t least = s->event.def ? s->event.def->minimum * CALLGRAPH_SCALE : 0;

	if (!s->count || s->count >= least)
		return 0;
	return err_set(err, -EINVAL,
		       "event %s: with call chains a sample every %" PRIu64
		       " events is too often: the least is %" PRIu64,
		       word, s->count, least);
}

static int find_given(struct coll_events *e, char **words, const struct wish *w,
		      struct err *err)
{
	bool raw = w->answer && w->answer->of_given;
	const char *dflt = coll_events_default(e);
	char room[COLL_EVENT_WORD];

	for (; *words; words++) {
		struct ev_spec *s = &e->given[e->nr_given++];
		int rc = ev_spec_parse_in(&e->tables,
					  coll_event_word(*words, dflt ? dflt : "default",
							  room),
					  s, err);

		if (!rc && w->callgraph)
			rc = check_callgraph(s, *words, err);
		if (rc)
			return rc;
		if (s->event.raw && !raw)
			return err_set(err, -EINVAL,
				       "event %s: a raw code is in no table: see the "
				       "processor's manual",
				       *words);
		if (vec_push(&e->found, s->event))
			return err_errno(err, -ENOMEM, "events");
	}
	return 0;
}

static int find_tables(struct coll_events *e, struct err *err)
{
	const char *why;
	int rc;

	e->machine = ev_machine();
	if (!e->cpu) {
		e->tables = *ev_machine_tables(&why);
		if (*why)
			log_warn("%s", why);
		return 0;
	}
	rc = ev_table_get(e->cpu, &e->tables.all[0], err);
	e->tables.nr = !rc;
	if (rc == -ENOENT)
		return err_add(err, rc,
			       "--cpu-type (--list-cpu-types tells which there are)");
	return rc;
}

static int write_out(const struct strbuf *out)
{
	int rc = strbuf_error(out)
			 ? -ENOMEM
			 : file_write_all(STDOUT_FILENO, strbuf_str(out), out->len);

	if (rc)
		log_err("standard output: %s", strerror(-rc));
	return rc ? 1 : 0;
}

/* Wrong usage: says so, and which is right. */
static int wrong(const char *what)
{
	fprintf(stderr, "%s: %s\ntry '%s --help'\n", program.name, what, program.name);
	return OPT_EXIT_USAGE;
}

static int failed(const struct err *err)
{
	log_err("%s", err->msg);
	return 1;
}

static int check_operands(const struct coll_answer *a, int nr, struct err *err)
{
	if (!a || a->of_events || a->of_given == (nr > 0))
		return 0;
	return err_set(err, -EINVAL, nr ? "--%s takes no EVENT" : "--%s: of which EVENT?",
		       a->option);
}

/* What was found, as it was asked for.  Returns the exit status. */
static int answer(const struct coll_events *e, const struct coll_answer *a)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	struct err err = { 0 };
	int rc = 0;

	if (!a)
		coll_events_text(e, &out);
	else if (a->list)
		a->list(e, &out);
	else
		rc = a->answer(e, &out, &err);
	if (rc)
		return rc == -EINVAL ? wrong(err.msg) : failed(&err);
	return write_out(&out);
}

static int run(struct coll_events *e, const struct wish *w, char **words, int nr)
{
	struct err err = { 0 };
	int rc = find_tables(e, &err);

	if (rc)
		return rc == -ENOENT ? wrong(err.msg) : failed(&err);
	e->given = calloc((size_t)nr + 1, sizeof(*e->given));
	if (!e->given)
		rc = err_set(&err, -ENOMEM, "out of memory");
	else if (nr)
		rc = find_given(e, words, w, &err);
	else if (!w->answer || w->answer->of_events)
		rc = find_all(e, w->search, &err);
	if (rc)
		return nr && rc != -ENOMEM ? wrong(err.msg) : failed(&err);
	return answer(e, w->answer);
}

int coll_events(int argc, char **argv)
{
	struct coll_events e = { 0 };
	struct wish w = { 0 };
	struct err err = { 0 };
	enum opt_result result;
	int first = argc, status;

	result = opt_parse(&program, argc, argv, &w, &first);
	if (result != OPT_RUN)
		return opt_exit(result);
	if (check_operands(w.answer, argc - first, &err))
		return wrong(err.msg);
	e.cpu = w.cpu;
	status = run(&e, &w, argv + first, argc - first);
	vec_fini(&e.found);
	free(e.given);
	return status;
}
