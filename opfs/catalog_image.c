/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "opfs/catalog_build.h"

enum { SUFFIX = 1 + 2 * 4 }; /* "#" and the first bytes of a build-id */

static const char *base_of(const struct catalog_image *img)
{
	const char *slash = strrchr(img->shown, '/');

	return img->name.kind != SPEC_IMAGE_ANON && slash && slash[1] ? slash + 1 :
									img->shown;
}

static void add_suffix(const struct spec_build_id *id, struct strbuf *out)
{
	strbuf_putc(out, '#');
	for (size_t i = 0; i < id->len && i < 4; i++)
		strbuf_printf(out, "%02x", id->bytes[i]);
}

/* Bytes of a stored name without the suffix that opcollect gives a second binary. */
static size_t plain_len(const char *shown, const struct spec_build_id *id)
{
	CLEANUP(strbuf_fini) struct strbuf suffix = { 0 };
	size_t len = strlen(shown);

	add_suffix(id, &suffix);
	if (suffix.len == SUFFIX && len > SUFFIX &&
	    !strcmp(shown + len - SUFFIX, strbuf_str(&suffix)))
		return len - SUFFIX;
	return len;
}

/* b->text: kind and shown name.  A new image of that name. */
static int new_image(struct catalog_build *b, const struct spec_image *name,
		     const struct spec_image_row *row, uint32_t *out)
{
	struct catalog_image img = { .name = *name, .row = row };
	struct arena *arena = &b->c->arena;

	img.shown = arena_strdup(arena, b->text.data + 1);
	/* a file's name is what it is shown as, but for memory and the kernel */
	img.name.name = name->kind == SPEC_IMAGE_ROOT
				? img.shown
				: arena_strdup(arena, name->name);
	if (!img.name.name || !img.shown)
		return catalog_no_memory(b);
	img.base = base_of(&img);
	img.label = name->kind == SPEC_IMAGE_ANON ? img.name.name : NULL;
	img.kernel = name->kind == SPEC_IMAGE_KERN;
	*out = (uint32_t)b->image_list.len;
	if (map_set(&b->images, b->text.data, b->text.len, *out) ||
	    vec_push(&b->image_list, img))
		return catalog_no_memory(b);
	return 0;
}

/* Is the name in b->text that of another binary than @row? */
static bool is_taken(const struct catalog_build *b, const struct spec_image_row *row,
		     uint64_t index)
{
	const struct spec_image_row *other = b->image_list.data[index].row;

	return other && other->build_id.len && row && row->build_id.len &&
	       (other->build_id.len != row->build_id.len ||
		memcmp(other->build_id.bytes, row->build_id.bytes, row->build_id.len) != 0);
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
			return catalog_no_memory(b);
		if (!map_get(&b->images, b->text.data, b->text.len, &found))
			return new_image(b, name, row, out);
	}
	if (!b->image_list.data[found].row)
		b->image_list.data[found].row = row;
	*out = (uint32_t)found;
	return 0;
}

int catalog_add_image(struct catalog_build *b, const struct spec_image *name,
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
		return catalog_no_memory(b);
	row = spec_images_find(&b->c->dirs[b->dir].rows, b->text.data + 1);
	if (!row || !row->build_id.len || name->kind != SPEC_IMAGE_ROOT)
		return by_name(b, name, row, out);
	strbuf_add(&binary, b->text.data + 1, plain_len(b->text.data + 1, &row->build_id));
	strbuf_putc(&binary, '\0');
	strbuf_add(&binary, row->build_id.bytes, row->build_id.len);
	if (strbuf_error(&binary))
		return catalog_no_memory(b);
	if (map_get(&b->binaries, binary.data, binary.len, &found)) {
		*out = (uint32_t)found;
		return 0;
	}
	rc = by_name(b, name, row, out);
	if (!rc && map_set(&b->binaries, binary.data, binary.len, *out))
		rc = catalog_no_memory(b);
	return rc;
}
