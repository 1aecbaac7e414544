/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <errno.h>
#include <string.h>

#include "base/opt.h"

struct got {
	char events[64];
	bool graph;
	char depth[64];
	unsigned long long hz;
};

static int set_event(void *ctx, const char *arg, struct err *err)
{
	struct got *got = ctx;

	(void)err;
	strcat(strcat(got->events, arg), ";");
	return 0;
}

static int set_graph(void *ctx, const char *arg, struct err *err)
{
	(void)err;
	cr_expect_null(arg);
	((struct got *)ctx)->graph = true;
	return 0;
}

static int set_stacks(void *ctx, const char *arg, struct err *err)
{
	(void)err;
	strcat(strcat(((struct got *)ctx)->depth, arg ? arg : "-"), ";");
	return 0;
}

static int set_hz(void *ctx, const char *arg, struct err *err)
{
	return opt_number(arg, "--frequency", 1, 1000, &((struct got *)ctx)->hz, err);
}

static const struct opt opts[] = {
	{ .letter = 'e',
	  .name = "event",
	  .arg = "EVENT",
	  .doc = "count",
	  .set = set_event },
	{ .letter = 'g', .name = "call-graph", .doc = "take stacks", .set = set_graph },
	{ .letter = 'F', .name = "frequency", .arg = "HZ", .doc = "rate", .set = set_hz },
	{ 's', "stacks", "[DEPTH]", "an argument or none", set_stacks },
	{ .name = "vergence", .doc = "begins like version", .set = set_graph },
	{ 0 },
};

static const struct opt_alias aliases[] = { { "callgraph", "call-graph" },
					    { "rate", "frequency" },
					    { 0 } };

static const struct opt_program prog = {
	.aliases = aliases,
	.name = "opx record",
	.synopsis = "[-e EVENT]... CMD",
	.about = "Records.",
	.opts = opts,
};

static bool is_depth(const struct opt *o, const char *text)
{
	return !strcmp(o->name, "stacks") && !strncmp(text, "gee", 3);
}

static struct got got;
static int first;

#define PARSE(...)                                                                       \
	({                                                                               \
		char *argv_[] = { (char[]){ "record" }, __VA_ARGS__, NULL };             \
		opt_parse(&prog, sizeof(argv_) / sizeof(*argv_) - 1, argv_, &got,        \
			  &first);                                                       \
	})
#define W(s) ((char[]){ s })

static void expect_stream(FILE *stream, const char *part)
{
	static char text[4096];
	size_t n = fread(text, 1, sizeof(text) - 1, stream);

	text[n] = '\0';
	cr_expect(strstr(text, part), "\"%s\" is not in \"%s\"", part, text);
}

Test(opt, stops_at_the_first_operand)
{
	cr_expect_eq(PARSE(W("-e"), W("A"), W("ls"), W("-g")), OPT_RUN);
	cr_expect_eq(first, 3);
	cr_expect_not(got.graph);
	cr_expect_str_eq(got.events, "A;");
}

Test(opt, stops_at_two_dashes)
{
	cr_expect_eq(PARSE(W("--"), W("-g")), OPT_RUN);
	cr_expect_eq(first, 2);
	cr_expect_not(got.graph);
}

Test(opt, understands_every_way_to_write_an_argument)
{
	cr_expect_eq(PARSE(W("-eA"), W("-e"), W("B"), W("--event=C"), W("--event"),
			   W("D"), W("--ev=E"), W("-geF")),
		     OPT_RUN);
	cr_expect_str_eq(got.events, "A;B;C;D;E;F;");
	cr_expect(got.graph);
	cr_expect_eq(first, 9);
}

Test(opt, takes_an_argument_that_may_be_left_out_behind_an_equals_sign_only)
{
	cr_expect_eq(PARSE(W("-s"), W("--stacks"), W("--stacks=5"), W("-sg"),
			   W("--stacks"), W("6")),
		     OPT_RUN);
	cr_expect_str_eq(got.depth, "-;-;5;-;-;");
	cr_expect(got.graph);
	cr_expect_eq(first, 6);
}

Test(opt, tells_how_a_number_behind_such_a_letter_is_spelled, .init = cr_redirect_stderr)
{
	cr_expect_eq(PARSE(W("-gs12")), OPT_WRONG);
	expect_stream(cr_get_redirected_stderr(),
		      "opx record: -s: takes no argument; --stacks=12 does\n");
}

Test(opt, refuses_a_meant_argument_behind_such_a_letter, .init = cr_redirect_stderr)
{
	struct opt_program meant = prog;
	char *words[] = { W("x"), W("-gsg"), W("-sge"), W("-e"), W("gee"), NULL };
	char *glued[] = { W("x"), W("-gsgee,7"), NULL };

	meant.meant = is_depth;
	cr_expect_eq(opt_parse(&meant, 2, words, &got, &first), OPT_RUN);
	cr_expect_eq(opt_parse(&meant, 5, words, &got, &first), OPT_RUN);
	cr_expect_str_eq(got.events, "-e;");
	cr_expect_eq(opt_parse(&meant, 2, glued, &got, &first), OPT_WRONG);
	expect_stream(cr_get_redirected_stderr(),
		      "opx record: -s: takes no argument; --stacks=gee,7 does\n");
}

Test(opt, takes_other_names_as_its_own)
{
	cr_expect_str_eq(opt_name(aliases, "rate"), "frequency");
	cr_expect_str_eq(opt_name(aliases, "frequency"), "frequency");
	cr_expect_str_eq(opt_name(aliases, "rat"), "rat");
	cr_assert_eq(PARSE(W("--callgraph"), W("--rate=7"), W("CMD")), OPT_RUN);
	cr_expect(got.graph);
	cr_expect_eq(got.hz, 7);
}

Test(opt, parses_anew_each_time)
{
	cr_expect_eq(PARSE(W("-g"), W("a"), W("b")), OPT_RUN);
	cr_expect_eq(PARSE(W("-e"), W("A")), OPT_RUN);
	cr_expect_eq(first, 3);
	cr_expect_str_eq(got.events, "A;");
}

Test(opt, takes_no_words_at_all)
{
	char *argv[] = { W("record"), NULL };

	cr_expect_eq(opt_parse(&prog, 1, argv, &got, &first), OPT_RUN);
	cr_expect_eq(first, 1);
}

Test(opt, refuses_an_unknown_letter, .init = cr_redirect_stderr)
{
	cr_expect_eq(PARSE(W("-gx")), OPT_WRONG);
	expect_stream(cr_get_redirected_stderr(),
		      "opx record: -x: no such option\ntry 'opx record --help'\n");
}

Test(opt, refuses_an_unknown_name, .init = cr_redirect_stderr)
{
	cr_expect_eq(PARSE(W("-g"), W("--nope=1")), OPT_WRONG);
	expect_stream(cr_get_redirected_stderr(), "opx record: --nope: no such option\n");
}

Test(opt, tells_the_name_that_an_unknown_one_may_be_meant_as, .init = cr_redirect_stderr)
{
	cr_expect_eq(PARSE(W("--evnet=A")), OPT_WRONG);
	cr_expect_eq(PARSE(W("--callgarph")), OPT_WRONG);
	cr_expect_eq(PARSE(W("--hlep")), OPT_WRONG);
	expect_stream(cr_get_redirected_stderr(),
		      "--evnet: no such option: did you mean \"--event\"?\n"
		      "try 'opx record --help'\n"
		      "opx record: --callgarph: no such option: did you mean "
		      "\"--callgraph\"?\n"
		      "try 'opx record --help'\n"
		      "opx record: --hlep: no such option: did you mean \"--help\"?\n");
}

Test(opt, prints_help_for_each_of_its_letters, .init = cr_redirect_stdout)
{
	cr_expect_eq(PARSE(W("-h")), OPT_DONE);
	cr_expect_eq(PARSE(W("-g?")), OPT_DONE);
	cr_expect_eq(PARSE(W("--help")), OPT_DONE);
	expect_stream(cr_get_redirected_stdout(), "  -h, --help  ");
}

Test(opt, names_what_an_ambiguous_word_may_be, .init = cr_redirect_stderr)
{
	cr_expect_eq(PARSE(W("--ver")), OPT_WRONG);
	expect_stream(cr_get_redirected_stderr(),
		      "--ver: is it --vergence or --version or --verbose?");
}

Test(opt, asks_for_a_missing_argument, .init = cr_redirect_stderr)
{
	cr_expect_eq(PARSE(W("-g"), W("--event")), OPT_WRONG);
	expect_stream(cr_get_redirected_stderr(), "--event: needs EVENT");
}

Test(opt, asks_for_a_missing_argument_of_a_letter, .init = cr_redirect_stderr)
{
	cr_expect_eq(PARSE(W("-ge")), OPT_WRONG);
	expect_stream(cr_get_redirected_stderr(), "-e: needs EVENT");
}

Test(opt, refuses_an_argument_nobody_asked_for, .init = cr_redirect_stderr)
{
	cr_expect_eq(PARSE(W("--call-graph=fp")), OPT_WRONG);
	expect_stream(cr_get_redirected_stderr(), "--call-graph: takes no argument");
}

Test(opt, leaves_no_index_unset_when_words_are_wrong, .init = cr_redirect_stderr)
{
	char *wrong[] = { W("record"), W("--event"), NULL };

	first = -7;
	cr_expect_eq(opt_parse(&prog, 2, wrong, &got, &first), OPT_WRONG);
	cr_expect(first >= 0 && first <= 2, "%d", first);
}

Test(opt, tells_what_a_setter_found_wrong, .init = cr_redirect_stderr)
{
	cr_expect_eq(PARSE(W("-F0")), OPT_WRONG);
	expect_stream(cr_get_redirected_stderr(),
		      "opx record: --frequency: \"0\" is not a number from 1 to 1000\n");
}

Test(opt, helps_for_a_question_mark, .init = cr_redirect_stdout)
{
	cr_expect_eq(PARSE(W("-?")), OPT_DONE);
	expect_stream(cr_get_redirected_stdout(), "  -e, --event=EVENT");
}

Test(opt, helps_with_every_option, .init = cr_redirect_stdout)
{
	cr_expect_eq(PARSE(W("--help")), OPT_DONE);
	expect_stream(cr_get_redirected_stdout(), "  -s, --stacks[=DEPTH]");
}

Test(opt, shows_the_usage_in_one_line, .init = cr_redirect_stdout)
{
	cr_expect_eq(PARSE(W("--usage")), OPT_DONE);
	expect_stream(cr_get_redirected_stdout(),
		      "Usage: opx record [-e EVENT]... CMD\n");
}

Test(opt, shows_the_version, .init = cr_redirect_stdout)
{
	cr_expect_eq(PARSE(W("-v")), OPT_DONE);
	expect_stream(cr_get_redirected_stdout(), "opx record: opfs ");
}

Test(opt, is_verbose_when_asked_and_goes_on)
{
	cr_expect_eq(PARSE(W("-V"), W("-g")), OPT_RUN);
	cr_expect(opt_verbose);
	cr_expect(got.graph);
}

static const struct opt own_v[] = {
	{ .letter = 'v', .name = "invert", .doc = "its own", .set = set_graph },
	{ 0 },
};

Test(opt, takes_what_to_be_verbose_about_where_there_are_topics,
     .init = cr_redirect_stderr)
{
	struct opt_program topics = { .name = "x", .synopsis = "", .opts = opts };
	char *bare[] = { W("x"), W("--verbose"), W("arcs"), NULL };
	char *list[] = { W("x"), W("--verbose=arcs,misc"), W("-Vg"), NULL };
	char *bad[] = { W("x"), W("--verbose=arc"), NULL };

	cr_expect_eq(opt_parse(&topics, 2, list, &got, &first), OPT_WRONG);
	topics.topics = true;
	cr_expect_eq(opt_parse(&topics, 3, bare, &got, &first), OPT_RUN);
	cr_expect_eq(first, 2, "what follows is no argument");
	cr_expect_eq(opt_parse(&topics, 3, list, &got, &first), OPT_RUN);
	cr_expect(got.graph && opt_verbose);
	cr_expect_eq(opt_parse(&topics, 2, bad, &got, &first), OPT_WRONG);
	fflush(stderr);
	expect_stream(cr_get_redirected_stderr(), "x: --verbose: takes no argument\n");
}

Test(opt, lets_a_program_use_a_common_letter)
{
	const struct opt_program own = { .name = "x", .synopsis = "", .opts = own_v };
	char *argv[] = { W("x"), W("-v"), NULL };

	cr_expect_eq(opt_parse(&own, 2, argv, &got, &first), OPT_RUN);
	cr_expect(got.graph);
}

Test(opt, number_takes_decimal_and_hexadecimal)
{
	unsigned long long n = 0;

	cr_expect_eq(opt_number("010", "x", 0, 100, &n, NULL), 0);
	cr_expect_eq(n, 10);
	cr_expect_eq(opt_number("0xfF", "x", 0, 255, &n, NULL), 0);
	cr_expect_eq(n, 255);
	cr_expect_eq(opt_number("18446744073709551615", "x", 0, -1ULL, &n, NULL), 0);
	cr_expect_eq(n, -1ULL);
}

Test(opt, number_refuses_everything_else)
{
	static const char *const bad[] = { "",
					   " 1",
					   "1 ",
					   "+1",
					   "-1",
					   "1k",
					   "0x",
					   "x",
					   "0x-1",
					   "101",
					   "1.5",
					   "1_0",
					   "18446744073709551616",
					   "0x 1" };
	unsigned long long n = 7;
	struct err e = { 0 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_eq(opt_number(bad[i], "x", 0, 100, &n, &e), -EINVAL, "%s",
			     bad[i]);
	cr_expect_eq(n, 7);
	cr_expect_str_eq(e.msg, "x: \"0x 1\" is not a number from 0 to 100");
}
