/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "opfs/cli/answer.h"
#include "opfs/tree/browse_tree.h"

static const struct opt opts[] = {
	CLI_OPT_SESSION_DIR,
	ANSWER_OPT,
	{ 0 },
};

static const struct opt_program program = {
	.name = "opfs why",
	.synopsis = "[--json] PATH...",
	.about = "Says what a path means, or which component of it fails, why, and what "
		 "there\n"
		 "is instead.  Exit status 1 if one of the paths does not exist or its "
		 "tags\n"
		 "contradict each other.",
	.opts = opts,
};

/* The components before the one that fails, it, and why. */
static int explain_failure(const char *path, size_t bad, const struct err *err)
{
	size_t len = strcspn(path + bad, "/");

	printf("%s\n", path);
	printf("%*s", (int)bad, "");
	for (size_t i = 0; i < len; i++)
		putchar('^');
	putchar('\n');
	if (strncmp(err->msg, path + bad, len) != 0 || err->msg[len] != ':')
		printf("%.*s: ", (int)len, path + bad);
	puts(err->msg);
	return CLI_FAILED;
}

static const char *tag_name(const struct spec_tag *t)
{
	return *t->name ? t->name : "(name)";
}

static void explain_tags(const struct spec *spec)
{
	for (size_t i = 0; i < spec->nr_sessions; i++)
		printf("  session            %s\n", spec->sessions[i]);
	for (size_t i = 0; i < SPEC_NR_TAGS; i++) {
		const struct spec_value *v = spec->values[i];

		if (!v)
			continue;
		printf("  %-18s %s%s\n", tag_name(&spec_tags[i]),
		       v->exact ? v->text : v->raw,
		       v->exact ? "  (exactly this name)" : "");
	}
}

/* The tag whose value is open at a place, as text; NULL if none is. */
static const char *open_value(const struct place *p, struct strbuf *value)
{
	if (!p->tag || p->kind == PLACE_PROFILE)
		return NULL;
	if (p->browse)
		browse_tree_path(p->browse, p->at, value);
	else if (p->value)
		strbuf_puts(value, p->value);
	return strbuf_str(value);
}

static void explain_place(const char *path, const struct place *p)
{
	uint64_t all = place_session_samples(p);
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	const char *value = open_value(p, &text);

	printf("%s: %s\n", path, place_kinds[p->kind].meaning);
	if (p->report)
		printf("  file               %s: %s\n", p->report->name, p->report->doc);
	if (!p->spec)
		return;
	explain_tags(p->spec);
	if (p->base) {
		puts("compared with");
		explain_tags(p->base->p.spec);
	}
	if (value)
		printf("  %-18s %s%s\n", tag_name(p->tag), value, p->browse ? "" : "...");
	printf("  samples            %" PRIu64 " of %" PRIu64, place_samples(p), all);
	if (all)
		printf(" (%.2f%%)", 100.0 * (double)place_samples(p) / (double)all);
	putchar('\n');
}

/* The path is well, but what it asks of the file contradicts itself. */
static void explain_refusal(const struct err *err)
{
	printf("  cannot be opened   %s\n", err->msg);
}

/* ---- JSON: doc/why.schema.json */

static void add_error(struct json *j, const char *path, size_t bad, const struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf component = { 0 };

	json_key(j, "error");
	json_open(j, '{');
	if (path) {
		strbuf_add(&component, path + bad, strcspn(path + bad, "/"));
		json_text(j, "component", strbuf_str(&component));
		json_count(j, "at", bad);
	} else {
		json_none(j, "component");
		json_none(j, "at");
	}
	json_text(j, "message", err->msg);
	json_close(j, '}');
}

static void add_value(struct json *j, const struct spec_tag *tag, const char *value)
{
	json_open(j, '{');
	json_text(j, "tag", tag->name);
	json_text(j, "value", value);
}

static void add_spec(struct json *j, const struct spec *spec)
{
	json_key(j, "sessions");
	json_open(j, '[');
	for (size_t i = 0; i < spec->nr_sessions; i++)
		json_string(j, spec->sessions[i]);
	json_close(j, ']');
	json_key(j, "tags");
	json_open(j, '[');
	for (size_t i = 0; i < SPEC_NR_TAGS; i++) {
		const struct spec_value *v = spec->values[i];

		if (!v)
			continue;
		add_value(j, &spec_tags[i], v->exact ? v->text : v->raw);
		json_flag(j, "exact", v->exact);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void add_selection(struct json *j, const struct place *p)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	const char *value = open_value(p, &text);

	add_spec(j, p->spec);
	json_key(j, "compared_with");
	if (p->base) {
		json_open(j, '{');
		add_spec(j, p->base->p.spec);
		json_close(j, '}');
	} else {
		json_null(j);
	}
	json_key(j, "open");
	if (value) {
		add_value(j, p->tag, value);
		json_close(j, '}');
	} else {
		json_null(j);
	}
	json_count(j, "samples", place_samples(p));
	json_count(j, "samples_of", place_session_samples(p));
}

static void add_place(struct json *j, const struct place *p)
{
	json_text(j, "meaning", place_kinds[p->kind].meaning);
	json_text(j, "file", p->report ? p->report->name : NULL);
	json_key(j, "selection");
	if (!p->spec) {
		json_null(j);
		return;
	}
	json_open(j, '{');
	add_selection(j, p);
	json_close(j, '}');
}

/* ---- either way */

/* The place does not exist.  @bad: which component is to blame */
static int tell_failure(struct json *j, const char *path, size_t bad,
			const struct err *err)
{
	if (!j)
		return explain_failure(path, bad, err);
	json_none(j, "meaning");
	json_none(j, "file");
	json_none(j, "selection");
	add_error(j, path, bad, err);
	return CLI_FAILED;
}

static int tell_place(struct cli *c, const char *path, const struct place *p)
{
	struct json *j = answer_json(c);
	struct err err = { 0 };
	bool refused = tree_check(c->tree, p, &c->viewer, &err);

	if (j) {
		add_place(j, p);
		if (refused)
			add_error(j, NULL, 0, &err);
		else
			json_none(j, "error");
	} else {
		explain_place(path, p);
		if (refused)
			explain_refusal(&err);
	}
	return refused ? CLI_FAILED : CLI_OK;
}

static int explain(struct cli *c, const char *typed)
{
	CLEANUP(free_ptr) char *walked = NULL;
	struct json *j = answer_json(c);
	struct err err = { 0 };
	const char *path;
	struct place p;
	size_t bad = 0;
	int rc, status;

	rc = cli_walk(c, typed, &walked, &p, &bad, &err);
	path = walked ? walked : typed;
	if (j) {
		json_line(j);
		json_open(j, '{');
		json_text(j, "path", path);
		json_flag(j, "exists", !rc);
	}
	if (rc) {
		status = tell_failure(j, path, bad, &err);
	} else {
		status = tell_place(c, path, &p);
		place_fini(&p);
	}
	if (j)
		json_close(j, '}');
	return status;
}

int opfs_why_main(const struct report_set *reports, int argc, char **argv)
{
	struct cli c = { .reports = reports };
	int nr, status;
	enum opt_result result = opt_parse_all(&program, argc, argv, &c, &nr);

	if (result != OPT_RUN)
		return opt_exit(result);
	if (!nr) {
		fprintf(stderr, "%s: which PATH?\ntry '%s --help'\n", program.name,
			program.name);
		return CLI_USAGE;
	}
	status = cli_find(&c, program.name, WHERE_PATHS, nr, argv + 1) ||
		 cli_open(&c, program.name);
	if (!status) {
		answer_begin(&c, program.name, "paths");
		for (int i = 1; i <= nr; i++)
			if (explain(&c, argv[i]))
				status = CLI_FAILED;
		answer_list_end(&c);
	}
	if (answer_end(&c, program.name))
		status = CLI_FAILED;
	cli_fini(&c);
	return status;
}
