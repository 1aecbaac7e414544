/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/json_head.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "libspec/sample/cpu_type.h"
#include "opfs/report/header.h"
#include "opfs/report/report.h"

static void add_cpu(struct json *j, const struct profile *p)
{
	const struct spec_sample_header *h = p->nr_classes ? p->classes[0].header : NULL;
	bool known = h && isfinite(h->cpu_mhz) && h->cpu_mhz > 0;

	json_line(j);
	json_key(j, "cpu");
	json_open(j, '{');
	json_key(j, "type");
	json_string(j, h ? spec_cpu_type(h->cpu_type) : NULL);
	json_key(j, "name");
	json_string(j, h ? spec_cpu_name(h->cpu_type) : NULL);
	json_key(j, "mhz");
	if (known)
		json_real(j, h->cpu_mhz);
	else
		json_null(j);
	json_close(j, '}');
}

static void add_axis(struct json *j, const char *key, int64_t value)
{
	json_key(j, key);
	if (value == SPEC_ALL)
		json_null(j);
	else
		json_number(j, (uint64_t)value);
}

static void add_class(struct json *j, const struct view *view, size_t class)
{
	const struct profile_class *c = &view->p->classes[class];

	json_line(j);
	json_open(j, '{');
	json_key(j, "event");
	json_string(j, c->event);
	json_key(j, "count");
	json_number(j, c->count);
	json_key(j, "unit_mask");
	json_number(j, c->unit_mask);
	json_key(j, "counts");
	json_string(j, header_event_doc(c->header->cpu_type, c->event));
	add_axis(j, "tgid", c->tgid);
	add_axis(j, "tid", c->tid);
	add_axis(j, "cpu", c->cpu);
	json_key(j, "samples");
	json_number(j, view->totals[class]);
	if (view->p->base) {
		json_key(j, "base_samples");
		json_number(j, c->was_total);
	}
	json_close(j, '}');
}

void json_classes(struct json *j, const struct view *view)
{
	add_cpu(j, view->p);
	json_line(j);
	json_key(j, "classes");
	json_open(j, '[');
	for (size_t c = 0; c < view->p->nr_classes; c++)
		add_class(j, view, c);
	json_close(j, ']');
}

/* ---- sessions */

/* @kinds: a bit for each kind that is wanted. */
static void add_figures(struct json *j, const char *key, const struct spec_stats *s,
			unsigned kinds)
{
	json_key(j, key);
	json_open(j, '{');
	for (int i = 0; i < SPEC_NR_STATS; i++) {
		if (!(kinds & 1u << spec_stat_info[i].kind) || !s->value[i] ||
		    i == SPEC_STAT_TAKEN || i == SPEC_STAT_STORED)
			continue;
		json_key(j, spec_stat_info[i].name);
		json_number(j, s->value[i]);
	}
	json_close(j, '}');
}

/* A figure that a session of OProfile's does not have. */
static void add_known(struct json *j, const char *key, uint64_t n)
{
	json_key(j, key);
	if (n)
		json_number(j, n);
	else
		json_null(j);
}

static void add_strings(struct json *j, const char *key, char *const *texts, size_t nr)
{
	json_key(j, key);
	json_open(j, '[');
	for (size_t i = 0; i < nr; i++)
		json_string(j, texts[i]);
	json_close(j, ']');
}

static void add_session(struct json *j, const struct catalog_dir *d)
{
	json_line(j);
	json_open(j, '{');
	json_key(j, "name");
	json_string(j, d->session);
	json_key(j, "state");
	json_string(j, !d->has_live ? NULL : d->live.closed ? "closed" : "recording");
	json_key(j, "generation");
	if (d->has_live)
		json_number(j, d->live.generation);
	else
		json_null(j);
	add_known(j, "taken", d->stats.value[SPEC_STAT_TAKEN]);
	add_known(j, "stored", d->stats.value[SPEC_STAT_STORED]);
	json_key(j, "lost");
	json_number(j, spec_stats_lost(&d->stats));
	add_figures(j, "losses", &d->stats, 1u << SPEC_STAT_KIND_LOSS);
	add_figures(j, "left_out", &d->stats, 1u << SPEC_STAT_KIND_IGNORED);
	add_figures(j, "figures", &d->stats,
		    1u << SPEC_STAT_KIND_PART | 1u << SPEC_STAT_KIND_FIGURE);
	add_strings(j, "throttled", d->throttled, d->nr_throttled);
	add_strings(j, "notes", d->notes, d->nr_notes);
	json_close(j, '}');
}

void json_sessions(struct json *j, const struct profile *p)
{
	json_line(j);
	json_key(j, "sessions");
	json_open(j, '[');
	for (size_t i = 0; i < p->cat->nr_dirs; i++)
		add_session(j, &p->cat->dirs[i]);
	json_close(j, ']');
}

/* ---- images */

static void add_build_id(struct json *j, const struct profile *p, uint32_t image)
{
	struct build_id id = report_build_id(p, image);
	char hex[BUILD_ID_TEXT];

	build_id_format(&id, hex);
	json_key(j, "build_id");
	json_string(j, id.len ? hex : NULL);
}

static void add_image(struct json *j, const struct profile *p, uint32_t image,
		      const uint64_t *samples)
{
	const struct profile_image *img = &p->images[image];
	bool named = img->table && img->table->source != SYM_FROM_NOTHING;

	json_line(j);
	json_open(j, '{');
	json_key(j, "name");
	json_string(j, p->cat->images[image].shown);
	json_key(j, "samples");
	json_open(j, '[');
	for (size_t c = 0; c < p->nr_classes; c++)
		json_number(j, samples[c]);
	json_close(j, ']');
	add_build_id(j, p, image);
	json_key(j, "state");
	json_string(j, sym_state_name(img->state));
	json_key(j, "symbols_from");
	json_string(j, named ? sym_source_name(img->table->source) : NULL);
	json_key(j, "reason");
	json_string(j, img->reason);
	json_close(j, '}');
}

int json_images(struct json *j, const struct profile *p)
{
	CLEANUP(free_ptr) uint64_t *samples = NULL;

	samples = calloc(p->cat->nr_images * p->nr_classes + 1, sizeof(*samples));
	if (!samples)
		return -ENOMEM;
	for (size_t i = 0; i < p->nr_pairs; i++)
		for (size_t c = 0; c < p->nr_classes; c++)
			samples[p->pairs[i].image * p->nr_classes + c] +=
				p->pairs[i].samples[c];
	json_line(j);
	json_key(j, "images");
	json_open(j, '[');
	for (uint32_t i = 0; i < p->cat->nr_images; i++)
		if (p->images[i].used)
			add_image(j, p, i, &samples[i * p->nr_classes]);
	json_close(j, ']');
	return 0;
}

/* ---- damaged files */

static void add_damaged(struct json *j, const struct catalog_bad *bad, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		json_line(j);
		json_open(j, '{');
		json_key(j, "file");
		json_string(j, bad[i].path);
		json_key(j, "reason");
		json_string(j, bad[i].reason);
		json_close(j, '}');
	}
}

void json_damaged(struct json *j, const struct profile *p)
{
	json_line(j);
	json_key(j, "damaged");
	json_open(j, '[');
	add_damaged(j, p->cat->bad, p->cat->nr_bad);
	add_damaged(j, p->bad, p->nr_bad);
	json_close(j, ']');
}
