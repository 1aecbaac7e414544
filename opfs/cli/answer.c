/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/cli/answer.h"

#include <stdio.h>

#include "base/output.h"

enum { FORMAT_VERSION = 1 };

int answer_set_json(void *ctx, const char *arg, struct err *err)
{
	struct cli *c = ctx;

	(void)arg;
	(void)err;
	c->answer.wanted = true;
	c->answer.json.out = &c->answer.text;
	return 0;
}

struct json *answer_json(struct cli *c)
{
	return c->answer.wanted ? &c->answer.json : NULL;
}

void answer_begin(struct cli *c, const char *program, const char *list)
{
	struct json *j = answer_json(c);

	if (!j)
		return;
	json_open(j, '{');
	json_text(j, "format", program);
	json_count(j, "version", FORMAT_VERSION);
	json_text(j, "session_dir", c->where.dir);
	json_line(j);
	json_key(j, list);
	json_open(j, '[');
}

void answer_list_end(struct cli *c)
{
	struct json *j = answer_json(c);

	if (!j)
		return;
	json_line(j);
	json_close(j, ']');
}

int answer_end(struct cli *c, const char *program)
{
	struct json *j = answer_json(c);
	struct strbuf *text = &c->answer.text;

	if (j && (text->len || strbuf_error(text))) {
		json_line(j);
		json_close(j, '}');
		strbuf_putc(text, '\n');
		if (strbuf_error(text)) {
			fprintf(stderr, "%s: out of memory\n", program);
			return CLI_FAILED;
		}
		fwrite(text->data, 1, text->len, stdout);
	}
	return output_end(program);
}
