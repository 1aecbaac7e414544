/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/engine/chain.h"

#include <linux/perf_event.h>

#include "collector/engine/filing.h"
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

static void count_arc(struct coll_collect *c, const struct coll_context *from,
		      uint64_t from_at, const struct coll_image *to, uint64_t to_at,
		      uint32_t weight)
{
	enum spec_stat what;
	struct coll_key key;

	if (!coll_route(c->separate, from, &key)) {
		c->stats.value[SPEC_STAT_LOST_BT_NO_MAPPING]++;
		return;
	}
	key.callee = to;
	what = coll_collect_file(c, &key, from_at << 32 | (to_at & UINT32_MAX),
				 &(struct coll_count){ .weight = weight, .arcs = 1 });
	if (what == SPEC_STAT_STORED)
		c->stats.value[SPEC_STAT_ARCS]++;
	else if (what != SPEC_STAT_TAKEN)
		c->stats.value[SPEC_STAT_LOST_CG_FILE]++;
}

bool coll_chain_count(struct coll_collect *c, const struct coll_rec *rec,
		      struct coll_task *task, const struct coll_context *at,
		      uint64_t key_at, uint32_t weight)
{
	struct walk w = { .s = &rec->sample,
			  .mode = at->kernel ? MODE_KERNEL : MODE_USER,
			  .first = true };
	const struct coll_image *to = at->image;
	struct coll_context from = *at;
	uint64_t to_at = key_at, from_at;
	struct coll_place place;
	enum spec_stat why;
	bool any = false;

	c->stats.value[SPEC_STAT_LOST_BT_NO_MAPPING] += rec->sample.frames_lost;
	while (next_caller(&w, &place)) {
		from.kernel = place.kernel;
		from.image = coll_resolve(c, task, &place, &from_at, &why);
		if (!from.image) {
			c->stats.value[SPEC_STAT_LOST_BT_NO_MAPPING]++;
			continue;
		}
		count_arc(c, &from, from_at, to, to_at, weight);
		any = true;
		to = from.image;
		to_at = from_at;
	}
	return any;
}
