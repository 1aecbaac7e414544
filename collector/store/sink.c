/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/store/sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "collector/who/recognize.h"
#include "libspec/name/name.h"

enum {
	FIRST_CAP = 256,
	KEEP_FREE = 64, /* descriptors for everything else */
	MIN_OPEN = 8,
	SINKS = 2,             /* of samples, and of stacks */
	MAX_OPEN = 4096,       /* each is a mapping as well */
	MAX_MAPPED = 24 << 20, /* bytes; but MIN_OPEN files are open, however large */
	MAX_KNOWN = 1 << 16,   /* files that are remembered */
	MAX_UNSURE = 1 << 14,  /* of them, that may not be on the disk */
	RETRY_AFTER = 512,     /* samples: a full disk may have room again */
};

struct coll_file {
	struct coll_key key;
	struct coll_file *chain;           /* next in the hash slot */
	struct coll_file *newer, *older;   /* among the open ones */
	struct spec_sample_writer *writer; /* NULL: closed */
	int failed;                        /* why it could not be opened or grown */
	uint32_t skipped;                  /* samples since that failure */
	size_t len;                        /* as it was last */
	bool dirty;                        /* counted in since it was last written back */
	uint32_t checkpoint;               /* the last that it was written back for */
	/* of what was counted here: */
	struct spec_disk disk; /* as it was when it was closed */
	uint64_t counts;       /* how much of the figures it is */
};

static uint32_t default_max_open(void)
{
	size_t limit = file_raise_limit();

	limit = limit > KEEP_FREE ? (limit - KEEP_FREE) / SINKS : 0;
	if (limit >= MAX_OPEN)
		return MAX_OPEN;
	return limit > MIN_OPEN ? (uint32_t)limit : MIN_OPEN;
}

int coll_sink_init(struct coll_sink *s, int session_fd, struct coll_images *images,
		   const struct coll_sink_event *events, uint32_t max_open,
		   struct err *err)
{
	*s = (struct coll_sink){ .session_fd = session_fd,
				 .images = images,
				 .events = events,
				 .max_open = max_open ? max_open : default_max_open(),
				 .max_mapped = MAX_MAPPED,
				 .what = "sample file" };
	s->table = calloc(FIRST_CAP, sizeof(struct coll_file *));
	if (!s->table)
		return err_errno(err, -ENOMEM, "sample files");
	s->cap = FIRST_CAP;
	return 0;
}

static void unlink_open(struct coll_sink *s, struct coll_file *f)
{
	if (f->newer)
		f->newer->older = f->older;
	else
		s->newest = f->older;
	if (f->older)
		f->older->newer = f->newer;
	else
		s->oldest = f->newer;
	f->newer = f->older = NULL;
}

static void link_newest(struct coll_sink *s, struct coll_file *f)
{
	f->older = s->newest;
	f->newer = NULL;
	if (s->newest)
		s->newest->newer = f;
	else
		s->oldest = f;
	s->newest = f;
}

/* Among closed files that are dirty, @newer and @older are those that were closed after
 * and before. */
static void link_unsure(struct coll_sink *s, struct coll_file *f)
{
	f->older = s->unsure_last;
	f->newer = NULL;
	if (s->unsure_last)
		s->unsure_last->newer = f;
	else
		s->unsure_first = f;
	s->unsure_last = f;
	s->unsure++;
}

static void unlink_unsure(struct coll_sink *s, struct coll_file *f)
{
	if (f->newer)
		f->newer->older = f->older;
	else
		s->unsure_last = f->older;
	if (f->older)
		f->older->newer = f->newer;
	else
		s->unsure_first = f->newer;
	f->newer = f->older = NULL;
	s->unsure--;
}

static void close_file_of(struct coll_sink *s, struct coll_file *f)
{
	unlink_open(s, f);
	if (f->dirty) {
		if (s->checkpoint)
			spec_sample_sync_soon(f->writer);
		link_unsure(s, f);
	}
	f->disk = spec_sample_disk(f->writer);
	spec_sample_writer_free(f->writer);
	f->writer = NULL;
	s->mapped -= f->len;
	s->open--;
}

/* Forgets files that are closed, on the disk and without a failure; else all, which must
 * be closed. */
static void forget(struct coll_sink *s, bool all)
{
	for (uint32_t i = 0; i < s->cap; i++) {
		struct coll_file **at = &s->table[i];

		while (*at) {
			struct coll_file *f = *at;

			if (!all && (f->writer || f->failed || f->dirty)) {
				at = &f->chain;
				continue;
			}
			*at = f->chain;
			free(f);
			s->nr--;
		}
	}
}

static void clear(struct coll_sink *s)
{
	while (s->oldest)
		close_file_of(s, s->oldest);
	if (s->table)
		forget(s, true);
	s->unsure_first = s->unsure_last = NULL;
	s->unsure = 0;
}

void coll_sink_fini(struct coll_sink *s)
{
	clear(s);
	free(s->table);
	*s = (struct coll_sink){ .session_fd = -1 };
}

static uint32_t hash_key(const struct coll_key *k)
{
	uint64_t h = k->app->id;

	h = h * 0x9e3779b97f4a7c15ULL + k->image->id;
	h = h * 0x9e3779b97f4a7c15ULL + (uint64_t)k->tid;
	h = h * 0x9e3779b97f4a7c15ULL + (uint64_t)k->tgid;
	h = h * 0x9e3779b97f4a7c15ULL + ((uint64_t)k->cpu << 8) + k->event;
	return (uint32_t)(h ^ h >> 32);
}

static bool key_equal(const struct coll_key *a, const struct coll_key *b)
{
	return a->image == b->image && a->app == b->app && a->event == b->event &&
	       a->tid == b->tid && a->tgid == b->tgid && a->cpu == b->cpu;
}

static void rehash(struct coll_sink *s)
{
	uint32_t cap = s->cap * 2;
	struct coll_file **table = calloc(cap, sizeof(struct coll_file *));

	if (!table)
		return; /* longer chains do as well */
	for (uint32_t i = 0; i < s->cap; i++) {
		struct coll_file *f, *next;

		for (f = s->table[i]; f; f = next) {
			uint32_t slot = hash_key(&f->key) & (cap - 1);

			next = f->chain;
			f->chain = table[slot];
			table[slot] = f;
		}
	}
	free(s->table);
	s->table = table;
	s->cap = cap;
}

static bool is_separated(const struct coll_key *k)
{
	return k->tid != SPEC_ALL || k->tgid != SPEC_ALL || k->cpu != SPEC_ALL;
}

static struct coll_file *look_up(const struct coll_sink *s, const struct coll_key *key)
{
	struct coll_file *f = s->table[hash_key(key) & (s->cap - 1)];

	while (f && !key_equal(&f->key, key))
		f = f->chain;
	return f;
}

static struct coll_file *find_file(struct coll_sink *s, const struct coll_key *key)
{
	uint32_t hash = hash_key(key);
	struct coll_file *f = look_up(s, key);

	if (f)
		return f;
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	if (s->nr >= MAX_KNOWN)
		forget(s, false);
	if (s->nr >= s->cap)
		rehash(s);
	f->key = *key;
	f->chain = s->table[hash & (s->cap - 1)];
	s->table[hash & (s->cap - 1)] = f;
	s->nr++;
	s->separated += is_separated(key);
	return f;
}

bool coll_sink_fold(struct coll_sink *s, struct coll_key *key)
{
	if (!s->max_separated || s->separated < s->max_separated || !is_separated(key) ||
	    look_up(s, key))
		return false;
	key->tgid = key->tid = key->cpu = SPEC_ALL;
	return true;
}

static int file_path(const struct coll_sink *s, const struct coll_key *k,
		     struct strbuf *path, struct err *err)
{
	const struct coll_sink_event *e = &s->events[k->event];
	struct spec_name name = {
		.app = k->app->name,
		.image = k->image->name,
		.event = (char *)(uintptr_t)e->name,
		.count = e->count,
		.unit_mask = e->unit_mask,
		.tgid = k->tgid,
		.tid = k->tid,
		.cpu = k->cpu,
	};

	return spec_name_format(&name, path, err);
}

static struct spec_sample_header header_of(const struct coll_sink *s,
					   const struct coll_key *k)
{
	const struct coll_sink_event *e = &s->events[k->event];

	return (struct spec_sample_header){
		.magic = SPEC_SAMPLE_MAGIC,
		.version = SPEC_SAMPLE_VERSION,
		.cpu_type = e->cpu_type,
		.event = e->code,
		.unit_mask = (uint32_t)e->unit_mask,
		.count = (uint32_t)e->count,
		.is_kernel = k->image->is_kernel,
		.cpu_mhz = e->cpu_mhz,
		.mtime = k->image->mtime,
		.anon_start = k->image->name.start,
	};
}

static int open_writer(struct coll_sink *s, struct coll_file *f, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	struct spec_sample_header header = header_of(s, &f->key);
	int rc = file_path(s, &f->key, &path, err);

	while (s->open >= s->max_open ||
	       (s->mapped > s->max_mapped && s->open > MIN_OPEN))
		close_file_of(s, s->oldest);
	if (!rc)
		rc = spec_sample_writer_open(s->session_fd, strbuf_str(&path), &header,
					     &f->writer, err);
	if (rc)
		f->writer = NULL;
	else
		log_debug(LOG_SFILE, "%s %s", s->what, strbuf_str(&path));
	return rc;
}

static int fail(struct coll_sink *s, struct coll_file *f, int rc, const struct err *err)
{
	f->failed = rc;
	f->skipped = 0;
	if (!s->broken) {
		s->broken = rc;
		s->why = *err;
	}
	return rc;
}

/* @weight of what was counted in the file is not there. */
static void lose(struct coll_sink *s, struct coll_file *f, uint64_t weight)
{
	uint64_t total = f->disk.total, nr = f->counts;

	/* where both differ, at least the share that is missing */
	if (total && weight < total)
		nr = (uint64_t)(((unsigned __int128)nr * weight + total - 1) / total);
	f->counts -= nr;
	f->disk.total -= weight;
	s->lost += nr;
}

/* What failed under us is counted as lost, but for what can be found again. */
static void lose_found(struct coll_sink *s, struct coll_file *f, int rc,
		       const struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	uint64_t found = 0;

	if (f->writer)
		close_file_of(s, f);
	if (f->dirty)
		unlink_unsure(s, f);
	f->dirty = false;
	if (file_path(s, &f->key, &path, NULL) ||
	    spec_disk_find(s->session_fd, strbuf_str(&path), f->disk.sure, &found, NULL))
		found = 0;
	if (found < f->disk.total)
		lose(s, f, f->disk.total - found);
	f->disk.sure = f->disk.total;
	fail(s, f, rc, err);
}

/* Waits until the disk has what was counted in the file. */
static void sync_file(struct coll_sink *s, struct coll_file *f)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	struct err err = { 0 };
	int rc;

	if (f->writer)
		rc = spec_sample_sync(f->writer, &err);
	else if (!(rc = file_path(s, &f->key, &path, &err)))
		rc = spec_disk_sync(s->session_fd, strbuf_str(&path), &err);
	if (rc) {
		lose_found(s, f, rc, &err);
		return;
	}
	if (!f->writer) {
		unlink_unsure(s, f);
		f->disk.sure = f->disk.total;
	}
	f->dirty = false;
}

/* It may have grown, or been opened.  One that was forgotten counts twice in @bytes. */
static void measure(struct coll_sink *s, struct coll_file *f)
{
	size_t len = spec_sample_len(f->writer);

	s->mapped += len - f->len;
	s->bytes += len - f->len;
	f->len = len;
}

/* The image is of the collector's own table: only names of files see it as constant. */
static struct coll_image *own(const struct coll_image *img)
{
	return (struct coll_image *)(uintptr_t)img;
}

/* Whoever closed it counted what @f->disk says; the kernel may have let it go since, and
 * then read what the disk has. */
static void opened(struct coll_sink *s, struct coll_file *f)
{
	struct spec_disk disk = spec_sample_disk(f->writer);

	if (f->dirty) {
		unlink_unsure(s, f);
		spec_sample_doubt(f->writer, f->disk.sure);
	}
	link_newest(s, f);
	s->open++;
	s->mapped += f->len;
	measure(s, f);
	if (disk.total < f->disk.total) {
		lose(s, f, f->disk.total - disk.total);
		if (!s->broken) {
			s->broken = -EIO;
			err_set(&s->why, -EIO,
				"a sample file holds less than was counted "
				"in it: the disk refused it");
		}
	} else if (!f->disk.total) {
		f->counts = disk.total; /* of an earlier run, or forgotten meanwhile */
	}
}

static int open_file(struct coll_sink *s, struct coll_file *f, struct err *err)
{
	const struct coll_key *k = &f->key;
	int rc = open_writer(s, f, err);

	while (s->unsure > MAX_UNSURE)
		sync_file(s, s->unsure_first);
	/* an earlier run's file is of another binary than today's */
	if (rc == -ESTALE && !coll_images_other(own(k->image)))
		rc = open_writer(s, f, err);
	if (rc)
		return rc;
	opened(s, f);
	rc = coll_images_note(s->images, own(k->app), err);
	if (!rc)
		rc = coll_images_note(s->images, own(k->image), err);
	/* the sample has its file: a table that lacks a row is told, not fatal */
	if (rc && !s->broken) {
		s->broken = rc;
		s->why = *err;
	}
	return 0;
}

int coll_sink_add(struct coll_sink *s, const struct coll_key *key, uint64_t at,
		  uint32_t weight, uint32_t counts)
{
	struct coll_file *f = s->newest;
	struct err err = { 0 };
	int rc;

	if (!f || !key_equal(&f->key, key))
		f = find_file(s, key);
	if (!f)
		return -ENOMEM;
	if (f->failed && ++f->skipped < RETRY_AFTER)
		return f->failed;
	if (!f->writer) {
		rc = open_file(s, f, &err);
		if (rc)
			return fail(s, f, rc, &err);
	} else if (s->newest != f) {
		unlink_open(s, f);
		link_newest(s, f);
	}
	rc = spec_sample_add(f->writer, at, weight, &err);
	if (rc && spec_sample_failed(f->writer))
		lose_found(s, f, rc, &err);
	else if (rc)
		return fail(s, f, rc, &err);
	if (rc)
		return rc;
	measure(s, f);
	f->dirty = true;
	f->counts += counts;
	f->failed = 0;
	return 0;
}

void coll_sink_move(struct coll_sink *s, int session_fd)
{
	clear(s);
	s->session_fd = session_fd;
	s->bytes = 0;
	s->separated = 0;
	s->broken = 0;
	s->lost = 0;
}

void coll_sink_checkpoint(struct coll_sink *s)
{
	s->checkpoint++;
}

void coll_sink_write_soon(const struct coll_sink *s)
{
	for (const struct coll_file *f = s->oldest; f; f = f->newer)
		if (f->dirty)
			spec_sample_sync_soon(f->writer);
}

bool coll_sink_write_back(struct coll_sink *s, uint64_t until_ns)
{
	struct coll_file *f, *next;

	while ((f = s->unsure_first)) {
		if (clock_mono_ns() >= until_ns)
			return true;
		sync_file(s, f);
	}
	for (f = s->oldest; f; f = next) {
		next = f->newer;
		if (!f->dirty || f->checkpoint == s->checkpoint)
			continue;
		if (clock_mono_ns() >= until_ns)
			return true;
		f->checkpoint = s->checkpoint;
		sync_file(s, f);
	}
	return false;
}
