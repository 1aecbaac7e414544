/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/report.h"
#include "opfs/reports.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libspec/spec/spec.h"
#include "tests/unit/opfs/reference.h"

static char *render(const char *name, const struct profile *p)
{
	const struct report *r = report_find(&opfs_reports, name);
	const struct options o = { 0 };
	const struct report_job job = {
		.p = p, .o = &o, .reports = &opfs_reports, .path = "current"
	};
	struct strbuf out = { 0 };
	struct err err = { 0 };

	cr_assert_not_null(r, "%s", name);
	cr_assert_eq(r->render(&job, &out, &err), 0, "%s", err.msg);
	return strbuf_take(&out);
}

static bool has_line(const char *text, const char *line)
{
	size_t len = strlen(line);

	for (const char *at = text; at; at = strchr(at, '\n'), at = at ? at + 1 : NULL)
		if (!strncmp(at, line, len) && at[len] == '\n')
			return true;
	return false;
}

static const struct fake_event cycles = { "CPU_CLK_UNHALTED", 100000, 0, 41 };
static const struct fake_event misses = { "LLC_MISSES", 6000, 0x41, 41 };

static struct fake f;
static struct profile *p;
static char *text;

static void setup(void)
{
	fake_init(&f);
}

static void teardown(void)
{
	free(text);
	profile_put(p);
	fake_fini(&f);
}

TestSuite(report, .init = setup, .fini = teardown);

Test(report, every_file_has_a_name_of_its_own_and_a_doc)
{
	static const char *const order[] = { "README", "status", "summary", "report",
					     "report.tsv" };

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		cr_expect_str_eq(opfs_reports.all[i]->name, order[i]);
	for (size_t i = 0; i < opfs_reports.nr; i++) {
		const struct report *r = opfs_reports.all[i];

		cr_expect_neq(r->doc[0], '\0');
		cr_expect_eq(report_find(&opfs_reports, r->name), r, "%s", r->name);
		cr_expect_eq(!!r->render + !!r->open, 1, "%s", r->name);
	}
	cr_expect_null(report_find(&opfs_reports, "report."));
	cr_expect_null(report_find(&opfs_reports, "repor"));
}

#define EMPTY "\t\t\t\t\t\t\t\t\t\t\t\n" /* the columns that no row here has */

Test(report, tsv_has_fixed_columns_and_no_zeros)
{
	fake_file(&f, "/bin/a", "/bin/a", &cycles, 3);
	fake_file(&f, "/bin/a", "/lib/b", &cycles, 1);
	fake_file(&f, "/bin/a", "/lib/b", &misses, 8);
	p = fake_load(&f, PROFILE_SYMBOLS);
	text = render("report.tsv", p);
	cr_expect_str_eq(
		text, "event\tapplication\timage\tsymbol\tsamples\tshare\tshare_error\t"
		      "mangled\tvma\tfile\tline\ttgid\ttid\tcpu\tbase_samples\t"
		      "base_share\tdifference\tsure\n"
		      "CPU_CLK_UNHALTED:100000\t/bin/a\t/lib/b\t/lib/b\t"
		      "1\t25.0000\t21.6506" EMPTY
		      "CPU_CLK_UNHALTED:100000\t/bin/a\t/bin/a\t/bin/a\t3\t75.0000\t"
		      "21.6506" EMPTY
		      "LLC_MISSES:6000:0x41\t/bin/a\t/lib/b\t/lib/b\t8\t100.0000\t"
		      "0.0000" EMPTY);
}

Test(report, tsv_escapes_what_would_break_a_field)
{
	fake_file(&f, "/a\tb\nc%d", "/a\tb\nc%d", &cycles, 3);
	p = fake_load(&f, PROFILE_SYMBOLS);
	text = render("report.tsv", p);
	cr_expect(strstr(text, "\t/a%09b%0Ac%25d\t/a%09b%0Ac%25d\t"), "%s", text);
}

/* The first numbers of all lines that do not begin with a tab. */
static uint64_t sum_lines(const char *lines, size_t skip_lines)
{
	uint64_t sum = 0;

	for (const char *at = lines; at && *at;
	     at = strchr(at, '\n'), at = at ? at + 1 : NULL)
		if (skip_lines)
			skip_lines--;
		else if (at[0] != '\t')
			sum += strtoull(at, NULL, 10);
	return sum;
}

Test(report, totals_of_report_and_summary_agree)
{
	struct reference all = { 0 };
	char *by_symbol, *by_app;

	fake_fini(&f);
	p = reference_profile(&f, &all);
	by_symbol = render("report", p);
	by_app = render("summary", p);
	cr_expect_eq(sum_lines(by_symbol, 3), 2223);
	cr_expect_eq(sum_lines(by_app, 5), 2223);
	cr_expect_eq(p->classes[0].total, 2223);
	free(by_symbol);
	free(by_app);
}

Test(report, no_samples_is_told_with_a_remedy)
{
	static const char *const names[] = { "summary", "report" };

	f.cat.dirs[0].stats.value[SPEC_STAT_TAKEN] = 7;
	f.cat.dirs[0].stats.value[SPEC_STAT_LOST_NO_MAPPING] = 5;
	f.cat.dirs[0].stats.value[SPEC_STAT_IGNORED_IMAGE] = 2;
	p = fake_load(&f, PROFILE_SYMBOLS);
	for (int i = 0; i < 2; i++) {
		free(text);
		text = render(names[i], p);
		cr_expect(strstr(text, "no samples yet"), "%s", text);
		cr_expect(strstr(text, "7 taken"), "%s", text);
		cr_expect(strstr(text, "5 lost"), "%s", text);
		cr_expect(strstr(text, "2 were of other images than"), "%s", text);
		cr_expect(strstr(text, "opcollect record"), "%s", text);
	}
}

Test(report, status_tells_losses_and_images_without_symbols)
{
	struct catalog_bad bad = { (char *)"{root}/x", (char *)"bad magic number" };
	char *throttled[] = { (char *)"cycles" }, *notes[] = { (char *)"a note" };
	struct catalog_dir *d;

	d = &f.cat.dirs[0];
	fake_file(&f, "/bin/a", "/bin/a", &cycles, 30);
	fake_file(&f, "/bin/a", "/lib/b", &cycles, 10);
	d->stats.value[SPEC_STAT_TAKEN] = 50;
	d->stats.value[SPEC_STAT_STORED] = 40;
	d->stats.value[SPEC_STAT_LOST_RECORDS] = 10;
	d->has_live = true;
	d->live = (struct spec_live){ 12, 1700000000123456789, true };
	d->throttled = throttled;
	d->nr_throttled = 1;
	d->notes = notes;
	d->nr_notes = 1;
	f.cat.bad = &bad;
	f.cat.nr_bad = 1;
	p = fake_load(&f, PROFILE_SYMBOLS);
	text = render("status", p);
	cr_expect(
		has_line(text,
			 "cpu: Intel Architectural Perfmon, speed 2400 MHz (estimated)"));
	cr_expect(has_line(text, "samples: 40"));
	cr_expect(has_line(text, "session: current"));
	cr_expect(has_line(text, "taken: 50"));
	cr_expect(has_line(text, "stored: 40"));
	cr_expect(has_line(text, "lost: 10 (20 %)"));
	cr_expect(strstr(text, "\nlost_records_by_kernel: 10 (20 %): "));
	cr_expect(has_line(text, "generation: 12"));
	cr_expect(has_line(text, "drained: 2023-11-14T22:13:20.123Z"));
	cr_expect(has_line(text, "throttled: cycles"));
	cr_expect(has_line(text, "note: a note"));
	cr_expect(has_line(text, "damaged: {root}/x: bad magic number"));
	cr_expect(strstr(text, "\nunresolved: /lib/b: 10 (25 %): "), "%s", text);
}

Test(report, status_names_a_damaged_file_once_and_sorts_images_by_samples)
{
	char path[] = "current/{root}/x/E", reason[] = "{root}/x/E: cut short";
	struct catalog_bad bad = { path, reason };
	const char *a, *b, *c;

	fake_file(&f, "/bin/a", "/bin/a", &cycles, 5);
	fake_file(&f, "/bin/b", "/bin/b", &cycles, 30);
	fake_file(&f, "/bin/c", "/bin/c", &cycles, 10);
	f.cat.bad = &bad;
	f.cat.nr_bad = 1;
	p = fake_load(&f, PROFILE_SYMBOLS);
	text = render("status", p);
	cr_expect(has_line(text, "damaged: current/{root}/x/E: cut short"));
	a = strstr(text, "\nunresolved: /bin/a: 5 ");
	b = strstr(text, "\nunresolved: /bin/b: 30 ");
	c = strstr(text, "\nunresolved: /bin/c: 10 ");
	cr_expect(a && b && c && b < c && c < a, "%s", text);
}

Test(report, readme_tells_in_few_lines_what_can_be_done)
{
	size_t lines = 0;

	fake_file(&f, "/bin/a", "/bin/a", &cycles, 30);
	p = fake_load(&f, PROFILE_PAIRS);
	text = render("README", p);
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	cr_expect_leq(lines, 24, "%s", text);
	cr_expect(strstr(text, "cat report "), "%s", text);
	cr_expect(strstr(text, "event:CPU_CLK_UNHALTED/summary"), "%s", text);
	cr_expect(strstr(text, "image:/bin/a/report"), "%s", text);
}

Test(report, ends_when_nobody_waits)
{
	atomic_bool cancel = true;
	struct viewer gone = { .cancel = &cancel };

	fake_file(&f, "/bin/a", "/bin/a", &cycles, 30);
	p = fake_load(&f, PROFILE_SYMBOLS);
	for (size_t i = 0; i < opfs_reports.nr; i++) {
		const struct report *r = opfs_reports.all[i];
		const struct options o = { 0 };
		const struct report_job job = { .p = p,
						.o = &o,
						.v = &gone,
						.reports = &opfs_reports,
						.path = "current" };
		struct strbuf out = { 0 };
		struct err err = { 0 };

		if (r->needs <= PROFILE_SYMBOLS && r->render &&
		    strcmp(r->name, "README") != 0)
			cr_expect_eq(r->render(&job, &out, &err), -EINTR, "%s", r->name);
		strbuf_fini(&out);
	}
}

/* Counts what a report gives away before its end. */
struct pieces {
	struct strbuf_sink sink;
	struct strbuf all;
	size_t nr, longest;
	int fails; /* -errno */
};

static int take_piece(struct strbuf_sink *s, struct strbuf *b)
{
	struct pieces *to = (void *)((char *)s - offsetof(struct pieces, sink));

	to->nr++;
	to->longest = b->len > to->longest ? b->len : to->longest;
	strbuf_add(&to->all, b->data, b->len);
	strbuf_reset(b);
	return to->fails;
}

static int render_pieces(const char *name, struct pieces *to, struct err *err)
{
	const struct options o = { 0 };
	const struct report_job job = {
		.p = p, .o = &o, .reports = &opfs_reports, .path = "current"
	};
	struct strbuf out = { .sink = &to->sink };
	int rc = report_find(&opfs_reports, name)->render(&job, &out, err);

	strbuf_drain(&out);
	strbuf_fini(&out);
	return rc;
}

Test(report, long_tables_are_given_away_while_they_are_made)
{
	const char *const names[] = { "report", "details", "report.tsv", "report.json",
				      "report.xml" };
	const struct spec_sample_node node = { .key = 64, .value = 30 };
	enum { SIDE = 40, ROWS = SIDE * SIDE };

	for (int i = 0; i < ROWS; i++) {
		char app[32], image[32];

		snprintf(app, sizeof(app), "/bin/program%d", i / SIDE);
		snprintf(image, sizeof(image), "/lib/library%d", i % SIDE);
		fake_sample_file(&f, app, image, &cycles, &node, 1);
	}
	p = fake_load(&f, PROFILE_HITS);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct pieces to = { .sink = { .at_least = 1, .write = take_piece } };
		struct pieces full = { .sink = { .at_least = 1, .write = take_piece },
				       .fails = -ENOSPC };
		struct err err = { 0 };

		free(text);
		text = render(names[i], p);
		cr_expect_eq(render_pieces(names[i], &to, &err), 0, "%s", err.msg);
		cr_expect_str_eq(strbuf_str(&to.all), text, "%s", names[i]);
		cr_expect_geq(to.nr, ROWS / 64, "%s: %zu pieces", names[i], to.nr);
		cr_expect_leq(to.longest, strlen(text) / 10, "%s: %zu bytes", names[i],
			      to.longest);
		cr_expect_neq(render_pieces(names[i], &full, &err), 0, "%s", names[i]);
		cr_expect_eq(full.nr, 1, "%s: went on after the sink failed", names[i]);
		strbuf_fini(&to.all);
		strbuf_fini(&full.all);
	}
}
