/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The layouts of summary and report against what OProfile printed for the same rows. */
#include "opfs/report/report.h"
#include "opfs/reports.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/opfs/reference.h"

#define DEMO "/opt/opdemo/bin/demo"
#define SHAPES "/opt/opdemo/bin/shapes"

struct layout {
	const char *transcript;
	struct reference what;
	struct view_options how;
};

/* OProfile has no line that tells what columns are of. */
static void drop_line(struct strbuf *out, const char *line)
{
	char *at = strstr(out->data, line);

	if (!at)
		return;
	memmove(at, at + strlen(line) - 1, strlen(at) - strlen(line) + 2);
	out->len -= strlen(line) - 1;
}

static void expect_text(const struct layout *l, const struct report *report)
{
	const struct options o = { .view = l->how };
	struct report_job job = { .o = &o, .path = "current" };
	struct fake f;
	struct profile *p = reference_profile(&f, &l->what);
	char *want = reference_text(l->transcript);
	struct strbuf out = { 0 };
	struct err err = { 0 };

	job.p = p;
	cr_assert_eq(report->render(&job, &out, &err), 0, "%s", err.msg);
	drop_line(&out, "\nCPU_CLK_UNHALT... LLC_MISSES:6000\n");
	cr_expect_str_eq(strbuf_str(&out), want, "%s: got\n%s", l->transcript,
			 strbuf_str(&out));
	strbuf_fini(&out);
	free(want);
	profile_put(p);
	fake_fini(&f);
}

Test(report_layout, by_application_reads_as_opreport)
{
	static const struct layout layouts[] = {
		{ "01-summary.txt", { .two_events = true }, { 0 } },
		{ "02-summary-1event.txt", { 0 }, { 0 } },
		{ "03-summary-long.txt", { 0 }, { .long_filenames = true } },
		{ "04-summary-nohdr.txt", { 0 }, { .no_header = true } },
		{ "05-summary-x.txt", { 0 }, { .exclude_dependent = true } },
		{ "06-summary-global.txt", { 0 }, { .global_percent = true } },
		{ "07-summary-mergelib.txt", { .merge_lib = true }, { 0 } },
		{ "08-summary-threshold.txt", { 0 }, { .threshold = 5 } },
		{ "09-summary-reverse.txt", { 0 }, { .reverse = true } },
	};

	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		expect_text(&layouts[i], report_find(&opfs_reports, "summary"));
}

Test(report_layout, by_symbol_reads_as_opreport_l)
{
	static const struct layout layouts[] = {
		{ "10-symbols.txt", { .app = DEMO }, { 0 } },
		{ "11-symbols-2ev.txt", { .app = DEMO, .two_events = true }, { 0 } },
		{ "13-symbols-long.txt", { .app = DEMO }, { .long_filenames = true } },
		{ "14-symbols-w.txt", { .app = DEMO }, { .show_address = true } },
		{ "16-symbols-a.txt", { .app = DEMO }, { .accumulated = true } },
		{ "17-symbols-x.txt", { .app = DEMO }, { .exclude_dependent = true } },
		{ "18-symbols-sort-symbol.txt",
		  { .app = DEMO },
		  { .sort = { VIEW_BY_SYMBOL }, .nr_sort = 1 } },
		{ "19-symbols-sort-vma.txt",
		  { .app = DEMO },
		  { .sort = { VIEW_BY_VMA }, .nr_sort = 1, .show_address = true } },
		{ "20-symbols-sort-image-sample.txt",
		  { .app = DEMO },
		  { .sort = { VIEW_BY_IMAGE, VIEW_BY_SAMPLES }, .nr_sort = 2 } },
		{ "22-symbols-reverse.txt", { .app = DEMO }, { .reverse = true } },
		{ "23-symbols-threshold.txt", { .app = DEMO }, { .threshold = 5 } },
		{ "24-symbols-include.txt",
		  { .app = DEMO, .symbols = "crunch,sift," },
		  { 0 } },
		{ "25-symbols-exclude.txt",
		  { .app = DEMO, .symbols = "!crunch," },
		  { 0 } },
		{ "26-symbols-cxx.txt", { .app = SHAPES, .two_events = true }, { 0 } },
	};

	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		expect_text(&layouts[i], report_find(&opfs_reports, "report"));
}
