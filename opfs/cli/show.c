/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/cli/show.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/suggest.h"
#include "base/terminal.h"
#include "opfs/cli/fit.h"

enum { FIRST_BLOCK = 8192 };

static const char *const whens[] = {
	[SHOW_AUTO] = "auto", [SHOW_ALWAYS] = "always", [SHOW_NEVER] = "never"
};
enum { NR_WHENS = sizeof(whens) / sizeof(whens[0]) };

int show_set_color(void *ctx, const char *arg, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf meant = { 0 };
	struct nearest near = { .typed = arg };
	struct cli *c = ctx;

	for (int i = 0; i < NR_WHENS; i++) {
		if (!arg || !strcmp(arg, whens[i])) {
			c->show.color = arg ? (enum show_when)i : SHOW_ALWAYS;
			return 0;
		}
		nearest_offer(&near, whens[i]);
	}
	nearest_tell(&near, "", &meant);
	return err_set(err, -EINVAL, "--color: \"%s\" is none of auto, always, never%s",
		       arg, strbuf_str(&meant));
}

int show_set_no_pager(void *ctx, const char *arg, struct err *err)
{
	(void)arg;
	(void)err;
	((struct cli *)ctx)->show.no_pager = true;
	return 0;
}

void show_init(struct cli *c)
{
	struct show *s = &c->show;

	s->terminal = isatty(STDOUT_FILENO);
	s->colors = s->color == SHOW_ALWAYS ||
		    (s->color == SHOW_AUTO && terminal_colors(STDOUT_FILENO));
	s->columns = s->terminal ? terminal_columns(STDOUT_FILENO) : 0;
}

/* A table for people, whose rows fit into a line: no prose, and nothing for programs. */
static bool is_table(const struct report *r)
{
	return r && !strchr(r->name, '.') && !r->tells_losses && !r->entries &&
	       r->words != UINT64_MAX;
}

static bool is_word(const char *name)
{
	for (size_t i = 0; i < SPEC_NR_WORDS; i++)
		if (spec_words[i].tag == SPEC_WITH && !strcmp(spec_words[i].name, name))
			return true;
	return false;
}

char *show_short_names(const struct cli *c, const char *path, const struct place *p)
{
	static const char word[] = "short-names", tag[] = "with:";
	const char *file = strrchr(path, '/'), *with = NULL;
	struct strbuf out = { 0 };

	if (!c->show.terminal || !file || p->kind != PLACE_FILE || !is_table(p->report) ||
	    !is_word(word))
		return NULL;
	for (const char *at = path; (at = strstr(at, tag)); at++)
		if (at == path || at[-1] == '/')
			with = at + strcspn(at, "/");
	if (with)
		strbuf_printf(&out, "%.*s,%s%s", (int)(with - path), path, word, with);
	else
		strbuf_printf(&out, "%.*s/%s%s%s", (int)(file - path), path, tag, word,
			      file);
	return strbuf_take(&out);
}

static int no_memory(const char *program, const char *path)
{
	struct err err = { 0 };

	err_set(&err, -ENOMEM, "out of memory");
	return cli_failed(program, path, &err);
}

/* Appends the whole text.  0 or -errno. */
static int read_all(const struct text *text, struct strbuf *out)
{
	char block[65536];
	off_t off = 0;
	ssize_t got;

	while ((got = text_read(text, block, sizeof(block), off)) > 0) {
		strbuf_add(out, block, (size_t)got);
		off += got;
		if (strbuf_error(out))
			return -ENOMEM;
	}
	return (int)got;
}

static bool is_binary(const struct text *text)
{
	char block[FIRST_BLOCK];
	ssize_t got = text_read(text, block, sizeof(block), 0);

	return got > 0 && memchr(block, '\0', (size_t)got);
}

static int refuse(const char *program, const char *path)
{
	const char *file = strrchr(path, '/');
	struct err err = { 0 };

	file = file ? file + 1 : path;
	err_set(&err, -EINVAL,
		"is for programs, and would upset the terminal: write it to a file with "
		"\"> %s\"",
		file);
	return cli_failed(program, path, &err);
}

bool show_plain(const struct cli *c, const struct report *report)
{
	return !c->show.terminal && !(c->show.colors && is_table(report));
}

int show_text(struct cli *c, const char *program, const char *path,
	      const struct report *report, const struct text *text)
{
	CLEANUP(strbuf_fini) struct strbuf whole = { 0 };
	struct fit fit = { .columns = is_table(report) ? c->show.columns : 0,
			   .colors = c->show.colors && is_table(report),
			   .terminal = c->show.terminal };
	struct err err = { 0 };
	int rc;

	if (show_plain(c, report))
		return cli_write_text(program, text, path);
	if (fit.terminal && is_binary(text))
		return refuse(program, path);
	rc = read_all(text, &whole);
	if (rc) {
		err_errno(&err, rc, "reading what it is made of");
		return cli_failed(program, path, &err);
	}
	fit_text(&fit, strbuf_str(&whole), whole.len, &c->show.kept);
	return strbuf_error(&c->show.kept) ? no_memory(program, path) : CLI_OK;
}

int show_end(struct cli *c, const char *program)
{
	struct strbuf *kept = &c->show.kept;
	struct err err = { 0 };
	int rc;

	if (!kept->len)
		return CLI_OK;
	if (!c->show.terminal || c->show.no_pager)
		return cli_write(program, kept->data, kept->len, "standard output");
	rc = terminal_page(STDOUT_FILENO, kept->data, kept->len);
	if (!rc)
		return CLI_OK;
	err_errno(&err, rc, "standard output");
	return cli_failed(program, "standard output", &err);
}
