/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/flame/flame.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/embed.h"
#include "base/percent.h"
#include "opfs/report/flame/label.h"
#include "opfs/report/flame/layout.h"
#include "opfs/report/flame/paint.h"

EMBED(flame_css, "opfs/report/flame/flame.css");
EMBED(flame_js, "opfs/report/flame/flame.js");

/* In pixels; flame.js knows some of them too. */
enum {
	PAGE_WIDTH = 1200,
	MARGIN = 10,
	ROW = 16, /* from frame to frame */
	FRAME_HEIGHT = 15,
	TITLE_Y = 24,      /* where its letters stand, as all that is called _Y */
	FIRST_LINE_Y = 42, /* the subtitles */
	LINE = 16,
	HEAD_LINES = 2, /* room beside them for what the script adds */
	HEAD_END = 12,  /* below the last line */
	DETAILS_Y = 18, /* from the start of the foot */
	LEGEND_Y = 38,
	FOOT = 50,
};

/* How many letters there is room for.  Those of a frame have 6.62 pixels. */
enum { TITLE_COLUMNS = 92, LINE_COLUMNS = 126, NAME_COLUMNS = 300, PAGE_COLUMNS = 1000 };
enum { LETTER_TENTHS = 67, PAD_TENTHS = 20 };

struct drawing {
	const struct calltree *t;
	const struct flame_options *o;
	const struct viewer *v;
	struct flame_layout layout;
	struct flame_paint paint;
	struct strbuf *out;
	size_t graph_y, foot_y, height;
};

/* ---- the page */

static void place(struct drawing *d)
{
	size_t lines = d->o->nr_subtitles + (d->layout.hidden > 0);
	size_t head, rows = flame_layout_rows(&d->layout);

	lines = lines > HEAD_LINES ? lines : HEAD_LINES;
	head = FIRST_LINE_Y + LINE * (lines - 1) + HEAD_END;
	rows = rows ? rows : 1; /* where it is told that there are no samples */
	d->foot_y = d->o->icicle ? head : head + ROW * rows;
	d->graph_y = d->o->icicle ? head + FOOT : head;
	d->height = head + ROW * rows + FOOT + (d->o->icicle ? MARGIN : 0);
}

static void add_start(const struct drawing *d)
{
	strbuf_printf(d->out,
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
		      "height=\"%zu\" viewBox=\"0 0 %d %zu\" role=\"img\" aria-label=\"",
		      PAGE_WIDTH, d->height, PAGE_WIDTH, d->height);
	strbuf_puts(d->out, "Flame graph of ");
	flame_label(d->o->title, PAGE_COLUMNS, d->out);
	strbuf_puts(d->out, "\">\n<title>");
	flame_label(d->o->title, PAGE_COLUMNS, d->out);
	strbuf_puts(d->out, "</title>\n<style><![CDATA[\n");
	strbuf_puts(d->out, flame_css);
	strbuf_puts(d->out, "]]></style>\n"
			    "<rect id=\"page\" width=\"100%\" height=\"100%\"/>\n");
}

static void add_line(const struct drawing *d, const char *id, size_t y, size_t columns,
		     const char *text)
{
	strbuf_printf(d->out, "<text%s x=\"%d\" y=\"%zu\">", id, MARGIN, y);
	flame_label(text, columns, d->out);
	strbuf_puts(d->out, "</text>\n");
}

static void add_head(const struct drawing *d)
{
	char hidden[96];
	size_t y = FIRST_LINE_Y;

	add_line(d, " id=\"title\"", TITLE_Y, TITLE_COLUMNS, d->o->title);
	for (size_t i = 0; i < d->o->nr_subtitles; i++, y += LINE)
		add_line(d, "", y, LINE_COLUMNS, d->o->subtitles[i]);
	if (!d->layout.hidden)
		return;
	snprintf(hidden, sizeof(hidden),
		 "%.2f%% of the samples are in frames too narrow to draw",
		 percent_of(d->layout.hidden, d->layout.total));
	add_line(d, "", y, LINE_COLUMNS, hidden);
}

static void add_foot(const struct drawing *d)
{
	add_line(d, " id=\"details\"", d->foot_y + DETAILS_Y, 0, "");
	strbuf_printf(d->out, "<g id=\"legend\" transform=\"translate(%d %zu)\">", MARGIN,
		      d->foot_y + LEGEND_Y);
	flame_paint_legend(&d->paint, d->out);
	strbuf_puts(d->out, "</g>\n");
}

/* ---- frames */

static void add_tenths(struct strbuf *out, uint32_t n)
{
	strbuf_number(out, n / 10, 0);
	if (n % 10) {
		strbuf_putc(out, '.');
		strbuf_number(out, n % 10, 0);
	}
}

static const char *name_of(const struct drawing *d, uint32_t node)
{
	return node ? d->t->funcs[d->t->nodes[node].func].name : "all";
}

static uint64_t count_of(const struct drawing *d, const uint64_t *of, uint32_t node)
{
	return of[node * d->t->nr_classes + d->o->class];
}

/* Functions that were called here and no longer are: they have no width. */
static void add_gone(const struct drawing *d, uint32_t node)
{
	enum { MOST = 3 };
	const struct calltree_node *nodes = d->t->nodes;
	size_t nr = 0;

	for (uint32_t i = nodes[node].first; i; i = nodes[i].next) {
		if (count_of(d, d->t->total, i) || !count_of(d, d->t->was_total, i))
			continue;
		if (nr++ >= MOST)
			continue;
		strbuf_puts(d->out, nr == 1 ? "; gone: " : ", ");
		flame_label(name_of(d, i), NAME_COLUMNS, d->out);
	}
	if (nr > MOST)
		strbuf_printf(d->out, " and %zu more", nr - MOST);
}

static void add_change(const struct drawing *d, uint32_t node)
{
	uint64_t was = count_of(d, d->t->was_total, node);
	double share = flame_paint_old_share(&d->paint, node);

	if (was)
		strbuf_printf(d->out, "; before %" PRIu64 ", %.2f%%: %+.2f points", was,
			      share, flame_paint_share(&d->paint, node) - share);
	else
		strbuf_puts(d->out, "; new");
	add_gone(d, node);
}

/* flame.js reads the name, and the image's, out of this. */
static void add_tooltip(const struct drawing *d, uint32_t node)
{
	uint64_t samples = count_of(d, d->t->total, node);
	const char *image = node ? d->t->funcs[d->t->nodes[node].func].image : "";

	flame_label(name_of(d, node), NAME_COLUMNS, d->out);
	if (*image) {
		strbuf_puts(d->out, " (");
		flame_label(image, NAME_COLUMNS, d->out);
		strbuf_putc(d->out, ')');
	}
	strbuf_printf(d->out, " %" PRIu64 " sample%s, %.2f%%", samples,
		      samples == 1 ? "" : "s", flame_paint_share(&d->paint, node));
	if (node && d->t->funcs[d->t->nodes[node].func].kind == FRAME_INLINED)
		strbuf_puts(d->out, "; inlined");
	if (d->paint.diff)
		add_change(d, node);
}

static void add_frame(struct drawing *d, const struct flame_frame *f)
{
	char room[3];

	strbuf_puts(d->out, "<rect class=\"");
	strbuf_puts(d->out, flame_paint_class(&d->paint, f->node, room));
	strbuf_puts(d->out, "\" x=\"");
	add_tenths(d->out, f->x);
	strbuf_puts(d->out, "\" width=\"");
	add_tenths(d->out, f->width);
	strbuf_printf(d->out, "\" height=\"%d\"><title>", FRAME_HEIGHT);
	add_tooltip(d, f->node);
	strbuf_puts(d->out, "</title></rect>");
	if (f->width >= 2 * LETTER_TENTHS + 2 * PAD_TENTHS) {
		strbuf_puts(d->out, "<text x=\"");
		add_tenths(d->out, f->x + PAD_TENTHS);
		strbuf_puts(d->out, "\" y=\"11\">");
		flame_label(name_of(d, f->node),
			    (f->width - 2 * PAD_TENTHS) / LETTER_TENTHS, d->out);
		strbuf_puts(d->out, "</text>");
	}
	strbuf_putc(d->out, '\n');
}

static int add_frames(struct drawing *d)
{
	size_t last = flame_layout_rows(&d->layout) - 1, i = 0;
	const struct flame_frame *frames = d->layout.frames.data;

	strbuf_printf(d->out, "<g id=\"frames\"%s>\n",
		      d->o->icicle ? " class=\"icicle\"" : "");
	for (size_t row = 0; row <= last; row++) {
		size_t up = d->o->icicle ? row : last - row;

		strbuf_printf(d->out, "<g transform=\"translate(%d %zu)\">\n", MARGIN,
			      d->graph_y + ROW * up);
		for (; i < d->layout.frames.len && frames[i].depth == row; i++) {
			if (i % 1024 == 0 && viewer_gone(d->v))
				return -EINTR;
			add_frame(d, &frames[i]);
		}
		strbuf_puts(d->out, "</g>\n");
	}
	strbuf_puts(d->out, "</g>\n");
	return 0;
}

static void add_script(const struct drawing *d)
{
	strbuf_puts(d->out, "<script><![CDATA[\n");
	strbuf_puts(d->out, flame_js);
	strbuf_puts(d->out, "]]></script>\n");
}

/* ---- all of it */

static int add_page(struct drawing *d)
{
	int rc = 0;

	place(d);
	add_start(d);
	add_head(d);
	if (d->layout.frames.len) {
		rc = add_frames(d);
		add_foot(d);
		add_script(d);
	} else {
		add_line(d, "", d->graph_y, LINE_COLUMNS, "There are no samples.");
	}
	strbuf_puts(d->out, "</svg>\n");
	return rc ? rc : strbuf_error(d->out);
}

int flame_draw(const struct calltree *t, const struct flame_options *o,
	       const struct viewer *v, struct strbuf *out, struct err *err)
{
	struct drawing d = {
		.t = t,
		.o = o,
		.v = v,
		.out = out,
		.paint = { .t = t, .class = o->class, .diff = o->diff && t->was_total },
	};
	int rc = flame_layout_init(&d.layout, t, o->class, v);

	rc = rc ? rc : add_page(&d);
	flame_layout_fini(&d.layout);
	if (rc)
		return err_set(err, rc, "drawing a flame graph: %s",
			       rc == -EINTR ? "interrupted" : "out of memory");
	return 0;
}
