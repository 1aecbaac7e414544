/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/jit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/regular.h"
#include "base/vec.h"
#include "libspec/jit/jit_file.h"
#include "libspec/spec/match.h"
#include "libsym/server/cache.h"
#include "libsym/server/server.h"
#include "libsym/wire/wire.h"

/* What one session has of one process. */
struct kept {
	uint32_t dir, tgid;
	struct spec_jit_list codes; /* settled */
};

typedef VEC(struct kept *) kept_list;

static void free_all(kept_list *all)
{
	vec_for(all, k) {
		spec_jit_list_fini(&(*k)->codes);
		free(*k);
	}
	vec_fini(all);
}

/* May the viewer know it? */
static bool may_read(const struct profile_build *b, const struct stat *st)
{
	const struct cred *who = viewer_cred(b->q->reader);

	return !who || cred_allows(who, st, S_IROTH);
}

static int read_names(struct profile_build *b, struct kept *k)
{
	int fd = b->p->cat->dirs[k->dir].fd;
	struct err why = { 0 };
	struct stat st;
	char path[SPEC_JIT_PATH];
	const struct catalog_file file = { .path = path, .dir = k->dir };
	int rc =
		fd < 0 ? -ENOENT : spec_jit_read(fd, k->tgid, &k->codes, &st, NULL, &why);

	if (rc == -ENOMEM)
		return profile_no_memory(b);
	if (rc == -ENOENT || rc == -EACCES)
		return 0;
	if (!rc && !may_read(b, &st))
		k->codes.codes.len = 0;
	spec_jit_path(k->tgid, path);
	return rc ? profile_note_bad(b, &file, &why) : 0;
}

/* NULL if out of memory. */
static struct kept *need(struct profile_build *b, kept_list *all, uint32_t dir,
			 uint32_t tgid)
{
	struct kept *k;

	vec_for(all, at)
		if ((*at)->dir == dir && (*at)->tgid == tgid)
			return *at;
	k = calloc(1, sizeof(*k));
	if (!k || vec_push(all, k)) {
		free(k);
		profile_no_memory(b);
		return NULL;
	}
	k->dir = dir;
	k->tgid = tgid;
	return read_names(b, k) ? NULL : k;
}

/* Adds those of a region. */
static int add_codes(const struct spec_jit_list *from, const struct spec_image *region,
		     struct spec_jit_list *out)
{
	const struct spec_jit_code *all = from->codes.data;
	size_t lo = 0, hi = from->codes.len;
	int rc = 0;

	while (lo < hi) { /* the first that begins in it */
		size_t mid = lo + (hi - lo) / 2;

		if (all[mid].start < region->start)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; !rc && lo < from->codes.len && all[lo].start <= region->end; lo++)
		rc = spec_jit_add(out, all[lo].start, all[lo].size, all[lo].name,
				  strlen(all[lo].name));
	return rc;
}

/* ---- .jo files of OProfile: beside the samples of a process's memory, an ELF file whose
 * symbols' addresses are those in the process */

/* The one of a sample file's path: "{root}/a/{dep}/{anon:x}/12.jo". */
static bool jo_path(const char *path, struct strbuf *out)
{
	static const char before[] = "/{dep}/{anon:";
	const char *anon = strstr(path, before);
	const char *name = anon ? strchr(anon + sizeof(before) - 1, '/') : NULL;
	size_t digits = name ? strspn(name + 1, "0123456789") : 0;

	if (!digits || name[1 + digits] != '.')
		return false;
	strbuf_add(out, path, (size_t)(name + 1 + digits - path));
	strbuf_puts(out, ".jo");
	return !strbuf_error(out);
}

static int take_symbols(const struct sym_table *t, const struct spec_image *region,
			struct spec_jit_list *out)
{
	int rc = 0;

	for (size_t i = 0; i < t->nr_syms && !rc; i++)
		if (t->syms[i].vma >= region->start && t->syms[i].vma <= region->end)
			rc = spec_jit_add(out, t->syms[i].vma, t->syms[i].size,
					  sym_name(&t->syms[i]),
					  strlen(sym_name(&t->syms[i])));
	return rc;
}

/* 0 also if there is none, or none that can be read: that is noted. */
static int read_jo(struct profile_build *b, const struct catalog_file *file,
		   const struct spec_image *region, struct spec_jit_list *out)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	CLEANUP(sym_table_putp) struct sym_table *t = NULL;
	CLEANUP(close_fd) int at = -1, fd = -1;
	struct sym_job job = { .kind = SYM_USER };
	struct err why = { 0 };
	struct stat st;
	char self[64];
	int rc;

	if (!jo_path(file->path, &path))
		return strbuf_error(&path);
	at = file_open_within(b->p->cat->dirs[file->dir].fd, strbuf_str(&path),
			      O_PATH | O_NOFOLLOW);
	fd = at < 0 ? -1 : regular_reopen(at, &st);
	if (fd < 0 || !may_read(b, &st))
		return 0;
	snprintf(self, sizeof(self), "/proc/%d/fd/%d", (int)getpid(), fd);
	job.path = strbuf_str(&path);
	job.at = self;
	rc = sym_server_load(sym_cache_server(b->syms), &job, viewer_cancel(b->v), &t,
			     &why);
	if (rc == -EINTR)
		return profile_interrupted(b);
	if (!rc && sym_usable(t->state))
		return take_symbols(t, region, out);
	if (rc == -ENOMEM)
		return rc;
	if (!rc)
		err_set(&why, -EBADMSG, "%s", t->reason);
	return profile_note_bad(
		b, &(struct catalog_file){ .path = path.data, .dir = file->dir }, &why);
}

/* Those of the region's process, once of each session. */
static int add_jo(struct profile_build *b, uint32_t image,
		  const struct spec_image *region, struct spec_jit_list *out)
{
	const struct catalog *cat = b->q->cat;
	int rc = 0;

	for (uint32_t dir = 0; dir < cat->nr_dirs && !rc; dir++)
		for (size_t i = 0; i < cat->nr_flat; i++) {
			const struct catalog_file *file = &cat->files[i];

			if (file->image != image || file->dir != dir)
				continue;
			rc = read_jo(b, file, region, out);
			break;
		}
	return rc;
}

/* ---- both */

/* A region's code as symbols; offsets are from its first byte on, as keys are. */
static int make_table(const struct spec_jit_list *codes, const struct spec_image *region,
		      struct sym_table **out)
{
	CLEANUP(sym_build_fini)
	struct sym_build build = { .state = SYM_OK, .source = SYM_FROM_JIT };
	CLEANUP(strbuf_fini) struct strbuf wire = { 0 };
	uint64_t size = region->end - region->start + 1;
	int rc;

	sym_build_section(&build, 0, size, region->start);
	vec_for(&codes->codes, c) {
		const struct sym_cand cand = { .off = c->start - region->start,
					       .size = c->size,
					       .vma = c->start,
					       .limit = size,
					       .name = c->name,
					       .flags = SYM_GLOBAL };

		sym_build_add(&build, &cand);
	}
	rc = sym_build_finish(&build);
	if (!rc)
		rc = sym_wire_encode(&build, &wire);
	return rc ? rc : sym_wire_decode(wire.data, wire.len, out, NULL);
}

static int load_image(struct profile_build *b, uint32_t image, kept_list *all)
{
	static char shown[] = SPEC_MATCH_JIT;
	CLEANUP(spec_jit_list_fini) struct spec_jit_list codes = { 0 };
	struct catalog_image *img = &b->p->cat->images[image];
	const char *stored = b->q->cat->images[image].shown;
	struct profile_image *out = &b->p->images[image];
	int rc = 0;

	for (uint32_t i = 0; i < b->q->cat->nr_dirs && !rc; i++) {
		struct spec_image name = b->q->cat->images[image].name;
		struct kept *k;

		if (!spec_regions_find(&b->q->cat->dirs[i].regions, stored,
				       viewer_cred(b->q->reader), &name))
			continue;
		k = need(b, all, i, name.tgid);
		if (!k)
			return -ENOMEM;
		rc = add_codes(&k->codes, &img->name, &codes);
	}
	if (!rc)
		rc = add_jo(b, image, &img->name, &codes);
	if (!rc && codes.codes.len)
		rc = spec_jit_settle(&codes, NULL);
	if (!rc && codes.codes.len)
		rc = make_table(&codes, &img->name, &out->table);
	if (rc == -ENOMEM)
		return profile_no_memory(b);
	if (!out->table)
		return 0;
	out->state = SYM_OK;
	out->jit = true;
	img->shown = shown;
	img->base = shown;
	return 0;
}

/* A vdso that is known has symbols of its own. */
static bool may_be_jit(const struct profile_build *b, uint32_t image)
{
	const struct catalog_image *img = &b->p->cat->images[image];

	return b->p->images[image].used && img->label &&
	       (strcmp(img->label, "[vdso]") != 0 || !img->row ||
		!img->row->build_id.len);
}

int profile_load_jit(struct profile_build *b)
{
	CLEANUP(free_all) kept_list all = { 0 };
	int rc = 0;

	/* else there is no memory without a file */
	if (b->p->cat == b->q->cat || !b->syms)
		return 0;
	for (uint32_t i = 0; i < b->q->cat->nr_images && !rc; i++)
		if (may_be_jit(b, i))
			rc = load_image(b, i, &all);
	return rc;
}
