/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/session/catalog_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/hex.h"
#include "opfs/session/catalog_names.h"

enum { SUFFIX = 1 + 2 * 4 }; /* "#" and the first bytes of a build-id */

void catalog_build_fini(struct catalog_build *b)
{
	map_fini(&b->images);
	map_fini(&b->binaries);
	vec_fini(&b->image_list);
	vec_fini(&b->flat);
	vec_fini(&b->cg);
	vec_fini(&b->bad);
	vec_fini(&b->lines);
	strbuf_fini(&b->text);
	catalog_put(b->c);
}

int catalog_build_no_memory(struct catalog_build *b)
{
	return err_set(b->err, -ENOMEM, "out of memory while reading a session");
}

/* @path: as in struct catalog_bad */
int catalog_build_push_bad(struct catalog_build *b, const char *path, const char *reason)
{
	struct catalog_bad bad = { .path = arena_strdup(&b->c->arena, path),
				   .reason = arena_strdup(&b->c->arena, reason) };

	if (!bad.path || !bad.reason || vec_push(&b->bad, bad))
		return catalog_build_no_memory(b);
	return 0;
}

/* Of the session that is being read. */
int catalog_build_bad(struct catalog_build *b, const char *path, const char *reason)
{
	strbuf_reset(&b->text);
	strbuf_printf(&b->text, "%s/%s", b->c->dirs[b->dir].session, path);
	return catalog_build_push_bad(b, strbuf_str(&b->text), reason);
}

/* ---- images */

static const char *base_of(const struct catalog_image *img)
{
	const char *slash = strrchr(img->shown, '/');

	return img->name.kind != SPEC_IMAGE_ANON && slash && slash[1] ? slash + 1
								      : img->shown;
}

static void add_suffix(const struct build_id *id, struct strbuf *out)
{
	strbuf_putc(out, '#');
	hex_add(out, id->bytes, id->len < 4 ? id->len : 4);
}

/* The length of a stored name without the suffix that opcollect gives a second binary. */
static size_t plain_len(const char *shown, const struct build_id *id)
{
	CLEANUP(strbuf_fini) struct strbuf suffix = { 0 };
	size_t len = strlen(shown);

	add_suffix(id, &suffix);
	if (suffix.len == SUFFIX && len > SUFFIX &&
	    !strcmp(shown + len - SUFFIX, strbuf_str(&suffix)))
		return len - SUFFIX;
	return len;
}

/* Adds an image; b->text holds its kind and shown name. */
static int new_image(struct catalog_build *b, const struct spec_image *name,
		     const struct spec_image_row *row, uint32_t *out)
{
	struct catalog_image img = { .name = *name, .row = row };
	struct arena *arena = &b->c->arena;

	img.shown = arena_strdup(arena, b->text.data + 1);
	/* the name of a file is what is shown, that of memory and the kernel is not */
	img.name.name = name->kind == SPEC_IMAGE_ROOT ? img.shown
						      : arena_strdup(arena, name->name);
	if (!img.name.name || !img.shown)
		return catalog_build_no_memory(b);
	img.base = base_of(&img);
	img.label = name->kind == SPEC_IMAGE_ANON ? img.name.name : NULL;
	img.kernel = name->kind == SPEC_IMAGE_KERN;
	*out = (uint32_t)b->image_list.len;
	if (map_set(&b->images, b->text.data, b->text.len, *out) ||
	    vec_push(&b->image_list, img))
		return catalog_build_no_memory(b);
	return 0;
}

/* Does the name in b->text belong to another binary than @row? */
static bool is_taken(const struct catalog_build *b, const struct spec_image_row *row,
		     uint64_t index)
{
	const struct spec_image_row *other = b->image_list.data[index].row;

	return other && other->build_id.len && row && row->build_id.len &&
	       !build_id_equal(&other->build_id, &row->build_id);
}

static int by_name(struct catalog_build *b, const struct spec_image *name,
		   const struct spec_image_row *row, uint32_t *out)
{
	uint64_t found;

	if (!map_get(&b->images, b->text.data, b->text.len, &found))
		return new_image(b, name, row, out);
	if (is_taken(b, row, found)) {
		add_suffix(&row->build_id, &b->text);
		if (strbuf_error(&b->text))
			return catalog_build_no_memory(b);
		if (!map_get(&b->images, b->text.data, b->text.len, &found))
			return new_image(b, name, row, out);
	}
	if (!b->image_list.data[found].row)
		b->image_list.data[found].row = row;
	*out = (uint32_t)found;
	return 0;
}

int catalog_build_image(struct catalog_build *b, const struct spec_image *name,
			uint32_t *out)
{
	CLEANUP(strbuf_fini) struct strbuf binary = { 0 };
	const struct spec_image_row *row;
	uint64_t found;
	int rc;

	strbuf_reset(&b->text);
	strbuf_putc(&b->text, (char)('0' + (int)name->kind));
	spec_image_show(name, &b->text);
	if (strbuf_error(&b->text))
		return catalog_build_no_memory(b);
	row = spec_images_find(&b->c->dirs[b->dir].rows, b->text.data + 1);
	if (!row || !row->build_id.len || name->kind != SPEC_IMAGE_ROOT)
		return by_name(b, name, row, out);
	strbuf_add(&binary, b->text.data + 1,
		   plain_len(b->text.data + 1, &row->build_id));
	strbuf_putc(&binary, '\0');
	strbuf_add(&binary, row->build_id.bytes, row->build_id.len);
	if (strbuf_error(&binary))
		return catalog_build_no_memory(b);
	if (map_get(&b->binaries, binary.data, binary.len, &found)) {
		*out = (uint32_t)found;
		return 0;
	}
	rc = by_name(b, name, row, out);
	if (!rc && map_set(&b->binaries, binary.data, binary.len, *out))
		rc = catalog_build_no_memory(b);
	return rc;
}

/* ---- files */

int catalog_build_file(struct catalog_build *b, const struct spec_name *n,
		       const char *path, const struct spec_sample_reader *r,
		       uint64_t total, off_t copy_off)
{
	struct catalog_file f = { .name = *n,
				  .dir = b->dir,
				  .callee = CATALOG_NO_IMAGE,
				  .total = total,
				  .copy_off = copy_off,
				  .nr_nodes = r->nr_nodes,
				  .header = r->header };
	bool flat = n->callee.kind == SPEC_IMAGE_NONE;
	int rc;

	rc = catalog_build_image(b, &n->app, &f.app);
	rc = rc ? rc : catalog_build_image(b, &n->image, &f.image);
	if (!rc && !flat)
		rc = catalog_build_image(b, &n->callee, &f.callee);
	if (rc)
		return rc;
	b->image_list.data[f.image].kernel |= r->header.is_kernel != 0;
	f.name.app = b->image_list.data[f.app].name;
	f.name.image = b->image_list.data[f.image].name;
	f.name.callee =
		flat ? (struct spec_image){ 0 } : b->image_list.data[f.callee].name;
	f.name.event = arena_strdup(&b->c->arena, n->event);
	f.path = arena_strdup(&b->c->arena, path);
	if (!f.name.event || !f.path ||
	    (flat ? vec_push(&b->flat, f) : vec_push(&b->cg, f)) ||
	    map_set(&b->c->by_event, f.name.event, strlen(f.name.event), 1))
		return catalog_build_no_memory(b);
	return 0;
}

int catalog_build_line(void *ctx, const char *line)
{
	struct catalog_build *b = ctx;
	char *copy = arena_strdup(&b->c->arena, line);

	return copy && !vec_push(&b->lines, copy) ? 0 : catalog_build_no_memory(b);
}

/* Moves b->lines to an array of the catalog. */
int catalog_build_lines(struct catalog_build *b, char ***out, size_t *nr)
{
	*out = arena_calloc(&b->c->arena, b->lines.len + 1, sizeof(**out));
	for (*nr = 0; *out && *nr < b->lines.len; ++*nr)
		(*out)[*nr] = b->lines.data[*nr];
	b->lines.len = 0;
	return *out ? 0 : catalog_build_no_memory(b);
}

/* Moves what was gathered into the catalog: flat files first. */
int catalog_build_finish(struct catalog_build *b)
{
	struct catalog *c = b->c;

	/* the copy may end in a hole */
	if (c->copy_fd >= 0 && ftruncate(c->copy_fd, b->copy_end))
		return err_errno(b->err, -errno, "a temporary file for live samples");
	c->nr_images = b->image_list.len;
	c->nr_flat = b->flat.len;
	c->nr_files = b->flat.len + b->cg.len;
	c->nr_bad = b->bad.len;
	c->images = arena_calloc(&c->arena, c->nr_images + 1, sizeof(*c->images));
	c->files = arena_calloc(&c->arena, c->nr_files + 1, sizeof(*c->files));
	c->bad = arena_calloc(&c->arena, c->nr_bad + 1, sizeof(*c->bad));
	if (!c->images || !c->files || !c->bad)
		return catalog_build_no_memory(b);
	for (size_t i = 0; i < c->nr_images; i++)
		c->images[i] = b->image_list.data[i];
	if (catalog_names(c))
		return catalog_build_no_memory(b);
	for (size_t i = 0; i < c->nr_flat; i++) {
		c->files[i] = b->flat.data[i];
		c->total += c->files[i].total;
		c->nr_stacks += c->files[i].stacks.nr_nodes != 0;
	}
	for (size_t i = 0; i < b->cg.len; i++)
		c->files[c->nr_flat + i] = b->cg.data[i];
	for (size_t i = 0; i < c->nr_bad; i++)
		c->bad[i] = b->bad.data[i];
	return catalog_index_all(c) ? catalog_build_no_memory(b) : 0;
}

int catalog_build_begin(struct catalog_build *b, size_t nr_dirs)
{
	b->c = calloc(1, sizeof(*b->c));
	if (!b->c)
		return catalog_build_no_memory(b);
	b->c->refs = 1;
	b->c->copy_fd = -1;
	b->c->dirs = arena_calloc(&b->c->arena, nr_dirs + 1, sizeof(*b->c->dirs));
	return b->c->dirs ? 0 : catalog_build_no_memory(b);
}
