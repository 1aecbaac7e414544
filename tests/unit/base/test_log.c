/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
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
	log_debug("hidden");
	cr_expect_eq(said_lines(), 0);
	log_set_level(LOG_DEBUG);
	log_debug("shown");
	cr_expect_eq(said_lines(), 1);
	log_set_level(LOG_ERROR);
	log_warn("hidden");
	cr_expect_eq(said_lines(), 0);
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
