/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "events/table/table.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "events/table/event_line.h"
#include "events/table/line.h"

static int each_line(struct ev_parse *p, struct strbuf *text,
		     int (*line_fn)(struct ev_parse *p, char *line))
{
	char *rest = text->data, *line;
	int rc = 0;

	if (text->len && memchr(text->data, '\0', text->len))
		return err_set(p->err, -EINVAL, "%s: is no text: it holds a NUL byte",
			       p->file);
	while (!rc && rest && (line = strsep(&rest, "\n"))) {
		size_t end = strlen(line), blank;

		while (end && strchr(" \t\r", line[end - 1]))
			line[--end] = '\0';
		blank = strspn(line, " \t\r");
		p->line++;
		if (line[blank] && line[blank] != '#')
			rc = line_fn(p, line);
	}
	return rc;
}

/* ARCH/CPU, of which neither leads anywhere else. */
static bool is_cpu(const char *cpu)
{
	size_t slashes = 0;

	if (!*cpu || strlen(cpu) > 100)
		return false;
	for (const char *c = cpu; *c; c++) {
		slashes += *c == '/';
		if (*c == '.' || *c == '/'
			    ? c == cpu || c[-1] == '/' || !c[1]
			    : !isalnum((unsigned char)*c) && *c != '_' && *c != '-')
			return false;
	}
	return slashes <= 1;
}

/* Reads a file of @cpu; with @optional its absence is fine. */
static int read_file(struct ev_parse *outer, const char *cpu, bool masks, bool optional)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };
	struct ev_parse p = *outer;
	char path[128];
	int rc;

	snprintf(path, sizeof(path), "%s/%s", cpu, masks ? "unit_masks" : "events");
	rc = p.from->read(p.from->ctx, path, &text, &name, p.err);
	if (rc == -ENOENT)
		return optional ? 0 : rc;
	if (!rc && (strbuf_error(&text) || strbuf_error(&name)))
		rc = err_set(p.err, -ENOMEM, "%s: out of memory", path);
	if (rc)
		return rc;
	p.cpu[p.depth] = cpu;
	p.open = NULL;
	p.line = 0;
	p.file = ev_strdup(&p, strbuf_str(&name));
	if (!p.file)
		return ev_no_memory(outer);
	rc = each_line(&p, &text, masks ? ev_mask_line : ev_event_line);
	return rc || !masks ? rc : ev_mask_line(&p, NULL);
}

static int include(struct ev_parse *p, const char *cpu, bool masks)
{
	struct ev_parse inner = *p;
	int rc;

	if (!is_cpu(cpu))
		return ev_bad(p, "include: \"%.60s\" is no processor type ARCH/CPU", cpu);
	for (unsigned i = 0; i <= p->depth; i++)
		if (!strcmp(p->cpu[i], cpu))
			return ev_bad(p, "include: %s includes itself", cpu);
	if (++inner.depth == EV_MAX_DEPTH)
		return ev_bad(p, "include: more than %d files include each other",
			      EV_MAX_DEPTH - 1);
	rc = read_file(&inner, cpu, masks, false);
	if (rc == -ENOENT)
		return ev_bad(p, "include: there is no %s/%s", cpu,
			      masks ? "unit_masks" : "events");
	return rc;
}

static int check_names(const struct ev_parse *at, struct map *seen)
{
	const struct ev_table *t = at->t;
	struct ev_parse p = *at;
	uint64_t twin;

	for (size_t i = 0; i < t->defs.len; i++) {
		const struct ev_def *d = &t->defs.data[i];

		p.file = d->file;
		p.line = d->line;
		if (map_get(seen, d->name, strlen(d->name), &twin))
			return ev_bad(&p, "event %s is there already: %s:%u", d->name,
				      t->defs.data[twin].file, t->defs.data[twin].line);
		if (map_set(seen, d->name, strlen(d->name), i))
			return ev_no_memory(&p);
	}
	return 0;
}

static int check_table(const struct ev_parse *p)
{
	struct map seen = { 0 };
	struct ev_parse at = *p;
	int rc = check_names(p, &seen);

	map_fini(&seen);
	vec_for(&p->t->masks, s) {
		at.file = (*s)->file;
		at.line = (*s)->line;
		if (!rc && !(*s)->used && !(*s)->included)
			rc = ev_bad(&at, "unit mask %s is of no event", (*s)->name);
	}
	return rc;
}

int ev_table_load(const struct ev_source *from, const char *cpu, struct ev_table **out,
		  struct err *err)
{
	struct ev_table *t;
	struct ev_parse p = { .from = from, .err = err, .file = cpu, .include = include };
	int rc;

	if (!is_cpu(cpu))
		return err_set(err, -ENOENT, "\"%.100s\" is no processor type ARCH/CPU",
			       cpu);
	t = calloc(1, sizeof(*t));
	if (!t)
		return err_set(err, -ENOMEM, "out of memory");
	p.t = t;
	t->cpu = strdup(cpu);
	rc = t->cpu ? read_file(&p, cpu, true, true) : ev_no_memory(&p);
	if (!rc)
		rc = read_file(&p, cpu, false, false);
	if (rc == -ENOENT)
		err_set(err, rc, "there is no table of events for \"%s\"", cpu);
	rc = rc ? rc : check_table(&p);
	if (rc)
		ev_table_free(t);
	else
		*out = t;
	return rc;
}

void ev_table_free(struct ev_table *t)
{
	if (!t)
		return;
	vec_for(&t->masks, s)
		vec_fini(&(*s)->all);
	vec_fini(&t->masks);
	vec_fini(&t->defs);
	arena_fini(&t->mem);
	free(t->cpu);
	free(t);
}

const struct ev_def *ev_table_find(const struct ev_table *t, const char *name)
{
	const struct ev_def *near = NULL;

	vec_for(&t->defs, d) {
		if (!strcmp(d->name, name))
			return d;
		if (!near && !strcasecmp(d->name, name))
			near = d;
	}
	return near;
}
