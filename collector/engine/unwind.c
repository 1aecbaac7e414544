/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/engine/unwind.h"

#include <elf.h>

#include "collector/engine/processes.h"
#include "collector/engine/resolve.h"
#include "libcfi/unwind.h"

/* Where a signature may be in return addresses of arm64: user space has 48 bits. */
#define PAC_MASK (~UINT64_C(0) << 48)

/* A walk up a stack, for whom it asks about code. */
struct walk {
	struct coll_collect *c;
	struct coll_task *task;
	const struct coll_user_stack *stack;
	bool waits;
};

/* All but the kernel's own code for processes. */
static bool is_made(const struct coll_map *map)
{
	return !map->file && !coll_label_is_kernels(map->label);
}

/* Of code made at run time, if its maker tells. */
static const struct cfi_table *table_of_made(struct walk *w, struct coll_map *map,
					     uint64_t key)
{
	const struct coll_jit_region region = { map->start, map->end };
	const struct coll_image *img = coll_resolve_anon(w->c, w->task, map);

	return img ? coll_tables_made(&w->c->tables, img->id, w->task->tgid, &region, key,
				      &w->waits)
		   : NULL;
}

/* Numbers of processes in a saved stream are others' by now. */
static const struct cfi_table *table_of(struct walk *w, struct coll_map *map)
{
	bool saved = w->c->tasks.saved;

	return coll_tables_find(&w->c->tables, map, saved ? 0 : w->task->tgid,
				saved ? 0 : w->task->parent, &w->waits);
}

bool coll_unwind_place(const struct coll_user_stack *s, uint64_t ip,
		       struct coll_place *out)
{
	*out = (struct coll_place){ .at = ip };
	if (!s->ranges)
		return true;
	for (size_t i = 0; i < s->nr_ranges; i++) {
		const struct coll_code_range *r = &s->ranges[i];

		if (ip < r->start || ip >= r->end)
			continue;
		*out = (struct coll_place){ .at = r->at + (ip - r->start),
					    .handle = r->handle };
		return true;
	}
	return false;
}

/* What is mapped at an address, and the key of the code there; NULL: unknown. */
static struct coll_map *map_of(const struct walk *w, uint64_t ip, uint64_t *key)
{
	struct coll_place place;
	struct coll_map *map;

	if (!coll_unwind_place(w->stack, ip, &place))
		return NULL;
	if (place.handle) {
		*key = place.at;
		return coll_origins_find(&w->c->origins, place.handle);
	}
	map = coll_space_find(w->task->space, ip);
	if (map)
		*key = ip - map->start + (map->file ? map->file_off : 0);
	return map;
}

static void find(void *arg, uint64_t ip, struct cfi_code *out)
{
	struct walk *w = arg;
	struct coll_map *map;

	*out = (struct cfi_code){ 0 };
	map = map_of(w, ip, &out->key);
	if (map)
		out->table =
			is_made(map) ? table_of_made(w, map, out->key) : table_of(w, map);
	/* while one is being made, the walk may as well end here */
	out->unknown = !map || (w->waits && !w->c->hurry);
}

/* Asks for all tables of files that the process may need: it waits for them once. */
static void ask_for_all(struct walk *w)
{
	const struct coll_user_stack *s = w->stack;
	const struct coll_space *space = w->task->space;

	for (size_t i = 0; !s->ranges && i < space->nr; i++)
		table_of(w, &space->maps[i]);
	for (size_t i = 0; i < s->nr_ranges; i++) {
		struct coll_map *map =
			coll_origins_find(&w->c->origins, s->ranges[i].handle);

		if (map)
			table_of(w, map);
	}
}

static void unwind(struct walk *w)
{
	static const enum spec_stack_end ends[] = {
		[CFI_END_WHOLE] = 0,
		[CFI_END_SHORT] = SPEC_STACK_COPY_SHORT,
		[CFI_END_NO_TABLE] = SPEC_STACK_NO_UNWIND,
		[CFI_END_UNKNOWN] = SPEC_STACK_NO_MAPPING,
		[CFI_END_DAMAGED] = SPEC_STACK_DAMAGED,
		[CFI_END_FULL] = SPEC_STACK_DEPTH,
	};
	const struct coll_user_stack *s = w->stack;
	const enum cfi_machine machine =
		s->machine == EM_AARCH64 ? CFI_ARM64 : CFI_X86_64;
	struct coll_unwound *u = &w->c->unwound;
	const struct cfi_unwinder unwinder = {
		.machine = machine,
		.pac_mask = machine == CFI_ARM64 ? PAC_MASK : 0,
		.find = find,
		.arg = w,
	};
	const struct cfi_stack stack = { .start = s->regs.sp,
					 .bytes = s->bytes,
					 .size = s->size };

	u->end = ends[cfi_unwind(&unwinder, &s->regs, &stack, u->frames, w->c->max_frames,
				 &u->nr)];
	if (u->end == SPEC_STACK_COPY_SHORT && s->whole)
		u->end = SPEC_STACK_NO_COPY;
}

bool coll_unwind_sample(struct coll_collect *c, const struct coll_rec *rec,
			struct coll_task *task)
{
	const struct coll_user_stack *s = rec->sample.user_stack;
	struct walk w = { .c = c, .task = task, .stack = s };

	c->unwound.nr = 0;
	c->unwound.end = s && s->none ? SPEC_STACK_NO_REGISTERS : 0;
	if (!s || s->none)
		return true;
	unwind(&w);
	if (!w.waits || c->hurry)
		return true;
	ask_for_all(&w);
	return !coll_processes_wait_for_tables(c, task);
}

/* Would the first record, the sample that began the group, wait no more? */
static bool is_done(struct coll_collect *c, const struct coll_group *g)
{
	struct walk w = { .c = c, .task = coll_tasks_find(&c->tasks, g->tgid) };
	const struct coll_rec *rec = g->first ? coll_held_rec(g->first) : NULL;

	if (!w.task || !rec || rec->kind != COLL_REC_SAMPLE || !rec->sample.user_stack ||
	    rec->sample.user_stack->none)
		return true;
	w.stack = rec->sample.user_stack;
	unwind(&w);
	return !w.waits;
}

/* The records of each may begin another group, which is not looked at again now. */
static void release(struct coll_collect *c, bool all)
{
	VEC(uint32_t) done = { 0 };
	uint64_t tgid, value;
	size_t pos = 0;

	while (map_u64_next(&c->deferred.by_tgid, &pos, &tgid, &value)) {
		const struct coll_group *g = (struct coll_group *)(uintptr_t)value;

		if (g->for_tables && g->tgid == tgid && (all || is_done(c, g)) &&
		    vec_push(&done, (uint32_t)tgid))
			break;
	}
	vec_for(&done, which)
		coll_processes_release(c, *which);
	vec_fini(&done);
}

void coll_unwind_settle(struct coll_collect *c)
{
	uint64_t answers;

	coll_asker_poll(c->tables.asker, 0);
	answers = c->tables.answers + c->images.answers + c->jit.answers;
	if (c->tables_seen == answers)
		return;
	c->tables_seen = answers;
	if (c->deferred.by_tgid.used)
		release(c, false);
}

void coll_unwind_hurry(struct coll_collect *c)
{
	if (!c->deferred.by_tgid.used)
		return;
	c->hurry++;
	release(c, true);
	c->hurry--;
}

static bool for_tables(const struct coll_collect *c)
{
	uint64_t tgid, value;
	size_t pos = 0;

	while (map_u64_next(&c->deferred.by_tgid, &pos, &tgid, &value))
		if (((const struct coll_group *)(uintptr_t)value)->for_tables)
			return true;
	return false;
}

void coll_unwind_finish(struct coll_collect *c)
{
	while (for_tables(c)) {
		coll_asker_finish(c->tables.asker);
		coll_asker_finish(c->asker);
		release(c, true);
	}
}
