/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/events/command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/opt.h"
#include "collector/events/formats.h"
#include "events/describe.h"
#include "events/event_spec.h"
#include "events/table/source.h"

struct wish {
	const char *cpu, *search;
	void (*write)(const struct coll_events *e, struct strbuf *out);
	bool list_types;
};

static int set_cpu(void *ctx, const char *arg, struct err *err)
{
	(void)err;
	((struct wish *)ctx)->cpu = arg;
	return 0;
}

static int set_search(void *ctx, const char *arg, struct err *err)
{
	if (!*arg)
		return err_set(err, -EINVAL, "--search: an empty word");
	((struct wish *)ctx)->search = arg;
	return 0;
}

static int set_json(void *ctx, const char *arg, struct err *err)
{
	(void)arg;
	(void)err;
	((struct wish *)ctx)->write = coll_events_json;
	return 0;
}

static int set_xml(void *ctx, const char *arg, struct err *err)
{
	(void)arg;
	(void)err;
	((struct wish *)ctx)->write = coll_events_xml;
	return 0;
}

static int set_types(void *ctx, const char *arg, struct err *err)
{
	(void)arg;
	(void)err;
	((struct wish *)ctx)->list_types = true;
	return 0;
}

static const struct opt opts[] = {
	{ 'c', "cpu-type", "TYPE", "of the processor type TYPE, instead of this machine",
	  set_cpu },
	{ 's', "search", "WORD", "only those with WORD in their names or descriptions",
	  set_search },
	{ 0, "json", NULL, "as JSON: an object with an array \"events\"", set_json },
	{ 'X', "xml", NULL, "as XML, as OProfile's ophelp -X", set_xml },
	{ 0, "list-cpu-types", NULL, "the processor types there are tables of",
	  set_types },
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

static int find_given(struct coll_events *e, char **words, struct err *err)
{
	for (; *words; words++) {
		struct ev_spec s;
		int rc = ev_spec_parse_in(&e->tables, *words, &s, err);

		if (rc)
			return rc;
		if (s.event.raw)
			return err_set(err, -EINVAL,
				       "event %s: a raw code is in no table: see the "
				       "processor's manual",
				       *words);
		if (vec_push(&e->found, s.event))
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
		return err_set(err, rc,
			       "there is no table of events for \"%s\": "
			       "--list-cpu-types tells which there are",
			       e->cpu);
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

static int list_types(void)
{
	CLEANUP(names_fini) struct names types = { 0 };
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	struct err err = { 0 };

	if (ev_cpu_types(&types, &err)) {
		log_err("%s", err.msg);
		return 1;
	}
	vec_for(&types, type)
		strbuf_printf(&out, "%s\n", *type);
	return write_out(&out);
}

int coll_events(int argc, char **argv)
{
	struct wish w = { .write = coll_events_text };
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	struct coll_events e = { 0 };
	struct err err = { 0 };
	enum opt_result result;
	int first = argc, rc;

	result = opt_parse(&program, argc, argv, &w, &first);
	if (result != OPT_RUN)
		return opt_exit(result);
	if (w.list_types)
		return list_types();
	e.cpu = w.cpu;
	rc = find_tables(&e, &err);
	if (!rc)
		rc = first < argc ? find_given(&e, argv + first, &err)
				  : find_all(&e, w.search, &err);
	if (rc) {
		log_err("%s", err.msg);
	} else {
		w.write(&e, &out);
		rc = write_out(&out);
	}
	vec_fini(&e.found);
	return rc ? 1 : 0;
}
