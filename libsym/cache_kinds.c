/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/cache_kind.h"

#include <sys/sysmacros.h>

enum { AGAIN_S = 10, BROKEN_S = 60 };

/* What another file, or other rights, may give soon; trying what is broken is dear. */
static int64_t state_is_good_for(enum sym_state state)
{
	if (state == SYM_BROKEN)
		return BROKEN_S;
	return state == SYM_MISSING || state == SYM_UNREADABLE || state == SYM_NO_SYMBOLS
		       ? AGAIN_S
		       : 0;
}

static int table_load(struct sym_server *s, const struct sym_ask *ask, void **out,
		      struct err *err)
{
	struct sym_table *t = NULL;
	int rc = sym_server_load(s, ask->job, ask->cancel, &t, err);

	*out = t;
	return rc;
}

static void *table_get(void *t)
{
	return sym_table_get(t);
}

static void table_put(void *t)
{
	sym_table_put(t);
}

static size_t table_bytes(const void *t)
{
	return ((const struct sym_table *)t)->bytes;
}

static int64_t table_good_for(const struct sym_job *job, const void *thing)
{
	const struct sym_table *t = thing;
	int64_t limit = state_is_good_for(t->state);

	if (limit)
		return limit;
	/* a better source may be installed; a module may be loaded elsewhere */
	if (t->source == SYM_FROM_DYNSYM || t->source == SYM_FROM_MINIDEBUG)
		return job->kind == SYM_VDSO ? 0 : AGAIN_S;
	return job->kind == SYM_MODULE && (!job->path || !*job->path) ? AGAIN_S : 0;
}

static bool table_is_of(const void *thing, const struct sym_identity *id)
{
	const struct sym_table *t = thing;

	return t->ino == id->st.stx_ino && t->file_size == id->st.stx_size &&
	       t->mtime == id->st.stx_mtime.tv_sec &&
	       (!t->ino || t->dev == makedev(id->st.stx_dev_major, id->st.stx_dev_minor));
}

/* Lines and code do not tell: they are found again once the file's path is known. */
static bool never_is_of(const void *thing, const struct sym_identity *id)
{
	(void)thing;
	(void)id;
	return false;
}

static int lines_load(struct sym_server *s, const struct sym_ask *ask, void **out,
		      struct err *err)
{
	struct sym_lines *l = NULL;
	int rc = sym_server_lines(s, ask->job, ask->ranges, ask->nr_ranges, ask->flags,
				  ask->cancel, &l, err);

	*out = l;
	return rc;
}

static void *lines_get(void *l)
{
	return sym_lines_get(l);
}

static void lines_put(void *l)
{
	sym_lines_put(l);
}

static size_t lines_bytes(const void *l)
{
	return ((const struct sym_lines *)l)->bytes;
}

static int64_t lines_good_for(const struct sym_job *job, const void *l)
{
	(void)job;
	return state_is_good_for(((const struct sym_lines *)l)->state);
}

static int disasm_load(struct sym_server *s, const struct sym_ask *ask, void **out,
		       struct err *err)
{
	struct sym_disasm *d = NULL;
	int rc = sym_server_disasm(s, ask->job, ask->ranges, ask->nr_ranges, ask->options,
				   ask->cancel, &d, err);

	*out = d;
	return rc;
}

static void *disasm_get(void *d)
{
	return sym_disasm_get(d);
}

static void disasm_put(void *d)
{
	sym_disasm_put(d);
}

static size_t disasm_bytes(const void *d)
{
	return ((const struct sym_disasm *)d)->bytes;
}

static int64_t disasm_good_for(const struct sym_job *job, const void *d)
{
	(void)job;
	return state_is_good_for(((const struct sym_disasm *)d)->state);
}

static const struct sym_cache_kind tables = {
	"table",     table_load,     table_get,   table_put,
	table_bytes, table_good_for, table_is_of,
};
static const struct sym_cache_kind lines = {
	"lines",     lines_load,     lines_get,   lines_put,
	lines_bytes, lines_good_for, never_is_of,
};
static const struct sym_cache_kind code = {
	"code",       disasm_load,     disasm_get,  disasm_put,
	disasm_bytes, disasm_good_for, never_is_of,
};

int sym_cache_load(struct sym_cache *c, const struct sym_job *job,
		   const atomic_bool *cancel, struct sym_table **out, struct err *err)
{
	struct sym_ask ask = { .kind = &tables, .job = job, .cancel = cancel };
	void *thing = NULL;
	int rc = sym_cache_ask(c, &ask, &thing, err);

	if (!rc)
		*out = thing;
	return rc;
}

int sym_cache_lines(struct sym_cache *c, const struct sym_job *job,
		    const struct sym_range *ranges, size_t nr, unsigned flags,
		    const atomic_bool *cancel, struct sym_lines **out, struct err *err)
{
	struct sym_ask ask = { .kind = &lines,
			       .job = job,
			       .ranges = ranges,
			       .nr_ranges = nr,
			       .flags = flags,
			       .cancel = cancel };
	void *thing = NULL;
	int rc = sym_cache_ask(c, &ask, &thing, err);

	if (!rc)
		*out = thing;
	return rc;
}

int sym_cache_disasm(struct sym_cache *c, const struct sym_job *job,
		     const struct sym_range *ranges, size_t nr, const char *options,
		     const atomic_bool *cancel, struct sym_disasm **out, struct err *err)
{
	struct sym_ask ask = { .kind = &code,
			       .job = job,
			       .ranges = ranges,
			       .nr_ranges = nr,
			       .options = options,
			       .cancel = cancel };
	void *thing = NULL;
	int rc = sym_cache_ask(c, &ask, &thing, err);

	if (!rc)
		*out = thing;
	return rc;
}
