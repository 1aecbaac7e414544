/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/engine/callgraph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/number.h"
#include "base/opt.h"
#include "base/suggest.h"
#include "collector/rec/rec.h"

static const char *const names[] = {
	[COLL_BY_FRAME_POINTERS] = "fp",
	[COLL_BY_DWARF] = "dwarf",
};

enum { NR_NAMES = sizeof(names) / sizeof(names[0]) };

/* What the text says up to its first comma. */
static enum coll_callgraph_how find(const char *text)
{
	size_t len = strcspn(text, ",");

	for (int i = COLL_NO_STACKS + 1; i < NR_NAMES; i++)
		if (!strncmp(names[i], text, len) && !names[i][len])
			return (enum coll_callgraph_how)i;
	return COLL_NO_STACKS;
}

bool coll_callgraph_is_named(const char *text)
{
	return find(text) != COLL_NO_STACKS;
}

static int parse_frames(const char *word, unsigned least, uint32_t *out, struct err *err)
{
	unsigned long long frames;
	int rc = opt_number(word, "--callgraph, frames of a stack", least,
			    COLL_MAX_FRAMES, &frames, err);

	*out = rc ? 0 : (uint32_t)frames;
	return rc;
}

/* Kernels copy multiples of 8 bytes. */
static int parse_size(const char *word, uint32_t *out, struct err *err)
{
	const struct number_unit *unit;
	uint64_t n;

	if (number_amount(word, &unit, &n) || (unit && !unit->bytes) ||
	    n < COLL_MIN_COPY || n > COLL_MAX_COPY)
		return err_set(err, -EINVAL,
			       "--callgraph=dwarf: \"%s\" is no size from %d to %d bytes",
			       word, COLL_MIN_COPY, COLL_MAX_COPY);
	*out = (uint32_t)(n + 7) / 8 * 8;
	return 0;
}

static int refuse(const char *arg, const char *word, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf meant = { 0 };
	struct nearest near = { .typed = word };

	for (int i = COLL_NO_STACKS + 1; i < NR_NAMES; i++)
		nearest_offer(&near, names[i]);
	nearest_tell(&near, "", &meant);
	return err_set(err, -EINVAL,
		       "--callgraph: \"%s\" is none of fp[,FRAMES], "
		       "dwarf[,SIZE[,FRAMES]], or a number of frames%s",
		       arg, strbuf_str(&meant));
}

int coll_callgraph_parse(const char *arg, struct coll_callgraph *out, struct err *err)
{
	CLEANUP(free_ptr) char *copy = arg ? strdup(arg) : NULL;
	struct coll_callgraph c = { 0 };
	char *rest = copy, *word;
	int rc = 0;

	if (!arg) {
		if (out->how == COLL_NO_STACKS)
			out->how = COLL_BY_FRAME_POINTERS;
		return 0;
	}
	if (!copy)
		return err_errno(err, -ENOMEM, "--callgraph");
	word = strsep(&rest, ",");
	c.how = find(word);
	if (c.how == COLL_NO_STACKS && (!*word || word[strspn(word, "0123456789")]))
		return refuse(arg, word, err);
	if (c.how == COLL_NO_STACKS) {
		rc = parse_frames(word, 0, &c.frames, err);
		c.how = c.frames ? COLL_BY_FRAME_POINTERS : COLL_NO_STACKS;
	} else {
		if (c.how == COLL_BY_DWARF && (word = strsep(&rest, ",")))
			rc = parse_size(word, &c.copy_bytes, err);
		if (!rc && (word = strsep(&rest, ",")))
			rc = parse_frames(word, 1, &c.frames, err);
	}
	if (!rc && rest)
		rc = err_set(err, -EINVAL, "--callgraph: \"%s\": \",%s\" is too much",
			     arg, rest);
	if (!rc)
		*out = c;
	return rc;
}

void coll_callgraph_print(const struct coll_callgraph *c, struct strbuf *out)
{
	strbuf_puts(out, c->how == COLL_NO_STACKS ? "0" : names[c->how]);
	if (c->copy_bytes)
		strbuf_printf(out, ",%u", c->copy_bytes);
	if (c->frames)
		strbuf_printf(out, ",%u", c->frames);
}
