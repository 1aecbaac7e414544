/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "events/allocate.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

enum { MAX_COUNTERS = 64 };

struct search {
	const uint64_t *wants;
	size_t owner[MAX_COUNTERS]; /* 1 + event, 0: free */
	uint64_t tried;
};

/*
 * Finds a counter for an event.  One that is taken is taken over if its event finds
 * another one in turn; no counter is tried twice, since what follows would be the same.
 */
static bool place(struct search *s, size_t event)
{
	for (unsigned c = 0; c < MAX_COUNTERS; c++) {
		if (!(s->wants[event] & ~s->tried & 1ull << c))
			continue;
		s->tried |= 1ull << c;
		if (s->owner[c] && !place(s, s->owner[c] - 1))
			continue;
		s->owner[c] = event + 1;
		return true;
	}
	return false;
}

int ev_allocate(const uint64_t *wants, size_t nr, uint8_t *out, size_t *refused)
{
	struct search s = { .wants = wants };

	for (size_t i = 0; i < nr; i++) {
		s.tried = 0;
		if (wants[i] && !place(&s, i)) {
			*refused = i;
			return -EBUSY;
		}
		out[i] = EV_NO_COUNTER;
	}
	for (unsigned c = 0; c < MAX_COUNTERS; c++)
		if (s.owner[c])
			out[s.owner[c] - 1] = (uint8_t)c;
	return 0;
}

/* ---- of specifications */

static uint64_t wanted(const struct ev_spec *s, unsigned counters)
{
	const struct ev_def *d = s->event.def;
	uint64_t there =
		counters && counters < MAX_COUNTERS ? (1ull << counters) - 1 : ~0ull;

	if (!d || d->ext)
		return 0;
	if (d->cpuid_counters)
		return counters ? there : 0;
	/* what the machine has less than the table can only be told by the kernel */
	return d->counters & there ? d->counters & there : d->counters;
}

static int check_units(const struct ev_spec *const *specs, size_t nr, struct err *err)
{
	struct ev_attr a, b;

	for (size_t i = 0; i < nr; i++) {
		ev_spec_encode(specs[i], &a);
		for (size_t j = 0; a.pmu && j < i; j++) {
			ev_spec_encode(specs[j], &b);
			if (b.pmu && !strcmp(a.pmu, b.pmu))
				return err_set(err, -EBUSY,
					       "%s and %s cannot be counted together: %s "
					       "counts one event at a time; record them "
					       "one after the other",
					       specs[j]->event.name, specs[i]->event.name,
					       a.pmu);
		}
	}
	return 0;
}

static int say_refused(const struct ev_spec *const *specs, const uint64_t *wants,
		       size_t refused, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf others = { 0 };
	CLEANUP(strbuf_fini) struct strbuf list = { 0 };

	for (size_t i = 0; i < refused; i++)
		if (wants[i])
			strbuf_printf(&others, "%s%s", others.len ? ", " : "",
				      specs[i]->event.name);
	for (unsigned c = 0; c < MAX_COUNTERS; c++)
		if (wants[refused] & 1ull << c)
			strbuf_printf(&list, "%s%u", list.len ? ", " : "", c);
	return err_set(
		err, -EBUSY,
		"%s cannot be counted together with %s: of its counters (%s) none is "
		"left; leave events out, or record them one after the other",
		specs[refused]->event.name, strbuf_str(&others), strbuf_str(&list));
}

int ev_allocate_specs(const struct ev_spec *const *specs, size_t nr, unsigned counters,
		      uint8_t *out, struct err *err)
{
	CLEANUP(free_ptr) uint64_t *wants = calloc(nr ? nr : 1, sizeof(*wants));
	size_t refused;
	int rc;

	if (!wants)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < nr; i++)
		wants[i] = wanted(specs[i], counters);
	rc = check_units(specs, nr, err);
	if (!rc && ev_allocate(wants, nr, out, &refused))
		rc = say_refused(specs, wants, refused, err);
	return rc;
}
