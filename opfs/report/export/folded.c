/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/export/folded.h"

#include <errno.h>
#include <string.h>

#include "opfs/report/export/export.h"

int folded_name(const struct calltree_func *func, struct strbuf *out)
{
	/* as flame graph tools write them */
	static const char *const marks[FRAME_NR_KINDS] = {
		[FRAME_KERNEL] = "_[k]",
		[FRAME_INLINED] = "_[i]",
		[FRAME_JIT] = "_[j]",
	};

	export_name(out, func->name, ";");
	if (marks[func->kind])
		strbuf_puts(out, marks[func->kind]);
	return strbuf_error(out);
}

int folded_add(struct folded *f, const struct strbuf *stack, uint64_t samples)
{
	struct folded_line line = { .samples = samples };

	if (strbuf_error(stack))
		return -ENOMEM;
	line.stack = arena_memdup(&f->text, strbuf_str(stack), stack->len);
	if (!line.stack)
		return -ENOMEM;
	f->bytes += stack->len;
	return vec_push(&f->lines, line);
}

static int compare_lines(const void *x, const void *y)
{
	const struct folded_line *a = x, *b = y;

	return strcmp(a->stack, b->stack);
}

void folded_write(struct folded *f, struct strbuf *out)
{
	uint64_t sum = 0;

	if (f->lines.len)
		qsort(f->lines.data, f->lines.len, sizeof(*f->lines.data), compare_lines);
	vec_for(&f->lines, line) {
		sum += line->samples;
		if (line + 1 < f->lines.data + f->lines.len &&
		    !compare_lines(line, line + 1))
			continue;
		strbuf_puts(out, line->stack);
		strbuf_putc(out, ' ');
		strbuf_number(out, sum, 0);
		strbuf_putc(out, '\n');
		sum = 0;
	}
}

void folded_fini(struct folded *f)
{
	vec_fini(&f->lines);
	arena_fini(&f->text);
}
