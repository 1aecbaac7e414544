/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/engine/stacks.h"

#include <linux/perf_event.h>

#include "collector/engine/resolve.h"

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

/* Why no more callers are known, if they are not just the thread's first. */
static void end(struct coll_stack *s, bool cut)
{
	struct coll_frame *last = &s->frames[s->nr - 1];

	if (is_unknown(last))
		last->off = SPEC_STACK_NO_MAPPING;
	else if (cut)
		add(s, NULL, SPEC_STACK_DEPTH, false);
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
	bool kernel = at->kernel, interrupted;
	struct coll_place place;
	enum spec_stat why;

	s->nr = 0;
	s->unknown = rec->sample.frames_lost;
	s->called = false;
	add(s, at->image, key_at, true);
	while (next_caller(&w, &place)) {
		uint64_t off;
		const struct coll_image *img = coll_resolve(c, task, &place, &off, &why);

		interrupted = kernel && !place.kernel;
		kernel = place.kernel;
		if (img) {
			add(s, img, off, interrupted);
			s->called = true;
		} else {
			s->unknown++;
			if (!is_unknown(&s->frames[s->nr - 1]))
				add(s, NULL, SPEC_STACK_UNKNOWN, false);
		}
	}
	end(s, rec->sample.cut);
	return s;
}
