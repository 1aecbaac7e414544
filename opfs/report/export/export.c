/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/export/export.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "base/utf8.h"
#include "opfs/report/header.h"

int export_check_size(size_t bytes, size_t max, const char *file, struct err *err)
{
	if (bytes <= max)
		return 0;
	return err_set(err, -EINVAL,
		       "%s would be larger than %zu MiB: choose a part with event:, "
		       "image: or cpu:",
		       file, max >> 20);
}

/* ---- names */

static void fill_ends(char *name, size_t len)
{
	while (len && name[len - 1] == ' ')
		name[--len] = '_';
	for (size_t i = 0; i < len && name[i] == ' '; i++)
		name[i] = '_';
}

void export_name(struct strbuf *out, const char *name, const char *also)
{
	size_t first = out->len;

	for (size_t left = strlen(name), len; left; name += len, left -= len) {
		size_t control = utf8_control_len(name, left);

		len = control ? control : utf8_len(name, left);
		if (len && !control && !strchr(also, *name)) {
			strbuf_add(out, name, len);
			continue;
		}
		len = len ? len : 1;
		strbuf_fill(out, '_', len);
	}
	if (!strbuf_error(out) && out->len > first)
		fill_ends(out->data + first, out->len - first);
}

/* Is there another column of the same event? */
static bool has_twin(const struct profile *p, size_t class)
{
	for (size_t c = 0; c < p->nr_classes; c++)
		if (c != class && !strcmp(p->classes[c].event, p->classes[class].event))
			return true;
	return false;
}

void export_class(const struct profile *p, size_t class, struct strbuf *out)
{
	const struct profile_class *c = &p->classes[class];
	char column[HEADER_TITLE_MAX + 1];

	if (!has_twin(p, class)) {
		export_name(out, c->event, "");
	} else if (p->axis == SPEC_AXIS_EVENT) {
		report_event(c, out);
	} else {
		header_title(p, class, column);
		export_name(out, c->event, "");
		strbuf_printf(out, ",%s", column);
	}
}

/* ---- addresses */

uint64_t export_address(const struct profile *p, const struct profile_frame *frame)
{
	const struct sym_table *table = p->images[frame->image].table;
	uint64_t off = profile_frame_off(p, frame), vma;

	return table && sym_vma(table, off, &vma) ? vma : off;
}

/* ---- facts */

void export_facts(const struct report_job *job, struct strbuf *out)
{
	const struct catalog *cat = job->p->cat;

	header_lines(job->p, out);
	report_unsplit(job, out);
	report_span(job, out);
	strbuf_puts(out, "Selection: ");
	escape_text(out, job->path);
	strbuf_putc(out, '\n');
	for (size_t i = 0; i < cat->nr_dirs; i++) {
		const struct spec_stats *s = &cat->dirs[i].stats;

		strbuf_puts(out, "Session ");
		escape_text(out, cat->dirs[i].session);
		strbuf_printf(out, ": %" PRIu64 " samples taken, %" PRIu64 " lost\n",
			      s->value[SPEC_STAT_TAKEN], spec_stats_lost(s));
	}
}
