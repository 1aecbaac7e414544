/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every event of every table beside what libpfm4 makes of its name. */
#include <criterion/criterion.h>
#include <ctype.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "events/encode.h"
#include "events/event.h"
#include "events/generate/pfm.h"
#include "events/machine.h"
#include "events/table/source.h"

static const struct ev_table *table(const char *cpu)
{
	const struct ev_table *t = NULL;
	struct err err = { 0 };

	cr_assert_eq(ev_table_get(cpu, &t, &err), 0, "%s", err.msg);
	return t;
}

static struct ev_attr encoded(const struct ev_table *t, const char *event,
			      const char *mask)
{
	const struct ev_def *d = ev_table_find(t, event);
	const struct ev_mask *m = NULL;
	struct ev_attr a;
	uint32_t number;

	cr_assert(d, "%s: %s", t->cpu, event);
	if (!d->masks) {
		ev_encode(t, d, NULL, 0, &a);
		return a;
	}
	number = ev_masks_default(d->masks, &m);
	if (mask) {
		m = ev_masks_by_name(d->masks, mask);
		cr_assert(m, "%s: %s has no %s", t->cpu, event, mask);
		number = ev_mask_number(m);
	}
	ev_encode(t, d, m, number, &a);
	return a;
}

static void same(const struct ev_attr *a, const struct pfm_code *c, const char *what,
		 const char *more)
{
	cr_expect_eq(a->type, c->type, "%s:%s", what, more);
	cr_expect_eq(a->config, c->config, "%s:%s: %llx, libpfm4 %llx", what, more,
		     (unsigned long long)a->config, (unsigned long long)c->config);
	cr_expect_eq(a->config1, c->config1, "%s:%s: config1 %llx, libpfm4 %llx", what,
		     more, (unsigned long long)a->config1,
		     (unsigned long long)c->config1);
	cr_expect_null(a->pmu);
}

static bool twin_of_earlier(const char *pmu, const pfm_event_info_t *e, int i,
			    const struct pfm_code *c)
{
	pfm_event_attr_info_t a;
	struct pfm_code other;

	for (int j = 0; j < i; j++)
		if (pfm_umask_at(e, j, &a) &&
		    pfm_code_of(pmu, e->name, a.name, NULL, &other) &&
		    other.config == c->config && other.config1 == c->config1)
			return true;
	return false;
}

/* All of an event that libpfm4 can encode with one unit mask or none. */
static unsigned check_event(const struct ev_table *t, const char *pmu,
			    const pfm_event_info_t *e)
{
	pfm_event_attr_info_t u;
	struct pfm_code c;
	char event[128], mask[128];
	unsigned nr = 0, masks = 0;
	struct ev_attr a;

	pfm_clean_name(e->name, event);
	for (int i = 0; i < e->nattrs; i++) {
		if (!pfm_umask_at(e, i, &u) ||
		    !pfm_code_of(pmu, e->name, u.name, NULL, &c))
			continue;
		masks++;
		if (twin_of_earlier(pmu, e, i, &c))
			continue;
		pfm_clean_name(u.name, mask);
		mask[55] = '\0';
		a = encoded(t, event, mask);
		same(&a, &c, event, mask);
		nr++;
	}
	if (!masks && pfm_code_of(pmu, e->name, NULL, NULL, &c)) {
		a = encoded(t, event, NULL);
		same(&a, &c, event, "");
		nr++;
	}
	return nr;
}

Test(encode, agrees_with_libpfm4_on_every_event_of_generated_tables, .timeout = 1000)
{
	unsigned tables = 0, nr = 0;

	cr_assert(pfm_start());
	for (int i = 0; i < PFM_PMU_MAX; i++) {
		pfm_event_info_t e;
		pfm_pmu_info_t pmu;
		char cpu[96];

		if (!pfm_pmu_at(i, &pmu) || !pfm_cpu_type(&pmu, cpu))
			continue;
		tables++;
		for (int j = pmu.first_event; j != -1; j = pfm_get_event_next(j))
			if (pfm_event_at(j, &e))
				nr += check_event(table(cpu), pmu.name, &e);
	}
	cr_log_info("%u tables, %u encodings", tables, nr);
	cr_expect_gt(tables, 0);
	cr_expect_gt(nr, tables * 10);
	pfm_terminate();
}

/* ---- sums of masks, by number */

static void check_sums(const struct ev_table *t, const char *pmu, const struct ev_def *d,
		       unsigned *nr)
{
	pfm_event_attr_info_t u;
	struct pfm_code c;

	for (size_t i = 1; i < d->masks->all.len; i++) {
		const struct ev_mask *a = &d->masks->all.data[i - 1];
		const struct ev_mask *b = &d->masks->all.data[i];
		struct ev_attr attr;

		(void)u;
		if (a->extra || b->extra ||
		    !pfm_code_of(pmu, d->name, a->name, b->name, &c))
			continue;
		ev_encode(t, d, NULL, a->value | b->value, &attr);
		same(&attr, &c, d->name, b->name);
		(*nr)++;
	}
}

Test(encode, sums_bitmasks_as_libpfm4_does, .timeout = 1000)
{
	static const char *const rows[][2] = {
		{ "i386/skylake", "skl" },
		{ "i386/sapphirerapids", "spr" },
		{ "x86-64/family15h", "amd64_fam15h_interlagos" },
		{ "x86-64/family19h", "amd64_fam19h_zen3" },
	};
	unsigned nr = 0;

	cr_assert(pfm_start());
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct ev_table *t;

		if (i < 3 && strncmp(ev_machine()->what, "ARM", 3) == 0)
			continue;
		t = table(rows[i][0]);
		vec_for(&t->defs, d)
			if (d->masks && d->masks->type == EV_BITMASK)
				check_sums(t, rows[i][1], d, &nr);
	}
	cr_expect_gt(nr, 50);
	pfm_terminate();
}

/* ---- tables kept by hand */

/* What libpfm4 4.13 has otherwise or not at all. */
static const char *const not_in_libpfm[] = {
	"CPU_CLK_UNHALTED", /* OProfile's name of CYCLES_NOT_IN_HALT */
	"IBS_FETCH_ALL",
	"IBS_OP_ALL",
};

static bool is_known_gap(const char *name)
{
	for (size_t i = 0; i < sizeof(not_in_libpfm) / sizeof(not_in_libpfm[0]); i++)
		if (!strcmp(not_in_libpfm[i], name))
			return true;
	return false;
}

/* The mask must mean what libpfm4 says in one of the models at least. */
static bool mask_agrees(const struct ev_table *t, const struct ev_def *d,
			const struct ev_mask *m, const char *const *pmus)
{
	struct pfm_code c;
	struct ev_attr a;

	ev_encode(t, d, m, ev_mask_number(m), &a);
	for (; *pmus; pmus++)
		if (pfm_code_of(*pmus, d->name, m->name, NULL, &c) && c.type == a.type &&
		    c.config == a.config && c.config1 == a.config1)
			return true;
	return false;
}

static void check_by_hand(const char *cpu, const char *const *pmus,
			  const char *const *other_masks)
{
	const struct ev_table *t = table(cpu);

	vec_for(&t->defs, d) {
		if (is_known_gap(d->name))
			continue;
		vec_for(&d->masks->all, m) {
			bool known = false;

			for (const char *const *o = other_masks; *o; o++)
				known |= m->name && !strcmp(*o, m->name);
			cr_expect(known || mask_agrees(t, d, m, pmus), "%s: %s:%s", cpu,
				  d->name, m->name ? m->name : "");
		}
	}
}

Test(encode, agrees_with_libpfm4_on_the_amd_tables)
{
	static const char *const zen12[] = { "amd64_fam17h_zen1", "amd64_fam17h_zen2",
					     NULL };
	static const char *const zen34[] = { "amd64_fam19h_zen3", "amd64_fam19h_zen4",
					     NULL };
	/* names that libpfm4 has twice, or a mask it does not ask for */
	static const char *const masks17[] = { "remote_cache", "remote_dram", NULL };
	static const char *const masks19[] = { NULL };

	cr_assert(pfm_start());
	check_by_hand("x86-64/family17h", zen12, masks17);
	check_by_hand("x86-64/family19h", zen34, masks19);
	pfm_terminate();
}

/* Architectural events by the names they have in a processor that has all of them. */
Test(encode, agrees_with_libpfm4_on_architectural_events)
{
	static const char *const rows[][3] = {
		{ "CPU_CLK_UNHALTED", "CPU_CLK_UNHALTED", "CORE_P" },
		{ "UNHALTED_REFERENCE_CYCLES", "CPU_CLK_UNHALTED", "BUS" },
		{ "INST_RETIRED", "INSTRUCTIONS_RETIRED", NULL },
		{ "LLC_REFS", "LAST_LEVEL_CACHE_REFERENCES", NULL },
		{ "LLC_MISSES", "LAST_LEVEL_CACHE_MISSES", NULL },
		{ "BR_INST_RETIRED", "BRANCH_INSTRUCTIONS_RETIRED", NULL },
		{ "BR_MISS_PRED_RETIRED", "MISPREDICTED_BRANCH_RETIRED", NULL },
	};
	const struct ev_table *t = table("i386/arch_perfmon");

	cr_assert(pfm_start());
	cr_expect_eq(t->defs.len, sizeof(rows) / sizeof(rows[0]));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ev_attr a = encoded(t, rows[i][0], NULL);
		struct pfm_code c;

		if (!pfm_code_of("core", rows[i][1], rows[i][2], NULL, &c)) {
			/* libpfm4 is one without tables of Intel's */
			cr_expect(!strncmp(ev_machine()->what, "ARM", 3), "%s",
				  rows[i][1]);
			continue;
		}
		same(&a, &c, rows[i][0], "");
	}
	pfm_terminate();
}

Test(encode, agrees_with_libpfm4_on_perfs_own_events)
{
	static const char *const cpus[] = { "perf/generic", "perf/software" };
	unsigned nr = 0;

	cr_assert(pfm_start());
	for (int i = 0; i < 2; i++)
		vec_for(&table(cpus[i])->defs, d) {
			struct ev_attr a = encoded(table(cpus[i]), d->name, NULL);
			struct pfm_code c;

			/* OProfile's names, and two that libpfm4 has not */
			if (!pfm_code_of("perf", d->name, NULL, NULL, &c))
				continue;
			same(&a, &c, d->name, "");
			nr++;
		}
	cr_expect_gt(nr, 40);
	pfm_terminate();
}

/* Codes of the Architecture Reference Manual, by another hand: the kernel's names. */
Test(encode, knows_the_codes_of_armv8)
{
	static const struct {
		const char *name;
		unsigned code;
	} rows[] = {
		{ "SW_INCR", 0x00 },          { "L1D_CACHE_REFILL", 0x03 },
		{ "INST_RETIRED", 0x08 },     { "EXC_TAKEN", 0x09 },
		{ "BR_MIS_PRED", 0x10 },      { "CPU_CYCLES", 0x11 },
		{ "BR_PRED", 0x12 },          { "MEM_ACCESS", 0x13 },
		{ "L2D_CACHE", 0x16 },        { "BUS_CYCLES", 0x1d },
		{ "BR_RETIRED", 0x21 },       { "STALL_FRONTEND", 0x23 },
		{ "L3D_CACHE_REFILL", 0x2a }, { "LL_CACHE_MISS_RD", 0x37 },
		{ "STALL_SLOT", 0x3f },
	};
	const struct ev_table *t = table("arm/armv8-pmuv3");

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ev_attr a = encoded(t, rows[i].name, NULL);

		cr_expect_eq(a.type, PERF_TYPE_RAW);
		cr_expect_eq(a.config, rows[i].code, "%s", rows[i].name);
	}
}

/* ---- all tables there are */

Test(encode, every_table_parses_and_every_mask_of_it_encodes, .timeout = 1000)
{
	CLEANUP(names_fini) struct names cpus = { 0 };
	struct err err = { 0 };
	unsigned nr = 0;

	cr_assert_eq(ev_cpu_types(&cpus, &err), 0, "%s", err.msg);
	cr_expect_geq(cpus.len, 7);
	vec_for(&cpus, cpu) {
		const struct ev_table *t = table(*cpu);

		cr_expect_gt(t->defs.len, 0, "%s", *cpu);
		vec_for(&t->defs, d) {
			struct ev_attr a = encoded(t, d->name, NULL);
			struct ev_event e;

			ev_event_of(t, d, &e);
			cr_expect(a.pmu || a.type <= PERF_TYPE_RAW, "%s", d->name);
			nr++;
			for (size_t i = 0; d->masks && i < d->masks->all.len; i++)
				if (d->masks->all.data[i].name)
					encoded(t, d->name, d->masks->all.data[i].name);
		}
	}
	cr_log_info("%zu tables, %u events", cpus.len, nr);
}

Test(encode, tells_processors_apart)
{
	static const struct {
		const char *vendor;
		unsigned family, model;
		const char *type;
	} rows[] = {
		{ "AuthenticAMD", 25, 17, "x86-64/family19h" },
		{ "AuthenticAMD", 23, 1, "x86-64/family17h" },
		{ "AuthenticAMD", 16, 2, "x86-64/family10" },
		{ "AuthenticAMD", 26, 2, NULL },
		{ "GenuineIntel", 6, 94, "i386/skylake" },
		{ "GenuineIntel", 6, 143, "i386/sapphirerapids" },
		{ "GenuineIntel", 6, 207, "i386/arch_perfmon" },
		{ "GenuineIntel", 15, 2, "i386/p4" },
		{ "HygonGenuine", 24, 0, "x86-64/family17h" },
		{ "CentaurHauls", 6, 15, NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *type =
			ev_x86_cpu(rows[i].vendor, rows[i].family, rows[i].model);

		cr_expect(!type == !rows[i].type &&
				  (!type || !strcmp(type, rows[i].type)),
			  "%s %u %u: %s", rows[i].vendor, rows[i].family, rows[i].model,
			  type ? type : "none");
	}
	cr_expect_str_eq(ev_arm_cpu(0x410fd083), "arm/armv8-cortex-a72");
	cr_expect_str_eq(ev_arm_cpu(0x610f0220), "arm/armv8-pmuv3");
	cr_expect_null(ev_arm_cpu(0x41069265));
}

/* ---- the driver */

static uint64_t value(const struct ev_driver *d, const char *file)
{
	for (unsigned i = 0; i < d->nr; i++)
		if (!strcmp(d->files[i].name, file))
			return d->files[i].value;
	return ~0ull;
}

Test(encode, fills_the_files_of_the_driver)
{
	const struct ev_table *t = table("x86-64/family19h");
	struct ev_wish w = { .def = ev_table_find(t, "LS_DISPATCH"),
			     .number = 3,
			     .count = 60000,
			     .user = true };
	struct ev_driver d;
	struct err err = { 0 };

	cr_expect_eq(ev_encode_driver(&w, 3, &d, &err), 0);
	cr_expect_str_eq(d.dir, "3");
	cr_expect_eq(value(&d, "type"), PERF_TYPE_RAW);
	cr_expect_eq(value(&d, "event"), 0x29);
	cr_expect_eq(value(&d, "unit_mask"), 3);
	cr_expect_eq(value(&d, "extra"), 0);
	cr_expect_eq(value(&d, "count"), 60000);
	cr_expect_eq(value(&d, "kernel"), 0);
	cr_expect_eq(value(&d, "user"), 1);
	cr_expect_str_eq(d.files[d.nr - 1].name, "enabled");

	w.def = ev_table_find(t, "IBS_OP_ALL");
	w.mask = ev_masks_by_name(w.def->masks, "dispatch");
	cr_expect_eq(ev_encode_driver(&w, 0, &d, &err), 0);
	cr_expect_str_eq(d.dir, "ibs_op");
	cr_expect_eq(value(&d, "unit_mask"), 1);
	cr_expect_eq(value(&d, "event"), ~0ull);
}

Test(encode, tells_the_driver_a_raw_code_in_parts)
{
	struct ev_wish w = { .config = 0x1234c0, .count = 5 };
	struct ev_driver d;
	struct err err = { 0 };

	cr_expect_eq(ev_encode_driver(&w, 2, &d, &err), 0);
	cr_expect_str_eq(d.dir, "2");
	cr_expect_eq(value(&d, "event"), 0xc0);
	cr_expect_eq(value(&d, "unit_mask"), 0);
	cr_expect_eq(value(&d, "extra"), 0x123400);
}

Test(encode, refuses_what_the_driver_cannot_count)
{
	struct ev_wish w = { .def = ev_table_find(table("timer"), "TIMER"), .count = 1 };
	struct err err = { 0 };
	struct ev_driver d;

	cr_expect_eq(ev_encode_driver(&w, 0, &d, &err), -EINVAL);
	cr_expect(strstr(err.msg, "events of the hardware and its timer"), "%s", err.msg);
}
