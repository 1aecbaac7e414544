/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/rec/ext_ibs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/opt.h"

#define BIT(n) (1ULL << (n))

/* IbsFetchCtl */
#define FETCH_DONE BIT(50)
#define FETCH_IC_MISS BIT(51)
#define FETCH_PHYSICAL BIT(52)
#define FETCH_PAGE(size) ((uint64_t)(size) << 53)
#define FETCH_L1_MISS BIT(55)
#define FETCH_L2_MISS BIT(56)
#define FETCH_ANY                                                                        \
	(FETCH_DONE | FETCH_IC_MISS | FETCH_PHYSICAL | FETCH_L1_MISS | FETCH_L2_MISS)
/* IbsOpData */
#define OP_RESYNC BIT(32)
#define OP_RETURN BIT(34)
#define OP_TAKEN BIT(35)
#define OP_MISP BIT(36)
#define OP_BRANCH BIT(37)
#define OP_RIP_INVALID BIT(38)
/* IbsOpData2 */
#define NB_SOURCE(n) ((uint64_t)(n))
#define NB_REMOTE BIT(4)
#define NB_OWNED BIT(5)
/* IbsOpData3 */
#define DC_LOAD BIT(0)
#define DC_STORE BIT(1)
#define DC_L1_MISS BIT(2)
#define DC_L2_MISS BIT(3)
#define DC_L1_2M BIT(4)
#define DC_L1_1G BIT(5)
#define DC_L2_2M BIT(6)
#define DC_MISS BIT(7)
#define DC_MISALIGNED BIT(8)
#define DC_LOAD_BANK BIT(9)
#define DC_STORE_BANK BIT(10)
#define DC_FORWARD BIT(11)
#define DC_CANCEL BIT(12)
#define DC_COMBINED BIT(13)
#define DC_UNCACHED BIT(14)
#define DC_LOCKED BIT(15)
#define DC_MAB_HIT BIT(16)
#define DC_LINEAR BIT(17)
#define DC_L2_1G BIT(19)

/* What must be true of a sample before an event is looked at, and whose bits are. */
enum group { FETCH, ATTEMPT, OP, LOAD_STORE, NORTHBRIDGE, NR_GROUPS };

static const struct group_info {
	enum coll_ext_kind kind;
	size_t reg;
} groups[NR_GROUPS] = {
	[FETCH] = { COLL_EXT_IBS_FETCH, COLL_IBS_FETCH_CTL },
	[ATTEMPT] = { COLL_EXT_IBS_FETCH, COLL_IBS_FETCH_CTL },
	[OP] = { COLL_EXT_IBS_OP, COLL_IBS_OP_DATA },
	[LOAD_STORE] = { COLL_EXT_IBS_OP, COLL_IBS_OP_DATA3 },
	[NORTHBRIDGE] = { COLL_EXT_IBS_OP, COLL_IBS_OP_DATA2 },
};

/* What a sample counts: once, or 16 bits of a register. */
enum weight {
	ONE,
	FETCH_LATENCY,
	COMP_TO_RETIRE,
	TAG_TO_RETIRE,
	MISS_LATENCY,
	NR_WEIGHTS
};

static const struct weight_info {
	size_t reg;
	int shift;
} weights[NR_WEIGHTS] = {
	[FETCH_LATENCY] = { COLL_IBS_FETCH_CTL, 32 },
	[COMP_TO_RETIRE] = { COLL_IBS_OP_DATA, 0 },
	[TAG_TO_RETIRE] = { COLL_IBS_OP_DATA, 16 },
	[MISS_LATENCY] = { COLL_IBS_OP_DATA3, 32 },
};

static const struct row {
	const char *name;
	uint32_t code;
	enum group group;
	uint64_t mask, want;
	enum weight weight;
} rows[] = {
#define IBS(name, code, group, mask, want, weight)                                       \
	{ name, code, group, mask, want, weight },
#include "collector/rec/ext_ibs_list.h"
#undef IBS
};

enum { NR_ROWS = sizeof(rows) / sizeof(rows[0]) };
_Static_assert((int)NR_ROWS <= (int)COLL_EXT_MAX_EVENTS,
	       "chosen[] and hits have room for all");

/* The hardware's two counters. */
static const struct counter {
	const char *name;
	size_t min_regs;
	unsigned long long max_count, max_mask;
} counters[COLL_NR_EXT] = {
	[COLL_EXT_IBS_FETCH] = { "fetch", COLL_IBS_FETCH_CTL + 1, 0xfffff, 0 },
	/* unit mask 1: dispatched ops are counted instead of cycles */
	[COLL_EXT_IBS_OP] = { "op", COLL_IBS_OP_DATA3 + 1, 0x7ffffff, 1 },
};

enum { MIN_COUNT = 16 /* the counters lack the lowest four bits */ };

static int find_row(const char *name)
{
	for (int i = 0; i < NR_ROWS; i++)
		if (!strcmp(rows[i].name, name))
			return i;
	return -1;
}

static bool ibs_knows(const char *name)
{
	return find_row(name) >= 0;
}

static int check_count(const struct counter *c, uint64_t count, uint64_t unit_mask,
		       struct err *err)
{
	if (count < MIN_COUNT || count > c->max_count)
		return err_set(
			err, -EINVAL,
			"IBS %s: the count must be from %d to %llu (it is %llu), as "
			"in fetch:IBS_FETCH_ALL:50000:0",
			c->name, MIN_COUNT, c->max_count, (unsigned long long)count);
	if (unit_mask > c->max_mask)
		return err_set(err, -EINVAL,
			       "IBS %s: the unit mask must be %s (it is %#llx)", c->name,
			       c->max_mask ? "0, counting cycles, or 1, dispatched ops"
					   : "0",
			       (unsigned long long)unit_mask);
	return 0;
}

static int ibs_choose(struct coll_ext *x, const char *name, uint64_t count,
		      uint64_t unit_mask, struct err *err)
{
	int i = find_row(name), rc;
	enum coll_ext_kind kind = groups[rows[i].group].kind;
	struct coll_ext_setup *setup = &x->setup[kind];
	struct coll_ext_event event = { rows[i].name, rows[i].code, count, unit_mask };

	rc = check_count(&counters[kind], count, unit_mask, err);
	if (rc)
		return rc;
	if (setup->wanted && (setup->count != count || setup->unit_mask != unit_mask))
		return err_set(
			err, -EINVAL,
			"%s: all IBS %s events share one counter: give each the same "
			"count and unit mask (%llu:%llu, as the first has)",
			name, counters[kind].name, (unsigned long long)setup->count,
			(unsigned long long)setup->unit_mask);
	if (x->chosen[i])
		return err_set(err, -EINVAL, "event %s is given twice", name);
	if (vec_push(&x->events, event))
		return err_errno(err, -ENOMEM, "IBS");
	x->chosen[i] = (uint8_t)x->events.len;
	*setup = (struct coll_ext_setup){ true, count, unit_mask };
	return 0;
}

/* "fetch:EVENT,...:COUNT:UNITMASK"; @part is taken apart. */
static int parse_part(struct coll_ext *x, char *part, struct err *err)
{
	const char *which = strsep(&part, ":"), *count, *mask, *name;
	char *names = part ? strsep(&part, ":") : NULL;
	enum coll_ext_kind kind = COLL_EXT_IBS_FETCH;
	unsigned long long counted, masked;
	int rc = 0, row;

	while (kind < COLL_NR_EXT && strcmp(counters[kind].name, which) != 0)
		kind++;
	count = part ? strsep(&part, ":") : NULL;
	mask = part ? strsep(&part, ":") : NULL;
	if (kind == COLL_NR_EXT || !mask || part)
		return err_set(
			err, -EINVAL,
			"--ext-feature=ibs: \"%s\": write fetch:EVENT,...:COUNT:"
			"UNITMASK|op:EVENT,...:COUNT:UNITMASK, either part or both",
			which);
	rc = opt_number(count, "IBS count", MIN_COUNT, counters[kind].max_count, &counted,
			err);
	if (!rc)
		rc = opt_number(mask, "IBS unit mask", 0, counters[kind].max_mask,
				&masked, err);
	while (!rc && (name = strsep(&names, ","))) {
		if (!*name)
			continue; /* OProfile's own front end leaves a comma at the end */
		row = find_row(name);
		if (row < 0 || groups[rows[row].group].kind != kind)
			return err_set(
				err, -EINVAL,
				"--ext-feature=ibs: %s is no IBS %s event (they are "
				"listed in opcollect(1))",
				name, counters[kind].name);
		rc = ibs_choose(x, name, counted, masked, err);
	}
	return rc;
}

static int ibs_init(struct coll_ext *x, const char *args, struct err *err)
{
	CLEANUP(free_ptr) char *copy = strdup(args);
	char *rest = copy, *part;
	int rc = 0;

	if (!copy)
		return err_errno(err, -ENOMEM, "IBS");
	while (!rc && (part = strsep(&rest, "|")))
		rc = parse_part(x, part, err);
	if (!rc && !x->events.len)
		rc = err_set(
			err, -EINVAL,
			"--ext-feature=ibs: no event is chosen; write, as an example, "
			"ibs:fetch:IBS_FETCH_ALL:50000:0");
	return rc;
}

/* Which groups' events may be true of the sample. */
static unsigned possible(const struct coll_ext_sample *s)
{
	uint64_t data3;
	unsigned set;

	if (s->kind == COLL_EXT_IBS_FETCH)
		return 1U << FETCH |
		       (s->regs[COLL_IBS_FETCH_CTL] & FETCH_ANY ? 1U << ATTEMPT : 0);
	data3 = s->regs[COLL_IBS_OP_DATA3];
	set = 1U << OP | (data3 & (DC_LOAD | DC_STORE) ? 1U << LOAD_STORE : 0);
	/* what the northbridge says is reliable for loads that missed only */
	if ((data3 & (DC_LOAD | DC_MISS)) == (DC_LOAD | DC_MISS) &&
	    s->regs[COLL_IBS_OP_DATA2] & NB_SOURCE(7))
		set |= 1U << NORTHBRIDGE;
	return set;
}

static uint32_t weigh(const struct coll_ext_sample *s, enum weight w)
{
	if (w == ONE)
		return 1;
	return (uint16_t)(s->regs[weights[w].reg] >> weights[w].shift);
}

static enum coll_ext_result ibs_derive(const struct coll_ext *x,
				       const struct coll_ext_sample *s,
				       struct coll_ext_hit *hits, size_t *nr)
{
	unsigned set;

	if (s->kind >= COLL_NR_EXT || !x->setup[s->kind].wanted)
		return COLL_EXT_UNASKED;
	if (s->nr < counters[s->kind].min_regs)
		return COLL_EXT_INCOMPLETE;
	if (s->kind == COLL_EXT_IBS_OP && s->caps & COLL_IBS_CAP_RIP_INVALID &&
	    s->regs[COLL_IBS_OP_DATA] & OP_RIP_INVALID)
		return COLL_EXT_INVALID;
	set = possible(s);
	for (int i = 0; i < NR_ROWS; i++) {
		const struct row *r = &rows[i];
		uint32_t weight;

		if (!x->chosen[i] || !(set & 1U << r->group) ||
		    (s->regs[groups[r->group].reg] & r->mask) != r->want)
			continue;
		weight = weigh(s, r->weight);
		if (weight)
			hits[(*nr)++] =
				(struct coll_ext_hit){ x->chosen[i] - 1U, weight };
	}
	return COLL_EXT_TAKEN;
}

const struct coll_ext_feature coll_ext_ibs = {
	.name = "ibs",
	.init = ibs_init,
	.knows = ibs_knows,
	.choose = ibs_choose,
	.derive = ibs_derive,
};
