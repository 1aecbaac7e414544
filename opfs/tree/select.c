/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tree/select.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "opfs/tree/candidates.h"

/* ---- what values are matched with */

static bool has_image(void *ctx, const char *name, size_t *only)
{
	const struct select_ctx *c = ctx;
	uint64_t index;

	if (!map_get(&c->cat->by_image, name, strlen(name), &index))
		return false;
	if (index != CATALOG_NO_IMAGE)
		*only = index;
	return true;
}

static bool has_event(void *ctx, const char *name)
{
	const struct select_ctx *c = ctx;
	uint64_t one;

	return map_get(&c->cat->by_event, name, strlen(name), &one);
}

static int resolve(void *ctx, const char *path, struct strbuf *out)
{
	const struct select_ctx *c = ctx;

	if (c->a->probe)
		return -ENOENT;
	return resolver_path(c->a->t->resolver, path, c->a->v, out, c->a->err);
}

/* A profile of all memory without a file: it knows what has names. */
static int load_memory(void *ctx, const struct viewer *v, void **obj, size_t *bytes,
		       struct err *err)
{
	const struct select_ctx *c = ctx;
	CLEANUP(free_ptr)
	uint32_t *files = calloc(c->cat->nr_flat + 1, sizeof(*files));
	struct profile_query q = { .cat = c->cat,
				   .selected = files,
				   .needs = PROFILE_IMAGES,
				   .regions = true,
				   .syms = c->a->t->syms,
				   .viewer = v,
				   .reader = tree_reader(c->a->t, v) };
	struct profile *p;
	int rc;

	if (!files)
		return err_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < c->cat->nr_flat; i++)
		if (c->cat->images[c->cat->files[i].image].label)
			files[q.nr_selected++] = i;
	rc = profile_load(&q, &p, err);
	if (rc)
		return rc;
	*obj = p;
	*bytes = p->bytes;
	return 0;
}

static int mark_jit(void *ctx, bool *bits)
{
	CLEANUP(profile_putp) struct profile *p = NULL;
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };
	struct select_ctx *c = ctx;
	int rc;

	strbuf_puts(&key, "memory\n");
	strbuf_add(&key, &c->cat->generation, sizeof(c->cat->generation));
	viewer_key(c->a->v, &key);
	rc = ask_cached(c->a, &profile_kind, &key, load_memory, c, (void **)&p);
	for (size_t i = 0; !rc && i < c->cat->nr_images; i++)
		bits[i] |= p->images[i].jit;
	return rc;
}

void tree_match_init(struct spec_match *out, struct select_ctx *ctx)
{
	*out = (struct spec_match){
		.images = ctx->cat->names,
		.nr_images = ctx->cat->nr_images,
		.has_image = has_image,
		.has_event = has_event,
		.resolve = resolve,
		.mark_jit = mark_jit,
		.ctx = ctx,
	};
}

/* ---- files */

static void free_select(struct spec_select *s)
{
	spec_select_fini(s);
}

static struct selection *new_selection(size_t max)
{
	struct selection *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->refs = 1;
	s->files = calloc(max + 1, sizeof(*s->files));
	if (s->files)
		return s;
	free(s);
	return NULL;
}

/* There are no others of that number than all of them. */
void tree_files_key(const struct catalog *cat, const struct selection *s,
		    struct strbuf *key)
{
	strbuf_add(key, &s->nr, sizeof(s->nr));
	if (s->nr < cat->nr_flat)
		strbuf_add(key, s->files, s->nr * sizeof(*s->files));
}

struct selection *tree_selection_of(struct selection *s, uint64_t samples)
{
	struct selection *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	*n = (struct selection){ .refs = 1,
				 .files = s->files,
				 .nr = s->nr,
				 .samples = samples,
				 .of = selection_get(s) };
	return n;
}

/* Which process a file is of is asked only if a tag says something of that. */
static bool asks_tasks(const struct spec_select *by)
{
	bool asks = false;

	for (size_t i = 0; i < by->nr_fields; i++)
		asks |= spec_tags[by->fields[i]->tag].kind == SPEC_TAG_TASKS;
	return asks;
}

/* What is selected is kept for as long as the kernel remembers a directory. */
static void shrink(struct selection *s)
{
	uint32_t *less = realloc(s->files, (s->nr + 1) * sizeof(*s->files));

	if (less)
		s->files = less;
}

/* Of @nr files, those from @first on, or @of, those that @by selects; of arcs, by
 * application and caller. */
static struct selection *pick_files(const struct ask *a, const struct catalog *cat,
				    const uint32_t *of, size_t first, size_t nr,
				    const struct spec_select *by)
{
	const struct viewer *reader = tree_reader(a->t, a->v);
	struct selection *s = new_selection(nr);
	bool tasks = asks_tasks(by);

	for (size_t k = 0; s && k < nr; k++) {
		uint32_t i = of ? of[k] : (uint32_t)(first + k);
		const struct catalog_file *f = &cat->files[i];
		struct spec_match_file file = {
			.name = &f->name,
			.app = f->app,
			.image = f->image,
			.task = tasks ? catalog_task(cat, f, reader) : NULL,
		};

		if (!spec_select_file(by, &file))
			continue;
		s->files[s->nr++] = i;
		s->samples += f->total;
	}
	if (s)
		shrink(s);
	return s;
}

int tree_select_files(const struct ask *a, struct catalog *cat, const struct spec *spec,
		      const struct spec_tag *prefix, const struct selection *of,
		      struct selection **out)
{
	CLEANUP(free_select) struct spec_select by = { 0 };
	CLEANUP(candidates_fini) struct candidates some = { 0 };
	struct select_ctx ctx = { a, cat };
	struct spec_match match;
	int rc;

	tree_match_init(&match, &ctx);
	rc = spec_select_init(&by, spec, &match, prefix, a->err);
	if (rc)
		return rc;
	if (candidates_find(cat, &by, of, &some))
		return ask_no_memory(a);
	*out = pick_files(a, cat, some.files, 0, some.nr, &by);
	return *out ? 0 : ask_no_memory(a);
}

int tree_select_arcs(const struct ask *a, struct catalog *cat, const struct spec *spec,
		     const struct selection *flat, struct selection **out)
{
	CLEANUP(free_select) struct spec_select by = { 0 };
	CLEANUP(selection_putp) struct selection *arcs = NULL;
	struct select_ctx ctx = { a, cat };
	struct selection *both;
	struct spec_match match;
	int rc;

	tree_match_init(&match, &ctx);
	rc = spec_select_init(&by, spec, &match, NULL, a->err);
	if (rc)
		return rc;
	arcs = pick_files(a, cat, NULL, cat->nr_flat, cat->nr_files - cat->nr_flat, &by);
	both = arcs ? new_selection(flat->nr + arcs->nr) : NULL;
	if (!both)
		return ask_no_memory(a);
	memcpy(both->files, flat->files, flat->nr * sizeof(*flat->files));
	memcpy(both->files + flat->nr, arcs->files, arcs->nr * sizeof(*arcs->files));
	both->nr = flat->nr + arcs->nr;
	both->samples = flat->samples;
	*out = both;
	return 0;
}
