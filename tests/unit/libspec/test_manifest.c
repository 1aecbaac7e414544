/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "libspec/name/clock.h"
#include "libspec/session/images.h"
#include "libspec/session/manifest.h"
#include "libspec/session/stats.h"
#include "tests/unit/libspec/scratch.h"

#define START UINT64_C(1795251600123456789)

static const char *const events[] = { "TIMER:100000:0:1:1", "odd\nname" };
static const struct spec_manifest_about about = { .session = "2026-11-21T09-00-00Z",
						  .start_ns = START,
						  .end_ns = START + SPEC_NS_PER_S,
						  .cpu = "100 % of a CPU",
						  .events = events,
						  .nr_events = 2 };

static const char odd[] = "a\\b\nc";

/* A session with a table, figures, and a name that sha256sum escapes. */
static void fill(const struct scratch *s)
{
	char stored[] = "/usr/bin/a b", real[] = "/usr/bin/a b";
	struct spec_image_row row = { .stored = stored,
				      .real_path = real,
				      .build_id = { 2, { 0xab, 0xcd } } };
	struct spec_stats stats = {
		.value = { [SPEC_STAT_TAKEN] = 7, [SPEC_STAT_STORED] = 7 }
	};

	scratch_write(s, "{root}/x/EVENT", "samples", 7);
	scratch_write(s, "{root}/empty", "", 0);
	scratch_write(s, odd, "odd", 3);
	cr_assert_eq(spec_images_append(s->fd, &row, NULL), 0);
	cr_assert_eq(spec_stats_write(s->fd, &stats, NULL, NULL), 0);
}

static int keep_finding(void *ctx, const char *path, const char *what)
{
	strbuf_printf(ctx, "%s %s;", path, what);
	return 0;
}

/* What verifying finds; "bad" if the MANIFEST itself is not as it was. */
static void verify(const struct scratch *s, struct strbuf *out)
{
	CLEANUP(spec_manifest_fini) struct spec_manifest m = { 0 };
	struct err err = { 0 };

	strbuf_reset(out);
	if (spec_manifest_read(s->fd, &m, &err)) {
		strbuf_puts(out, "bad");
		return;
	}
	cr_assert_eq(spec_manifest_verify(s->fd, &m, keep_finding, out, &err), 0, "%s",
		     err.msg);
}

Test(manifest, what_is_written_verifies_and_tells_all_facts)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	CLEANUP(spec_manifest_fini) struct spec_manifest m = { 0 };
	CLEANUP(strbuf_fini) struct strbuf found = { 0 };
	struct err err = { 0 };
	size_t figures = 0;

	fill(&s);
	cr_assert_eq(spec_manifest_write(s.fd, &about, &err), 0, "%s", err.msg);
	verify(&s, &found);
	cr_expect_str_eq(strbuf_str(&found), "");
	cr_assert_eq(spec_manifest_read(s.fd, &m, &err), 0, "%s", err.msg);
	cr_expect_str_eq(spec_manifest_fact(&m, "session"), about.session);
	cr_expect_str_eq(spec_manifest_fact(&m, "cpu"), about.cpu);
	cr_expect_str_eq(spec_manifest_fact(&m, "image"), "abcd /usr/bin/a b");
	cr_expect_str_eq(spec_manifest_fact(&m, "figure"), "total_samples 7");
	cr_expect_eq(spec_manifest_time(&m, "start"), START);
	cr_expect_eq(spec_manifest_time(&m, "end"), START + SPEC_NS_PER_S);
	cr_expect_not_null(spec_manifest_fact(&m, "host"));
	cr_expect_not_null(spec_manifest_fact(&m, "kernel"));
	cr_expect_null(spec_manifest_fact(&m, "colour"));
	for (size_t i = 0; i < m.nr_facts; i++)
		figures += !strcmp(m.facts[i].key, "figure");
	cr_expect_eq(figures, SPEC_NR_STATS);
	cr_expect_eq(m.nr_files, 6);
}

Test(manifest, sha256sum_checks_it)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	char command[256];

	fill(&s);
	cr_assert_eq(spec_manifest_write(s.fd, &about, NULL), 0);
	snprintf(command, sizeof(command),
		 "cd %s && sha256sum --strict --quiet -c MANIFEST", s.path);
	cr_expect_eq(system(command), 0);
}

Test(manifest, leftovers_of_killed_writers_are_removed)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	CLEANUP(strbuf_fini) struct strbuf found = { 0 };

	fill(&s);
	scratch_write(&s, ".new/1", "x", 1);
	scratch_write(&s, ".tmp.1.1", "x", 1);
	scratch_write(&s, "stats/.tmp.1.1", "x", 1);
	scratch_write(&s, "{root}/.hidden/x", "x", 1);
	cr_assert_eq(spec_manifest_write(s.fd, &about, NULL), 0);
	verify(&s, &found);
	cr_expect_str_eq(strbuf_str(&found), "");
	cr_expect_neq(faccessat(s.fd, ".new", F_OK, 0), 0);
	cr_expect_neq(faccessat(s.fd, "stats/.tmp.1.1", F_OK, 0), 0);
	cr_expect_eq(faccessat(s.fd, "{root}/.hidden/x", F_OK, 0), 0);
}

/* Flips a bit of every byte of a file in turn. */
static void expect_each_byte_counts(const struct scratch *s, const char *path,
				    const char *finding)
{
	CLEANUP(strbuf_fini) struct strbuf found = { 0 };
	size_t len;
	CLEANUP(free_ptr) char *data = scratch_read(s, path, &len);

	for (size_t i = 0; i < len; i++) {
		data[i] ^= 1;
		scratch_write(s, path, data, len);
		verify(s, &found);
		cr_expect_str_eq(strbuf_str(&found), finding, "byte %zu of %s: %s", i,
				 path, strbuf_str(&found));
		data[i] ^= 1;
	}
	scratch_write(s, path, data, len);
	verify(s, &found);
	cr_expect_str_eq(strbuf_str(&found), "");
}

Test(manifest, every_single_changed_byte_is_found)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();

	fill(&s);
	cr_assert_eq(spec_manifest_write(s.fd, &about, NULL), 0);
	expect_each_byte_counts(&s, "{root}/x/EVENT", "{root}/x/EVENT has changed;");
	expect_each_byte_counts(&s, "images", "images has changed;");
	expect_each_byte_counts(&s, "stats/total_samples",
				"stats/total_samples has changed;");
	expect_each_byte_counts(&s, "MANIFEST", "bad");
}

Test(manifest, every_length_but_the_right_one_of_the_manifest_is_refused)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	CLEANUP(strbuf_fini) struct strbuf found = { 0 };
	size_t len;

	fill(&s);
	cr_assert_eq(spec_manifest_write(s.fd, &about, NULL), 0);
	CLEANUP(free_ptr) char *text = scratch_read(&s, "MANIFEST", &len);
	for (size_t i = 0; i < len; i++) {
		scratch_write(&s, "MANIFEST", text, i);
		verify(&s, &found);
		cr_expect_str_eq(strbuf_str(&found), "bad", "%zu bytes", i);
	}
}

Test(manifest, missing_added_and_replaced_files_are_found)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	CLEANUP(strbuf_fini) struct strbuf found = { 0 };

	fill(&s);
	cr_assert_eq(spec_manifest_write(s.fd, &about, NULL), 0);
	cr_assert_eq(unlinkat(s.fd, odd, 0), 0);
	cr_assert_eq(unlinkat(s.fd, "{root}/empty", 0), 0);
	cr_assert_eq(symlinkat("x/EVENT", s.fd, "{root}/empty"), 0);
	scratch_write(&s, ".new/added", "", 0);
	scratch_write(&s, "{root}/x/MANIFEST", "", 0);
	scratch_write(&s, "{root}/x/EVENT", "samples+", 8);
	cr_assert_eq(mkfifoat(s.fd, "pipe", 0600), 0);
	verify(&s, &found);
	cr_expect_str_eq(strbuf_str(&found),
			 "a\\b\nc is missing;{root}/empty is no file any more;"
			 "{root}/x/EVENT has changed;"
			 ".new/added is not in the MANIFEST;pipe is not in the MANIFEST;"
			 "{root}/x/MANIFEST is not in the MANIFEST;");
}

Test(manifest, names_lead_nowhere_outside)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	CLEANUP(strbuf_fini) struct strbuf found = { 0 }, text = { 0 };
	uint8_t sum[SPEC_SUM_BYTES] = { 0 };

	spec_manifest_begin(&text);
	spec_manifest_line(&text, sum, "/etc/passwd");
	spec_manifest_line(&text, sum, "../../etc/passwd");
	spec_manifest_end(&text);
	scratch_write(&s, "MANIFEST", text.data, text.len);
	verify(&s, &found);
	cr_expect_not_null(strstr(strbuf_str(&found), "/etc/passwd cannot be read"));
	cr_expect_null(strstr(strbuf_str(&found), "changed"));
}

Test(manifest, a_moment_comes_back_from_its_text)
{
	static const uint64_t moments[] = { 0,
					    1,
					    SPEC_NS_PER_S,
					    START,
					    START / 1000 * 1000,
					    UINT64_C(4102444799999999999) };
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	uint64_t ns;

	for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
		strbuf_reset(&text);
		spec_clock_utc(moments[i], &text);
		cr_expect(spec_clock_parse_utc(strbuf_str(&text), &ns));
		cr_expect_eq(ns, moments[i], "%s", strbuf_str(&text));
		strbuf_reset(&text);
		spec_clock_name(moments[i], &text);
		cr_expect(spec_clock_parse_name(strbuf_str(&text), &ns));
		cr_expect_eq(ns, moments[i] / SPEC_NS_PER_S * SPEC_NS_PER_S);
	}
	cr_expect(spec_clock_parse_name("2026-11-21T09-00-00Z-12", &ns));
	cr_expect_not(spec_clock_parse_name("2026-11-21T09-00-00Z-", &ns));
	cr_expect_not(spec_clock_parse_name("2026-02-30T09-00-00Z", &ns));
	cr_expect_not(spec_clock_parse_name("current", &ns));
	cr_expect_not(spec_clock_parse_utc("2026-11-21T25:00:00Z", &ns));
	cr_expect_not(spec_clock_parse_utc("2026-11-21T09:00:00", &ns));
}
