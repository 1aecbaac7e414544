/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libcfi/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

enum {
	NR_SLOTS = 1 << 17,
	/* so many bytes between two functions are filling, which nobody executes */
	FILLING = 16,
};

int cfi_rows_init(struct cfi_rows *r)
{
	const struct cfi_rule none = { .kind = CFI_NONE };

	*r = (struct cfi_rows){ .slots = calloc(NR_SLOTS, sizeof(*r->slots)) };
	return r->slots ? vec_push(&r->rules, none) : -ENOMEM;
}

void cfi_rows_fini(struct cfi_rows *r)
{
	vec_fini(&r->rows);
	vec_fini(&r->functions);
	vec_fini(&r->rules);
	free(r->slots);
	r->slots = NULL;
}

int cfi_rows_begin(struct cfi_rows *r, uint32_t start, uint32_t end)
{
	const struct cfi_function f = { start, end, (uint32_t)r->rows.len, 0 };

	return vec_push(&r->functions, f);
}

static size_t slot_of(const struct cfi_rule *rule)
{
	return (size_t)map_hash(rule, sizeof(*rule)) % NR_SLOTS;
}

/* The rule's number; one that has no number yet gets one. */
static int number_of(struct cfi_rows *r, const struct cfi_rule *rule, uint16_t *out)
{
	const struct cfi_rule damaged = { .kind = CFI_DAMAGED };
	size_t i;

	for (;;) {
		for (i = slot_of(rule); r->slots[i]; i = (i + 1) % NR_SLOTS) {
			*out = r->slots[i] - 1;
			if (!memcmp(&r->rules.data[*out], rule, sizeof(*rule)))
				return 0;
		}
		/* the last number is for the damaged one */
		if (r->rules.len < CFI_MAX_RULES - 1 || rule->kind == CFI_DAMAGED)
			break;
		rule = &damaged;
	}
	if (vec_push(&r->rules, *rule))
		return -ENOMEM;
	*out = (uint16_t)(r->rules.len - 1);
	r->slots[i] = (uint16_t)r->rules.len;
	return 0;
}

int cfi_rows_add(struct cfi_rows *r, uint32_t key, const struct cfi_rule *rule)
{
	struct cfi_function *f = &r->functions.data[r->functions.len - 1];
	struct cfi_row row = { .key = key }, *last = NULL;
	int rc = number_of(r, rule, &row.rule);

	if (rc)
		return rc;
	if (f->nr)
		last = &r->rows.data[r->rows.len - 1];
	if (last && last->rule == row.rule)
		return 0;
	if (last && last->key == key) {
		last->rule = row.rule;
		return 0;
	}
	if (r->rows.len == CFI_MAX_KEYS)
		return -E2BIG;
	f->nr++;
	return vec_push(&r->rows, row);
}

/* By start; functions that were first stay first. */
static int compare(const void *a, const void *b)
{
	const struct cfi_function *f = a, *g = b;

	if (f->start != g->start)
		return f->start < g->start ? -1 : 1;
	return f->first < g->first ? -1 : f->first > g->first;
}

void cfi_rows_sort(struct cfi_rows *r)
{
	if (r->functions.len)
		qsort(r->functions.data, r->functions.len, sizeof(*r->functions.data),
		      compare);
}

/* The rows of all functions in the order of keys, and of what is between them. */
struct merged {
	VEC(struct cfi_row) rows;
	uint32_t end; /* of the last function */
};

static int put(struct merged *m, uint32_t key, uint16_t rule)
{
	const struct cfi_row row = { key, rule };

	if (m->rows.len && m->rows.data[m->rows.len - 1].rule == rule)
		return 0;
	if (m->rows.len && m->rows.data[m->rows.len - 1].key == key) {
		m->rows.data[m->rows.len - 1].rule = rule;
		return 0;
	}
	return m->rows.len < CFI_MAX_KEYS ? vec_push(&m->rows, row) : -E2BIG;
}

static int merge(const struct cfi_rows *r, const struct cfi_function *f, struct merged *m)
{
	int rc = 0;

	if (f->end <= m->end)
		return 0;
	if (f->start > m->end && f->start - m->end >= FILLING && m->rows.len)
		rc = put(m, m->end, 0);
	for (uint32_t i = f->first; !rc && i < f->first + f->nr; i++) {
		const struct cfi_row *row = &r->rows.data[i];
		bool last = i + 1 == f->first + f->nr;

		/* what the function before has of it */
		if (!last && row[1].key <= m->end)
			continue;
		if (row->key < f->end)
			rc = put(m, row->key > m->end ? row->key : m->end, row->rule);
	}
	m->end = f->end;
	return rc;
}

/* Pages of so many bits that there are about @PAGE keys in each. */
static uint32_t shift_of(const struct merged *m)
{
	enum { PAGE = 12, SMALLEST = 6 };
	uint32_t shift = SMALLEST, span;

	if (!m->rows.len)
		return 0;
	span = m->rows.data[m->rows.len - 1].key - m->rows.data[0].key;
	while (shift < CFI_MAX_SHIFT && span >> shift > m->rows.len / PAGE)
		shift++;
	return shift;
}

static void write_index(const struct merged *m, uint32_t shift, struct strbuf *out)
{
	uint32_t first = m->rows.data[0].key, below = 0, page = 0;

	strbuf_add(out, &below, sizeof(below));
	vec_for(&m->rows, row) {
		/* up to the page of this key nothing more is below */
		for (; page < cfi_page(row->key, first, shift); page++)
			strbuf_add(out, &below, sizeof(below));
		below++;
	}
	strbuf_add(out, &below, sizeof(below));
}

static void write(const struct cfi_rows *r, enum cfi_machine machine,
		  const struct merged *m, struct strbuf *out)
{
	struct cfi_header h = { .machine = machine,
				.nr_keys = (uint32_t)m->rows.len,
				.nr_rules = (uint32_t)r->rules.len,
				.shift = shift_of(m) };

	memcpy(h.magic, CFI_MAGIC, sizeof(h.magic));
	strbuf_add(out, &h, sizeof(h));
	vec_for(&m->rows, row)
		strbuf_add(out, &row->key, sizeof(row->key));
	if (m->rows.len)
		write_index(m, h.shift, out);
	vec_for(&m->rows, row)
		strbuf_add(out, &row->rule, sizeof(row->rule));
	if (m->rows.len % 2)
		strbuf_fill(out, 0, sizeof(uint16_t));
	strbuf_add(out, r->rules.data, r->rules.len * sizeof(*r->rules.data));
}

int cfi_rows_write(struct cfi_rows *r, enum cfi_machine machine, struct strbuf *out)
{
	struct merged m = { 0 };
	int rc = 0;

	cfi_rows_sort(r);
	vec_for(&r->functions, f)
		if (!rc)
			rc = merge(r, f, &m);
	/* nothing is known behind the last one */
	if (!rc && m.rows.len)
		rc = put(&m, m.end, 0);
	if (!rc)
		write(r, machine, &m, out);
	vec_fini(&m.rows);
	return rc ? rc : strbuf_error(out);
}
