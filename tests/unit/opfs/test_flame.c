/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/flame/flame.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/vec.h"
#include "tests/unit/opfs/made_up_stacks.h"

/* ---- a drawing, read back */

struct rect {
	char class[4];
	double x, width;
	int y;                       /* of its row */
	const char *tooltip, *label; /* in drawing.text; label "" if it has none */
};

struct drawing {
	struct strbuf out;
	char *text; /* @out in pieces */
	VEC(struct rect) rects;
};

static void drawing_fini(struct drawing *d)
{
	strbuf_fini(&d->out);
	free(d->text);
	vec_fini(&d->rects);
}

/* Ends the string where @end starts; what is behind that. */
static char *cut_at(char *at, const char *end)
{
	char *found = strstr(at, end);

	cr_assert(found, "%s in %.300s", end, at);
	*found = '\0';
	return found + strlen(end);
}

static void read_rect(struct drawing *d, char *line, int y)
{
	struct rect r = { .y = y, .label = "" };
	char *at = strstr(line, "<title>") + strlen("<title>");

	cr_assert_eq(sscanf(line, "<rect class=\"%3[a-z0-9]\" x=\"%lf\" width=\"%lf\" ",
			    r.class, &r.x, &r.width),
		     3, "%s", line);
	r.tooltip = at;
	at = cut_at(at, "</title></rect>");
	if (*at) {
		at = strstr(at, "\">") + 2;
		r.label = at;
		cut_at(at, "</text>");
	}
	cr_assert(!vec_push(&d->rects, r));
}

static void read_rects(struct drawing *d)
{
	char *at = strstr(d->text, "<g id=\"frames\""), *line;
	int y = -1;

	if (!at)
		return;
	cut_at(at, "</g>\n</g>\n");
	while ((line = strsep(&at, "\n"))) {
		if (sscanf(line, "<g transform=\"translate(10 %d)\">", &y) == 1)
			continue;
		if (!strncmp(line, "<rect ", 6))
			read_rect(d, line, y);
	}
}

static void draw(struct drawing *d, const struct calltree *t, struct flame_options o)
{
	struct err err = { 0 };

	o.title = o.title ? o.title : "current";
	*d = (struct drawing){ 0 };
	cr_assert_eq(flame_draw(t, &o, NULL, &d->out, &err), 0, "%s", err.msg);
	d->text = strdup(d->out.data);
	cr_assert(d->text);
	read_rects(d);
}

static void draw_folded(struct drawing *d, const char *stacks, struct flame_options o)
{
	struct made_up_stacks f;
	struct err err = { 0 };

	cr_assert_eq(made_up_stacks_init(&f, stacks, &err), 0, "%s", err.msg);
	draw(d, &f.tree, o);
	made_up_stacks_fini(&f);
}

static const struct rect *find(const struct drawing *d, const char *name)
{
	vec_for(&d->rects, r)
		if (!strncmp(r->tooltip, name, strlen(name)) &&
		    r->tooltip[strlen(name)] == ' ')
			return r;
	return NULL;
}

static const struct rect *expect(const struct drawing *d, const char *name, double x,
				 double width)
{
	const struct rect *r = find(d, name);

	cr_assert(r, "no frame of %s", name);
	cr_expect_float_eq(r->x, x, 1e-9, "%s: x %f", name, r->x);
	cr_expect_float_eq(r->width, width, 1e-9, "%s: width %f", name, r->width);
	return r;
}

static void expect_tooltip(const char *stacks, bool diff, const char *name,
			   const char *tooltip)
{
	CLEANUP(drawing_fini) struct drawing d;

	draw_folded(&d, stacks, (struct flame_options){ .diff = diff });
	cr_assert(find(&d, name), "no frame of %s", name);
	cr_expect_str_eq(find(&d, name)->tooltip, tooltip);
}

static bool says(const struct drawing *d, const char *text)
{
	return strstr(d->out.data, text);
}

/* ---- where frames are */

Test(flame, callees_stand_side_by_side_from_their_callers_left_edge)
{
	CLEANUP(drawing_fini) struct drawing d;

	draw_folded(&d, "main 100\nmain;b 50\nmain;a 25\nmain;a;c 25\nstart 36\n",
		    (struct flame_options){ 0 });
	expect(&d, "all", 0, 1180);
	expect(&d, "main", 0, 1000);
	expect(&d, "a", 0, 250);
	expect(&d, "c", 0, 125);
	expect(&d, "b", 250, 250);
	expect(&d, "start", 1000, 180);
	cr_expect_eq(d.rects.len, 6);
}

Test(flame, callers_are_below_and_in_an_icicle_above)
{
	CLEANUP(drawing_fini) struct drawing d, icicle;

	draw_folded(&d, "a;b;c 1\n", (struct flame_options){ 0 });
	draw_folded(&icicle, "a;b;c 1\n", (struct flame_options){ .icicle = true });
	cr_assert_eq(d.rects.len, 4);
	cr_assert_eq(icicle.rects.len, 4);
	for (size_t i = 1; i < 4; i++) {
		cr_expect_eq(d.rects.data[i].y, d.rects.data[i - 1].y - 16);
		cr_expect_eq(icicle.rects.data[i].y, icicle.rects.data[i - 1].y + 16);
	}
}

Test(flame, the_page_is_as_high_as_the_stacks_are_deep)
{
	CLEANUP(strbuf_fini) struct strbuf stack = { 0 };
	CLEANUP(drawing_fini) struct drawing d;
	int height;

	for (int i = 0; i < 511; i++)
		strbuf_puts(&stack, "f;");
	strbuf_puts(&stack, "f 1\n");
	draw_folded(&d, stack.data, (struct flame_options){ 0 });
	cr_assert_eq(d.rects.len, 513);
	cr_assert_eq(sscanf(strstr(d.out.data, "height="), "height=\"%d\"", &height), 1);
	cr_expect_geq(height, 513 * 16);
	vec_for(&d.rects, r)
		cr_expect(r->y >= 0 && r->y + 16 <= height, "%d", r->y);
}

Test(flame, the_column_that_is_asked_for_is_drawn)
{
	const struct calltree_node nodes[] = {
		{ 0, UINT32_MAX, 1, 0 },
		{ 0, 0, 0, 2 },
		{ 0, 1, 0, 0 },
	};
	const struct calltree_func funcs[] = {
		{ "a", "/a", FRAME_PROGRAM },
		{ "b", "/a", FRAME_PROGRAM },
	};
	const uint64_t self[] = { 0, 0, 1, 1, 1, 3 }, total[] = { 2, 4, 1, 1, 1, 3 };
	const struct calltree t = {
		nodes, 3, funcs, 2, 2, self, total, NULL, NULL, { 0 }
	};
	CLEANUP(drawing_fini) struct drawing d;

	draw(&d, &t, (struct flame_options){ .class = 1, .diff = true });
	expect(&d, "a", 0, 295);
	expect(&d, "b", 295, 885);
	cr_expect_not(says(&d, "points"), "there is no older side");
}

/* ---- frames too narrow to draw */

Test(flame, a_frame_of_half_a_pixel_is_drawn_and_a_narrower_one_is_not)
{
	CLEANUP(drawing_fini) struct drawing d;

	draw_folded(&d, "a 10000\nb 5\nc 4\nd 1791\n", (struct flame_options){ 0 });
	cr_expect(find(&d, "b"));
	cr_expect_not(find(&d, "c"));
	cr_expect(says(&d, ">0.03% of the samples are in frames too narrow to draw<"));
}

Test(flame, hidden_samples_are_those_in_functions_without_a_frame)
{
	CLEANUP(drawing_fini) struct drawing d;

	/* what is drawn with samples of its own hides none of these */
	draw_folded(&d, "a 7500\na;b 1\na;b;c 1\na;d 2\nz;e 2496\n",
		    (struct flame_options){ 0 });
	cr_expect_not(find(&d, "b"));
	cr_expect_not(find(&d, "c"));
	cr_expect(says(&d, ">0.04% of the samples are in frames too narrow to draw<"));
}

Test(flame, nothing_is_said_of_frames_too_narrow_if_there_are_none)
{
	CLEANUP(drawing_fini) struct drawing d;

	draw_folded(&d, "a 1\n", (struct flame_options){ 0 });
	cr_expect_not(says(&d, "too narrow"));
}

/* ---- random trees */

/* @nr stacks of functions each of which has a few usual callees. */
static void random_stacks(unsigned seed, size_t nr, unsigned depth, struct strbuf *out)
{
	enum { FUNCS = 500, CALLEES = 6 };

	for (size_t i = 0; i < nr; i++) {
		unsigned f = 0, deep = 1 + (unsigned)rand_r(&seed) % depth;

		strbuf_puts(out, "main");
		for (unsigned at = 0; at < deep; at++) {
			unsigned r = (unsigned)rand_r(&seed);

			/* the first half the time, the second a quarter */
			f = (f * CALLEES + (unsigned)__builtin_ctz(r | 32) + 1) *
			    2654435 % FUNCS;
			strbuf_printf(out, ";function_of_a_usual_length_%u%s", f,
				      f % 3 ? "" : "@/usr/lib/libc.so.6");
		}
		strbuf_printf(out, " %u\n", 1 + (unsigned)rand_r(&seed) % 5);
	}
}

struct check {
	const struct calltree *t;
	const struct drawing *d;
	uint64_t hidden, drawn;
};

/* The frames that should be, by a walk of another kind than the one that drew them. */
static void check_node(struct check *c, uint32_t node, uint64_t left, int y)
{
	double scale = 1180.0 / (double)c->t->total[0];
	double width = (double)c->t->total[node] * scale;

	if (width < 0.5) {
		c->hidden += c->t->total[node];
		return;
	}
	c->drawn++;
	vec_for(&c->d->rects, r)
		if (r->y == y && fabs(r->x - (double)left * scale) < 0.0501 &&
		    fabs(r->x + r->width - (double)left * scale - width) < 0.0501)
			goto found;
	cr_assert_fail("no frame for node %u", node);
found:
	for (uint32_t i = c->t->nodes[node].first; i; i = c->t->nodes[i].next) {
		check_node(c, i, left, y - 16);
		left += c->t->total[i];
	}
}

static void expect_apart(const struct drawing *d)
{
	for (size_t i = 1; i < d->rects.len; i++) {
		const struct rect *a = &d->rects.data[i - 1], *b = &d->rects.data[i];

		cr_expect(a->y != b->y || a->x + a->width <= b->x + 1e-9, "%s and %s",
			  a->tooltip, b->tooltip);
	}
}

Test(flame, every_node_of_random_trees_has_its_frame_or_is_hidden)
{
	for (unsigned seed = 1; seed <= 5; seed++) {
		CLEANUP(strbuf_fini) struct strbuf stacks = { 0 };
		CLEANUP(drawing_fini) struct drawing d;
		struct made_up_stacks f;
		struct check c = { .t = &f.tree, .d = &d };
		char hidden[32];

		random_stacks(seed, 2000, 20, &stacks);
		cr_assert_eq(made_up_stacks_init(&f, stacks.data, NULL), 0);
		draw(&d, &f.tree, (struct flame_options){ 0 });
		check_node(&c, 0, 0, d.rects.data[0].y);
		cr_expect_eq(c.drawn, d.rects.len);
		cr_expect_gt(c.hidden, 0);
		snprintf(hidden, sizeof(hidden), ">%.2f%% of",
			 (double)c.hidden / (double)f.tree.total[0] * 100);
		cr_expect(says(&d, hidden), "%s", hidden);
		expect_apart(&d);
		made_up_stacks_fini(&f);
	}
}

Test(flame, a_hundred_thousand_stacks_are_less_than_a_megabyte)
{
	CLEANUP(strbuf_fini) struct strbuf stacks = { 0 };
	CLEANUP(drawing_fini) struct drawing d;
	struct made_up_stacks f;

	random_stacks(7, 100000, 50, &stacks);
	cr_assert_eq(made_up_stacks_init(&f, stacks.data, NULL), 0);
	cr_assert_gt(f.tree.nr_nodes, 500000);
	draw(&d, &f.tree, (struct flame_options){ 0 });
	cr_expect_lt(d.out.len, 1000000, "%zu bytes, %zu frames", d.out.len, d.rects.len);
	made_up_stacks_fini(&f);
}

/* ---- names */

Test(flame, names_of_any_bytes_are_text)
{
	CLEANUP(drawing_fini) struct drawing d;

	draw_folded(&d, "a<b>&\"]]>\x01\x7f\xff\xc2\x85\xe2\x82\xac 1\n",
		    (struct flame_options){ .title = "<&\x02" });
	cr_expect_str_eq(d.rects.data[1].label,
			 "a&lt;b&gt;&amp;&quot;]]&gt;??\xee\xbf\xbf??\xe2\x82\xac");
	cr_expect(says(&d, "aria-label=\"Flame graph of &lt;&amp;?\""));
	cr_expect(says(&d, "<title>&lt;&amp;?</title>"));
}

Test(flame, a_label_is_cut_to_the_width_of_its_frame)
{
	CLEANUP(drawing_fini) struct drawing d;

	draw_folded(&d,
		    "abcdefghijklmnopqrstuvwxyz 100\n"
		    "bcdefghijkl 100\nc\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad 20\n"
		    "defghi 3\ne 957\n",
		    (struct flame_options){ 0 });
	/* 100 pixels have room for 14 letters, 20 for 2, 3 for none */
	cr_expect_str_eq(find(&d, "abcdefghijklmnopqrstuvwxyz")->label,
			 "abcdefghijklm\xe2\x80\xa6");
	cr_expect_str_eq(find(&d, "bcdefghijkl")->label, "bcdefghijkl");
	cr_expect_str_eq(d.rects.data[3].label, "c\xe2\x80\xa6");
	cr_expect_str_eq(find(&d, "defghi")->label, "");
}

Test(flame, a_name_of_five_thousand_bytes_is_cut_in_its_tooltip_too)
{
	CLEANUP(strbuf_fini) struct strbuf stacks = { 0 };
	CLEANUP(drawing_fini) struct drawing d;

	strbuf_fill(&stacks, 'x', 5000);
	strbuf_puts(&stacks, "@/");
	strbuf_fill(&stacks, 'y', 5000);
	strbuf_puts(&stacks, " 1\n");
	draw_folded(&d, stacks.data, (struct flame_options){ 0 });
	cr_expect_lt(strlen(d.rects.data[1].tooltip), 700);
	cr_expect(strstr(d.rects.data[1].tooltip, "x\xe2\x80\xa6 (/y"));
	cr_expect(strstr(d.rects.data[1].tooltip, "y\xe2\x80\xa6) 1 sample, 100.00%"));
}

Test(flame, titles_are_cut_to_the_page)
{
	CLEANUP(strbuf_fini) struct strbuf title = { 0 };
	CLEANUP(drawing_fini) struct drawing d;
	const char *lines[] = { "first & second", NULL };

	strbuf_fill(&title, 'x', 5000);
	lines[1] = title.data;
	draw_folded(&d, "a 1\n",
		    (struct flame_options){
			    .title = title.data, .subtitles = lines, .nr_subtitles = 2 });
	cr_expect(says(&d, ">first &amp; second</text>"));
	cr_expect_lt(strstr(d.out.data, "<g id=") - strstr(d.out.data, "]]></style>"),
		     700);
}

Test(flame, a_tooltip_tells_image_samples_and_share)
{
	const char *stacks = "a;b@/l/c.so 1\na 2\n[truncated: depth limit] 1\n";

	expect_tooltip(stacks, false, "a", "a (/bin/app) 3 samples, 75.00%");
	expect_tooltip(stacks, false, "b", "b (/l/c.so) 1 sample, 25.00%");
	expect_tooltip(stacks, false, "[truncated: depth limit]",
		       "[truncated: depth limit] 1 sample, 25.00%");
	expect_tooltip(stacks, false, "all", "all 4 samples, 100.00%");
}

/* ---- colours */

Test(flame, the_hue_is_the_kind_of_code_and_the_legend_names_what_occurs)
{
	CLEANUP(drawing_fini) struct drawing d;

	draw_folded(&d, "p 1\nl@/l 1\nk_[k] 1\n[none] 1\n", (struct flame_options){ 0 });
	cr_expect_eq(*find(&d, "p")->class, 'p');
	cr_expect_eq(*find(&d, "l")->class, 'l');
	cr_expect_eq(*find(&d, "k")->class, 'k');
	cr_expect_str_eq(find(&d, "[none]")->class, "n0");
	cr_expect(says(&d, ">program<") && says(&d, ">library<") &&
		  says(&d, ">kernel<") && says(&d, ">truncated<"));
	cr_expect_not(says(&d, ">memory<"));
}

Test(flame, a_function_has_one_colour_everywhere_and_most_others_another)
{
	CLEANUP(drawing_fini) struct drawing d;
	unsigned shades = 0;

	draw_folded(&d,
		    "a1;a2;a3 1\na2;a1 1\na3 1\na4 1\na5 1\na6 1\na7 1\na8 1\na9 1\n"
		    "b1 1\nb2 1\nb3 1\n",
		    (struct flame_options){ 0 });
	vec_for(&d.rects, r) {
		char name[3] = { r->tooltip[0], r->tooltip[1], '\0' };

		if (r == d.rects.data) /* all */
			continue;
		cr_expect_str_eq(r->class, find(&d, name)->class);
		shades |= 1U << (r->class[1] - '0');
	}
	cr_expect_geq(__builtin_popcount(shades), 4);
}

/* ---- comparisons */

Test(flame, red_shares_grew_blue_ones_shrank_and_white_ones_are_the_same)
{
	CLEANUP(drawing_fini) struct drawing d;

	/* twice the samples, so shares of all decide */
	draw_folded(&d, "same 1000 500\ngrew 525 200\nless 475 300\nbit 2003 1000\n",
		    (struct flame_options){ .diff = true });
	cr_expect_str_eq(find(&d, "same")->class, "s0");
	cr_expect_str_eq(find(&d, "grew")->class, "u4"); /* by 3.1 points */
	cr_expect_str_eq(find(&d, "less")->class, "d4"); /* by 3.1 points */
	cr_expect_str_eq(find(&d, "bit")->class, "s0");
	cr_expect(says(&d, "share of samples shrank"));
	cr_expect_not(says(&d, ">program<"));
}

Test(flame, a_comparison_has_the_widths_of_the_newer_side)
{
	CLEANUP(drawing_fini) struct drawing d;

	draw_folded(&d, "a 1 3\nb 3 1\n", (struct flame_options){ .diff = true });
	expect(&d, "a", 0, 295);
	expect(&d, "b", 295, 885);
}

Test(flame, a_tooltip_tells_the_change_of_share)
{
	expect_tooltip(
		"a 30 20\nb 70 80\n", true, "a",
		"a (/bin/app) 30 samples, 30.00%; before 20, 20.00%: +10.00 points");
	expect_tooltip(
		"a 30 20\nb 70 80\n", true, "b",
		"b (/bin/app) 70 samples, 70.00%; before 80, 80.00%: -10.00 points");
}

Test(flame, functions_that_are_new_or_gone_are_told)
{
	const char *stacks = "m;new 1 0\nm;g1 0 1\nm;g2 0 1\nm;g3 0 1\nm;g4 0 1\nm 3 0\n";

	expect_tooltip(stacks, true, "new", "new (/bin/app) 1 sample, 25.00%; new");
	expect_tooltip(
		stacks, true, "m",
		"m (/bin/app) 4 samples, 100.00%; before 4, 100.00%: +0.00 points; "
		"gone: g1, g2, g3 and 1 more");
}

Test(flame, an_older_side_without_samples_makes_all_new)
{
	expect_tooltip("a 1 0\n", true, "a", "a (/bin/app) 1 sample, 100.00%; new");
}

/* ---- what there is to draw, and for whom */

Test(flame, without_samples_it_says_so)
{
	CLEANUP(drawing_fini) struct drawing d;

	draw_folded(&d, "", (struct flame_options){ .title = "current/cpu:1" });
	cr_expect_eq(d.rects.len, 0);
	cr_expect(says(&d, "There are no samples."));
	cr_expect(says(&d, "current/cpu:1"));
	cr_expect_lt(d.out.len, 4000);
}

Test(flame, samples_of_the_older_side_alone_are_none_to_draw)
{
	CLEANUP(drawing_fini) struct drawing d;

	draw_folded(&d, "a 0 5\n", (struct flame_options){ .diff = true });
	cr_expect(says(&d, "There are no samples."));
}

Test(flame, nothing_is_drawn_for_who_has_gone)
{
	const atomic_bool gone = true;
	const struct viewer v = { .cancel = &gone };
	const struct flame_options o = { .title = "current" };
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	struct made_up_stacks f;
	struct err err = { 0 };

	cr_assert_eq(made_up_stacks_init(&f, "a;b 1\n", &err), 0);
	cr_expect_eq(flame_draw(&f.tree, &o, &v, &out, &err), -EINTR);
	cr_expect(strstr(err.msg, "interrupted"));
	made_up_stacks_fini(&f);
}

Test(flame, counts_near_the_largest_number_are_drawn)
{
	CLEANUP(drawing_fini) struct drawing d;

	draw_folded(&d, "a 9223372036854775807\nb 9223372036854775807\n",
		    (struct flame_options){ 0 });
	expect(&d, "a", 0, 590);
	expect(&d, "b", 590, 590);
}
