/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile_build.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/strbuf.h"

/* Which binary an image is, and its symbol table; one job an image, several at a time. */

struct load_job {
	uint32_t image;
	struct sym_job job;
	struct sym_table *table;
	int rc;
	struct err err;
};

struct load_pool {
	struct load_job *jobs;
	size_t nr;
	struct sym_cache *syms;
	const atomic_bool *cancel;
	atomic_size_t next;
};

/* ---- identity */

struct identity {
	bool is_kernel;
	uint64_t mtime;       /* of the binary that was sampled; 0: unknown */
	uint64_t other_mtime; /* another one that a file gives; 0: all agree */
};

/* What the headers of the picks [i, end), all of one image, say about it. */
static struct identity ask_headers(const struct profile_build *b, size_t i, size_t end)
{
	struct identity id = { 0 };

	for (; i < end; i++) {
		const struct spec_sample_header *h = &b->picks[i].file->header;

		id.is_kernel = id.is_kernel || h->is_kernel;
		if (!h->mtime || h->mtime == id.mtime)
			continue;
		if (id.mtime)
			id.other_mtime = h->mtime;
		else
			id.mtime = h->mtime;
	}
	return id;
}

/* "/lib/modules/.../ext4.ko.xz" -> "ext4"; NULL if the path is no module's. */
static char *module_name(struct arena *arena, const char *path)
{
	const char *base = strrchr(path, '/');
	const char *dot;

	base = base ? base + 1 : path;
	dot = strstr(base, ".ko");
	if (!dot || dot == base || (dot[3] && dot[3] != '.'))
		return NULL;
	return arena_memdup(arena, base, (size_t)(dot - base));
}

static void identify_file(struct profile_build *b, const char *path, bool is_kernel,
			  struct sym_job *job)
{
	job->kind = SYM_USER;
	job->path = path;
	if (!strcmp(path, "/proc/kallsyms")) {
		job->kind = SYM_KALLSYMS;
	} else if (is_kernel) {
		job->name = module_name(&b->p->arena, path);
		job->kind = job->name ? SYM_MODULE : SYM_VMLINUX;
	}
}

static bool names_kernel(const char *name)
{
	return !strcmp(name, "vmlinux") || !strcmp(name, "kallsyms") ||
	       !strncmp(name, "[kernel", 7);
}

/* Returns why the image has no symbols at all, or NULL: then @job says what to load. */
static const char *identify_kernel(struct profile_build *b,
				   const struct catalog_image *img, struct sym_job *job)
{
	const char *path = img->row ? img->row->real_path : NULL;

	if (!strcmp(img->name.name, "no-vmlinux"))
		return "recorded without kernel symbols (--no-vmlinux, or hidden by "
		       "sysctl "
		       "kernel.kptr_restrict): allow them and record again";
	if (path && path[0] == '/') {
		identify_file(b, path, true, job);
		return NULL;
	}
	job->name = img->name.name;
	job->kind = names_kernel(img->name.name) ? SYM_KALLSYMS : SYM_MODULE;
	return NULL;
}

static const char *identify_anon(const struct catalog_image *img, struct sym_job *job)
{
	if (strcmp(img->name.name, "[vdso]") != 0)
		return "anonymous memory: code made at run time, which no file describes";
	if (!img->row || !img->row->build_id.len)
		return "which vdso this was is not recorded, and the running kernel's "
		       "may be "
		       "another";
	job->kind = SYM_VDSO;
	return NULL;
}

static const char *identify(struct profile_build *b, const struct catalog_image *img,
			    const struct identity *id, struct sym_job *job)
{
	const struct spec_image_row *row = img->row;

	job->mtime = (int64_t)id->mtime;
	if (row && row->mtime)
		job->mtime = (int64_t)row->mtime;
	if (row && row->build_id.len <= sizeof(job->build_id.bytes)) {
		job->build_id.len = row->build_id.len;
		memcpy(job->build_id.bytes, row->build_id.bytes, row->build_id.len);
	}
	switch (img->name.kind) {
	case SPEC_IMAGE_KERN:
		return identify_kernel(b, img, job);
	case SPEC_IMAGE_ANON:
		return identify_anon(img, job);
	default:
		identify_file(b,
			      row && row->real_path && row->real_path[0] == '/'
				      ? row->real_path
				      : img->name.name,
			      id->is_kernel, job);
		return NULL;
	}
}

/* ---- loading */

static void *run_pool(void *arg)
{
	struct load_pool *pool = arg;

	for (;;) {
		size_t i = atomic_fetch_add(&pool->next, 1);
		struct load_job *j;

		if (i >= pool->nr)
			return NULL;
		j = &pool->jobs[i];
		j->rc = sym_cache_load(pool->syms, &j->job, pool->cancel, &j->table,
				       &j->err);
	}
}

/* Helpers run beside each other; a thread each only waits for one. */
static void run_jobs(struct load_pool *pool)
{
	pthread_t threads[3];
	size_t nr = 0;

	while (nr < sizeof(threads) / sizeof(threads[0]) && nr + 1 < pool->nr) {
		if (pthread_create(&threads[nr], NULL, run_pool, pool))
			break;
		nr++;
	}
	run_pool(pool);
	while (nr)
		pthread_join(threads[--nr], NULL);
}

static int set_reason(struct profile_build *b, struct profile_image *img,
		      const char *text)
{
	if (!text || !*text)
		return 0;
	img->reason = arena_strdup(&b->p->arena, text);
	return img->reason ? 0 : profile_no_memory(b);
}

/* What to do about an image that is shown as itself. */
static const char *const remedies[SYM_NR_STATES] = {
	[SYM_NO_SYMBOLS] = "install its debug symbols",
	[SYM_MISSING] = "put it back where it was",
	[SYM_UNREADABLE] = "ask as a user who may read it",
	[SYM_CHANGED] = "put the one that was sampled back, or record again",
	[SYM_BROKEN] = "look at it with readelf, or install it anew",
};

static int explain(struct profile_build *b, struct profile_image *img,
		   const struct sym_table *t, const char *what)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	char id[2 * sizeof(t->build_id.bytes) + 1];

	strbuf_puts(&text, what && *what ? what : sym_state_name(img->state));
	if (remedies[img->state])
		strbuf_printf(&text, "; %s", remedies[img->state]);
	if (img->state == SYM_NO_SYMBOLS && t->build_id.len) {
		sym_id_format(&t->build_id, id);
		strbuf_printf(&text, " (build-id %s)", id);
	}
	return strbuf_error(&text) ? profile_no_memory(b)
				   : set_reason(b, img, strbuf_str(&text));
}

/* Hands the table over, or lets it go if the image is shown as itself. */
static int take_result(struct profile_build *b, struct load_job *j)
{
	struct profile_image *img = &b->p->images[j->image];
	int rc = 0;

	if (j->rc == -EINTR)
		return profile_interrupted(b);
	if (j->rc == -ENOMEM)
		return profile_no_memory(b);
	if (j->rc) {
		img->state = SYM_BROKEN;
		return set_reason(b, img, j->err.msg);
	}
	img->state = j->table->state;
	if (sym_usable(img->state) && !j->table->nr_syms)
		img->state = SYM_NO_SYMBOLS;
	if (img->state != SYM_OK)
		rc = explain(b, img, j->table, j->table->reason);
	if (!rc && j->table->nr_syms &&
	    (sym_usable(img->state) || profile_stripped(j->table)))
		img->table = TAKE(j->table);
	return rc;
}

static int note_other_mtime(struct profile_build *b, uint32_t image, struct identity id)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	struct profile_image *img = &b->p->images[image];

	if (!id.other_mtime)
		return 0;
	if (img->reason)
		strbuf_printf(&text, "%s; ", img->reason);
	strbuf_printf(&text,
		      "its sample files disagree about the binary's time (%" PRIu64
		      " and %" PRIu64 "): it was replaced while it was profiled",
		      id.mtime, id.other_mtime);
	if (strbuf_error(&text))
		return profile_no_memory(b);
	return set_reason(b, img, strbuf_str(&text));
}

/* One job for every image that may have symbols; the others get their reason at once. */
static void make_jobs(struct profile_build *b, struct load_job *jobs, size_t *nr,
		      const struct sym_cred *cred)
{
	for (size_t i = 0, end; i < b->nr_picks; i = end) {
		uint32_t image = b->picks[i].file->image;
		struct load_job *j = &jobs[*nr];
		struct identity id;
		const char *reason = "symbols are not looked up here";

		end = profile_picks_end(b, i, false);
		id = ask_headers(b, i, end);
		*j = (struct load_job){ .image = image };
		j->job.cred = cred;
		if (b->syms)
			reason = identify(b, &b->p->cat->images[image], &id, &j->job);
		b->p->images[image].state = SYM_NO_SYMBOLS;
		if (reason)
			b->p->images[image].reason = reason;
		else
			(*nr)++;
	}
}

static int take_results(struct profile_build *b, struct load_pool *pool)
{
	int rc = 0;

	for (size_t i = 0; i < pool->nr; i++) {
		if (!rc)
			rc = take_result(b, &pool->jobs[i]);
		sym_table_put(pool->jobs[i].table);
	}
	for (size_t i = 0, end; !rc && i < b->nr_picks; i = end) {
		end = profile_picks_end(b, i, false);
		rc = note_other_mtime(b, b->picks[i].file->image, ask_headers(b, i, end));
	}
	return rc;
}

int profile_load_images(struct profile_build *b)
{
	CLEANUP(free_ptr) struct load_job *jobs = NULL;
	struct load_pool pool = { .syms = b->syms };
	struct sym_cred cred;
	size_t nr_images = 0;

	for (size_t i = 0; i < b->nr_picks; i = profile_picks_end(b, i, false))
		nr_images++;
	jobs = calloc(nr_images + 1, sizeof(*jobs));
	if (!jobs)
		return profile_no_memory(b);
	pool.jobs = jobs;
	if (b->v) {
		cred = (struct sym_cred){ b->v->uid, b->v->gid, b->v->groups,
					  b->v->nr_groups };
		pool.cancel = b->v->cancel;
	}
	make_jobs(b, jobs, &pool.nr, b->v ? &cred : NULL);
	run_jobs(&pool);
	return take_results(b, &pool);
}
