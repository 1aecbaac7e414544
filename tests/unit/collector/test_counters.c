/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "collector/source/counters.h"

/* A kernel that counts as many events of a group at a time. */
static int room = 99, in_group, refusal = -EINVAL;

int coll_perf_open_group(const struct coll_event *e, int group)
{
	in_group = group < 0 ? 1 : in_group + 1;
	cr_expect_eq(e->spec.event.kind, EV_HARDWARE);
	if (in_group > room)
		return refusal;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static struct coll_event events[4];

static size_t ask(const char *const *names, size_t nr)
{
	struct err err = { 0 };

	for (size_t i = 0; i < nr; i++)
		cr_assert_eq(ev_spec_parse(names[i], &events[i].spec, &err), 0, "%s",
			     err.msg);
	return nr;
}

static const char *const names[] = { "cycles", "page-faults", "cache-misses",
				     "branch-misses" };

Test(counters, says_nothing_where_all_have_one)
{
	char note[256] = "";

	coll_counters_note(events, ask(names, 4), note);
	cr_expect_str_eq(note, "");
	cr_expect_eq(in_group, 3);
}

Test(counters, says_which_event_has_none_left)
{
	char note[256] = "";

	room = 2;
	coll_counters_note(events, ask(names, 4), note);
	cr_expect(strstr(note, "no counter is left for branch-misses beside cycles, "
			       "cache-misses"),
		  "%s", note);
	cr_expect(strstr(note, "takes turns"), "%s", note);
}

Test(counters, leaves_refusals_for_other_reasons_to_who_opens_the_event)
{
	char note[256] = "";

	room = 0;
	coll_counters_note(events, ask(names, 4), note);
	room = 1;
	refusal = -EACCES;
	coll_counters_note(events, ask(names, 4), note);
	cr_expect_str_eq(note, "");
}

Test(counters, closes_what_it_opened)
{
	char note[256];
	int before = open("/dev/null", O_RDONLY | O_CLOEXEC), after;

	close(before);
	coll_counters_note(events, ask(names, 4), note);
	after = open("/dev/null", O_RDONLY | O_CLOEXEC);
	cr_expect_eq(before, after);
	close(after);
}

/* What is said goes to a pipe. */
static void expect_told(uint64_t enabled, uint64_t running, const char *want)
{
	struct coll_share share = { enabled, running };
	char text[512] = "";
	int fds[2];

	cr_assert_eq(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	log_set_fd(fds[1]);
	coll_share_tell("cache-misses", &share);
	log_set_fd(2);
	if (read(fds[0], text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	cr_expect(want ? strstr(text, want) != NULL : !*text, "%s", text);
	close(fds[0]);
	close(fds[1]);
}

Test(counters, tells_the_share_of_time_an_event_was_counted)
{
	log_init("test");
	expect_told(1000000, 625000, "cache-misses was counted 62 % of the time");
	expect_told(1000000, 0, "cache-misses was never counted");
	expect_told(1000000, 1000000, NULL);
	expect_told(1000000, 999000, NULL);
	expect_told(0, 0, NULL);
}

static void expect_sum(struct coll_reading *r, size_t nr, size_t event, uint64_t enabled,
		       uint64_t running)
{
	struct coll_share share;

	coll_share_sum(r, nr, event, &share);
	cr_expect_eq(share.enabled, enabled, "%llu", (unsigned long long)share.enabled);
	cr_expect_eq(share.running, running, "%llu", (unsigned long long)share.running);
}

Test(counters, a_thread_is_counted_on_one_cpu_at_a_time)
{
	/* two threads on three CPUs; of the second event one CPU's copy lost its turn */
	struct coll_reading r[] = {
		{ 0, 71, 1000, 600 }, { 1, 71, 1000, 600 }, { 0, 72, 500, 0 },
		{ 1, 72, 500, 0 },    { 0, 71, 1000, 0 },   { 1, 71, 1000, 0 },
		{ 0, 72, 499, 500 },  { 1, 72, 500, 100 },  { 0, 71, 999, 400 },
		{ 1, 71, 1000, 400 }, { 0, 72, 500, 0 },    { 1, 72, 500, 0 },
	};

	expect_sum(r, 12, 0, 1500, 1500);
	expect_sum(r, 12, 1, 1500, 1100);
	expect_sum(r, 12, 2, 0, 0);
	expect_sum(r, 0, 0, 0, 0);
}

Test(counters, cpus_that_are_sampled_whole_are_summed)
{
	struct coll_reading r[] = {
		{ 0, 0, 1000, 500 },
		{ 0, 1, 1000, 500 },
		{ 0, 2, 300, 300 }, /* went offline */
	};

	expect_sum(r, 3, 0, 2300, 1300);
}
