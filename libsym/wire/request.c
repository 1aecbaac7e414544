/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/wire/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/strbuf.h"
#include "libsym/file/caches.h"
#include "libsym/file/find.h"
#include "libsym/wire/wire.h"

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

/* LEB128: numbers in groups of seven bits, lowest first, as DWARF has them. */
static void put_leb(struct strbuf *out, uint64_t v)
{
	char bytes[10];
	size_t n = 0;

	do {
		bytes[n++] = (char)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
		v >>= 7;
	} while (v);
	strbuf_add(out, bytes, n);
}

/* Bits beyond 64 are dropped; cut short is @c->bad and 0. */
static uint64_t get_leb(struct cursor *c)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t byte = 0x80;

	while (byte & 0x80 && c->off < c->len && !c->bad) {
		byte = c->data[c->off++];
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift = shift < 64 ? shift + 7 : shift;
	}
	c->bad |= byte & 0x80;
	return c->bad ? 0 : v;
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

static void put_cred(struct strbuf *out, const struct cred *cred)
{
	static const struct cred no_cred;
	/* the same rights are the same request */
	bool given = cred && !cred_is_own(cred);
	const struct cred *c = given ? cred : &no_cred;
	size_t nr_groups = c->nr_groups < SYM_MAX_GROUPS ? c->nr_groups : SYM_MAX_GROUPS;

	put_u32(out, given);
	put_u32(out, c->uid);
	put_u32(out, c->gid);
	put_u32(out, (uint32_t)nr_groups);
	for (size_t i = 0; i < nr_groups; i++)
		put_u32(out, c->groups[i]);
}

/* Numbers, then groups, then texts, so that the numbers are aligned. */
static void put_job(struct strbuf *out, const struct sym_job *job)
{
	static const struct sym_places no_places;
	const struct sym_places *p = job->places ? job->places : &no_places;

	put_u32(out, job->kind);
	put_u64(out, (uint64_t)job->mtime);
	put_u64(out, job->inode);
	put_u32(out, job->build_id.len <= SYM_WIRE_ID ? job->build_id.len : 0);
	strbuf_add(out, job->build_id.bytes, SYM_WIRE_ID);
	put_u32(out, geteuid()); /* whose caches are told below */
	put_cred(out, job->cred);
	put_str(out, job->path);
	put_str(out, job->name);
	put_str(out, job->at);
	put_str(out, p->debug_dir);
	put_str(out, p->kallsyms);
	put_str(out, p->modules);
	put_str(out, p->modules_dir);
	put_str(out, p->kernel_notes);
	put_str(out, p->debuginfod ? p->debuginfod : sym_caches_debuginfod());
	put_str(out, p->perf ? p->perf : sym_caches_perf());
}

void sym_request_load(const struct sym_job *job, struct strbuf *out)
{
	begin(out, SYM_REQUEST_LOAD);
	put_job(out, job);
	end(out);
}

/* A signed distance, in few bytes if it is short. */
static uint64_t fold(uint64_t v)
{
	return v << 1 ^ (v >> 63 ? ~UINT64_C(0) : 0);
}

static uint64_t unfold(uint64_t v)
{
	return v >> 1 ^ (v & 1 ? ~UINT64_C(0) : 0);
}

/* As distances from one range to the next: there may be millions of single bytes. */
void sym_request_parts(enum sym_request_kind kind, const struct sym_job *job,
		       const struct sym_parts *parts, struct strbuf *out)
{
	uint64_t at = 0;

	begin(out, kind);
	put_job(out, job);
	put_str(out, parts->options);
	strbuf_putc(out, parts->options != NULL);
	put_leb(out, parts->flags);
	put_leb(out, parts->nr);
	for (size_t i = 0; i < parts->nr; i++) {
		put_leb(out, fold(parts->ranges[i].off - at));
		put_leb(out, parts->ranges[i].end - parts->ranges[i].off);
		at = parts->ranges[i].end;
	}
	end(out);
}

void sym_request_paths(enum sym_request_kind kind, const char *const *paths, size_t nr,
		       const struct cred *cred, struct strbuf *out)
{
	begin(out, kind);
	put_cred(out, cred);
	put_u32(out, (uint32_t)nr);
	for (size_t i = 0; i < nr; i++)
		put_str(out, paths[i]);
	end(out);
}

void sym_request_find(const struct sym_wanted *w, const struct cred *cred,
		      struct strbuf *out)
{
	begin(out, SYM_REQUEST_FIND);
	put_cred(out, cred);
	put_u32(out, (uint32_t)w->nr_dirs);
	put_u32(out, (uint32_t)(w->nr_dirs + w->nr_names));
	for (size_t i = 0; i < w->nr_dirs; i++)
		put_str(out, w->dirs[i]);
	for (size_t i = 0; i < w->nr_names; i++)
		put_str(out, w->names[i]);
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

static void parse_cred(struct cursor *c, struct sym_request *r)
{
	uint32_t has_cred = cursor_u32(c);

	r->cred.uid = cursor_u32(c);
	r->cred.gid = cursor_u32(c);
	r->cred.nr_groups = cursor_u32(c);
	r->cred.groups = cursor_bytes(c, r->cred.nr_groups * sizeof(gid_t));
	r->who = has_cred ? &r->cred : NULL;
}

static void parse_job(struct cursor *c, struct sym_request *r)
{
	const void *id;

	r->job.kind = (enum sym_kind)cursor_u32(c);
	r->job.mtime = (int64_t)cursor_u64(c);
	r->job.inode = cursor_u64(c);
	r->job.build_id.len = (uint8_t)cursor_u32(c);
	id = cursor_bytes(c, SYM_WIRE_ID);
	if (id)
		memcpy(r->job.build_id.bytes, id, SYM_WIRE_ID);
	r->places.owner = cursor_u32(c);
	parse_cred(c, r);
	r->job.path = cursor_str(c);
	r->job.name = cursor_str(c);
	r->job.at = cursor_str(c);
	r->places.debug_dir = cursor_str(c);
	r->places.kallsyms = cursor_str(c);
	r->places.modules = cursor_str(c);
	r->places.modules_dir = cursor_str(c);
	r->places.kernel_notes = cursor_str(c);
	r->places.debuginfod = cursor_str(c);
	r->places.perf = cursor_str(c);
	if (r->job.at && !*r->job.at)
		r->job.at = NULL;
	r->job.places = &r->places;
	r->job.cred = r->who;
	c->bad |= r->job.build_id.len > SYM_WIRE_ID ||
		  (unsigned)r->job.kind >= SYM_NR_KINDS;
}

static int parse_ranges(struct cursor *c, struct sym_request *r)
{
	uint64_t nr = get_leb(c), at = 0;

	if (c->bad || nr > cursor_left(c) / 2) { /* a range is two bytes at least */
		c->bad = true;
		return 0;
	}
	r->ranges = malloc((nr + 1) * sizeof(*r->ranges));
	if (!r->ranges)
		return -ENOMEM;
	for (uint64_t i = 0; i < nr; i++) {
		struct sym_range *to = &r->ranges[i];

		to->off = at + unfold(get_leb(c));
		c->bad |= __builtin_add_overflow(to->off, get_leb(c), &to->end);
		at = to->end;
	}
	r->parts.ranges = r->ranges;
	r->parts.nr = nr;
	return 0;
}

static int parse_parts(struct cursor *c, struct sym_request *r)
{
	const char *options;

	parse_job(c, r);
	options = cursor_str(c);
	r->parts.options = cursor_u8(c) ? options : NULL;
	r->parts.flags = (uint32_t)get_leb(c);
	return c->bad ? 0 : parse_ranges(c, r);
}

/* The rest is that number of texts. */
static void parse_names(struct cursor *c, struct sym_request *r)
{
	r->nr_names = cursor_u32(c);
	r->names_len = cursor_left(c);
	r->names = cursor_bytes(c, r->names_len);
	if (r->names_len ? !r->names || r->names[r->names_len - 1] : r->nr_names)
		c->bad = true;
}

static int parse_load(struct cursor *c, struct sym_request *r)
{
	parse_job(c, r);
	return 0;
}

static int parse_demangle(struct cursor *c, struct sym_request *r)
{
	r->style = cursor_u32(c);
	parse_names(c, r);
	return 0;
}

static int parse_paths(struct cursor *c, struct sym_request *r)
{
	parse_cred(c, r);
	parse_names(c, r);
	return 0;
}

static int parse_find(struct cursor *c, struct sym_request *r)
{
	parse_cred(c, r);
	r->nr_dirs = cursor_u32(c);
	parse_names(c, r);
	return 0;
}

static int (*const parsers[SYM_NR_REQUESTS])(struct cursor *, struct sym_request *) = {
	[SYM_REQUEST_LOAD] = parse_load,     [SYM_REQUEST_DEMANGLE] = parse_demangle,
	[SYM_REQUEST_LINES] = parse_parts,   [SYM_REQUEST_DISASM] = parse_parts,
	[SYM_REQUEST_SOURCE] = parse_paths,  [SYM_REQUEST_FIND] = parse_find,
	[SYM_REQUEST_RESOLVE] = parse_paths, [SYM_REQUEST_OPEN] = parse_paths,
};

void sym_request_fini(struct sym_request *r)
{
	free(r->ranges);
	r->ranges = NULL;
	r->parts = (struct sym_parts){ 0 };
}

int sym_request_parse(const void *data, size_t len, struct sym_request *out,
		      struct err *err)
{
	struct cursor c = cursor_init(data, len);
	int rc = 0;

	*out = (struct sym_request){ .kind = cursor_u32(&c) };
	if (out->kind < SYM_NR_REQUESTS)
		rc = parsers[out->kind](&c, out);
	else
		c.bad = true;
	if (!c.bad && !rc)
		return 0;
	sym_request_fini(out);
	return rc ? err_errno(err, rc, "symbol helper")
		  : err_set(err, -EBADMSG, "symbol helper: bad request");
}
