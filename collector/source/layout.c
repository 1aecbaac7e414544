/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/source/layout.h"

#include <asm/perf_regs.h>
#include <errno.h>
#include <string.h>

enum { HEADER = sizeof(struct perf_event_header), FIELD = 8 };

/* The fields of a sample, in the order of its bytes. */
static const uint64_t fields[] = {
	PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP,   PERF_SAMPLE_TID,
	PERF_SAMPLE_TIME,       PERF_SAMPLE_ADDR, PERF_SAMPLE_ID,
	PERF_SAMPLE_STREAM_ID,  PERF_SAMPLE_CPU,  PERF_SAMPLE_PERIOD,
};
/* Those of the sample id. */
static const uint64_t id_fields[] = {
	PERF_SAMPLE_TID,       PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
	PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,  PERF_SAMPLE_IDENTIFIER,
};

/* The registers that unwinding needs, by perf's numbers. */
static const struct reg {
	unsigned bit;
	size_t at; /* in struct cfi_regs */
} regs[] = {
#if defined(__x86_64__)
	{ PERF_REG_X86_BX, offsetof(struct cfi_regs, bx) },
	{ PERF_REG_X86_BP, offsetof(struct cfi_regs, fp) },
	{ PERF_REG_X86_SP, offsetof(struct cfi_regs, sp) },
	{ PERF_REG_X86_IP, offsetof(struct cfi_regs, ip) },
#elif defined(__aarch64__)
	{ PERF_REG_ARM64_X29, offsetof(struct cfi_regs, fp) },
	{ PERF_REG_ARM64_LR, offsetof(struct cfi_regs, lr) },
	{ PERF_REG_ARM64_SP, offsetof(struct cfi_regs, sp) },
	{ PERF_REG_ARM64_PC, offsetof(struct cfi_regs, ip) },
#endif
};
enum { NR_REGS = sizeof(regs) / sizeof(regs[0]) };

enum { NR_FIELDS = sizeof(fields) / sizeof(fields[0]) };
enum { NR_ID_FIELDS = sizeof(id_fields) / sizeof(id_fields[0]) };

static uint64_t mask_of_regs(void)
{
	uint64_t mask = 0;

	for (size_t i = 0; i < NR_REGS; i++)
		mask |= 1ull << regs[i].bit;
	return mask;
}

void coll_layout_ask(bool callchain, uint32_t copy_bytes, struct perf_event_attr *attr)
{
	attr->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			    PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			    (callchain ? (uint64_t)PERF_SAMPLE_CALLCHAIN : 0);
	attr->sample_id_all = 1;
	if (!copy_bytes)
		return;
	attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->sample_regs_user = mask_of_regs();
	attr->sample_stack_user = copy_bytes;
}

/* Bytes of the fields before @want, or NONE if the record has no such field. */
static uint16_t bytes_before(const uint64_t *list, size_t nr, uint64_t type,
			     uint64_t want)
{
	uint16_t at = 0;

	for (size_t i = 0; i < nr && (list[i] != want || !(type & want)); i++)
		at += type & list[i] ? FIELD : 0;
	return at;
}

static uint16_t in_sample(uint64_t type, uint64_t want)
{
	return type & want ? HEADER + bytes_before(fields, NR_FIELDS, type, want)
			   : COLL_LAYOUT_NONE;
}

static uint16_t in_id(const struct coll_layout *l, uint64_t type, uint64_t want)
{
	return l->id_size && type & want
		       ? l->id_size - bytes_before(id_fields, NR_ID_FIELDS, type, want)
		       : COLL_LAYOUT_NONE;
}

int coll_layout_init(struct coll_layout *l, const struct perf_event_attr *attr,
		     struct err *err)
{
	uint64_t type = attr->sample_type;
	uint64_t id =
		type & PERF_SAMPLE_IDENTIFIER ? PERF_SAMPLE_IDENTIFIER : PERF_SAMPLE_ID;

	*l = (struct coll_layout){
		.read_format = attr->read_format,
		.reads = type & PERF_SAMPLE_READ,
		.callchain = type & PERF_SAMPLE_CALLCHAIN,
		.regs = type & PERF_SAMPLE_REGS_USER ? attr->sample_regs_user : 0,
		.copy_bytes = type & PERF_SAMPLE_STACK_USER ? attr->sample_stack_user : 0,
		.id = in_sample(type, id),
		.ip = in_sample(type, PERF_SAMPLE_IP),
		.task = in_sample(type, PERF_SAMPLE_TID),
		.time = in_sample(type, PERF_SAMPLE_TIME),
		.cpu = in_sample(type, PERF_SAMPLE_CPU),
		.end = HEADER + bytes_before(fields, NR_FIELDS, type, 0),
	};
	if (attr->sample_id_all)
		l->id_size = bytes_before(id_fields, NR_ID_FIELDS, type, 0);
	l->id_time = in_id(l, type, PERF_SAMPLE_TIME);
	l->id_cpu = in_id(l, type, PERF_SAMPLE_CPU);
	if (l->id && l->ip && l->task && l->time)
		return 0;
	return err_set(err, -EINVAL, "perf records without %s: they cannot be told apart",
		       !l->id     ? "the event's id"
		       : !l->ip   ? "the place"
		       : !l->task ? "the task"
				  : "the time");
}

void coll_layout_registers(const struct coll_layout *l, const uint64_t *values,
			   struct cfi_regs *out)
{
	*out = (struct cfi_regs){ 0 };
	for (size_t i = 0; i < NR_REGS; i++) {
		uint64_t below = l->regs & ((1ull << regs[i].bit) - 1);

		if (l->regs >> regs[i].bit & 1)
			memcpy((char *)out + regs[i].at,
			       values + __builtin_popcountll(below), FIELD);
	}
}

uint64_t coll_layout_time(const struct coll_layout *l, const void *data, size_t len)
{
	struct perf_event_header h;
	uint64_t time_ns;
	size_t at;

	if (len < HEADER)
		return 0;
	memcpy(&h, data, HEADER);
	if (h.type == PERF_RECORD_SAMPLE)
		at = l->time;
	else if (l->id_time && len >= (size_t)HEADER + l->id_size)
		at = len - l->id_time;
	else
		return 0;
	if (at + FIELD > len)
		return 0;
	memcpy(&time_ns, (const char *)data + at, FIELD);
	return time_ns;
}

size_t coll_layout_read_size(const struct coll_layout *l, const void *at, size_t left)
{
	uint64_t f = l->read_format, nr = 1;
	size_t times = FIELD * (!!(f & PERF_FORMAT_TOTAL_TIME_ENABLED) +
				!!(f & PERF_FORMAT_TOTAL_TIME_RUNNING));
	size_t each = FIELD * (1 + !!(f & PERF_FORMAT_ID) + !!(f & PERF_FORMAT_LOST));
	size_t head = times + (f & PERF_FORMAT_GROUP ? FIELD : 0);

	if (!l->reads)
		return 0;
	if (head > left)
		return SIZE_MAX;
	if (f & PERF_FORMAT_GROUP)
		memcpy(&nr, at, FIELD);
	return nr > (left - head) / each ? SIZE_MAX : head + (size_t)nr * each;
}
