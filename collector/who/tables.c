/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/who/tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "collector/who/recognize.h"
#include "collector/who/table_answer.h"
#include "libspec/session/stats.h"

#define AGAIN_NS (COLL_ASKER_DEAD_S * CLOCK_NS_PER_S)
#define MADE_NS (100 * CLOCK_NS_PER_MS)

/* No image has this number. */
#define VDSO_ID UINT32_MAX

struct coll_table {
	struct cfi_table table; /* its bytes are this one's */
	uint32_t id;
	bool asked, ready;
	uint64_t again_ns; /* there is none, and it is asked for anew then; 0: never */
	uint64_t wait_ns;  /* of code made at run time: how long until that */
	uint64_t made_by;  /* who is asked about it: see coll_jit_unwinding() */
	bool used;         /* since there was no room the last time */
	const char *why;   /* there is none, for sessions to say; NULL: nothing */
	uint64_t told_in;  /* the session that has said it, counted from 1 on */
};

int coll_tables_init(struct coll_tables *t, struct coll_images *images,
		     struct coll_jit *jit, const char *program)
{
	t->images = images;
	t->jit = jit;
	t->asker = coll_asker_new(&coll_asks_tables, program);
	return t->asker ? 0 : -ENOMEM;
}

static struct coll_table *get(const struct coll_tables *t, uint32_t id)
{
	uint64_t value;

	return map_u64_get(&t->by_image, id, &value)
		       ? (struct coll_table *)(uintptr_t)value
		       : NULL;
}

static void empty(struct coll_tables *t, struct coll_table *e)
{
	t->bytes -= e->table.size;
	free((void *)(uintptr_t)e->table.bytes);
	e->table = (struct cfi_table){ 0 };
	e->ready = false;
}

static void drop(struct coll_tables *t, struct coll_table *e)
{
	map_u64_del(&t->by_image, e->id);
	empty(t, e);
	free(e);
}

void coll_tables_fini(struct coll_tables *t)
{
	uint64_t id, value;
	size_t pos = 0;

	coll_asker_free(t->asker);
	t->asker = NULL;
	while (map_u64_next(&t->by_image, &pos, &id, &value)) {
		struct coll_table *e = (struct coll_table *)(uintptr_t)value;

		empty(t, e);
		free(e);
	}
	map_u64_fini(&t->by_image);
}

/* Frees one that was not used lately.  If all were: none, but next time. */
static bool drop_unused(struct coll_tables *t)
{
	uint64_t id, value;
	size_t pos = 0;

	while (map_u64_next(&t->by_image, &pos, &id, &value)) {
		struct coll_table *e = (struct coll_table *)(uintptr_t)value;

		if (e->asked || e->used)
			continue;
		drop(t, e);
		return true;
	}
	for (pos = 0; map_u64_next(&t->by_image, &pos, &id, &value);)
		((struct coll_table *)(uintptr_t)value)->used = false;
	return false;
}

static struct coll_table *add(struct coll_tables *t, uint32_t id)
{
	struct coll_table *e;

	if (t->by_image.used >= COLL_TABLES_MAX && !drop_unused(t))
		return NULL;
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->id = id;
	if (map_u64_set(&t->by_image, id, (uintptr_t)e)) {
		free(e);
		return NULL;
	}
	return e;
}

static int take(struct coll_tables *t, struct coll_table *e, const char *answer,
		size_t len, struct err *err)
{
	char *bytes;
	int rc;

	if (!len)
		return err_set(err, -ENODATA, "no file is certain to be it");
	while (t->bytes + len > COLL_TABLES_MAX_BYTES)
		if (!drop_unused(t))
			return err_set(err, -ENOMEM, "there are too many others");
	bytes = malloc(len);
	if (!bytes)
		return err_errno(err, -ENOMEM, "unwind table");
	memcpy(bytes, answer, len);
	rc = cfi_table_init(&e->table, bytes, len, err);
	if (rc) {
		free(bytes);
		e->table = (struct cfi_table){ 0 };
		return rc;
	}
	e->ready = true;
	t->bytes += len;
	return 0;
}

/* Nobody could look; later somebody may. */
static bool is_passing(int rc)
{
	return rc == -ETIMEDOUT || rc == -EAGAIN || rc == -ENOMEM;
}

static const char *why_none(int rc)
{
	return rc == -ENOTRECOVERABLE ? "making it takes more than the processor time or "
					"the memory that there is for one"
	       : rc == -ETIMEDOUT     ? "it was not made in time"
				      : NULL;
}

/* Stacks end in the image: each session that has such a one says why, once. */
static void tell(const struct coll_tables *t, struct coll_table *e, const char *of)
{
	CLEANUP(strbuf_fini) struct strbuf line = { 0 };

	if (!e->why || e->told_in == t->jit->session + 1)
		return;
	e->told_in = t->jit->session + 1;
	strbuf_printf(&line, "unwind table of %s: %s", of, e->why);
	if (strbuf_error(&line))
		return;
	spec_stats_note(t->images->session_fd, strbuf_str(&line), NULL);
	log_note("%s", strbuf_str(&line));
}

static void answered(void *ctx, uint64_t id, int rc, char *answer, size_t len)
{
	struct coll_tables *t = ctx;
	struct coll_table *e = get(t, (uint32_t)id);
	struct err err = { 0 };

	t->answers++;
	e->used = true;
	if (rc)
		err_errno(&err, rc, "nobody could look at it");
	else
		rc = take(t, e, answer, len, &err);
	log_debug(LOG_CONVERT, "unwind table of image %u: %s", e->id,
		  rc ? err.msg : "made");
	/* what is no table now will be none later, unless nobody could look */
	e->again_ns = is_passing(rc) ? clock_mono_ns() + AGAIN_NS : 0;
	e->why = why_none(rc);
	e->asked = false;
}

static void put(struct coll_tables *t, struct coll_table *e, struct coll_question *q,
		const struct strbuf *text)
{
	q->data = strbuf_str(text);
	q->len = text->len;
	e->asked = true;
	if (strbuf_error(text) || coll_asker_ask(t->asker, q))
		q->answered(t, q->arg, -ENOMEM, NULL, 0);
}

static void ask(struct coll_tables *t, struct coll_table *e,
		const struct coll_sighting *file, uint32_t tgid, uint32_t parent)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	struct coll_question q = {
		.kind = COLL_ASK_TABLE, .answered = answered, .ctx = t, .arg = e->id
	};

	if (file) {
		q.lane = coll_images_lane(t->images, file);
		coll_identify_question(file, tgid, parent, &text);
	}
	put(t, e, &q, &text);
}

static const struct cfi_table *find(struct coll_tables *t, uint32_t id,
				    const struct coll_sighting *file, uint32_t tgid,
				    uint32_t parent, bool *waits)
{
	struct coll_table *e = get(t, id);
	bool fresh = !e;

	if (fresh && !t->asker)
		return NULL;
	if (fresh)
		e = add(t, id);
	if (!e)
		return NULL;
	if (!e->asked && !e->ready &&
	    (fresh || (e->again_ns && clock_mono_ns() >= e->again_ns)))
		ask(t, e, file, tgid, parent);
	if (e->asked)
		*waits = true;
	else
		tell(t, e, file ? file->path : "[vdso]");
	e->used = true;
	return e->ready ? &e->table : NULL;
}

const struct cfi_table *coll_tables_find(struct coll_tables *t, struct coll_map *map,
					 uint32_t tgid, uint32_t parent, bool *waits)
{
	const struct coll_image *img;

	if (!map->file)
		return strcmp(map->label, "[vdso]") ? NULL
						    : find(t, VDSO_ID, NULL, 0, 0, waits);
	img = coll_images_identify(t->images, map->file, tgid, parent);
	if (!img)
		return NULL;
	img = coll_image_now(img);
	if (img->pending) {
		*waits = true;
		return NULL;
	}
	return find(t, img->id, map->file, tgid, parent, waits);
}

/* ---- code made at run time */

static void answered_made(void *ctx, uint64_t id, int rc, char *answer, size_t len)
{
	struct coll_tables *t = ctx;
	struct coll_table *e = get(t, (uint32_t)id);
	size_t had = e->table.size;
	struct err err = { 0 };

	t->answers++;
	e->used = true;
	e->asked = false;
	coll_jit_knew(t->jit, e->made_by,
		      rc    ? COLL_JIT_TOLD_BY_NOBODY
		      : len ? COLL_JIT_TOLD
			    : COLL_JIT_TOLD_NOTHING);
	if (!rc && len) {
		empty(t, e);
		rc = take(t, e, answer, len, &err);
	}
	/* it makes more, which is asked for when a stack leads there: less often if there
	 * was nothing new */
	e->wait_ns = e->table.size != had || !e->wait_ns ? MADE_NS : e->wait_ns * 2;
	if (e->wait_ns > AGAIN_NS)
		e->wait_ns = AGAIN_NS;
	e->again_ns = rc == -ENOTRECOVERABLE ? UINT64_MAX : clock_mono_ns() + e->wait_ns;
	e->why = why_none(rc);
	log_debug(LOG_CONVERT, "unwind table of code made at run time, image %u: %s",
		  e->id,
		  err.code   ? err.msg
		  : e->ready ? "made"
			     : "nothing is told");
}

/* Asks, if there is anything to ask; true if @waits should be set. */
static bool ask_made(struct coll_tables *t, uint32_t id, uint32_t tgid,
		     const struct coll_jit_region *region)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	struct coll_question q = { .kind = COLL_ASK_JIT_TABLE,
				   .lane = coll_lane_process(tgid),
				   .answered = answered_made,
				   .ctx = t,
				   .arg = id };
	struct coll_table *e = get(t, id);
	enum coll_jit_knows knows;
	uint64_t asked;

	knows = coll_jit_unwinding(t->jit, tgid, region, &text, &asked);
	if (knows != COLL_JIT_KNOWS)
		return knows == COLL_JIT_KNOWS_LATER;
	if (!e)
		e = add(t, id);
	if (!e) {
		coll_jit_knew(t->jit, asked, COLL_JIT_TOLD_BY_NOBODY);
		return false;
	}
	e->made_by = asked;
	put(t, e, &q, &text);
	return e->asked;
}

const struct cfi_table *coll_tables_made(struct coll_tables *t, uint32_t id,
					 uint32_t tgid,
					 const struct coll_jit_region *region,
					 uint64_t key, bool *waits)
{
	struct coll_table *e = get(t, id);
	char of[64];

	if (!t->asker)
		return NULL;
	if (!e) {
		*waits |= ask_made(t, id, tgid, region);
		e = get(t, id);
		return e && e->ready ? &e->table : NULL;
	}
	e->used = true;
	if (e->asked && !e->ready)
		*waits = true;
	if (!e->asked &&
	    (!e->ready || cfi_table_find(&e->table, key)->kind == CFI_NONE) &&
	    clock_mono_ns() >= e->again_ns)
		ask_made(t, id, tgid, region);
	if (!e->asked && e->why) {
		snprintf(of, sizeof(of), "code that process %u made at run time", tgid);
		tell(t, e, of);
	}
	return e->ready ? &e->table : NULL;
}
