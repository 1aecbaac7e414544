/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/vec.h"
#include "libsym/source_wire.h"
#include "opfs/annotate.h"

/* Paths where a source file may be, the most likely first; each is heap. */
struct paths {
	VEC(char *) list;
};

static void paths_fini(struct paths *p)
{
	vec_for(&p->list, it)
		free(*it);
	vec_fini(&p->list);
}

static int add_path(struct paths *p, const char *dir, const char *name)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	char *text;

	strbuf_puts(&path, dir);
	if (*dir && *name != '/')
		strbuf_putc(&path, '/');
	strbuf_puts(&path, name);
	text = strbuf_take(&path);
	if (text && !vec_push(&p->list, text))
		return 0;
	free(text);
	return -ENOMEM;
}

/* @name without the directory @base in front, else NULL. */
static const char *below(const char *name, const char *base)
{
	size_t len = strlen(base);

	while (len && base[len - 1] == '/')
		len--;
	if (strncmp(name, base, len) != 0 || name[len] != '/')
		return NULL;
	return name + len;
}

/* Only the first base directory that fits is taken off. */
static const char *without_base(const struct spec_value *bases, const char *name)
{
	for (size_t i = 0; bases && i < bases->items.nr; i++) {
		const char *base = bases->items.items[i].text;
		const char *rest = *base ? below(name, base) : NULL;

		if (rest)
			return rest;
	}
	return name;
}

static int candidates(const struct options *o, const struct archive_dir *archive,
		      const char *name, struct paths *out)
{
	const struct spec_value *dirs = o->search_dirs;
	CLEANUP(strbuf_fini) struct strbuf kept = { 0 };
	const char *rest = without_base(o->base_dirs, name);

	for (size_t i = 0; dirs && i < dirs->items.nr; i++)
		if (*dirs->items.items[i].text &&
		    add_path(out, dirs->items.items[i].text, rest))
			return -ENOMEM;
	if (archive_dir_path(archive, name, &kept) &&
	    add_path(out, "", strbuf_str(&kept)))
		return -ENOMEM;
	/* A relative one would be relative to wherever opfs was started. */
	return *name == '/' ? add_path(out, "", name) : 0;
}

/* A text that only says why there is none. */
static int no_source(const char *name, const char *why, struct sym_text **out)
{
	CLEANUP(strbuf_fini) struct strbuf reason = { 0 };

	strbuf_printf(&reason, "%s: %s", name, why);
	return strbuf_error(&reason)
		       ? -ENOMEM
		       : sym_source_none(SYM_MISSING, strbuf_str(&reason), out, NULL);
}

int annotate_open(const struct report_job *job, const char *name, struct sym_text **out,
		  struct err *err)
{
	CLEANUP(paths_fini) struct paths paths = { 0 };
	const struct archive_dir *archive = &job->p->cat->archive;
	const struct viewer *v = job->v;
	struct sym_cred cred;
	struct err why = { 0 };
	int rc;

	if (candidates(job->o, archive, name, &paths))
		return report_no_memory(err);
	if (!paths.list.len)
		rc = no_source(name, "is no absolute path", out);
	else if (!job->syms)
		rc = no_source(name, "sources are not looked up here", out);
	else {
		if (v)
			cred = (struct sym_cred){ v->uid, v->gid, v->groups,
						  v->nr_groups };
		rc = sym_server_source(sym_cache_server(job->syms),
				       (const char *const *)paths.list.data,
				       paths.list.len, v ? &cred : NULL,
				       v ? v->cancel : NULL, out, &why);
		if (rc && rc != -EINTR && rc != -ENOMEM)
			rc = no_source(name, why.msg, out);
	}
	if (rc == -EINTR)
		return report_interrupted(err);
	if (rc)
		return report_no_memory(err);
	/* Its place in an archive is nobody's business. */
	(*out)->path = archive_dir_shown(archive, (*out)->path);
	(*out)->reason = archive_dir_shown(archive, (*out)->reason);
	return 0;
}

bool annotate_always(const struct options *o)
{
	(void)o;
	return true;
}

int annotate_check(const struct report_job *job, struct err *err)
{
	if (job->o->base_dirs && !job->o->search_dirs)
		return err_set(
			err, -EINVAL,
			"base-dirs: is useless unless search-dirs: tells an "
			"alternative source location: add search-dirs:%%2FDIRECTORY");
	return 0;
}
