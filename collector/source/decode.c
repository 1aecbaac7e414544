/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/source/decode.h"

#include <elf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "base/cursor.h"

enum { HEADER = sizeof(struct perf_event_header) };

_Static_assert((uint64_t)PERF_CONTEXT_MAX == COLL_CONTEXT_MAX, "markers of perf");

int coll_decoder_add(struct coll_decoder *d, uint64_t id, uint32_t event)
{
	return map_u64_set(&d->events, id, event);
}

void coll_decoder_fini(struct coll_decoder *d)
{
	map_u64_fini(&d->events);
}

static bool find_event(struct coll_decoder *d, uint64_t id, uint32_t *event)
{
	uint64_t value;

	if (id != d->last_id || !id) {
		if (!map_u64_get(&d->events, id, &value))
			return false;
		d->last_id = id;
		d->last_event = (uint32_t)value;
	}
	*event = d->last_event;
	return true;
}

static enum coll_domain domain_of(uint16_t misc)
{
	switch (misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_KERNEL:
		return COLL_KERNEL;
	case PERF_RECORD_MISC_USER:
		return COLL_USER;
	default:
		return COLL_OTHER;
	}
}

static uint32_t u32_at(const char *rec, uint16_t at)
{
	uint32_t value;

	memcpy(&value, rec + at, sizeof(value));
	return value;
}

static uint64_t u64_at(const char *rec, uint16_t at)
{
	uint64_t value;

	memcpy(&value, rec + at, sizeof(value));
	return value;
}

/* Whether there are as many frames as were asked for, marks of their mode aside. */
static bool is_cut(const struct coll_layout *l, const struct coll_sample *s, uint64_t nr)
{
	size_t frames = 0;

	if (nr > s->nr_ips)
		return true;
	if (!l->max_frames || nr < l->max_frames)
		return false;
	for (size_t i = 0; i < s->nr_ips; i++)
		frames += s->ips[i] < COLL_CONTEXT_MAX;
	return frames >= l->max_frames;
}

/* What follows the fields of a sample: counters, and the chain. */
static int decode_chain(const struct coll_layout *l, struct cursor *c,
			struct coll_sample *out)
{
	size_t skip = coll_layout_read_size(l, c->data + c->off, cursor_left(c));
	uint64_t nr;

	if (skip == SIZE_MAX)
		return -EBADMSG;
	cursor_skip(c, skip);
	if (!l->callchain)
		return 0;
	nr = cursor_u64(c);
	if (nr > cursor_left(c) / 8)
		return -EBADMSG;
	out->nr_ips = nr < COLL_MAX_FRAMES ? (size_t)nr : COLL_MAX_FRAMES;
	out->ips = cursor_bytes(c, (size_t)nr * 8);
	out->cut = is_cut(l, out, nr);
	return 0;
}

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { MACHINE = EM_AARCH64 };
#endif

/*
 * Registers, and as much of the stack as was copied.  Threads of the kernel have no user
 * part, and those of 32-bit programs have other registers.
 */
static int decode_user_stack(struct coll_decoder *d, struct cursor *c,
			     struct coll_sample *out)
{
	const struct coll_layout *l = &d->layout;
	struct coll_user_stack *s = &d->user_stack;
	uint64_t abi = cursor_u64(c), size;
	const uint64_t *regs = NULL;

	*s = (struct coll_user_stack){ .machine = MACHINE,
				       .none = abi != PERF_SAMPLE_REGS_ABI_64 };
	if (abi)
		regs = cursor_bytes(c, 8 * (size_t)__builtin_popcountll(l->regs));
	if (regs && !s->none)
		coll_layout_registers(l, regs, &s->regs);
	out->user_stack = abi ? s : NULL;
	if (!l->copy_bytes)
		return 0;
	size = cursor_u64(c);
	if (size > cursor_left(c))
		return -EBADMSG;
	if (!size)
		return 0;
	s->bytes = cursor_bytes(c, (size_t)size);
	s->size = (size_t)cursor_u64(c); /* what was copied of it */
	s->whole = s->size < size;
	return s->size > size ? -EBADMSG : 0;
}

static int decode_sample(struct coll_decoder *d, struct cursor *c, uint16_t misc,
			 struct coll_rec *out)
{
	const struct coll_layout *l = &d->layout;
	const char *rec = (const char *)c->data;
	int rc = 0;

	cursor_skip(c, (size_t)l->end - HEADER);
	if (c->bad)
		return -EBADMSG;
	out->sample = (struct coll_sample){ .domain = domain_of(misc),
					    .ip = u64_at(rec, l->ip) };
	out->tgid = u32_at(rec, l->task);
	out->tid = u32_at(rec, l->task + 4);
	out->time_ns = u64_at(rec, l->time);
	out->cpu = l->cpu ? u32_at(rec, l->cpu) : 0;
	if (!find_event(d, u64_at(rec, l->id), &out->event))
		return -EBADMSG;
	if (l->reads || l->callchain)
		rc = decode_chain(l, c, &out->sample);
	return !rc && l->regs ? decode_user_stack(d, c, &out->sample) : rc;
}

static int decode_mmap(struct coll_decoder *d, struct cursor *c, uint16_t misc,
		       struct coll_rec *out)
{
	struct coll_mmap *m = &out->mmap;
	const uint8_t *id;

	(void)d;
	*m = (struct coll_mmap){ 0 };
	out->tgid = cursor_u32(c);
	out->tid = cursor_u32(c);
	m->start = cursor_u64(c);
	m->len = cursor_u64(c);
	m->pgoff = cursor_u64(c);
	id = cursor_bytes(c, 24);
	cursor_u32(c); /* protection */
	cursor_u32(c); /* flags */
	m->filename = cursor_str(c);
	m->kernel = domain_of(misc) == COLL_KERNEL;
	if (c->bad)
		return -EBADMSG;
	/*
	 * Never a build-id, whatever @misc says: none is asked for (perf_open.c), and
	 * kernels leave the flag of another profiler's event on the record of ours.
	 */
	memcpy(&m->dev_major, id, 4);
	memcpy(&m->dev_minor, id + 4, 4);
	memcpy(&m->inode, id + 8, 8);
	memcpy(&m->inode_gen, id + 16, 8);
	return 0;
}

static int decode_comm(struct coll_decoder *d, struct cursor *c, uint16_t misc,
		       struct coll_rec *out)
{
	(void)d;
	out->tgid = cursor_u32(c);
	out->tid = cursor_u32(c);
	out->comm.name = cursor_str(c);
	out->comm.exec = misc & PERF_RECORD_MISC_COMM_EXEC;
	return 0;
}

/* PERF_RECORD_FORK and PERF_RECORD_EXIT are alike. */
static int decode_task(struct coll_decoder *d, struct cursor *c, uint16_t misc,
		       struct coll_rec *out)
{
	(void)d;
	(void)misc;
	out->tgid = cursor_u32(c);
	out->parent.tgid = cursor_u32(c);
	out->tid = cursor_u32(c);
	out->parent.tid = cursor_u32(c);
	out->time_ns = cursor_u64(c);
	return 0;
}

static int decode_lost(struct coll_decoder *d, struct cursor *c, uint16_t misc,
		       struct coll_rec *out)
{
	(void)d;
	(void)misc;
	cursor_u64(c); /* the event that met the full ring; it lost for all */
	out->lost = cursor_u64(c);
	return 0;
}

static int decode_lost_samples(struct coll_decoder *d, struct cursor *c, uint16_t misc,
			       struct coll_rec *out)
{
	(void)d;
	(void)misc;
	out->lost = cursor_u64(c);
	return 0;
}

static int decode_throttle(struct coll_decoder *d, struct cursor *c, uint16_t misc,
			   struct coll_rec *out)
{
	uint64_t id;

	(void)misc;
	out->time_ns = cursor_u64(c);
	id = cursor_u64(c);
	cursor_u64(c); /* stream */
	return find_event(d, id, &out->event) ? 0 : -EBADMSG;
}

static const struct kind {
	enum coll_rec_kind kind;
	int (*decode)(struct coll_decoder *d, struct cursor *c, uint16_t misc,
		      struct coll_rec *out);
} kinds[] = {
	[PERF_RECORD_MMAP2] = { COLL_REC_MMAP, decode_mmap },
	[PERF_RECORD_LOST] = { COLL_REC_LOST, decode_lost },
	[PERF_RECORD_COMM] = { COLL_REC_COMM, decode_comm },
	[PERF_RECORD_EXIT] = { COLL_REC_EXIT, decode_task },
	[PERF_RECORD_THROTTLE] = { COLL_REC_THROTTLE, decode_throttle },
	[PERF_RECORD_FORK] = { COLL_REC_FORK, decode_task },
	[PERF_RECORD_SAMPLE] = { COLL_REC_SAMPLE, decode_sample },
	[PERF_RECORD_LOST_SAMPLES] = { COLL_REC_LOST, decode_lost_samples },
};

enum { NR_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* Time and CPU from the sample id that ends every record but samples. */
static int decode_id(const struct coll_layout *l, const char *rec, size_t len,
		     struct coll_rec *out)
{
	out->time_ns = 0;
	out->cpu = 0;
	if (len < (size_t)HEADER + l->id_size)
		return -EBADMSG;
	if (l->id_time)
		out->time_ns = u64_at(rec + len - l->id_time, 0);
	if (l->id_cpu)
		out->cpu = u32_at(rec + len - l->id_cpu, 0);
	return 0;
}

int coll_decode(struct coll_decoder *d, const void *data, size_t len,
		struct coll_rec *out, struct err *err)
{
	struct perf_event_header h;
	const struct kind *kind;
	struct cursor c;
	size_t body;
	int rc = 0;

	if (len < HEADER)
		return err_set(err, -EBADMSG, "perf record: cut short");
	memcpy(&h, data, HEADER);
	if (h.size != len)
		return err_set(err, -EBADMSG,
			       "perf record of type %u: size %u in %zu bytes", h.type,
			       h.size, len);
	out->kind = COLL_REC_NONE;
	out->why = 0;
	kind = h.type < NR_KINDS ? &kinds[h.type] : &kinds[0];
	if (!kind->decode)
		return 0;
	body = len;
	if (kind->kind != COLL_REC_SAMPLE) {
		rc = decode_id(&d->layout, data, len, out);
		body -= rc ? 0 : d->layout.id_size;
	}
	c = cursor_init(data, body);
	cursor_skip(&c, HEADER);
	if (!rc)
		rc = kind->decode(d, &c, h.misc, out);
	if (rc || c.bad)
		return err_set(err, -EBADMSG, "perf record of type %u: damaged", h.type);
	out->kind = kind->kind;
	return 0;
}
