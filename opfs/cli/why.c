/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "opfs/cli/cli.h"
#include "opfs/tree/browse_tree.h"

static const struct opt opts[] = {
	CLI_OPT_SESSION_DIR,
	{ 0 },
};

static const struct opt_program program = {
	.name = "opfs why",
	.synopsis = "PATH...",
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

static void explain_tags(const struct spec *spec)
{
	for (size_t i = 0; i < spec->nr_sessions; i++)
		printf("  session            %s\n", spec->sessions[i]);
	for (size_t i = 0; i < SPEC_NR_TAGS; i++) {
		const struct spec_value *v = spec->values[i];

		if (!v)
			continue;
		printf("  %-18s %s%s\n",
		       *spec_tags[i].name ? spec_tags[i].name : "(name)",
		       v->exact ? v->text : v->raw,
		       v->exact ? "  (exactly this name)" : "");
	}
}

static void explain_place(const char *path, const struct place *p)
{
	uint64_t all = place_session_samples(p);
	CLEANUP(strbuf_fini) struct strbuf value = { 0 };

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
	if (p->browse)
		browse_tree_path(p->browse, p->at, &value);
	else if (p->value)
		strbuf_puts(&value, p->value);
	if (p->tag && p->kind != PLACE_PROFILE)
		printf("  %-18s %s%s\n", *p->tag->name ? p->tag->name : "(name)",
		       strbuf_str(&value), p->browse ? "" : "...");
	printf("  samples            %" PRIu64 " of %" PRIu64, place_samples(p), all);
	if (all)
		printf(" (%.2f%%)", 100.0 * (double)place_samples(p) / (double)all);
	putchar('\n');
}

/* The path is well, but what it asks of the file contradicts itself. */
static int explain_refusal(const struct err *err)
{
	printf("  cannot be opened   %s\n", err->msg);
	return CLI_FAILED;
}

static int explain(struct cli *c, const char *typed)
{
	CLEANUP(free_ptr) char *path = NULL;
	struct err err = { 0 };
	struct place p;
	size_t bad = 0;
	int status = CLI_OK;

	if (cli_walk(c, typed, &path, &p, &bad, &err))
		return explain_failure(path ? path : typed, bad, &err);
	explain_place(path, &p);
	if (tree_check(c->tree, &p, &c->viewer, &err))
		status = explain_refusal(&err);
	place_fini(&p);
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
	for (int i = 1; i <= nr && c.tree; i++)
		if (explain(&c, argv[i]))
			status = CLI_FAILED;
	cli_fini(&c);
	return cli_flush(program.name) ? CLI_FAILED : status;
}
