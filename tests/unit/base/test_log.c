/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

static int fds[2];
static char text[65536];

static void begin(void)
{
	cr_assert_eq(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
	log_init("prog");
	log_set_fd(fds[1]);
}

TestSuite(log, .init = begin);

static int said_lines(void)
{
	ssize_t n = read(fds[0], text, sizeof(text) - 1);
	int lines = 0;

	text[n < 0 ? 0 : n] = '\0';
	for (const char *s = text; (s = strchr(s, '\n')); s++)
		lines++;
	return lines;
}

Test(log, says_program_and_message_in_one_line)
{
	log_err("%s: %s", "a\nb", "bad");
	cr_expect_eq(said_lines(), 1);
	cr_expect_str_eq(text, "prog: a?b: bad\n");
}

Test(log, keeps_to_its_level)
{
	log_debug(LOG_MISC, "hidden");
	cr_expect_eq(said_lines(), 0);
	log_set_level(LOG_DEBUG);
	log_debug(LOG_MISC, "shown");
	cr_expect_eq(said_lines(), 1);
	log_set_level(LOG_ERROR);
	log_warn("hidden");
	cr_expect_eq(said_lines(), 0);
}

Test(log, shows_messages_of_the_topics_that_were_asked_for)
{
	log_set_level(LOG_DEBUG);
	cr_expect_eq(log_want("sfile,arcs", NULL), 0);
	log_debug(LOG_MISC, "hidden");
	log_debug(LOG_SFILE, "1");
	log_debug(LOG_ARCS, "2");
	log_warn("3");
	cr_expect_eq(said_lines(), 3);
	cr_expect_eq(log_want("misc", NULL), 0);
	log_debug(LOG_MISC, "4");
	log_debug(LOG_RECORD, "hidden");
	cr_expect_eq(said_lines(), 1);
	cr_expect_eq(log_want("debug", NULL), 0);
	log_debug(LOG_RECORD, "5");
	cr_expect_eq(said_lines(), 1);
}

Test(log, tells_the_topics_that_there_are)
{
	static const char *const bad[] = {
		"", "sfiles", "sfil", "arcs,", ",arcs", "a,,b"
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct err err = { 0 };

		cr_expect_eq(log_want(bad[i], &err), -EINVAL, "%s", bad[i]);
		cr_expect(strstr(err.msg, ", but: all, debug, misc, record, convert, "
					  "sfile, arcs"),
			  "%s", err.msg);
	}
	log_set_level(LOG_DEBUG);
	log_debug(LOG_MISC, "what is wrong changes nothing");
	cr_expect_eq(said_lines(), 1);
}

Test(log, does_not_limit_what_was_asked_for)
{
	log_set_level(LOG_DEBUG);
	for (int i = 0; i < 100; i++)
		log_debug(LOG_SFILE, "file %d", i);
	cr_expect_eq(said_lines(), 100);
}

static time_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

Test(log, limits_one_place_and_tells_how_many_it_left_out)
{
	time_t begin = seconds();
	int lines;

	for (int i = 0; i < 1000; i++)
		log_err("storm %d", i);
	lines = said_lines();
	cr_expect_geq(lines, 10);
	/* ten in each second that it took, and what was left out before */
	cr_expect_leq(lines, 11 * (seconds() - begin + 2), "%d lines", lines);
	log_err("another place");
	cr_expect_eq(said_lines(), 1);
	usleep(1100 * 1000);
	log_err("another place");
	cr_expect_eq(said_lines(), 2);
	cr_expect(strstr(text, " more messages like those were left out"), "%s", text);
}

Test(log, cuts_a_message_that_is_too_long)
{
	char big[5000];

	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	log_err("%s", big);
	cr_expect_eq(said_lines(), 1);
	cr_expect_lt(strlen(text), 1024);
}
