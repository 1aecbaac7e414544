/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

const struct report *const reports[] = {
#define REPORT(id) &report_##id,
#include "opfs/report_list.h"
#undef REPORT
};

const size_t nr_reports = sizeof(reports) / sizeof(reports[0]);

const struct report *report_find(const char *name, size_t len)
{
	for (size_t i = 0; i < nr_reports; i++)
		if (strlen(reports[i]->name) == len &&
		    !memcmp(reports[i]->name, name, len))
			return reports[i];
	return NULL;
}

static bool has_samples(const struct profile *p)
{
	for (size_t c = 0; c < p->nr_classes; c++)
		if (p->classes[c].total)
			return true;
	return false;
}

bool report_nothing(const struct profile *p, struct strbuf *out)
{
	uint64_t taken = 0, lost = 0;

	if (has_samples(p))
		return false;
	for (size_t i = 0; i < p->cat->nr_dirs; i++) {
		taken += p->cat->dirs[i].stats.value[SPEC_STAT_TAKEN];
		lost += spec_stats_lost(&p->cat->dirs[i].stats);
	}
	strbuf_printf(out,
		      "no samples yet: 0 selected; the session has %" PRIu64
		      " taken, %" PRIu64 " lost, %zu damaged files (see status)\n",
		      taken, lost, p->cat->nr_bad);
	strbuf_puts(out, "to get some, record for longer or more often: opcollect record "
			 "-F 10000 -- COMMAND\n");
	return true;
}

void report_event(const struct profile_class *c, struct strbuf *out)
{
	view_text(c->event, out);
	strbuf_printf(out, ":%" PRIu64, c->count);
	if (c->unit_mask)
		strbuf_printf(out, ":0x%02" PRIx64, c->unit_mask);
}

int report_done(const struct strbuf *out, struct err *err)
{
	return strbuf_error(out) ? report_no_memory(err) : 0;
}

int report_no_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory while making a report");
}

int report_interrupted(struct err *err)
{
	return err_set(err, -EINTR, "interrupted: nobody waits for this any more");
}
