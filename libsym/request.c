/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/request.h"

#include <errno.h>
#include <string.h>

#include "base/cursor.h"

static void put_u32(struct strbuf *out, uint32_t v)
{
	strbuf_add(out, &v, sizeof(v));
}

static void put_u64(struct strbuf *out, uint64_t v)
{
	strbuf_add(out, &v, sizeof(v));
}

static void put_str(struct strbuf *out, const char *s)
{
	strbuf_add(out, s ? s : "", s ? strlen(s) + 1 : 1);
}

static void begin(struct strbuf *out, uint32_t kind)
{
	struct sym_frame f = { .magic = SYM_REQUEST_MAGIC };

	strbuf_add(out, &f, sizeof(f));
	put_u32(out, kind);
}

static void end(struct strbuf *out)
{
	struct sym_frame f = { .magic = SYM_REQUEST_MAGIC };

	if (strbuf_error(out))
		return;
	f.len = (uint32_t)(out->len - sizeof(f));
	memcpy(out->data, &f, sizeof(f));
}

/* Numbers first, then groups, then texts: so that the numbers are aligned. */
void sym_request_load(const struct sym_job *job, struct strbuf *out)
{
	static const struct sym_places no_places;
	static const struct sym_cred no_cred;
	const struct sym_places *p = job->places ? job->places : &no_places;
	const struct sym_cred *c = job->cred ? job->cred : &no_cred;
	size_t nr_groups = c->nr_groups < SYM_MAX_GROUPS ? c->nr_groups : SYM_MAX_GROUPS;

	begin(out, SYM_REQUEST_LOAD);
	put_u32(out, job->kind);
	put_u64(out, (uint64_t)job->mtime);
	put_u32(out, job->build_id.len);
	strbuf_add(out, job->build_id.bytes, sizeof(job->build_id.bytes));
	put_u32(out, job->cred != NULL);
	put_u32(out, c->uid);
	put_u32(out, c->gid);
	put_u32(out, (uint32_t)nr_groups);
	for (size_t i = 0; i < nr_groups; i++)
		put_u32(out, c->groups[i]);
	put_str(out, job->path);
	put_str(out, job->name);
	put_str(out, p->debug_dir);
	put_str(out, p->kallsyms);
	put_str(out, p->modules);
	put_str(out, p->modules_dir);
	put_str(out, p->kernel_notes);
	end(out);
}

void sym_request_demangle(const char *const *names, size_t nr,
			  enum sym_demangle_style style, struct strbuf *out)
{
	begin(out, SYM_REQUEST_DEMANGLE);
	put_u32(out, style);
	put_u32(out, (uint32_t)nr);
	for (size_t i = 0; i < nr; i++)
		put_str(out, names[i]);
	end(out);
}

static void parse_load(struct cursor *c, struct sym_request *r)
{
	const void *id;
	uint32_t has_cred;

	r->job.kind = (enum sym_kind)cursor_u32(c);
	r->job.mtime = (int64_t)cursor_u64(c);
	r->job.build_id.len = (uint8_t)cursor_u32(c);
	id = cursor_bytes(c, sizeof(r->job.build_id.bytes));
	if (id)
		memcpy(r->job.build_id.bytes, id, sizeof(r->job.build_id.bytes));
	has_cred = cursor_u32(c);
	r->cred.uid = cursor_u32(c);
	r->cred.gid = cursor_u32(c);
	r->cred.nr_groups = cursor_u32(c);
	r->cred.groups = cursor_bytes(c, r->cred.nr_groups * sizeof(gid_t));
	r->job.path = cursor_str(c);
	r->job.name = cursor_str(c);
	r->places.debug_dir = cursor_str(c);
	r->places.kallsyms = cursor_str(c);
	r->places.modules = cursor_str(c);
	r->places.modules_dir = cursor_str(c);
	r->places.kernel_notes = cursor_str(c);
	r->job.places = &r->places;
	r->job.cred = has_cred ? &r->cred : NULL;
	c->bad |= r->job.build_id.len > sizeof(r->job.build_id.bytes) ||
		  (unsigned)r->job.kind >= SYM_NR_KINDS;
}

static void parse_demangle(struct cursor *c, struct sym_request *r)
{
	r->style = cursor_u32(c);
	r->nr_names = cursor_u32(c);
	r->names_len = cursor_left(c);
	r->names = cursor_bytes(c, r->names_len);
	if (r->names_len ? !r->names || r->names[r->names_len - 1] : r->nr_names)
		c->bad = true;
}

int sym_request_parse(const void *data, size_t len, struct sym_request *out,
		      struct err *err)
{
	struct cursor c = cursor_init(data, len);

	*out = (struct sym_request){ .kind = cursor_u32(&c) };
	if (out->kind == SYM_REQUEST_LOAD)
		parse_load(&c, out);
	else if (out->kind == SYM_REQUEST_DEMANGLE)
		parse_demangle(&c, out);
	else
		c.bad = true;
	return c.bad ? err_set(err, -EBADMSG, "symbol helper: bad request") : 0;
}
