/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/images.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/parallel.h"
#include "base/strbuf.h"
#include "opfs/profile/find.h"

/*
 * Finds each image's binary and loads its symbol table: one job an image, several at a
 * time.
 */

struct load_job {
	uint32_t image;
	struct sym_job job;
	struct sym_table *table;
	int rc;
	struct err err;
	const char *note;  /* why image-path: does not help; NULL: it was not asked */
	const char *found; /* a module's file that image-path: has */
};

struct load_pool {
	struct load_job *jobs;
	size_t nr;
	struct sym_cache *syms;
	const atomic_bool *cancel;
};

/* ---- identity */

struct identity { /* what the headers of an image's files say about its binary */
	bool used, is_kernel;
	uint64_t mtime;       /* of the sampled binary; 0: unknown */
	uint64_t other_mtime; /* a different one that another file gives; 0: all agree */
};

static void note_header(struct identity *id, bool is_kernel, uint64_t mtime)
{
	id->used = true;
	id->is_kernel = id->is_kernel || is_kernel;
	if (!mtime || mtime == id->mtime)
		return;
	if (id->mtime)
		id->other_mtime = mtime;
	else
		id->mtime = mtime;
}

static void ask_headers(const struct profile_build *b, struct identity *ids)
{
	for (size_t i = 0; i < b->nr_picks; i++) {
		const struct catalog_file *f = b->picks[i].file;

		note_header(&ids[f->image], f->header.is_kernel, f->header.mtime);
	}
	for (size_t i = 0; i < b->p->nr_arc_files; i++) {
		const struct profile_arc_file *f = &b->arc_files[i];
		const struct spec_sample_header *h = &f->file->header;

		note_header(&ids[f->caller], h->is_kernel, h->mtime);
		note_header(&ids[f->callee], h->cg_to_is_kernel, 0);
	}
	for (size_t i = 0; i < b->p->cat->nr_images; i++)
		if (b->p->images[i].used) /* perhaps only in stacks */
			note_header(&ids[i], b->p->cat->images[i].kernel, 0);
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
	job->path = profile_below_root(b, path);
	if (!strcmp(path, "/proc/kallsyms")) {
		job->kind = SYM_KALLSYMS;
		job->path = path;
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
		return "anonymous memory: code made at run time, which no file describes "
		       "(see there in opcollect(1) how to have its names)";
	if (!img->row || !img->row->build_id.len)
		return "which vdso this was is not recorded, and the running kernel's "
		       "may be "
		       "another";
	job->kind = SYM_VDSO;
	return NULL;
}

/* A path of another mount namespace, or root directory, says nothing here. */
static const char *identify_in_container(struct profile_build *b,
					 const struct spec_image_row *row,
					 struct sym_job *job)
{
	int held = profile_held_find(b->q->held, row);
	uint32_t tgid = spec_image_container(row);
	char at[64];

	if (!tgid || b->q->root)
		return NULL;
	if (held >= 0)
		snprintf(at, sizeof(at), "/proc/%d/fd/%d", (int)getpid(), held);
	else
		snprintf(at, sizeof(at), "/proc/%" PRIu32 "/root", tgid);
	job->at = arena_strdup(&b->p->arena, at);
	job->inode = row->inode;
	return job->at ? NULL : "out of memory";
}

static const char *identify(struct profile_build *b, const struct catalog_image *img,
			    const struct identity *id, struct sym_job *job)
{
	const struct spec_image_row *row = img->row;

	job->mtime = (int64_t)id->mtime;
	job->places = b->where.places;
	job->kept = b->p->cat->symbols;
	if (row && row->mtime)
		job->mtime = (int64_t)row->mtime;
	if (row)
		job->build_id = row->build_id;
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
		return row && job->kind == SYM_USER ? identify_in_container(b, row, job)
						    : NULL;
	}
}

/* ---- loading */

/* Helpers run side by side; each has a thread here that only waits for it. */
static void run_job(void *ctx, size_t i)
{
	struct load_pool *pool = ctx;
	struct load_job *j = &pool->jobs[i];

	j->rc = sym_cache_load(pool->syms, &j->job, pool->cancel, &j->table, &j->err);
}

static int set_reason(struct profile_build *b, struct profile_image *img,
		      const char *text)
{
	if (!text || !*text)
		return 0;
	img->reason = arena_strdup(&b->p->arena, text);
	return img->reason ? 0 : profile_no_memory(b);
}

/* The advice for an image that is shown as itself. */
static const char *const remedies[SYM_NR_STATES] = {
	[SYM_NO_SYMBOLS] = "install its debug symbols",
	[SYM_MISSING] = "put it back where it was",
	[SYM_UNREADABLE] = "ask as a user who may read it",
	[SYM_CHANGED] = "put the one that was sampled back, or record again",
	[SYM_BROKEN] = "look at it with readelf, or install it anew",
};

/* Nobody can put a file back into a container that is not there. */
static const char *remedy_of(const struct profile_image *img)
{
	return img->job.at && (img->state == SYM_MISSING || img->state == SYM_CHANGED)
		       ? "copy it out of its container, and say where it is with "
			 "image-path:"
		       : remedies[img->state];
}

static int explain(struct profile_build *b, struct profile_image *img,
		   const struct sym_table *t, const char *what, const char *note)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	char id[BUILD_ID_TEXT];

	strbuf_puts(&text, what && *what ? archive_dir_shown(&b->p->cat->archive, what)
					 : sym_state_name(img->state));
	if (note)
		strbuf_printf(&text, "; %s", note);
	if (remedy_of(img))
		strbuf_printf(&text, "; %s", remedy_of(img));
	if (img->state == SYM_NO_SYMBOLS && t->build_id.len) {
		build_id_format(&t->build_id, id);
		strbuf_printf(&text, " (build-id %s)", id);
	}
	return strbuf_error(&text) ? profile_no_memory(b)
				   : set_reason(b, img, strbuf_str(&text));
}

/* Keeps the table, or drops it if the image is shown as itself. */
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
	img->job = j->job;
	img->job.cred = NULL;
	img->has_job = true;
	img->found = j->found;
	if (sym_usable(img->state) && !j->table->nr_syms)
		img->state = SYM_NO_SYMBOLS;
	if (img->state != SYM_OK)
		rc = explain(b, img, j->table, j->table->reason, j->note);
	if (!rc && (j->table->nr_syms || j->table->nr_entries) &&
	    (sym_usable(img->state) || profile_stripped(j->table)))
		img->table = TAKE(j->table);
	return rc;
}

static int note_other_mtime(struct profile_build *b, uint32_t image,
			    const struct identity *id)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	struct profile_image *img = &b->p->images[image];

	if (!id->other_mtime)
		return 0;
	if (img->reason)
		strbuf_printf(&text, "%s; ", img->reason);
	strbuf_printf(&text,
		      "its sample files disagree about the binary's time (%" PRIu64
		      " and %" PRIu64 "): it was replaced while it was profiled",
		      id->mtime, id->other_mtime);
	if (strbuf_error(&text))
		return profile_no_memory(b);
	return set_reason(b, img, strbuf_str(&text));
}

/* A file without a build-id may be another container's. */
static int use_archive(struct profile_build *b, struct sym_job *job)
{
	const char *path = job->path;
	int rc;

	if (job->at && !job->build_id.len)
		return 0;
	rc = archive_dir_job(&b->p->cat->archive, job, &b->p->arena);
	if (job->path != path)
		job->at = NULL;
	return rc;
}

/* One job for every image that may have symbols; the others get their reason at once. */
static void make_jobs(struct profile_build *b, const struct identity *ids,
		      struct load_job *jobs, size_t *nr, const struct cred *cred)
{
	for (uint32_t image = 0; image < b->p->cat->nr_images; image++) {
		struct load_job *j = &jobs[*nr];
		const char *reason = "symbols are not looked up here";

		if (!ids[image].used || b->p->images[image].jit)
			continue;
		*j = (struct load_job){ .image = image };
		j->job.cred = cred;
		if (b->syms)
			reason = identify(b, &b->p->cat->images[image], &ids[image],
					  &j->job);
		if (!reason && use_archive(b, &j->job))
			reason = "out of memory";
		b->p->images[image].state = SYM_NO_SYMBOLS;
		if (reason)
			b->p->images[image].reason = reason;
		else
			(*nr)++;
	}
}

static int take_results(struct profile_build *b, const struct identity *ids,
			struct load_pool *pool, int rc)
{
	for (size_t i = 0; i < pool->nr; i++) {
		if (!rc)
			rc = take_result(b, &pool->jobs[i]);
		sym_table_put(pool->jobs[i].table);
	}
	for (uint32_t image = 0; image < b->p->cat->nr_images && !rc; image++)
		if (ids[image].used)
			rc = note_other_mtime(b, image, &ids[image]);
	return rc;
}

/* ---- binaries that have moved */

static bool is_elsewhere(const struct load_job *j)
{
	return !j->rc &&
	       (j->table->state == SYM_MISSING || j->table->state == SYM_UNREADABLE ||
		j->table->state == SYM_CHANGED);
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The same job for the file that image-path: has instead; false: there is none. */
static bool look_elsewhere(struct profile_build *b, struct load_job *j,
			   struct load_job *again)
{
	bool module = j->job.kind == SYM_MODULE;
	const char *name = j->job.name;

	if (!module || !name)
		name = last_part(j->job.path ? j->job.path
					     : b->p->cat->images[j->image].shown);
	*again = (struct load_job){ .image = j->image, .job = j->job };
	again->job.at = NULL;
	again->job.inode = 0;
	again->job.path = profile_found(b, name, module, &j->note);
	again->found = module ? again->job.path : NULL;
	if (again->job.kind == SYM_KALLSYMS)
		again->job.kind = SYM_VMLINUX;
	return again->job.path != NULL;
}

/*
 * Takes the file that was found if it is the binary; otherwise says what is wrong with
 * it.
 */
static void take_better(struct load_job *j, struct load_job *again)
{
	if (!again->rc && (!is_elsewhere(again) || j->table->state == SYM_MISSING)) {
		sym_table_put(j->table);
		*j = *again;
		return;
	}
	sym_table_put(again->table);
}

static int run_elsewhere(struct profile_build *b, struct load_pool *pool)
{
	CLEANUP(free_ptr) struct load_job *jobs = NULL;
	CLEANUP(free_ptr) size_t *of = NULL;
	struct load_pool more = { .syms = pool->syms, .cancel = pool->cancel };

	if (!b->where.found)
		return 0;
	jobs = calloc(pool->nr + 1, sizeof(*jobs));
	of = calloc(pool->nr + 1, sizeof(*of));
	if (!jobs || !of)
		return profile_no_memory(b);
	more.jobs = jobs;
	for (size_t i = 0; i < pool->nr; i++)
		if (is_elsewhere(&pool->jobs[i]) &&
		    look_elsewhere(b, &pool->jobs[i], &jobs[more.nr]))
			of[more.nr++] = i;
	parallel_each("reading symbols", "images", more.nr, run_job, &more);
	for (size_t i = 0; i < more.nr; i++)
		take_better(&pool->jobs[of[i]], &jobs[i]);
	return 0;
}

/* Lists for profile_find_binaries() the names that may be asked for. */
static int find_binaries(struct profile_build *b, const struct identity *ids,
			 const struct cred *cred)
{
	CLEANUP(free_ptr) const char **names = NULL;
	size_t nr = 0;

	if (!b->syms || (!b->q->image_path && !b->q->root))
		return 0;
	names = calloc(2 * b->p->cat->nr_images + 1, sizeof(*names));
	if (!names)
		return profile_no_memory(b);
	for (size_t i = 0; i < b->p->cat->nr_images; i++) {
		const struct catalog_image *img = &b->p->cat->images[i];

		if (!ids[i].used)
			continue;
		names[nr++] = last_part(img->shown);
		if (img->row && img->row->real_path)
			names[nr++] = last_part(img->row->real_path);
	}
	return profile_find_binaries(b, names, nr, cred);
}

static size_t nr_used(const struct profile_build *b, const struct identity *ids)
{
	size_t nr = 0;

	for (size_t i = 0; i < b->p->cat->nr_images; i++)
		nr += ids[i].used;
	return nr;
}

int profile_load_images(struct profile_build *b)
{
	CLEANUP(free_ptr) struct load_job *jobs = NULL;
	CLEANUP(free_ptr) struct identity *ids = NULL;
	struct load_pool pool = { .syms = b->syms, .cancel = viewer_cancel(b->v) };
	const struct cred *who = viewer_cred(b->v);
	int rc;

	ids = calloc(b->p->cat->nr_images + 1, sizeof(*ids));
	if (!ids)
		return profile_no_memory(b);
	ask_headers(b, ids);
	jobs = calloc(nr_used(b, ids) + 1, sizeof(*jobs));
	if (!jobs)
		return profile_no_memory(b);
	pool.jobs = jobs;
	rc = find_binaries(b, ids, who);
	if (rc)
		return rc;
	make_jobs(b, ids, jobs, &pool.nr, who);
	parallel_each("reading symbols", "images", pool.nr, run_job, &pool);
	rc = run_elsewhere(b, &pool);
	return take_results(b, ids, &pool, rc);
}
