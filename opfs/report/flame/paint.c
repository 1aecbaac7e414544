/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/flame/paint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fnv.h"
#include "base/percent.h"

static const struct kind {
	char letter;
	unsigned nr_shades;
	const char *meaning;
} kinds[FRAME_NR_KINDS] = {
	[FRAME_PROGRAM] = { 'p', 7, "program" },
	[FRAME_LIBRARY] = { 'l', 7, "library" },
	[FRAME_MEMORY] = { 'm', 7, "memory" },
	[FRAME_KERNEL] = { 'k', 7, "kernel" },
	[FRAME_INLINED] = { 'i', 7, "inlined" },
	[FRAME_JIT] = { 'j', 7, "made at run time" },
	[FRAME_NONE] = { 'n', 1, "truncated" },
};

/* From how many percentage points on a change of share has the next colour. */
static const double steps[] = { 0.1, 0.3, 1, 3, 10 };
enum { NR_STEPS = sizeof(steps) / sizeof(steps[0]) };

static const char *class_name(char room[3], char letter, unsigned shade)
{
	room[0] = letter;
	room[1] = (char)('0' + shade);
	room[2] = '\0';
	return room;
}

double flame_paint_share(const struct flame_paint *p, uint32_t node)
{
	return percent_of(p->t->total[node * p->t->nr_classes + p->class],
			  p->t->total[p->class]);
}

double flame_paint_old_share(const struct flame_paint *p, uint32_t node)
{
	return percent_of(p->t->was_total[node * p->t->nr_classes + p->class],
			  p->t->was_total[p->class]);
}

static const char *class_of_change(const struct flame_paint *p, uint32_t node,
				   char room[3])
{
	double change = flame_paint_share(p, node) - flame_paint_old_share(p, node);
	unsigned step = 0;

	while (step < NR_STEPS && fabs(change) >= steps[step])
		step++;
	return class_name(room, !step ? 's' : change > 0 ? 'u' : 'd', step);
}

const char *flame_paint_class(struct flame_paint *p, uint32_t node, char room[3])
{
	const struct calltree_func *func;
	const struct kind *kind;
	uint64_t hash = FNV_START;

	if (!node)
		return "r";
	func = &p->t->funcs[p->t->nodes[node].func];
	kind = &kinds[func->kind];
	p->seen |= 1U << func->kind;
	if (p->diff && func->kind != FRAME_NONE)
		return class_of_change(p, node, room);
	for (const char *c = func->name; *c; c++)
		hash = fnv_add(hash, (unsigned char)*c);
	return class_name(room, kind->letter, hash % kind->nr_shades);
}

/* ---- the legend */

/* Of a letter, and where the next thing may stand. */
enum { LETTER = 7, SWATCH = 11, GAP = 4, BETWEEN = 16 };

static unsigned add_swatch(unsigned x, const char *class, struct strbuf *out)
{
	strbuf_printf(
		out, "<rect class=\"%s\" x=\"%u\" y=\"-10\" width=\"%d\" height=\"%d\"/>",
		class, x, SWATCH, SWATCH);
	return x + SWATCH;
}

static unsigned add_text(unsigned x, const char *text, struct strbuf *out)
{
	strbuf_printf(out, "<text x=\"%u\">%s</text>", x, text);
	return x + LETTER * (unsigned)strlen(text);
}

static unsigned add_kind(const struct flame_paint *p, unsigned x, enum frame_kind kind,
			 struct strbuf *out)
{
	char room[3];

	if (!(p->seen & 1U << kind))
		return x;
	x = add_swatch(x, class_name(room, kinds[kind].letter, 0), out) + GAP;
	return add_text(x, kinds[kind].meaning, out) + BETWEEN;
}

static unsigned add_steps(struct strbuf *out)
{
	unsigned x = add_text(0, "share of samples shrank", out) + GAP;
	char room[3];

	for (unsigned step = NR_STEPS; step; step--)
		x = add_swatch(x, class_name(room, 'd', step), out);
	x = add_swatch(x, class_name(room, 's', 0), out);
	for (unsigned step = 1; step <= NR_STEPS; step++)
		x = add_swatch(x, class_name(room, 'u', step), out);
	x = add_text(x + GAP, "grew, by", out);
	for (unsigned step = 0; step < NR_STEPS; step++) {
		char text[32];

		snprintf(text, sizeof(text), "%g%s", steps[step],
			 step + 1 < NR_STEPS ? "," : " points");
		x = add_text(x + LETTER, text, out);
	}
	return x + BETWEEN;
}

void flame_paint_legend(const struct flame_paint *p, struct strbuf *out)
{
	unsigned x = p->diff ? add_steps(out) : 0;

	for (unsigned kind = p->diff ? FRAME_NONE : 0; kind < FRAME_NR_KINDS; kind++)
		x = add_kind(p, x, kind, out);
}
