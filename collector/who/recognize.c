/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/who/recognize.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fnv.h"
#include "base/hex.h"
#include "base/log.h"
#include "collector/who/asker.h"
#include "collector/who/identify.h"

/*
 * Which binary a file is.  The answer may come later, or never: until then an image
 * stands for it that is pending, and becomes it, or turns out to be another one.
 */

#define AGAIN_NS (COLL_ASKER_DEAD_S * CLOCK_NS_PER_S)

static bool same_image(const struct coll_image *img, const struct coll_identity *id)
{
	if (img->build_id.len || id->build_id.len)
		return build_id_equal(&img->build_id, &id->build_id);
	return img->inode == id->inode && img->mtime == id->mtime &&
	       img->size == id->size;
}

static bool same_row(const struct spec_image_row *row, const struct coll_identity *id)
{
	if (row->build_id.len || id->build_id.len)
		return build_id_equal(&row->build_id, &id->build_id);
	return row->inode == id->inode && row->mtime == id->mtime &&
	       row->size == id->size;
}

/* PATH#XXXXXXXX with the first @digits of the build-id, or of a hash of what is known. */
static void other_name(const char *path, const struct coll_identity *id, unsigned digits,
		       struct strbuf *out)
{
	struct build_id bytes = id->build_id;

	if (!bytes.len) {
		const uint64_t known[] = { id->inode, id->mtime, id->size };
		uint64_t hash = FNV_START;

		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			hash = fnv_add(hash, known[i]);
		hash ^= hash >> 32;
		bytes.len = sizeof(hash);
		memcpy(bytes.bytes, &hash, sizeof(hash));
	}
	strbuf_printf(out, "%s#", path);
	hex_add(out, bytes.bytes, digits / 2 < bytes.len ? digits / 2 : bytes.len);
}

static bool name_taken(const struct coll_images *t, const struct coll_image *first,
		       const char *stored)
{
	for (; first; first = first->next)
		if (!strcmp(first->name.name, stored))
			return true;
	return spec_images_find(&t->saved, stored);
}

/* How a binary that is new in this run is called, and @row if an earlier run had it. */
static void choose_name(const struct coll_images *t, const struct coll_image *first,
			const char *path, const struct coll_identity *id,
			struct strbuf *stored, const struct spec_image_row **row)
{
	for (size_t i = t->saved.nr; i-- > 0;) {
		*row = &t->saved.rows[i];
		if (!strcmp((*row)->real_path, path) && same_row(*row, id)) {
			strbuf_puts(stored, (*row)->stored);
			return;
		}
	}
	*row = NULL;
	strbuf_puts(stored, path);
	for (unsigned digits = 8;
	     digits <= 2 * BUILD_ID_MAX && name_taken(t, first, strbuf_str(stored));
	     digits *= 2) {
		strbuf_reset(stored);
		other_name(path, id, digits, stored);
	}
}

/* An image is the one that is @id.  Files that it has keep the time that they were made
 * with. */
static void learn(struct coll_image *img, const struct coll_identity *id)
{
	img->build_id = id->build_id;
	if (!img->noted)
		img->mtime = id->mtime;
	img->size = id->size;
	img->inode = id->inode;
	img->dev_major = id->dev_major;
	img->dev_minor = id->dev_minor;
	img->note = id->note;
	img->tgid = id->tgid;
	img->noted = false;
}

/* An image that was waited for is the one that is @id, and new.  Without memory it keeps
 * the name that it has, and is not found by its path. */
static void become(struct coll_images *t, struct coll_image *first,
		   struct coll_image *img, const struct coll_identity *id)
{
	CLEANUP(strbuf_fini) struct strbuf stored = { 0 };
	const struct spec_image_row *row;

	choose_name(t, first, img->path, id, &stored, &row);
	if (!strbuf_error(&stored)) {
		free(img->name.name);
		img->name.name = strbuf_take(&stored);
	}
	img->pending = false;
	learn(img, id);
	/* the same binary touched since an earlier run keeps what its files say */
	if (row)
		img->mtime = row->mtime;
	img->noted = row;
	img->next = first;
	if (map_set(&t->paths, img->path, strlen(img->path), (uintptr_t)img))
		img->next = NULL;
}

/* What could not be looked at is taken for what is known under that path, if nothing
 * speaks against it. */
static bool may_be(const struct coll_image *img, const struct coll_identity *id)
{
	return !img->inode || !id->inode || img->inode == id->inode;
}

static bool is_unreachable(const struct coll_image *img)
{
	return img->note == COLL_NOTE_UNREACHABLE && !img->build_id.len;
}

static struct coll_image *find_same(struct coll_image *first,
				    const struct coll_identity *id)
{
	bool unreachable = id->note == COLL_NOTE_UNREACHABLE && !id->build_id.len;

	for (struct coll_image *img = first; img; img = img->next)
		if (same_image(img, id))
			return img;
	for (struct coll_image *img = first; img; img = img->next) {
		if (!may_be(img, id) || !(unreachable || is_unreachable(img)))
			continue;
		if (!unreachable)
			learn(img, id);
		return img;
	}
	return NULL;
}

static struct coll_image *first_of(const struct coll_images *t, const char *path)
{
	uint64_t value;

	return map_get(&t->paths, path, strlen(path), &value)
		       ? (struct coll_image *)(uintptr_t)value
		       : NULL;
}

static void settle(struct coll_images *t, struct coll_sighting *s,
		   const struct coll_identity *id)
{
	struct coll_image *img = s->image, *first = first_of(t, s->path);
	struct coll_image *same = find_same(first, id);

	if (!img->pending) { /* it was looked for again */
		if (id->note == COLL_NOTE_UNREACHABLE)
			return;
		img = same ? same : coll_image_new(t, SPEC_IMAGE_ROOT, s->path, s->path);
		if (!img)
			return;
		s->image = img;
		if (!same)
			become(t, first, img, id);
		return;
	}
	t->answers++;
	if (!same) {
		become(t, first, img, id);
		return;
	}
	img->pending = false;
	img->became = s->image = same;
	img->next = t->other;
	t->other = img;
}

/* Once a minute at most. */
static void warn_unreachable(struct coll_images *t, const struct coll_sighting *s, int rc)
{
	uint64_t now = clock_mono_ns();

	if (t->warned_ns && now - t->warned_ns < AGAIN_NS)
		return;
	t->warned_ns = now;
	if (rc == -ETIMEDOUT)
		log_warn("%s: its file system does not answer: what is on it is counted "
			 "without being looked at",
			 s->path);
	else
		log_warn("%s: no process can be had to look at it (%s): it is counted "
			 "without that",
			 s->path, strerror(-rc));
}

static void answered(void *ctx, uint64_t arg, int rc, char *answer, size_t len)
{
	struct coll_images *t = ctx;
	struct coll_sighting *s = (struct coll_sighting *)(uintptr_t)arg;
	struct coll_identity id;
	int file = coll_asker_file(t->asker);

	log_debug(LOG_CONVERT, "%s: %s", s->path, rc ? strerror(-rc) : "looked at");
	s->asked = false;
	s->again_ns = 0;
	if (!rc && !coll_identify_take(answer, len, &id))
		rc = -EBADMSG;
	if (rc) {
		coll_identity_unseen(s, COLL_NOTE_UNREACHABLE, &id);
		s->again_ns = clock_mono_ns() + AGAIN_NS;
		warn_unreachable(t, s, rc);
	}
	if (file >= 0)
		coll_held_add(&t->held, file, id.tgid);
	settle(t, s, &id);
}

uint64_t coll_images_lane(struct coll_images *t, const struct coll_sighting *s)
{
	uint32_t major = s->dev_major, minor = s->dev_minor;

	/* with a build-id the kernel does not tell the device */
	if (!major && !minor)
		coll_mounts_device(&t->mounts, s->path, &major, &minor);
	return coll_lane_device(major, minor);
}

static void look_for(struct coll_images *t, struct coll_sighting *s, uint32_t tgid,
		     uint32_t parent)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	struct coll_question q = { .kind = COLL_ASK_FILE,
				   .lane = t->asker ? coll_images_lane(t, s) : 0,
				   .answered = answered,
				   .ctx = t,
				   .arg = (uintptr_t)s };

	coll_identify_question(s, tgid, parent, &text);
	q.data = text.data;
	q.len = text.len;
	s->asked = true;
	if (strbuf_error(&text) || coll_asker_ask(t->asker, &q))
		answered(t, q.arg, -ENOMEM, NULL, 0);
}

struct coll_image *coll_images_identify(struct coll_images *t, struct coll_sighting *s,
					uint32_t tgid, uint32_t parent)
{
	if (s->image && (s->asked || !s->again_ns || clock_mono_ns() < s->again_ns))
		return s->image;
	if (!s->image) {
		s->image = coll_image_new(t, SPEC_IMAGE_ROOT, s->path, s->path);
		if (!s->image)
			return NULL;
		s->image->pending = true;
	}
	look_for(t, s, tgid, parent);
	return s->image;
}

struct coll_image *coll_images_kernel_file(struct coll_images *t, const char *path,
					   const struct build_id *id, uint64_t mtime)
{
	struct coll_identity known = { .build_id = *id, .mtime = mtime };
	struct coll_image *img = coll_image_new(t, SPEC_IMAGE_ROOT, path, path);

	if (!img)
		return NULL;
	img->is_kernel = true;
	become(t, NULL, img, &known);
	return img;
}

int coll_images_other(struct coll_image *img)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };
	struct coll_identity id = { .build_id = img->build_id,
				    .mtime = img->mtime,
				    .size = img->size,
				    .inode = img->inode };
	char *stored;

	if (img->name.kind != SPEC_IMAGE_ROOT || strcmp(img->name.name, img->path) != 0)
		return -EEXIST;
	other_name(img->path, &id, 8, &name);
	stored = strbuf_error(&name) ? NULL : strbuf_take(&name);
	if (!stored)
		return -ENOMEM;
	free(img->name.name);
	img->name.name = stored;
	img->noted = false;
	img->stack_table = 0;
	return 0;
}
