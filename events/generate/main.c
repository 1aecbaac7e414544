/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * generate DIR: writes a table of events into DIR/ARCH/CPU for every processor that
 * libpfm4 knows and events/tables/ has none of.  Runs when opfs is built.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "events/generate/pfm.h"
#include "events/table/table.h"

enum {
	MAX_MASKS = 400,      /* of an event */
	FIRST_NUMBER = 0x100, /* of masks that their value does not tell apart */
	RARE = 500,           /* minimum count */
	OFTEN = 6000,
	FLAGS = EV_EDGE | EV_ANY | EV_INV | EV_CMASK_MAX << EV_CMASK_SHIFT,
};

/* One unit mask of an event. */
struct mask {
	char name[260];
	const char *doc;
	const char *umask, *other; /* libpfm4's */
	struct pfm_code code;
	bool precise; /* may be sampled so */
};

struct event {
	const char *pmu;
	pfm_event_info_t info;
	VEC(struct mask) masks;
	struct pfm_code plain; /* without a unit mask */
	bool has_plain;
	bool x86;
};

/* What one table becomes. */
struct out {
	struct strbuf events, masks;
	struct map sets; /* text of a set -> 1 + where its name is in @names */
	VEC(char *) names;
};

/* ---- what the masks of an event are */

static bool has_code(const struct event *e, const struct pfm_code *c)
{
	vec_for(&e->masks, m)
		if (m->code.config == c->config && m->code.config1 == c->config1)
			return true;
	return false;
}

static int add_mask(struct event *e, const pfm_event_attr_info_t *a,
		    const pfm_event_attr_info_t *b, const struct pfm_code *code)
{
	struct mask m = { .doc = a->desc, .umask = a->name, .code = *code };
	char first[128], second[128] = "";

	pfm_clean_name(a->name, first);
	if (b) {
		pfm_clean_name(b->name, second);
		m.other = b->name;
	}
	snprintf(m.name, sizeof(m.name), "%.55s%s%.55s", first, b ? "-" : "", second);
	m.precise = a->is_precise && (!b || b->is_precise);
	return vec_push(&e->masks, m);
}

/* Masks that need one of another group to be whole. */
static int add_pairs(struct event *e)
{
	pfm_event_attr_info_t a, b;
	struct pfm_code code;
	int rc = 0;

	for (int i = 0; i < e->info.nattrs; i++)
		for (int j = i + 1; j < e->info.nattrs && !rc; j++)
			if (e->masks.len < MAX_MASKS && pfm_umask_at(&e->info, i, &a) &&
			    pfm_umask_at(&e->info, j, &b) &&
			    pfm_code_of(e->pmu, e->info.name, a.name, b.name, &code) &&
			    !has_code(e, &code))
				rc = add_mask(e, &a, &b, &code);
	return rc;
}

static int read_masks(struct event *e)
{
	pfm_event_attr_info_t a;
	struct pfm_code code;
	bool special = false;
	int rc = 0, alone = 0;

	for (int i = 0; i < e->info.nattrs && !rc; i++) {
		if (!pfm_umask_at(&e->info, i, &a))
			continue;
		if (!pfm_code_of(e->pmu, e->info.name, a.name, NULL, &code))
			continue;
		alone++;
		special |= code.config1 != 0;
		rc = add_mask(e, &a, NULL, &code);
	}
	if (!rc && (special || !alone))
		rc = add_pairs(e);
	return rc;
}

/* The event's code: the bits of the configuration that all masks share. */
static uint64_t common_code(const struct event *e)
{
	uint64_t field = e->x86 ? 0xf000000ff : ~0ull, code;

	code = (e->masks.len ? e->masks.data[0].code.config : e->plain.config) & field;
	vec_for(&e->masks, m)
		if ((m->code.config & field) != code)
			return 0;
	return code;
}

static uint64_t as_manual(const struct event *e, uint64_t code)
{
	return e->x86 ? (code & 0xff) | (code >> 24 & 0xf00) : code;
}

/* Does one number say all of what the mask adds? */
static bool is_simple(const struct event *e, const struct pfm_code *c, uint64_t code)
{
	return e->x86 && !c->config1 &&
	       !((c->config ^ code) & ~(uint64_t)(0xff00 | FLAGS));
}

/* May masks be summed?  Every two of them, as libpfm4 encodes it. */
static bool is_bitmask(const struct event *e, uint64_t code)
{
	for (size_t i = 0; i < e->masks.len; i++) {
		const struct mask *a = &e->masks.data[i];

		if (!is_simple(e, &a->code, code) || (a->code.config ^ code) & FLAGS)
			return false;
		for (size_t j = 0; j < i; j++) {
			const struct mask *b = &e->masks.data[j];
			uint64_t both = a->code.config | b->code.config;
			struct pfm_code sum;

			if (both == a->code.config || both == b->code.config)
				continue;
			if (!pfm_code_of(e->pmu, e->info.name, a->umask, b->umask,
					 &sum) ||
			    sum.config != both)
				return false;
		}
	}
	return e->masks.len > 1;
}

/* ---- text */

/* One line without what libpfm4's manuals leave in; @name if there is nothing. */
static void add_doc(struct strbuf *out, const char *doc, const char *name)
{
	size_t start = out->len;

	if (!doc || !*doc || !strcmp(doc, "TBD")) {
		for (const char *c = name; *c; c++)
			strbuf_putc(out,
				    (char)(*c == '_' ? ' ' : tolower((unsigned char)*c)));
		return;
	}
	for (const char *c = doc; *c; c++) {
		bool blank = !isgraph((unsigned char)*c);

		if (blank && (out->len == start || out->data[out->len - 1] == ' '))
			continue;
		strbuf_putc(out, (char)(blank ? ' ' : *c));
	}
	while (out->len > start &&
	       (out->data[out->len - 1] == ' ' || out->data[out->len - 1] == '.'))
		strbuf_truncate(out, out->len - 1);
}

static void add_flag(struct strbuf *out, bool *some, const char *word)
{
	strbuf_printf(out, "%s%s", *some ? "," : "", word);
	*some = true;
}

static void add_bits(struct strbuf *out, uint64_t bits, bool precise)
{
	unsigned cmask = bits >> EV_CMASK_SHIFT & EV_CMASK_MAX;
	bool some = false;

	strbuf_puts(out, "extra:");
	if (bits & EV_EDGE)
		add_flag(out, &some, "edge");
	if (bits & EV_ANY)
		add_flag(out, &some, "any");
	if (bits & EV_INV)
		add_flag(out, &some, "inv");
	if (cmask)
		strbuf_printf(out, "%scmask=0x%x", some ? "," : "", cmask);
	some |= cmask != 0;
	if (precise)
		add_flag(out, &some, "pebs");
}

/* The line of a mask; *next numbers those that need it. */
static void add_mask_line(struct strbuf *out, const struct event *e, const struct mask *m,
			  uint64_t code, bool precise, unsigned *next)
{
	uint64_t bits = m->code.config ^ code;

	if (is_simple(e, &m->code, code)) {
		strbuf_printf(out, "\t0x%02x ", (unsigned)(bits >> 8 & 0xff));
		add_bits(out, bits, precise);
	} else {
		strbuf_printf(out, "\t0x%x extra:config=0x%llx", (*next)++,
			      (unsigned long long)bits);
		if (m->code.config1)
			strbuf_printf(out, ",config1=0x%llx",
				      (unsigned long long)m->code.config1);
		strbuf_puts(out, precise ? ",pebs" : "");
	}
	strbuf_printf(out, " %s%s ", m->name, precise ? "_pebs" : "");
	add_doc(out, m->doc, m->name);
	strbuf_puts(out, precise ? ", precisely\n" : "\n");
}

/* Two masks that are the same but for the name: the first one is kept. */
static bool is_twin(const struct event *e, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if ((e->masks.data[j].code.config == e->masks.data[i].code.config &&
		     e->masks.data[j].code.config1 == e->masks.data[i].code.config1) ||
		    !strcasecmp(e->masks.data[j].name, e->masks.data[i].name))
			return true;
	return false;
}

/* The default of a set: what libpfm4 takes without a mask, else the first one. */
static const struct mask *default_mask(const struct event *e)
{
	vec_for(&e->masks, m)
		if (e->has_plain && m->code.config == e->plain.config &&
		    m->code.config1 == e->plain.config1)
			return m;
	return e->masks.data;
}

static void add_set(struct strbuf *out, const struct event *e, uint64_t code)
{
	bool bits = is_bitmask(e, code);
	unsigned next = FIRST_NUMBER;
	size_t nr = 0;
	bool precise = false;

	for (size_t i = 0; i < e->masks.len; i++) {
		nr += !is_twin(e, i);
		precise |= e->masks.data[i].precise;
	}
	strbuf_printf(out, " type:%s default:%s\n",
		      bits && nr > 1        ? "bitmask"
		      : nr == 1 && !precise ? "mandatory"
					    : "exclusive",
		      default_mask(e)->name);
	for (size_t i = 0; i < e->masks.len; i++) {
		const struct mask *m = &e->masks.data[i];

		if (is_twin(e, i))
			continue;
		add_mask_line(out, e, m, code, false, &next);
		if (m->precise)
			add_mask_line(out, e, m, code, true, &next);
	}
}

/* The name of the set of an event's masks; equal sets are written once. */
static const char *set_name(struct out *o, const struct event *e, const char *name,
			    uint64_t code)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	uint64_t known;
	char *copy;

	add_set(&text, e, code);
	if (strbuf_error(&text))
		return NULL;
	if (map_get(&o->sets, text.data, text.len, &known))
		return o->names.data[known];
	copy = strdup(name);
	if (!copy)
		return NULL;
	for (char *c = copy; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	if (map_set(&o->sets, text.data, text.len, o->names.len) ||
	    vec_push(&o->names, copy)) {
		free(copy);
		return NULL;
	}
	strbuf_printf(&o->masks, "name:%s%s", copy, text.data);
	return copy;
}

static bool is_often(const char *name)
{
	return strcasestr(name, "CYCLES") || strcasestr(name, "CLK") ||
	       !strncasecmp(name, "INST", 4);
}

static int add_event(struct out *o, struct event *e)
{
	const char *um = "zero";
	uint64_t code = common_code(e);
	char name[128];

	pfm_clean_name(e->info.name, name);
	if (!e->masks.len && !e->has_plain) {
		strbuf_printf(&o->events, "# libpfm4 cannot encode %s\n", name);
		return 0;
	}
	/* bits of a mask that is always the same */
	if (!e->masks.len && (e->plain.config != code || e->plain.config1)) {
		struct mask m = { .name = "only",
				  .doc = "No unit mask",
				  .code = e->plain };

		if (vec_push(&e->masks, m))
			return -ENOMEM;
	}
	if (e->masks.len)
		um = set_name(o, e, name, code);
	if (!um)
		return -ENOMEM;
	strbuf_printf(&o->events, "event:0x%llx um:%s minimum:%d name:%s : ",
		      (unsigned long long)as_manual(e, code), um,
		      is_often(name) ? OFTEN : RARE, name);
	add_doc(&o->events, e->info.desc, name);
	strbuf_putc(&o->events, '\n');
	return 0;
}

static int add_pmu(struct out *o, const pfm_pmu_info_t *pmu, bool x86)
{
	int rc = 0;

	for (int i = pmu->first_event; i != -1 && !rc; i = pfm_get_event_next(i)) {
		struct event e = { .pmu = pmu->name, .x86 = x86 };

		if (!pfm_event_at(i, &e.info))
			continue;
		e.has_plain = pfm_code_of(pmu->name, e.info.name, NULL, NULL, &e.plain);
		rc = read_masks(&e);
		rc = rc ? rc : add_event(o, &e);
		vec_fini(&e.masks);
	}
	return rc;
}

static int write_table(const char *dir, const char *cpu, const pfm_pmu_info_t *pmu,
		       struct out *o, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	/* the Pentium 4 has no code and mask, but the settings of two registers */
	bool x86 = (!strncmp(cpu, "i386/", 5) || !strncmp(cpu, "x86-64/", 7)) &&
		   strncmp(pmu->name, "netburst", 8) != 0;
	int rc;

	strbuf_printf(&o->masks,
		      "# Unit masks of %s, by libpfm4 (%s)\n"
		      "name:zero type:mandatory default:0x0\n\t0x0 No unit mask\n",
		      pmu->desc, pmu->name);
	strbuf_printf(&o->events, "# Events of %s, by libpfm4 (%s)\n", pmu->desc,
		      pmu->name);
	rc = add_pmu(o, pmu, x86);
	if (rc || strbuf_error(&o->events) || strbuf_error(&o->masks))
		return err_set(err, -ENOMEM, "out of memory");
	if (!strstr(o->events.data, " um:zero ")) {
		char *zero = strstr(o->masks.data, "name:zero"), *end;

		end = strchr(strchr(zero, '\n') + 1, '\n') + 1;
		memmove(zero, end, strlen(end) + 1);
		o->masks.len = strlen(o->masks.data);
	}
	strbuf_printf(&path, "%s/%s", dir, cpu);
	rc = file_mkdirs(AT_FDCWD, strbuf_str(&path), 0755, err);
	strbuf_puts(&path, "/events");
	rc = rc ? rc
		: file_replace(AT_FDCWD, strbuf_str(&path), o->events.data, o->events.len,
			       0644, 0, err);
	strbuf_truncate(&path, path.len - strlen("events"));
	strbuf_puts(&path, "unit_masks");
	return rc ? rc
		  : file_replace(AT_FDCWD, strbuf_str(&path), o->masks.data, o->masks.len,
				 0644, 0, err);
}

static void out_fini(struct out *o)
{
	strbuf_fini(&o->events);
	strbuf_fini(&o->masks);
	map_fini(&o->sets);
	vec_for(&o->names, n)
		free(*n);
	vec_fini(&o->names);
}

int main(int argc, char **argv)
{
	struct err err = { 0 };
	int rc = 0;

	if (argc != 2 || !pfm_start()) {
		fprintf(stderr, argc != 2 ? "usage: generate DIR\n"
					  : "generate: libpfm4 does not start\n");
		return 2;
	}
	for (int i = 0; i < PFM_PMU_MAX && !rc; i++) {
		CLEANUP(out_fini) struct out o = { 0 };
		pfm_pmu_info_t pmu;
		char cpu[96];

		if (pfm_pmu_at(i, &pmu) && pfm_cpu_type(&pmu, cpu))
			rc = write_table(argv[1], cpu, &pmu, &o, &err);
	}
	pfm_terminate();
	if (rc)
		fprintf(stderr, "generate: %s\n", err.msg);
	return rc ? 1 : 0;
}
