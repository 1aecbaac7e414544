/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/progress.h"
#include "opfs/cli/relative.h"

enum { CACHE_BYTES = 256 << 20 };

int cli_set_session_dir(void *ctx, const char *arg, struct err *err)
{
	struct cli *c = ctx;

	(void)err;
	c->session_dir = arg;
	return 0;
}

int cli_find(struct cli *c, const char *program, enum where_words kind, int nr,
	     char **words)
{
	struct err err = { 0 };

	if (where_find(&c->where, c->session_dir, kind, words, nr, &err)) {
		fprintf(stderr, "%s: %s\n", program, err.msg);
		return CLI_FAILED;
	}
	where_tell(&c->where, program);
	return CLI_OK;
}

int cli_open(struct cli *c, const char *program)
{
	struct tree_options o = { .reports = c->reports,
				  .cache_bytes = CACHE_BYTES,
				  .owner = geteuid() };
	struct err err = { 0 };
	int nr = getgroups(sizeof(c->groups) / sizeof(c->groups[0]), c->groups);

	if (!c->where.dir && cli_find(c, program, WHERE_PATHS, 0, NULL))
		return CLI_FAILED;
	progress_show(program);
	o.session_dir = c->where.dir;
	c->viewer = (struct viewer){ .cred = { .uid = geteuid(),
					       .gid = getegid(),
					       .groups = c->groups,
					       .nr_groups = nr > 0 ? (size_t)nr : 0 } };
	return tree_new(&o, &c->tree, &err) ? cli_no_session_dir(c, program, &err)
					    : CLI_OK;
}

int cli_no_session_dir(const struct cli *c, const char *program, struct err *err)
{
	where_explain(&c->where, err);
	fprintf(stderr, "%s: %s\n", program, err->msg);
	return CLI_FAILED;
}

void cli_fini(struct cli *c)
{
	tree_free(c->tree);
	c->tree = NULL;
	where_fini(&c->where);
	strbuf_fini(&c->show.kept);
	strbuf_fini(&c->answer.text);
}

int cli_walk(struct cli *c, const char *typed, char **path, struct place *out,
	     size_t *bad, struct err *err)
{
	*path = cli_relative(typed);
	return *path ? tree_walk(c->tree, *path, &c->viewer, out, bad, err)
		     : err_set(err, -ENOMEM, "out of memory");
}

int cli_failed(const char *program, const char *path, const struct err *err)
{
	size_t len = strlen(path);
	bool said = !strncmp(err->msg, path, len) && err->msg[len] == ':';

	fflush(stdout);
	fprintf(stderr, "%s: %s%s%s\n", program, said ? "" : path, said ? "" : ": ",
		err->msg);
	return CLI_FAILED;
}

int cli_write(const char *program, const char *data, size_t len, const char *path)
{
	struct err err;
	int rc = file_write_all(STDOUT_FILENO, data, len);

	if (!rc)
		return CLI_OK;
	if (rc == -EPIPE) /* who read it has seen enough */
		return CLI_FAILED;
	err_errno(&err, rc, "standard output");
	return cli_failed(program, path, &err);
}

int cli_write_text(const char *program, const struct text *text, const char *path)
{
	char block[65536];
	struct err err = { 0 };
	off_t off = 0;
	ssize_t got;

	if (text->data)
		return cli_write(program, text->data, text->len, path);
	while ((got = text_read(text, block, sizeof(block), off)) > 0) {
		if (cli_write(program, block, (size_t)got, path))
			return CLI_FAILED;
		off += got;
	}
	if (!got)
		return CLI_OK;
	err_errno(&err, (int)got, "reading what it is made of");
	return cli_failed(program, path, &err);
}
