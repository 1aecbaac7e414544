/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/vec.h"
#include "opfs/profile/recursion.h"
#include "opfs/profile/stack_choice.h"
#include "opfs/report/export/callgrind.h"
#include "opfs/report/export/export.h"
#include "opfs/report/whole_stacks.h"

/*
 * callgrind.out, for callgrind_annotate and KCachegrind.  Both take for a function's
 * inclusive cost the sum of all calls of it, and its own and that of its calls only if
 * nobody calls it.  So each outermost frame has a caller, "[all]"; and where a function
 * is in a stack several times, only its outermost call has a cost.  Then the sum is that
 * of all stacks with the function in them, each of which counts once.
 */
static const char file_name[] = "callgrind.out";

struct graph {
	const struct report_job *job;
	const struct profile *p;
	const struct profile_stacks *s;
	struct callgrind to;
	uint32_t all;      /* the function that calls outermost frames */
	uint32_t *of_func; /* of each function in stacks its number in @to */
	uint8_t *again;    /* of each frame: its function is among its callers */
	uint64_t *below;   /* of each frame: samples in it and in what it called */
	VEC(const struct profile_stack *) stacks; /* those chosen */
};

static void graph_fini(struct graph *g)
{
	callgrind_fini(&g->to);
	free(g->of_func);
	free(g->again);
	free(g->below);
	vec_fini(&g->stacks);
}

static int graph_init(struct graph *g, const struct report_job *job)
{
	g->job = job;
	g->p = job->p;
	g->s = job->p->stacks;
	g->to.nr_columns = g->p->nr_classes;
	g->of_func = calloc(g->s->nr_funcs + 1, sizeof(*g->of_func));
	g->again = calloc(g->s->nr_frames + 1, sizeof(*g->again));
	g->below = calloc(g->s->nr_frames + 1, sizeof(*g->below));
	return g->of_func && g->again && g->below ? 0 : -ENOMEM;
}

static int choose(struct graph *g)
{
	CLEANUP(stack_choice_fini) struct stack_choice choice = { 0 };
	int rc = stack_choice_init(&choice, g->p);

	for (size_t i = 0; i < g->s->nr_stacks && !rc; i++)
		if (stack_choice_has(&choice, &g->s->stacks[i]))
			rc = vec_push(&g->stacks, &g->s->stacks[i]);
	return rc;
}

/* ---- functions */

static int add_function(struct graph *g, const struct profile_func *f, uint32_t *out)
{
	bool none = f->image == CATALOG_NO_IMAGE;
	uint64_t entry = f->sym ? f->sym->vma : f->entry ? f->entry->vma : 0;

	return callgrind_function(&g->to, f->name, f->image,
				  none ? "???" : g->p->cat->images[f->image].shown, entry,
				  out);
}

static int add_functions(struct graph *g)
{
	const struct profile_func all = { .image = CATALOG_NO_IMAGE, .name = "[all]" };
	int rc = add_function(g, &all, &g->all);

	for (size_t i = 0; i < g->s->nr_funcs && !rc; i++)
		rc = add_function(g, &g->s->funcs[i], &g->of_func[i]);
	return rc ? rc : recursion_find(g->s, g->of_func, g->to.functions.len, g->again);
}

/* ---- costs */

static uint32_t function_of(const struct graph *g, uint32_t frame)
{
	return frame ? g->of_func[g->s->frames[frame].func] : g->all;
}

static uint64_t address_of(const struct graph *g, uint32_t frame)
{
	const struct profile_frame *f = &g->s->frames[frame];

	return f->image == CATALOG_NO_IMAGE ? 0 : export_address(g->p, f);
}

static int add_self(struct graph *g, size_t class)
{
	int rc = 0;

	for (size_t i = 0; i < g->stacks.len && !rc; i++) {
		const struct profile_stack *s = g->stacks.data[i];

		if (g->s->files[s->file].class != class)
			continue;
		g->below[s->frame] += s->samples;
		rc = callgrind_add(&g->to, function_of(g, s->frame), CALLGRIND_SELF,
				   address_of(g, s->frame), class, s->samples);
	}
	return rc;
}

/* Frames come after their callers; leaves g->below all zero. */
static int add_calls(struct graph *g, size_t class)
{
	int rc = 0;

	for (size_t i = g->s->nr_frames; i-- > 1 && !rc;) {
		uint32_t caller = g->s->frames[i].parent;
		uint64_t samples = g->below[i];

		if (!samples)
			continue;
		g->below[i] = 0;
		g->below[caller] += samples;
		if (!g->again[i])
			rc = callgrind_add(&g->to, function_of(g, caller),
					   function_of(g, (uint32_t)i),
					   address_of(g, caller), class, samples);
	}
	g->below[0] = 0;
	return rc;
}

static int add_costs(struct graph *g)
{
	int rc = 0;

	for (size_t c = 0; c < g->p->nr_classes && !rc; c++) {
		rc = add_self(g, c);
		rc = rc ? rc : add_calls(g, c);
		if (!rc && viewer_gone(g->job->v))
			rc = -EINTR;
	}
	return rc;
}

/* ---- text */

static void put_facts(const char *lines, struct strbuf *out)
{
	strbuf_puts(out,
		    "# callgrind format\nversion: 1\ncreator: opfs " OPFS_VERSION "\n");
	for (size_t len; *lines; lines += len) {
		len = strcspn(lines, "\n");
		strbuf_puts(out, "desc: ");
		strbuf_add(out, lines, len);
		strbuf_putc(out, '\n');
		len += lines[len] == '\n';
	}
	strbuf_puts(out, "positions: instr\n");
}

/* Names that the format's alphabet has made equal end in the number of their column. */
static bool is_taken(const struct graph *g, size_t class, const char *name)
{
	bool taken = false;

	for (size_t c = 0; c < class && !taken; c++) {
		CLEANUP(strbuf_fini) struct strbuf full = { 0 }, other = { 0 };

		export_class(g->p, c, &full);
		callgrind_event(&other, strbuf_str(&full));
		taken = !strcmp(strbuf_str(&other), name);
	}
	return taken;
}

static int put_events(const struct graph *g, struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf names = { 0 };

	for (size_t c = 0; c < g->p->nr_classes; c++) {
		CLEANUP(strbuf_fini) struct strbuf full = { 0 }, name = { 0 };

		export_class(g->p, c, &full);
		callgrind_event(&name, strbuf_str(&full));
		if (is_taken(g, c, strbuf_str(&name)))
			strbuf_printf(&name, "_%zu", c + 1);
		strbuf_printf(out, "event: %s : %s\n", strbuf_str(&name),
			      strbuf_str(&full));
		strbuf_printf(&names, " %s", strbuf_str(&name));
		if (strbuf_error(&full) || strbuf_error(&name))
			return -ENOMEM;
	}
	strbuf_printf(out, "events:%s\n", strbuf_str(&names));
	return strbuf_error(&names);
}

static void put_totals(const struct graph *g, const char *key, struct strbuf *out)
{
	strbuf_puts(out, key);
	for (size_t c = 0; c < g->p->nr_classes; c++) {
		uint64_t sum = 0;

		for (size_t i = 0; i < g->stacks.len; i++)
			if (g->s->files[g->stacks.data[i]->file].class == c)
				sum += g->stacks.data[i]->samples;
		strbuf_printf(out, " %" PRIu64, sum);
	}
	strbuf_putc(out, '\n');
}

static int make(struct graph *g, const struct report_job *job, struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf facts = { 0 };
	int rc = graph_init(g, job);

	rc = rc ? rc : choose(g);
	rc = rc ? rc : add_functions(g);
	rc = rc ? rc : add_costs(g);
	if (rc)
		return rc;
	export_facts(job, &facts);
	put_facts(strbuf_str(&facts), out);
	rc = put_events(g, out);
	put_totals(g, "summary:", out);
	rc = rc ? rc : callgrind_write(&g->to, out);
	strbuf_putc(out, '\n');
	put_totals(g, "totals:", out);
	return rc ? rc : strbuf_error(&facts);
}

static int check(const struct report_job *job, struct err *err)
{
	return whole_stacks_check(job, file_name, err);
}

static int render(const struct report_job *job, struct strbuf *out, struct err *err)
{
	CLEANUP(graph_fini) struct graph g = { 0 };
	int rc = make(&g, job, out);

	if (rc == -E2BIG)
		return export_check_size(EXPORT_MAX_BYTES + 1, EXPORT_MAX_BYTES,
					 file_name, err);
	rc = report_result(rc, err);
	return rc ? rc : report_done(out, err);
}

const struct report report_callgrind = {
	.name = "callgrind.out",
	.doc = "functions and calls for callgrind_annotate and KCachegrind",
	.names_path = true,
	.needs = PROFILE_STACKS,
	.calls = true,
	.inlines = true,
	.more = true,
	.tags = EXPORT_TAGS | OPTION_TAG(SPLIT),
	.words = OPTION_WITH(INLINES),
	.check = check,
	.render = render,
};
