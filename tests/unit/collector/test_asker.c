/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "collector/who/asker.h"

enum { MANY = 2000, LANE = 7 };

static void sleep_ms(unsigned ms)
{
	struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}

static void spin_ms(unsigned ms)
{
	struct timespec t;

	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	while (clock_ns_of(&t) < ms * CLOCK_NS_PER_MS);
}

/* Dies as often as the file is long, which gets shorter. */
static void die_by(const char *file, int sig)
{
	int fd = open(file, O_RDWR);
	off_t left = lseek(fd, 0, SEEK_END);

	if (left > 0 && !ftruncate(fd, left - 1))
		raise(sig);
	close(fd);
}

/* A frame, again and again if it is empty, and zeroes behind it for ever. */
static void flood(uint32_t kind, uint32_t len)
{
	static const char zeroes[1 << 16];
	const struct coll_ask_frame f = { kind, len };

	do
		if (write(BOX_FD, &f, sizeof(f)) < 0)
			_exit(1);
	while (!len);
	while (write(BOX_FD, zeroes, sizeof(zeroes)) > 0)
		;
	_exit(1);
}

/* Helpers do what the question says, and answer with it. */
void coll_answer(enum coll_question_kind kind, char *question, size_t len,
		 struct strbuf *out, int *file)
{
	unsigned flooded, each;

	(void)kind;
	*file = -1;
	if (!strcmp(question, "block"))
		for (;;)
			pause();
	if (!strncmp(question, "sleep ", 6))
		sleep_ms((unsigned)atoi(question + 6));
	if (!strncmp(question, "spin ", 5))
		spin_ms((unsigned)atoi(question + 5));
	if (!strncmp(question, "die ", 4))
		die_by(question + 4, SIGKILL);
	if (!strncmp(question, "limit ", 6))
		die_by(question + 6, SIGXCPU);
	if (sscanf(question, "flood %x %u", &flooded, &each) == 2)
		flood(flooded, each);
	if (!strncmp(question, "big ", 4))
		strbuf_fill(out, 'x', strtoul(question + 4, NULL, 10));
	else
		strbuf_add(out, question, len);
}

struct got {
	int rc;
	unsigned times;
	size_t len;
	char text[32];
};

static unsigned answers;

static void take(void *ctx, uint64_t arg, int rc, char *answer, size_t len)
{
	struct got *g = (struct got *)ctx + arg;

	g->rc = rc;
	g->times++;
	g->len = len;
	if (!rc)
		snprintf(g->text, sizeof(g->text), "%.*s", (int)(len < 31 ? len : 31),
			 answer);
	answers++;
}

static void ask(struct coll_asker *a, uint64_t lane, const char *text, struct got *got,
		size_t at)
{
	const struct coll_question q = { .kind = COLL_ASK_FILE,
					 .lane = lane,
					 .data = text,
					 .len = strlen(text) + 1,
					 .answered = take,
					 .ctx = got,
					 .arg = at };

	cr_assert_eq(coll_asker_ask(a, &q), 0);
}

static struct coll_asker *a;

static void setup(void)
{
	a = coll_asker_new(&coll_asks_questions, NULL);
}

static void teardown(void)
{
	coll_asker_free(a);
}

TestSuite(asker, .init = setup, .fini = teardown);

/* coll_asker_finish() waits for ever for a question that is lost. */
static void finish_if_it_can(void)
{
	uint64_t until = clock_mono_ns() + 500 * CLOCK_NS_PER_S;

	while (coll_asker_open(a) && clock_mono_ns() < until)
		coll_asker_poll(a, 10);
}

static void each_was_answered_once(const struct got *got, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		cr_expect_eq(got[i].times, 1, "question %zu", i);
		cr_expect_eq(got[i].rc, 0, "question %zu", i);
	}
}

Test(asker, answers_every_question_once)
{
	struct got *got = calloc(MANY, sizeof(*got));
	char text[32];

	for (unsigned i = 0; i < MANY; i++) {
		snprintf(text, sizeof(text), "number %u", i);
		ask(a, i % 3, text, got, i);
	}
	cr_expect_eq(coll_asker_open(a), MANY);
	coll_asker_finish(a);
	for (unsigned i = 0; i < MANY; i++) {
		snprintf(text, sizeof(text), "number %u", i);
		cr_assert_eq(got[i].times, 1);
		cr_assert_eq(got[i].rc, 0);
		cr_assert_str_eq(got[i].text, text);
	}
	free(got);
}

Test(asker, without_helpers_the_answer_is_made_at_once)
{
	struct got got = { 0 };

	ask(NULL, LANE, "here", &got, 0);
	cr_expect_eq(got.times, 1);
	cr_expect_str_eq(got.text, "here");
}

Test(asker, takes_answers_of_many_megabytes)
{
	struct got got[2] = { 0 };

	ask(a, LANE, "big 30000000", got, 0);
	ask(a, LANE, "small", got, 1);
	coll_asker_finish(a);
	cr_expect_eq(got[0].len, 30000000);
	cr_expect_str_eq(got[1].text, "small");
}

/* The first is given up, one more is tried, and nothing more is asked of the lane. */
Test(asker, gives_up_a_lane_that_never_answers_and_no_other, .timeout = 1000)
{
	struct got got[64] = { 0 };

	ask(a, LANE, "block", got, 0);
	ask(a, LANE, "block", got, 1);
	for (size_t i = 2; i < 62; i++)
		ask(a, LANE + i, "other", got, i);
	ask(a, LANE, "the third", got, 62);
	while (answers < 60)
		coll_asker_poll(a, 10);
	cr_expect_eq(got[0].times, 0);
	cr_expect_eq(got[62].times, 0);
	cr_expect_eq(coll_asker_open(a), 3);
	coll_asker_finish(a);
	for (size_t i = 2; i < 62; i++)
		cr_expect_str_eq(got[i].text, "other");
	cr_expect_eq(got[0].rc, -ETIMEDOUT);
	cr_expect_eq(got[1].rc, -ETIMEDOUT);
	cr_expect_eq(got[62].rc, -ETIMEDOUT);
	while (coll_asker_stuck(a)) /* they can be killed */
		sleep_ms(10);
}

Test(asker, waits_for_one_that_answers_after_a_while)
{
	struct got got[4] = { 0 };

	ask(a, LANE, "sleep 1500", got, 0);
	ask(a, LANE, "behind it", got, 1);
	ask(a, LANE + 1, "another lane", got, 2);
	while (!coll_asker_blocked(a) && !got[0].times)
		coll_asker_poll(a, 10);
	while (!got[2].times)
		coll_asker_poll(a, 10);
	coll_asker_finish(a);
	each_was_answered_once(got, 3);
}

/* The first helper was given all of them: it sleeps over what the second has by now. */
Test(asker, loses_no_question_behind_one_that_another_helper_has, .timeout = 1000)
{
	struct got got[4] = { 0 };

	ask(a, LANE, "sleep 1500", got, 0);
	ask(a, LANE + 1, "sleep 2000", got, 1);
	while (!got[0].times)
		coll_asker_poll(a, 10);
	ask(a, LANE + 2, "another lane", got, 2);
	ask(a, LANE + 3, "one more", got, 3);
	finish_if_it_can();
	each_was_answered_once(got, 4);
}

/* A busy machine: it has work to do all the time, far longer than one may block. */
Test(asker, does_not_give_up_one_that_works, .timeout = 1000)
{
	struct got got = { 0 };
	char text[32];

	snprintf(text, sizeof(text), "spin %d", COLL_ASKER_PATIENCE_MS + 1000);
	ask(a, LANE, text, &got, 0);
	coll_asker_finish(a);
	cr_expect_eq(got.rc, 0);
	cr_expect_str_eq(got.text, text);
}

static void make_file(char *path, size_t size)
{
	int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	cr_assert_eq(ftruncate(fd, (off_t)size), 0);
	close(fd);
}

Test(asker, asks_another_helper_when_one_dies)
{
	char path[] = "/tmp/opfs-asker.XXXXXX", text[64];
	struct got got[32] = { 0 };

	make_file(path, 5);
	snprintf(text, sizeof(text), "die %s", path);
	for (size_t i = 0; i < 32; i++)
		ask(a, i, i == 3 ? text : "plain", got, i);
	coll_asker_finish(a);
	each_was_answered_once(got, 32);
	unlink(path);
}

Test(asker, gives_up_a_question_that_kills_every_helper)
{
	char path[] = "/tmp/opfs-asker.XXXXXX", text[64];
	struct got got[2] = { 0 };

	make_file(path, 1000);
	snprintf(text, sizeof(text), "die %s", path);
	ask(a, LANE, text, got, 0);
	ask(a, LANE, "behind it", got, 1);
	coll_asker_finish(a);
	cr_expect_eq(got[0].rc, -EAGAIN);
	cr_expect_eq(got[1].rc, 0);
	unlink(path);
}

static size_t size_of(const char *path)
{
	struct stat st;

	cr_assert_eq(stat(path, &st), 0);
	return (size_t)st.st_size;
}

/* It is asked again if somebody killed the helper. */
Test(asker, gives_up_a_table_whose_helper_died_of_its_limits_at_once)
{
	char path[] = "/tmp/opfs-asker.XXXXXX", text[64];
	struct got got[2] = { 0 };

	coll_asker_free(a);
	a = coll_asker_new(&coll_asks_tables, NULL);
	make_file(path, 10);
	snprintf(text, sizeof(text), "limit %s", path);
	ask(a, LANE, text, got, 0);
	ask(a, LANE, "behind it", got, 1);
	coll_asker_finish(a);
	cr_expect_eq(got[0].rc, -ENOTRECOVERABLE);
	cr_expect_eq(got[1].rc, 0);
	cr_expect_eq(size_of(path), 9);

	cr_assert_eq(truncate(path, 1), 0);
	snprintf(text, sizeof(text), "die %s", path);
	ask(a, LANE, text, got, 0);
	coll_asker_finish(a);
	cr_expect_eq(got[0].rc, 0);
	cr_expect_eq(size_of(path), 0);
	unlink(path);
}

/* One that was taken over: its question is given up, and it fills no memory. */
Test(asker, ends_a_helper_that_sends_what_no_answer_is, .timeout = 600)
{
	static const struct {
		uint32_t kind, len;
	} wrong[] = {
		{ COLL_ANSWER_IS, COLL_ANSWER_MAX + 1 },
		{ COLL_ANSWER_FILE, UINT32_MAX },
		{ COLL_ANSWER_HELLO, sizeof(uint32_t) },
		{ COLL_ANSWER_HELLO, 0 },
		{ 1, UINT32_MAX },
		{ 0, 0 },
	};
	enum { NR = sizeof(wrong) / sizeof(wrong[0]) };
	struct got got[NR + 1] = { 0 };
	char text[64];

	coll_asker_free(a);
	a = coll_asker_new(&coll_asks_tables, NULL);
	for (size_t i = 0; i < NR; i++) {
		snprintf(text, sizeof(text), "flood %x %u", wrong[i].kind, wrong[i].len);
		ask(a, LANE, text, got, i);
	}
	ask(a, LANE, "behind it", got, NR);
	coll_asker_finish(a);
	for (size_t i = 0; i < NR; i++)
		cr_expect_eq(got[i].rc, -EAGAIN, "%zu: %d", i, got[i].rc);
	cr_expect_eq(got[NR].rc, 0);
}

Test(asker, ends_a_helper_that_answers_what_it_was_not_asked, .timeout = 600)
{
	struct got got = { 0 }, behind;
	char text[64];

	snprintf(text, sizeof(text), "flood %x 0", COLL_ANSWER_IS);
	ask(a, LANE, text, &got, 0);
	finish_if_it_can();
	each_was_answered_once(&got, 1);
	/* what it sent may have come in between, until one comes that nobody asked for */
	do {
		behind = (struct got){ 0 };
		ask(a, LANE, "behind it", &behind, 0);
		finish_if_it_can();
		each_was_answered_once(&behind, 1);
	} while (strcmp(behind.text, "behind it") != 0);
}

/* Each would work for a day. */
Test(asker, waits_for_those_that_work_for_a_while_in_all, .timeout = 1000)
{
	static const struct coll_asker_kind kind = {
		.box = &coll_table_box, .once = true, .deaths = 1, .finish_ms = 300
	};
	struct got got[8] = { 0 };

	coll_asker_free(a);
	a = coll_asker_new(&kind, NULL);
	for (size_t i = 0; i < 8; i++)
		ask(a, i, "spin 86400000", got, i);
	coll_asker_finish(a);
	for (size_t i = 0; i < 8; i++)
		cr_expect_eq(got[i].rc, -ETIMEDOUT);
	ask(a, LANE, "spin 86400000", got, 0);
	coll_asker_finish(a);
	cr_expect_eq(got[0].times, 2);
	cr_expect_eq(got[0].rc, -ETIMEDOUT);
}

/* Questions of all kinds, in bursts. */
Test(asker, answers_each_of_a_mixture_once, .timeout = 1000)
{
	enum { NR = 200, LANES = 12 };
	static const char *const kinds[] = { "plain",     "plain",    "plain",
					     "plain",     "sleep 30", "sleep 250",
					     "big 90000", "die" };
	char path[] = "/tmp/opfs-asker.XXXXXX", die[64];
	struct got got[NR] = { 0 };
	unsigned seed = (unsigned)time(NULL);

	make_file(path, 20);
	snprintf(die, sizeof(die), "die %s", path);
	for (size_t i = 0; i < NR; i++) {
		unsigned r = (unsigned)rand_r(&seed);
		const char *kind = kinds[r % 8];

		ask(a, r / 8 % LANES, strcmp(kind, "die") != 0 ? kind : die, got, i);
		if (r / 256 % 8 == 0)
			coll_asker_poll(a, 20);
	}
	finish_if_it_can();
	for (size_t i = 0; i < NR; i++) {
		cr_expect_eq(got[i].times, 1, "seed %u, question %zu", seed, i);
		cr_expect_eq(got[i].rc, 0);
	}
	unlink(path);
}

static void kill_children(void)
{
	char path[64];
	FILE *f;
	int pid;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	f = fopen(path, "r");
	cr_assert_not_null(f);
	while (fscanf(f, "%d", &pid) == 1)
		kill(pid, SIGKILL);
	fclose(f);
}

Test(asker, survives_the_death_of_the_box)
{
	struct got got[40] = { 0 };

	for (size_t i = 0; i < 40; i++) {
		ask(a, i, "sleep 5", got, i);
		coll_asker_poll(a, 5);
		if (i % 10 == 5)
			kill_children();
	}
	coll_asker_finish(a);
	each_was_answered_once(got, 40);
}

Test(asker, says_so_when_no_helper_can_be_had, .timeout = 1000)
{
	struct got got = { 0 };

	coll_asker_free(a);
	a = coll_asker_new(&coll_asks_questions, "/nonexistent/program");
	ask(a, LANE, "anything", &got, 0);
	coll_asker_finish(a);
	cr_expect_eq(got.rc, -EAGAIN);
}
