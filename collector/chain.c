/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/chain.h"

#include <linux/perf_event.h>

#include "collector/resolve.h"

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

static void count_arc(struct coll_collect *c, const struct coll_context *from,
		      uint64_t from_at, const struct coll_image *to, uint64_t to_at)
{
	struct coll_key key;

	if (!coll_route(c->separate, from, &key)) {
		c->stats.value[SPEC_STAT_LOST_BT_NO_MAPPING]++;
		return;
	}
	key.callee = to;
	if (coll_sink_add(&c->sink, &key, from_at << 32 | (to_at & UINT32_MAX)))
		c->stats.value[SPEC_STAT_LOST_CG_FILE]++;
	else
		c->stats.value[SPEC_STAT_ARCS]++;
}

void coll_chain_count(struct coll_collect *c, const struct coll_rec *rec,
		      struct coll_task *task, const struct coll_context *at,
		      uint64_t key_at)
{
	const struct coll_sample *s = &rec->sample;
	enum mode mode = at->kernel ? MODE_KERNEL : MODE_USER;
	const struct coll_image *to = at->image;
	struct coll_context from = *at;
	uint64_t to_at = key_at, from_at;
	bool first = true;
	enum spec_stat why;

	for (size_t i = 0; i < s->nr_ips; i++) {
		if (s->ips[i] >= COLL_CONTEXT_MAX) {
			mode = mode_of(s->ips[i]);
			continue;
		}
		if (mode == MODE_UNKNOWN)
			continue;
		/* the kernel repeats the sampled address as the first frame */
		if (first && s->ips[i] == s->ip) {
			first = false;
			continue;
		}
		first = false;
		from.kernel = mode == MODE_KERNEL;
		from.image = coll_resolve(c, task, from.kernel, s->ips[i], &from_at, &why);
		if (!from.image) {
			c->stats.value[SPEC_STAT_LOST_BT_NO_MAPPING]++;
			continue;
		}
		count_arc(c, &from, from_at, to, to_at);
		to = from.image;
		to_at = from_at;
	}
}
