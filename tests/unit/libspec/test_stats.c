/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "libspec/session/stats.h"
#include "tests/unit/libspec/scratch.h"

static bool exists(const struct scratch *s, const char *path)
{
	struct stat st;

	return !fstatat(s->fd, path, &st, 0);
}

Test(stats, come_back_as_they_were_written)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	struct spec_stats out = { 0 }, in = { 0 };

	for (size_t i = 0; i < SPEC_NR_STATS; i++)
		in.value[i] = i * 1000;
	in.value[SPEC_STAT_TAKEN] = UINT64_MAX;
	cr_assert_eq(spec_stats_write(s.fd, &in, NULL, NULL), 0);
	cr_assert_eq(spec_stats_read(s.fd, &out, NULL), 0);
	cr_expect_eq(memcmp(&in, &out, sizeof(in)), 0);
	cr_assert_eq(spec_stats_read_settled(s.fd, true, &out, NULL), 0);
	cr_expect_eq(memcmp(&in, &out, sizeof(in)), 0);
	CLEANUP(free_ptr) char *text = scratch_read(&s, "stats/total_samples", NULL);
	cr_expect_str_eq(text, "18446744073709551615",
			 "no newline, as OProfile writes it");
}

Test(stats, that_are_zero_have_no_file)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	struct spec_stats in = { .value = { [SPEC_STAT_LOST_KERNEL] = 3 } };

	cr_assert_eq(spec_stats_write(s.fd, &in, NULL, NULL), 0);
	cr_expect(exists(&s, "stats/lost_kernel"));
	in.value[SPEC_STAT_LOST_KERNEL] = 0;
	cr_assert_eq(spec_stats_write(s.fd, &in, NULL, NULL), 0);
	cr_expect_not(exists(&s, "stats/lost_kernel"));
}

Test(stats, of_a_session_without_them_are_zero)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	struct spec_stats out = { .value = { 7 } }, zero = { 0 };

	cr_assert_eq(spec_stats_read(s.fd, &out, NULL), 0);
	cr_expect_eq(memcmp(&zero, &out, sizeof(out)), 0);
	out.value[0] = 7;
	cr_assert_eq(spec_stats_read_settled(s.fd, true, &out, NULL), 0);
	cr_expect_eq(memcmp(&zero, &out, sizeof(out)), 0);
}

Test(stats, garbage_is_named)
{
	static const char *const bad[] = {
		"", "\n", "x", "-1", "1 2", "0x1", "18446744073709551616"
	};
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	struct spec_stats out = { 0 };
	struct err err = { 0 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		scratch_write(&s, "stats/lost_kernel", bad[i], strlen(bad[i]));
		cr_expect_eq(spec_stats_read(s.fd, &out, &err), -EBADMSG, "\"%s\"",
			     bad[i]);
		cr_expect(strstr(err.msg, "stats/lost_kernel"), "%s", err.msg);
	}
	scratch_write(&s, "stats/lost_kernel", "12\n", 3);
	cr_expect_eq(spec_stats_read(s.fd, &out, &err), 0, "a newline is fine");
	cr_expect_eq(out.value[SPEC_STAT_LOST_KERNEL], 12);
}

Test(stats, lost_is_the_sum_of_losses_only)
{
	struct spec_stats s = { 0 };

	s.value[SPEC_STAT_TAKEN] = 100;
	s.value[SPEC_STAT_STORED] = 60;
	s.value[SPEC_STAT_LOST_KERNEL] = 10;
	s.value[SPEC_STAT_LOST_RECORDS] = 20;
	s.value[SPEC_STAT_IGNORED_IMAGE] = 10;
	s.value[SPEC_STAT_LOST_BT_NO_MAPPING] = 1000;
	cr_expect_eq(spec_stats_lost(&s), 30);
	cr_expect_eq(spec_stats_ignored(&s), 10);
	s.value[SPEC_STAT_LOST_KERNEL] = UINT64_MAX;
	cr_expect_eq(spec_stats_lost(&s), UINT64_MAX, "saturates");
}

Test(stats, have_names_of_their_own_and_a_text)
{
	for (size_t i = 0; i < SPEC_NR_STATS; i++) {
		cr_expect(spec_stat_info[i].name && *spec_stat_info[i].name);
		cr_expect(spec_stat_info[i].doc && *spec_stat_info[i].doc);
		for (size_t j = 0; j < i; j++)
			cr_expect_str_neq(spec_stat_info[i].name, spec_stat_info[j].name);
	}
}

static int collect(void *ctx, const char *text)
{
	strbuf_printf(ctx, "%s|", text);
	return 0;
}

static int stop(void *ctx, const char *text)
{
	collect(ctx, text);
	return -ECANCELED;
}

Test(stats, throttled_events_are_told_in_order)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	cr_expect_eq(spec_stats_each_throttled(s.fd, collect, &text, NULL), 0);
	cr_expect_eq(text.len, 0);
	scratch_write(&s, "images", "", 0);
	cr_assert_eq(spec_stats_throttled(s.fd, "b/x.y", NULL), 0);
	cr_assert_eq(spec_stats_throttled(s.fd, "CYCLES", NULL), 0);
	cr_assert_eq(spec_stats_throttled(s.fd, "CYCLES", NULL), 0);
	cr_expect(exists(&s, "stats/throttled/b%2Fx%2Ey"));
	cr_expect_eq(spec_stats_each_throttled(s.fd, collect, &text, NULL), 0);
	cr_expect_str_eq(text.data, "CYCLES|b/x.y|");
	strbuf_reset(&text);
	cr_expect_eq(spec_stats_each_throttled(s.fd, stop, &text, NULL), -ECANCELED);
	cr_expect_str_eq(text.data, "CYCLES|");
}

Test(stats, notes_are_told_once_each_and_cannot_control_a_terminal)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	cr_expect_eq(spec_stats_each_note(s.fd, collect, &text, NULL), 0);
	cr_expect_eq(text.len, 0);
	cr_assert_eq(spec_stats_note(s.fd, "short children: 90%", NULL), 0);
	cr_assert_eq(spec_stats_note(s.fd, "a\x1b[2Jb\nc", NULL), 0);
	cr_assert_eq(spec_stats_note(s.fd, "short children: 90%", NULL), 0);
	cr_expect_eq(spec_stats_each_note(s.fd, collect, &text, NULL), 0);
	cr_expect_str_eq(text.data, "short children: 90%|a%1B[2Jb%0Ac|");
}

Test(stats, live_comes_back_and_garbage_is_refused)
{
	static const char *const bad[] = { "", "1 2", "1 2 live 3", "1 2 dead",
					   "x 2 live" };
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	struct spec_live in = { .generation = 7,
				.drained_ns = UINT64_MAX,
				.closed = true };
	struct spec_live out = { 0 };

	cr_expect_eq(spec_live_read(s.fd, &out, NULL), -ENOENT);
	cr_assert_eq(spec_live_write(s.fd, &in, NULL), 0);
	cr_assert_eq(spec_live_read(s.fd, &out, NULL), 0);
	cr_expect_eq(out.generation, 7);
	cr_expect_eq(out.drained_ns, UINT64_MAX);
	cr_expect(out.closed);
	in.closed = false;
	cr_assert_eq(spec_live_write(s.fd, &in, NULL), 0);
	cr_assert_eq(spec_live_read(s.fd, &out, NULL), 0);
	cr_expect_not(out.closed);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		scratch_write(&s, "stats/live", bad[i], strlen(bad[i]));
		cr_expect_eq(spec_live_read(s.fd, &out, NULL), -EBADMSG, "\"%s\"",
			     bad[i]);
	}
}
