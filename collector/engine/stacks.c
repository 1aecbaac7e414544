/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/engine/stacks.h"

#include <linux/perf_event.h>

#include "collector/engine/resolve.h"
#include "collector/engine/unwind.h"

enum mode { MODE_UNKNOWN, MODE_USER, MODE_KERNEL };

/* What a context marker says of the frames behind it. */
static enum mode mode_of(uint64_t marker)
{
	switch (marker) {
	case (uint64_t)PERF_CONTEXT_USER:
		return MODE_USER;
	case (uint64_t)PERF_CONTEXT_KERNEL:
		return MODE_KERNEL;
	default:
		return MODE_UNKNOWN;
	}
}

/* A walk over a sample's callers, whichever way the source gives them. */
struct walk {
	const struct coll_sample *s;
	size_t i;
	enum mode mode;
	bool first;
};

/* Callers as addresses, between marks of their mode. */
static bool next_ip(struct walk *w, struct coll_place *out)
{
	const struct coll_sample *s = w->s;

	while (w->i < s->nr_ips) {
		uint64_t ip = s->ips[w->i++];
		bool again = w->first && ip == s->ip;

		if (ip >= COLL_CONTEXT_MAX) {
			w->mode = mode_of(ip);
			continue;
		}
		if (w->mode == MODE_UNKNOWN)
			continue;
		w->first = false;
		/* the kernel repeats the sampled address as the first frame */
		if (again)
			continue;
		*out = (struct coll_place){ .at = ip, .kernel = w->mode == MODE_KERNEL };
		return true;
	}
	return false;
}

static bool next_caller(struct walk *w, struct coll_place *out)
{
	if (!w->s->places)
		return next_ip(w, out);
	if (w->i + 1 >= w->s->nr_places)
		return false;
	*out = w->s->places[++w->i];
	return true;
}

/*
 * Offsets have room for one bit more.  Addresses of a kernel whose start is not known
 * have that bit set themselves: all of them, so nothing is lost without it.
 */
static void add(struct coll_stack *s, const struct coll_image *image, uint64_t off,
		bool exact)
{
	s->frames[s->nr++] = (struct coll_frame){
		.image = image,
		.off = (off & ~SPEC_STACK_EXACT) | (exact ? SPEC_STACK_EXACT : 0),
	};
}

static bool is_unknown(const struct coll_frame *f)
{
	return !f->image;
}

/* Why no more callers are known; 0: there are none. */
static void end(struct coll_stack *s, uint64_t why)
{
	struct coll_frame *last = &s->frames[s->nr - 1];

	if (is_unknown(last))
		last->off = SPEC_STACK_NO_MAPPING;
	else if (why)
		add(s, NULL, why, false);
}

/* A stack while its frames are added, the callees first. */
struct growing {
	struct coll_collect *c;
	struct coll_task *task;
	struct coll_stack *s;
	bool kernel; /* the last one */
};

/* False: there are as many as can be. */
static bool add_place(struct growing *g, const struct coll_place *place, bool exact)
{
	struct coll_stack *s = g->s;
	const struct coll_image *img;
	enum spec_stat why;
	uint64_t off;

	if (s->nr >= g->c->max_frames)
		return false;
	img = coll_resolve(g->c, g->task, place, &off, &why);
	exact |= g->kernel && !place->kernel;
	g->kernel = place->kernel;
	if (img) {
		add(s, img, off, exact);
		s->called = true;
	} else {
		s->unknown++;
		if (!is_unknown(&s->frames[s->nr - 1]))
			add(s, NULL, SPEC_STACK_UNKNOWN, false);
	}
	return true;
}

/* Goes on with the call chain behind the frame at @to.  False: it has no such frame. */
static bool go_to(struct walk *w, struct coll_place *at, bool any,
		  const struct coll_place *to)
{
	for (; any; any = next_caller(w, at))
		if (!at->kernel && at->handle == to->handle && at->at == to->at)
			return true;
	return false;
}

/* The user part, as it was unwound; behind what ends early, by frame pointers.
 * @chain, @any: the chain's first user frame, if it has one.  Returns why it ends. */
static uint64_t add_unwound(struct growing *g, struct walk *w, struct coll_place *chain,
			    bool any)
{
	const struct coll_unwound *u = &g->c->unwound;
	const struct coll_user_stack *from = w->s->user_stack;
	struct coll_place at;

	/* the first one is the sample, unless that is the kernel's */
	for (size_t i = !g->kernel; i < u->nr; i++) {
		coll_unwind_place(from, u->frames[i].ip, &at);
		if (!add_place(g, &at, u->frames[i].exact))
			return SPEC_STACK_DEPTH;
	}
	coll_unwind_place(from, u->frames[u->nr - 1].ip, &at);
	if (!u->end || u->end == SPEC_STACK_DEPTH || !go_to(w, chain, any, &at))
		return u->end;
	while (next_caller(w, chain))
		if (!add_place(g, chain, false))
			return SPEC_STACK_DEPTH;
	return w->s->cut ? SPEC_STACK_DEPTH : 0;
}

const struct coll_stack *coll_stacks_walk(struct coll_collect *c,
					  const struct coll_rec *rec,
					  struct coll_task *task,
					  const struct coll_context *at, uint64_t key_at)
{
	struct walk w = { .s = &rec->sample,
			  .mode = at->kernel ? MODE_KERNEL : MODE_USER,
			  .first = true };
	struct coll_stack *s = &c->stack;
	struct growing g = { .c = c, .task = task, .s = s, .kernel = at->kernel };
	struct coll_place place;
	bool any, full = false;

	s->nr = 0;
	s->lane = rec->tid;
	s->unknown = rec->sample.frames_lost;
	s->called = false;
	add(s, at->image, key_at, true);
	while (!full && (any = next_caller(&w, &place)) &&
	       (place.kernel || !c->unwound.nr))
		full = !add_place(&g, &place, false);
	/* without all of the kernel's frames, what called them is unknown */
	if (c->unwound.nr && !full && !(g.kernel && !any && w.s->cut))
		end(s, add_unwound(&g, &w, &place, any));
	else
		end(s, full || w.s->cut ? SPEC_STACK_DEPTH : c->unwound.end);
	return s;
}
