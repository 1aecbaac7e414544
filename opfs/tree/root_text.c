/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tree/root_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/names.h"
#include "libspec/session/session.h"
#include "opfs/tree/sessions.h"

/* ---- README */

static void add_files(const struct report_set *set, struct strbuf *out)
{
	strbuf_puts(out, "\nFiles in every one of them:\n");
	for (size_t i = 0; i < set->nr; i++)
		strbuf_printf(out, "  %-14s %s\n", set->all[i]->name, set->all[i]->doc);
}

static void add_tags(struct strbuf *out)
{
	strbuf_puts(out, "\nTags that refine a directory, in any order, each once:\n");
	for (size_t i = 0; i < SPEC_NR_TAGS; i++) {
		strbuf_printf(out, "  %-18s %s\n",
			      *spec_tags[i].name ? spec_tags[i].name : "NAME",
			      spec_tags[i].doc);
		for (size_t k = 0; k < SPEC_NR_WORDS && i == SPEC_WITH; k++)
			if (spec_words[k].tag == SPEC_WITH)
				strbuf_printf(out, "    %-18s %s\n", spec_words[k].name,
					      spec_words[k].doc);
	}
}

static void readme(const struct tree *t, struct strbuf *out)
{
	strbuf_printf(
		out,
		"Profiles of %s, as directories.\n\n"
		"A directory is a profile specification, a component refines it, a "
		"file is a report of\nexactly the samples that the path selects:\n\n"
		"  cat current/report\n"
		"  cat current/event:CPU_CLK_UNHALTED/image:/bin/ls/report\n"
		"  cat current/image/*/report\n"
		"  cat session:run1,run2/summary\n"
		"  cat last:30s/report time:09:00..09:05/report\n"
		"  ls current/event: current/image: current/symbol:\n",
		catalog_store_path(t->store));
	add_files(t->o.reports, out);
	add_tags(out);
	strbuf_puts(out,
		    "\nTAG:VALUE, TAG:/VALUE and TAG/VALUE are the same; TAG: lists the "
		    "values there are.\nA value can be a list (a,b), a pattern where "
		    "names are wanted (* ? [ ]), or all.\n\\, is a comma in a name, %XX "
		    "any byte as it is.  A path that selects nothing does not\nexist: "
		    "the file status here, and \"opfs why PATH\", say why.\n");
}

/* ---- status */

static void add_session(struct tree *t, const char *name, const struct viewer *v,
			struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf listed = { 0 };
	char *names[] = { (char *)name };
	struct err why = { 0 };
	bool trusted = catalog_store_trusts(t->store, name);
	struct catalog *c = trusted ? NULL : catalog_store_ready(t->store, names, 1);

	tree_listed_session(name, &listed);
	strbuf_printf(out, "  %-24s ", strbuf_str(&listed));
	if (!trusted && !c) {
		strbuf_puts(out, "of another user; nobody has looked into it yet\n");
		return;
	}
	if (trusted && catalog_store_get(t->store, names, 1, v, &c, &why)) {
		strbuf_printf(out, "cannot be read: %s\n", why.msg);
		return;
	}
	strbuf_printf(out, "%" PRIu64 " samples in %zu files, %" PRIu64 " lost", c->total,
		      c->nr_flat, spec_stats_lost(&c->dirs[0].stats));
	if (c->nr_bad)
		strbuf_printf(out, ", %zu damaged files", c->nr_bad);
	if (c->dirs[0].fd < 0)
		strbuf_puts(out, "; not recorded yet");
	else if (c->dirs[0].has_live && !c->dirs[0].live.closed)
		strbuf_puts(out, "; being recorded");
	strbuf_putc(out, '\n');
	catalog_put(c);
}

static int status(struct tree *t, const struct viewer *v, struct strbuf *out,
		  struct err *err)
{
	CLEANUP(names_fini) struct names sessions = { 0 };
	size_t start;
	int rc = tree_sessions(t, v, &sessions, err);

	if (rc)
		return rc;
	strbuf_printf(out, "Session directory: %s\n", catalog_store_path(t->store));
	if (t->o.about)
		strbuf_printf(out, "Mount: %s\nReports made: %llu\n", t->o.about,
			      atomic_load(&t->nr_made));
	strbuf_puts(out, "\nSessions:\n");
	for (size_t i = 0; i < sessions.len; i++) {
		if (viewer_gone(v))
			return err_set(err, -EINTR, "interrupted");
		add_session(t, sessions.data[i], v, out);
	}
	strbuf_puts(out, "\nPaths of yours that led nowhere, the last one first:\n");
	start = out->len;
	reasons_show(t->reasons, v ? v->cred.uid : 0, out);
	if (out->len == start)
		strbuf_puts(out, "  none\n");
	return 0;
}

int tree_root_text(const struct ask *a, const struct place *p, struct text **out)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	int rc = 0;

	if (!strcmp(p->file, "status"))
		rc = status(a->t, a->v, &text, a->err);
	else
		readme(a->t, &text);
	return rc ? rc : text_new(&text, out, a->err);
}
