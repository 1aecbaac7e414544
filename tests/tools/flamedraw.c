/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Draws folded stacks from stdin, as tests/unit/opfs/made_up_stacks.h has them. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/opt.h"
#include "opfs/report/flame/flame.h"
#include "tests/unit/opfs/made_up_stacks.h"

enum { MOST_BYTES = 1 << 30 };

static int set_title(void *ctx, const char *arg, struct err *err)
{
	(void)err;
	((struct flame_options *)ctx)->title = arg;
	return 0;
}

static int set_icicle(void *ctx, const char *arg, struct err *err)
{
	(void)arg;
	(void)err;
	((struct flame_options *)ctx)->icicle = true;
	return 0;
}

static int set_diff(void *ctx, const char *arg, struct err *err)
{
	(void)arg;
	(void)err;
	((struct flame_options *)ctx)->diff = true;
	return 0;
}

static const struct opt options[] = {
	{ 't', "title", "TEXT", "what is drawn", set_title },
	{ 'i', "icicle", NULL, "roots on top", set_icicle },
	{ 'd', "diff", NULL, "lines have two numbers, new and old", set_diff },
	{ 0 },
};

static const struct opt_program program = {
	.name = "flamedraw",
	.synopsis = "[SUBTITLE]...",
	.about = "Draws the flame graph of folded stacks.\n",
	.opts = options,
};

static int draw(const struct flame_options *o, struct strbuf *out, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	struct made_up_stacks f;
	int rc = file_slurp_fd(STDIN_FILENO, "stdin", MOST_BYTES, &text, err);

	if (rc)
		return rc;
	rc = made_up_stacks_init(&f, strbuf_str(&text), err);
	if (!rc)
		rc = flame_draw(&f.tree, o, NULL, out, err);
	made_up_stacks_fini(&f);
	return rc;
}

int main(int argc, char **argv)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	struct flame_options o = { .title = "current" };
	struct err err = { 0 };
	enum opt_result parsed;
	int first = 0;

	parsed = opt_parse(&program, argc, argv, &o, &first);
	if (parsed != OPT_RUN)
		return opt_exit(parsed);
	o.subtitles = (const char *const *)argv + first;
	o.nr_subtitles = (size_t)(argc - first);
	if (draw(&o, &out, &err)) {
		fprintf(stderr, "flamedraw: %s\n", err.msg);
		return 1;
	}
	return fwrite(out.data, 1, out.len, stdout) != out.len || fflush(stdout);
}
