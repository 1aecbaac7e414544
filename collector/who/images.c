/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/who/images.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/cleanup.h"
#include "base/vec.h"
#include "collector/who/elf_id.h"
#include "collector/who/regions.h"
#include "libspec/session/regions.h"

enum { MIN_SWEEP = 8192 }; /* sightings */

static const char deleted_mark[] = " (deleted)";

int coll_images_init(struct coll_images *t, int session_fd, struct err *err)
{
	unsigned long vdso = getauxval(AT_SYSINFO_EHDR);
	int rc = 0;

	*t = (struct coll_images){ .session_fd = session_fd, .swept_at = MIN_SWEEP };
	/* the vdso is at least a page, and its notes are in the first */
	if (vdso)
		coll_elf_build_id_mem((const void *)vdso, 4096, &t->vdso);
	if (session_fd >= 0)
		rc = spec_images_read(session_fd, &t->saved, err);
	return rc == -ENOENT ? 0 : rc;
}

/* Not in the table any more. */
static void free_sighting(struct coll_sighting *s)
{
	free(s->path);
	free(s->key);
	free(s);
}

/* @img is not in the table any more. */
static void free_image(struct coll_image *img)
{
	free(img->name.name);
	free((char *)(uintptr_t)img->path);
	free(img);
}

/* Values of "others" that are labels, not images. */
static const char label_key[] = "label ";

/* Whether a key of "others" is that of a label, not of an image. */
static bool is_label(const void *key, size_t len)
{
	size_t n = sizeof(label_key) - 1;

	return len > n && !memcmp(key, label_key, n);
}

void coll_images_drop_other(struct coll_images *t)
{
	struct coll_image *next;

	for (; t->other; t->other = next) {
		next = t->other->next;
		free_image(t->other);
	}
}

void coll_images_fini(struct coll_images *t)
{
	const void *key;
	uint64_t value;
	size_t pos, len;

	for (pos = 0; map_next(&t->sightings, &pos, &key, &len, &value);) {
		struct coll_sighting *s = (struct coll_sighting *)(uintptr_t)value;

		if (s->image && s->image->pending)
			free_image(s->image);
		free_sighting(s);
	}
	coll_images_drop_other(t);
	for (pos = 0; map_next(&t->others, &pos, &key, &len, &value);)
		if (!is_label(key, len))
			free_image((struct coll_image *)(uintptr_t)value);
	for (pos = 0; map_next(&t->paths, &pos, &key, &len, &value);) {
		struct coll_image *img = (struct coll_image *)(uintptr_t)value, *next;

		for (; img; img = next) {
			next = img->next;
			free_image(img);
		}
	}
	map_fini(&t->sightings);
	map_fini(&t->paths);
	map_fini(&t->others);
	spec_images_fini(&t->saved);
	coll_mounts_fini(&t->mounts);
	coll_held_fini(&t->held);
	arena_fini(&t->mem);
}

static bool has_prefix(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

/* A label that lives as long as the table. */
static const char *intern(struct coll_images *t, const char *label)
{
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };
	uint64_t value;
	char *copy;

	strbuf_printf(&key, "%s%s", label_key, label);
	if (strbuf_error(&key))
		return NULL;
	if (map_get(&t->others, key.data, key.len, &value))
		return (const char *)(uintptr_t)value;
	copy = arena_strdup(&t->mem, label);
	if (!copy || map_set(&t->others, key.data, key.len, (uintptr_t)copy))
		return NULL;
	return copy;
}

const char *coll_images_label(struct coll_images *t, const struct coll_mmap *m)
{
	const char *name = m->filename;
	/* files that only the kernel sees; a program's own code may be in a memfd */
	static const char *const hidden[] = { "/dev/zero", "/SYSV", "/anon_hugepage",
					      "/dev/shm/", "/memfd:" };

	if (name[0] == '[')
		return has_prefix(name, "[anon")    ? "anon"
		       : has_prefix(name, "[stack") ? "[stack]"
						    : intern(t, name);
	if (name[0] != '/' || has_prefix(name, "//anon"))
		return has_prefix(name, "(unreachable)/") ? NULL : "anon";
	if (m->build_id_len || !strstr(name, deleted_mark))
		return has_prefix(name, "/anon_hugepage") ? "anon" : NULL;
	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (has_prefix(name, hidden[i]))
			return "anon";
	return NULL;
}

/* A sighting's key: the path and what the kernel told of the file. */
static void sighting_key(const struct coll_mmap *m, struct strbuf *key)
{
	const uint64_t file[] = { m->dev_major, m->dev_minor, m->inode, m->inode_gen };

	strbuf_add(key, m->filename, strlen(m->filename) + 1);
	strbuf_putc(key, (char)m->build_id_len);
	if (m->build_id_len)
		strbuf_add(key, m->build_id, m->build_id_len);
	else
		strbuf_add(key, file, sizeof(file));
}

struct coll_sighting *coll_images_see(struct coll_images *t, const struct coll_mmap *m)
{
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };
	const size_t mark = sizeof(deleted_mark) - 1;
	const char *name = m->filename;
	struct coll_sighting *s;
	uint64_t value;
	size_t len;

	sighting_key(m, &key);
	if (strbuf_error(&key))
		return NULL;
	if (map_get(&t->sightings, key.data, key.len, &value))
		return (struct coll_sighting *)(uintptr_t)value;
	if (has_prefix(name, "(unreachable)"))
		name += strlen("(unreachable)");
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->path = strdup(name);
	s->key_len = key.len;
	s->key = strbuf_take(&key);
	if (!s->path || !s->key ||
	    map_set(&t->sightings, s->key, s->key_len, (uintptr_t)s)) {
		free_sighting(s);
		return NULL;
	}
	len = strlen(s->path);
	s->deleted = len > mark && !strcmp(s->path + len - mark, deleted_mark);
	if (s->deleted)
		s->path[len - mark] = '\0';
	s->start = m->start;
	s->end = m->start + m->len;
	s->inode = m->inode;
	s->dev_major = m->dev_major;
	s->dev_minor = m->dev_minor;
	s->mtime = m->mtime;
	s->size = m->size;
	s->build_id.len = m->build_id_len;
	memcpy(s->build_id.bytes, m->build_id, m->build_id_len);
	return s;
}

/* Whether --image names it. */
static bool is_wanted(const struct coll_images *t, const char *path)
{
	for (size_t i = 0; i < t->nr_wanted; i++)
		if (!strcmp(t->wanted[i], path))
			return true;
	return false;
}

/* An image that is in no table yet; NULL if out of memory. */
struct coll_image *coll_image_new(struct coll_images *t, enum spec_image_kind kind,
				  const char *stored, const char *path)
{
	struct coll_image *img = calloc(1, sizeof(*img));

	if (!img)
		return NULL;
	img->name.name = strdup(stored);
	img->path = strdup(path);
	if (!img->name.name || !img->path) {
		free_image(img);
		return NULL;
	}
	img->name.kind = kind;
	img->id = t->nr++;
	img->wanted = is_wanted(t, path);
	return img;
}

/* An image that is found by @key alone. */
static struct coll_image *find_other(const struct coll_images *t,
				     const struct strbuf *key)
{
	uint64_t value;

	return map_get(&t->others, key->data, key->len, &value)
		       ? (struct coll_image *)(uintptr_t)value
		       : NULL;
}

static struct coll_image *new_other(struct coll_images *t, enum spec_image_kind kind,
				    const char *name, const struct strbuf *key)
{
	struct coll_image *img = coll_image_new(t, kind, name, name);

	if (img && map_set(&t->others, key->data, key->len, (uintptr_t)img)) {
		free_image(img);
		return NULL;
	}
	return img;
}

struct coll_image *coll_images_kern(struct coll_images *t, const char *name,
				    const struct build_id *id)
{
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };
	struct coll_image *img;

	strbuf_printf(&key, "kern %s", name);
	if (strbuf_error(&key))
		return NULL;
	img = find_other(t, &key);
	if (img)
		return img;
	img = new_other(t, SPEC_IMAGE_KERN, name, &key);
	if (!img)
		return NULL;
	img->is_kernel = true;
	if (id)
		img->build_id = *id;
	return img;
}

struct coll_image *coll_images_anon(struct coll_images *t, const char *label,
				    uint32_t tgid, uint64_t start, uint64_t end)
{
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };
	struct coll_image *img;

	strbuf_printf(&key, "anon %u %" PRIx64 " %" PRIx64 " %s", tgid, start, end,
		      label);
	if (strbuf_error(&key))
		return NULL;
	img = find_other(t, &key);
	if (img)
		return img;
	img = new_other(t, SPEC_IMAGE_ANON, label, &key);
	if (!img)
		return NULL;
	img->name.tgid = tgid;
	img->start = start;
	coll_region_hide(start, end, &img->name);
	/* a vdso below 4 GiB is one for 32-bit programs: another binary than ours */
	if (!strcmp(label, "[vdso]") && end > UINT32_MAX)
		img->build_id = t->vdso;
	return img;
}

/* Memory of which no binary is known has no row among images. */
static bool is_nameless(const struct coll_image *img)
{
	return img->name.kind == SPEC_IMAGE_ANON && !img->build_id.len;
}

int coll_images_note(struct coll_images *t, struct coll_image *img, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf stored = { 0 };
	CLEANUP(strbuf_fini) struct strbuf note = { 0 };
	struct spec_image_row row;
	int rc;

	if (img->noted || t->session_fd < 0)
		return 0;
	if (img->name.kind == SPEC_IMAGE_ANON) {
		rc = spec_regions_append(t->session_fd, &img->name, img->start, err);
		img->noted = !rc && is_nameless(img);
		if (rc || img->noted)
			return rc;
	}
	spec_image_show(&img->name, &stored);
	if (img->note)
		strbuf_puts(&note, coll_note_text(img->note));
	if (img->note == COLL_NOTE_CONTAINER)
		strbuf_printf(&note, "%" PRIu32, img->tgid);
	row = (struct spec_image_row){
		.stored = stored.data,
		.real_path = (char *)(uintptr_t)img->path,
		.build_id = img->build_id,
		.mtime = img->mtime,
		.size = img->size,
		.inode = img->inode,
		.dev_major = img->dev_major,
		.dev_minor = img->dev_minor,
		.note = img->note ? note.data : NULL,
	};
	rc = strbuf_error(&stored) ? strbuf_error(&stored) : strbuf_error(&note);
	if (!rc)
		rc = spec_images_append(t->session_fd, &row, err);
	if (!rc)
		img->noted = true;
	return rc;
}

typedef VEC(struct coll_image *) image_list;

static struct coll_image *image_of(uint64_t value)
{
	return (struct coll_image *)(uintptr_t)value;
}

/* All images but those in their path's chain behind the first. */
static bool next_image(const struct coll_images *t, int *table, size_t *pos,
		       struct coll_image **img)
{
	const void *key;
	uint64_t value;
	size_t len;

	while (*table < 2) {
		const struct map *m = *table ? &t->others : &t->paths;

		while (map_next(m, pos, &key, &len, &value)) {
			if (*table && is_label(key, len))
				continue;
			*img = image_of(value);
			return true;
		}
		++*table;
		*pos = 0;
	}
	return false;
}

bool coll_images_sweep_due(const struct coll_images *t)
{
	return t->sightings.used >= t->swept_at;
}

void coll_images_sweep_begin(struct coll_images *t)
{
	struct coll_image *img;
	const void *key;
	uint64_t value;
	size_t pos = 0, len;
	int table = 0;

	while (map_next(&t->sightings, &pos, &key, &len, &value))
		((struct coll_sighting *)(uintptr_t)value)->kept = false;
	pos = 0;
	while (next_image(t, &table, &pos, &img))
		for (; img; img = img->next)
			img->kept = false;
}

void coll_images_keep_image(struct coll_image *img)
{
	img->kept = true;
}

void coll_images_keep(struct coll_sighting *s)
{
	if (!s)
		return;
	s->kept = true;
	if (s->image)
		s->image->kept = true;
}

/* Without memory for the list it is swept another time. */
static void sweep_sightings(struct coll_images *t)
{
	VEC(struct coll_sighting *) gone = { 0 };
	const void *key;
	uint64_t value;
	size_t pos = 0, len;

	while (map_next(&t->sightings, &pos, &key, &len, &value)) {
		struct coll_sighting *s = (struct coll_sighting *)(uintptr_t)value;

		if (s->asked) /* an answer will come for it */
			coll_images_keep(s);
		if (!s->kept && vec_push(&gone, s))
			break;
	}
	vec_for(&gone, s) {
		map_del(&t->sightings, (*s)->key, (*s)->key_len);
		free_sighting(*s);
	}
	vec_fini(&gone);
}

/* The kept ones of a chain; the others are freed. */
static struct coll_image *filter(struct coll_image *first)
{
	struct coll_image *kept = NULL, **end = &kept, *next;

	for (; first; first = next) {
		next = first->next;
		if (first->kept) {
			*end = first;
			end = &first->next;
		} else {
			free_image(first);
		}
	}
	*end = NULL;
	return kept;
}

/* Rebuilds a table with what is kept; without memory for that, everything is. */
static void sweep_table(struct map *m)
{
	struct map kept = { 0 };
	const void *key;
	uint64_t value;
	size_t pos, len;

	for (pos = 0; map_next(m, &pos, &key, &len, &value);) {
		const struct coll_image *img = image_of(value);
		bool keep = is_label(key, len);

		for (; !keep && img; img = img->next)
			keep = img->kept;
		if (keep && map_set(&kept, key, len, value)) {
			map_fini(&kept);
			return;
		}
	}
	for (pos = 0; map_next(m, &pos, &key, &len, &value);) {
		struct coll_image *first;

		if (is_label(key, len))
			continue;
		first = filter(image_of(value));
		if (first && first != image_of(value))
			map_set(&kept, key, len, (uintptr_t)first); /* replaces */
	}
	map_fini(m);
	*m = kept;
}

void coll_images_sweep_end(struct coll_images *t, bool images)
{
	sweep_sightings(t);
	t->swept_at = 2 * t->sightings.used;
	if (t->swept_at < MIN_SWEEP)
		t->swept_at = MIN_SWEEP;
	if (!images)
		return;
	sweep_table(&t->paths);
	sweep_table(&t->others);
}

/* A file that could not be read may be readable now. */
static void look_again(struct coll_images *t)
{
	const void *key;
	uint64_t value;
	size_t pos = 0, len;

	while (map_next(&t->sightings, &pos, &key, &len, &value)) {
		struct coll_sighting *s = (struct coll_sighting *)(uintptr_t)value;

		s->again_ns = s->again_ns ? 1 : 0;
	}
}

void coll_images_move(struct coll_images *t, int session_fd)
{
	struct coll_image *img;
	int table = 0;
	size_t pos = 0;

	t->session_fd = session_fd;
	t->nr_moved = t->nr;
	spec_images_fini(&t->saved);
	while (next_image(t, &table, &pos, &img))
		for (; img; img = img->next)
			img->noted = false;
	look_again(t);
}

static void want_pending(struct coll_images *t)
{
	const void *key;
	uint64_t value;
	size_t pos = 0, len;

	while (map_next(&t->sightings, &pos, &key, &len, &value)) {
		const struct coll_sighting *s = (struct coll_sighting *)(uintptr_t)value;

		if (s->image && s->image->pending)
			s->image->wanted = is_wanted(t, s->image->path);
	}
}

void coll_images_want(struct coll_images *t, char **wanted, size_t nr)
{
	struct coll_image *img;
	int table = 0;
	size_t pos = 0;

	t->wanted = wanted;
	t->nr_wanted = nr;
	while (next_image(t, &table, &pos, &img))
		for (; img; img = img->next)
			img->wanted = is_wanted(t, img->path);
	want_pending(t);
}
