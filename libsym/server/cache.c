/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/server/cache.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/until.h"
#include "libsym/file/identity.h"
#include "libsym/wire/request.h"

/* Seconds after which a better table may be found; reading broken files takes long. */
enum { AGAIN_S = 10, BROKEN_S = 60 };

struct sym_cache {
	struct sym_server *server;
	struct cache *cache;
};

struct sym_cache *sym_cache_new(struct sym_server *server, struct cache *cache)
{
	struct sym_cache *c = malloc(sizeof(*c));

	if (c)
		*c = (struct sym_cache){ server, cache };
	return c;
}

void sym_cache_free(struct sym_cache *c)
{
	free(c);
}

struct sym_server *sym_cache_server(struct sym_cache *c)
{
	return c->server;
}

/* ---- which file a table was read from */

/* The names of the running kernel are in no file that could change: NULL. */
static const char *file_of(const struct sym_job *job)
{
	if (job->kind == SYM_KALLSYMS)
		return job->places ? job->places->kallsyms : NULL;
	return job->path;
}

/* If the answer is "not known", a helper, which has time limits, reads the file again. */
static struct sym_identity look_at(const struct sym_job *job)
{
	const char *path = file_of(job);

	return path && *path ? sym_identity_of(path)
			     : (struct sym_identity){ .known = true };
}

/* ---- what is cached */

struct loaded {
	int refs; /* atomic */
	struct sym_table *table;
	struct sym_identity identity;
	int64_t until;
};

static void *loaded_get(void *obj)
{
	struct loaded *l = obj;

	__atomic_add_fetch(&l->refs, 1, __ATOMIC_RELAXED);
	return l;
}

static void loaded_put(void *obj)
{
	struct loaded *l = obj;

	if (__atomic_sub_fetch(&l->refs, 1, __ATOMIC_ACQ_REL))
		return;
	sym_table_put(l->table);
	free(l);
}

static int64_t loaded_until(void *obj)
{
	return ((const struct loaded *)obj)->until;
}

struct load {
	struct sym_server *server;
	const struct sym_job *job;
	const atomic_bool *cancel;
};

static bool loaded_holds(void *obj, void *ctx)
{
	struct sym_identity now = look_at(((const struct load *)ctx)->job);

	return sym_identity_same(&((const struct loaded *)obj)->identity, &now);
}

/* Asking a helper again takes far longer than remaking anything from the tables. */
static const struct cache_kind loaded_kind = { .get = loaded_get,
					       .put = loaded_put,
					       .until = loaded_until,
					       .holds = loaded_holds,
					       .reserve = 35 };

/* Seconds until another file, or other rights, may give a better table; 0: never. */
static unsigned good_for(const struct sym_job *job, const struct sym_table *t)
{
	if (t->state == SYM_BROKEN)
		return BROKEN_S;
	if (t->state == SYM_MISSING || t->state == SYM_UNREADABLE ||
	    t->state == SYM_NO_SYMBOLS)
		return AGAIN_S;
	/* a better source may be installed; a module may be loaded elsewhere */
	if (t->source == SYM_FROM_DYNSYM || t->source == SYM_FROM_MINIDEBUG)
		return job->kind == SYM_VDSO ? 0 : AGAIN_S;
	return job->kind == SYM_MODULE && (!job->path || !*job->path) ? AGAIN_S : 0;
}

static int load(void *ctx, const struct viewer *v, void **obj, size_t *bytes,
		struct err *err)
{
	const struct load *ask = ctx;
	struct loaded *l = calloc(1, sizeof(*l));
	unsigned seconds;
	int rc;

	(void)v;
	if (!l)
		return err_errno(err, -ENOMEM, "symbols");
	l->identity = look_at(ask->job);
	rc = sym_server_load(ask->server, ask->job, ask->cancel, &l->table, err);
	if (rc) {
		free(l);
		return rc;
	}
	if (!l->identity.known) { /* by now the kernel has the path in memory */
		l->identity = look_at(ask->job);
		l->identity.known &= sym_identity_fits(&l->identity, l->table);
	}
	seconds = good_for(ask->job, l->table);
	l->until = seconds ? until_in(seconds) : 0;
	l->refs = 1;
	*obj = l;
	*bytes = sizeof(*l) + l->table->bytes;
	return 0;
}

int sym_cache_load(struct sym_cache *c, const struct sym_job *job,
		   const atomic_bool *cancel, struct sym_table **out, struct err *err)
{
	/*
	 * the key is the request, so it holds all that the answer depends on, with the
	 * user's rights, and where names were kept
	 */
	CLEANUP(strbuf_fini) struct strbuf request = { 0 };
	struct load ask = { c->server, job, cancel };
	struct viewer waits = { .cancel = cancel };
	void *obj;
	int rc;

	sym_request_load(job, &request);
	strbuf_puts(&request, job->kept ? job->kept : "");
	if (strbuf_error(&request))
		return err_errno(err, -ENOMEM, "symbols");
	rc = cache_get(c->cache, &loaded_kind, request.data, request.len, load, &ask,
		       &waits, &obj, err);
	if (rc)
		return rc;
	*out = sym_table_get(((struct loaded *)obj)->table);
	loaded_put(obj);
	return 0;
}
