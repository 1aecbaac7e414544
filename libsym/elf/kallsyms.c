/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/elf/kallsyms.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hex.h"
#include "libsym/file/open.h"
#include "libsym/file/seen.h"

#define MAX_TEXT (256u << 20) /* bytes of kallsyms: a kernel has about 10 MiB */
#define LAST_SIZE 4096        /* the size of a last symbol, whose end nothing tells */

struct line {
	uint64_t addr;
	char type;
	const char *name, *module; /* module: "" for the kernel itself */
	size_t name_len, module_len;
};

/* A hexadecimal number, up to @end; @after: behind it.  Four times as fast as strtoull(),
 * which counts with hundreds of thousands of lines. */
static uint64_t number(const char *at, const char *end, const char **after)
{
	uint64_t v = 0;
	int digit;

	for (; at < end && (digit = hex_digit(*at)) >= 0; at++)
		v = v << 4 | (unsigned)digit;
	*after = at;
	return v;
}

/* The next line from *@pos on; false at the end.  Lines of no form are skipped. */
static bool next_line(const struct strbuf *text, size_t *pos, struct line *out)
{
	while (*pos < text->len) {
		const char *at = text->data + *pos, *stop = text->data + text->len;
		const char *end = memchr(at, '\n', (size_t)(stop - at)), *tab;
		const char *after;

		end = end ? end : stop;
		*pos = (size_t)(end - text->data) + 1;
		out->addr = number(at, end, &after);
		if (after == at || after + 3 >= end || after[0] != ' ' || after[2] != ' ')
			continue;
		out->type = after[1];
		out->name = after + 3;
		tab = memchr(out->name, '\t', (size_t)(end - out->name));
		out->name_len = (size_t)((tab ? tab : end) - out->name);
		out->module = "";
		out->module_len = 0;
		if (tab && end - tab > 3 && tab[1] == '[' && end[-1] == ']') {
			out->module = tab + 2;
			out->module_len = (size_t)(end - tab) - 3;
		}
		return true;
	}
	return false;
}

bool sym_module_name_equal(const char *a, size_t len_a, const char *b)
{
	size_t i;

	for (i = 0; i < len_a && b[i]; i++)
		if (a[i] != b[i] && !(strchr("-_,", a[i]) && strchr("-_,", b[i])))
			return false;
	return i == len_a && !b[i];
}

static bool is_named(const struct line *l, const char *name)
{
	return l->name_len == strlen(name) && !memcmp(l->name, name, l->name_len);
}

/* _etext and _einittext are not functions: the code after them is not theirs. */
static bool is_end_mark(const struct line *l)
{
	return is_named(l, "_etext") || is_named(l, "_einittext");
}

static void add_line(struct sym_build *b, const struct line *l, uint64_t base)
{
	struct sym_cand c = { .off = l->addr - base,
			      .vma = l->addr,
			      .limit = UINT64_MAX };

	if (strchr("TtWw", l->type) && !is_end_mark(l)) {
		c.name = arena_memdup(&b->arena, l->name, l->name_len);
		b->failed |= !c.name;
		c.flags = islower((unsigned char)l->type) ? 0 : SYM_GLOBAL;
		if (strchr("Ww", l->type))
			c.flags = SYM_GLOBAL | SYM_WEAK;
	}
	sym_build_add(b, &c);
}

/* Nothing tells where the last symbol ends: it is given a page at most. */
static void end_last(struct sym_build *b, uint64_t base)
{
	struct sym_cand end = { .limit = UINT64_MAX };
	uint64_t last = 0;

	vec_for(&b->cands, c)
		if (c->off > last)
			last = c->off;
	if (!b->cands.len || __builtin_add_overflow(last, LAST_SIZE, &end.off))
		return;
	sym_build_add(b, &end);
	sym_build_section(b, 0, end.off, base);
}

static bool slurp(const char *path, struct strbuf *text, struct sym_build *b)
{
	struct err err = { 0 };
	int rc = sym_slurp(path, MAX_TEXT, text, &err);

	if (!rc)
		return true;
	sym_build_state(b, rc == -ENOENT ? SYM_MISSING : SYM_UNREADABLE, "%s", err.msg);
	return false;
}

static void say_hidden(struct sym_build *b, const char *path)
{
	sym_seen_doubt(); /* until somebody says otherwise */
	sym_build_state(b, SYM_UNREADABLE,
			"%s: addresses are hidden from this user: read "
			"as root, or set sysctl kernel.kptr_restrict=0",
			path);
}

void sym_kallsyms_kernel(const char *kallsyms, struct sym_build *b)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	uint64_t stext = 0, start = 0, base;
	struct line l;

	if (!slurp(kallsyms, &text, b))
		return;
	b->source = SYM_FROM_KALLSYMS;
	for (size_t pos = 0; next_line(&text, &pos, &l) && !stext;) {
		if (!l.module_len && is_named(&l, "_stext"))
			stext = l.addr;
		if (!l.module_len && is_named(&l, "_text"))
			start = l.addr;
	}
	base = stext ? stext : start;
	if (!base) {
		say_hidden(b, kallsyms);
		return;
	}
	for (size_t pos = 0; next_line(&text, &pos, &l);)
		if (!l.module_len && l.addr >= base)
			add_line(b, &l, base);
	end_last(b, base);
}

/* Where a loaded module starts, from "NAME SIZE REFS USERS STATE 0xADDRESS" lines. */
static bool module_range(const struct strbuf *text, const char *name, uint64_t *start,
			 uint64_t *size)
{
	const char *at = strbuf_str(text), *end;

	for (; *at; at = *end ? end + 1 : end) {
		const char *blank = at, *hex;

		end = at + strcspn(at, "\n");
		blank += strcspn(at, " \n");
		if (!sym_module_name_equal(at, (size_t)(blank - at), name))
			continue;
		hex = memmem(blank, (size_t)(end - blank), " 0x", 3);
		*size = strtoull(blank, NULL, 10);
		*start = hex ? strtoull(hex + 1, NULL, 16) : 0;
		return true;
	}
	return false;
}

void sym_kallsyms_module(const char *kallsyms, const char *modules, const char *name,
			 struct sym_build *b)
{
	CLEANUP(strbuf_fini) struct strbuf list = { 0 };
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	uint64_t start = 0, size = 0;
	struct sym_cand end = { .limit = UINT64_MAX };
	struct line l;

	sym_seen_doubt(); /* modules come and go */
	if (!slurp(modules, &list, b) || !slurp(kallsyms, &text, b))
		return;
	b->source = SYM_FROM_KALLSYMS;
	if (!module_range(&list, name, &start, &size)) {
		sym_build_state(b, SYM_MISSING,
				"module %s: no such file below /lib/modules, "
				"and it is not loaded",
				name);
		return;
	}
	if (!start) {
		say_hidden(b, modules);
		return;
	}
	for (size_t pos = 0; next_line(&text, &pos, &l);)
		if (l.addr >= start &&
		    sym_module_name_equal(l.module, l.module_len, name))
			add_line(b, &l, start);
	end.off = size;
	if (size)
		sym_build_add(b, &end);
	sym_build_section(b, 0, size, start);
}
