/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "libspec/spec/match.h"

/* Images by index, so that a set of them is a number. */
static const struct spec_match_image images[] = {
	{ "/usr/bin/ls", "ls", NULL, "ls~1", false },                        /* 1 */
	{ "/usr/lib/libc.so.6", "libc.so.6", NULL, "libc.so.6", false },     /* 2 */
	{ "/no-vmlinux", "no-vmlinux", NULL, "no-vmlinux", true },           /* 4 */
	{ "/boot/vmlinux", "vmlinux", NULL, "vmlinux", true },               /* 8 */
	{ "[heap] (tgid:1)", "[heap] (tgid:1)", "[heap]", "[heap]", false }, /* 16 */
	{ "/opt/a,b", "a,b", NULL, "a,b", false },                           /* 32 */
	{ "/opt/ls", "ls", NULL, "ls~2", false },                            /* 64 */
};

static bool has_image(void *ctx, const char *name, size_t *only)
{
	(void)ctx, (void)only;
	for (size_t i = 0; i < sizeof(images) / sizeof(*images); i++)
		if (!strcmp(images[i].shown, name) || !strcmp(images[i].base, name) ||
		    (images[i].label && !strcmp(images[i].label, name)) ||
		    !strcmp(images[i].listed, name))
			return true;
	return false;
}

static bool has_event(void *ctx, const char *name)
{
	(void)ctx;
	return !strcmp(name, "CPU_CLK_UNHALTED") || !strcmp(name, "LLC_MISSES");
}

static int resolve(void *ctx, const char *path, struct strbuf *out)
{
	(void)ctx;
	if (strncmp(path, "/bin", 4) != 0)
		return -ENOENT;
	strbuf_printf(out, "/usr%s", path);
	return 0;
}

static int mark_jit(void *ctx, bool *bits)
{
	(void)ctx;
	bits[4] = true;
	return 0;
}

static const struct spec_match match = {
	.images = images,
	.nr_images = sizeof(images) / sizeof(*images),
	.has_image = has_image,
	.has_event = has_event,
	.resolve = resolve,
	.mark_jit = mark_jit,
};

struct image_case {
	char raw[40];
	bool prefix;
	unsigned want;
};

static const struct image_case image_cases[] = {
	{ "ls", false, 1 | 64 },
	{ "ls~2", false, 64 },
	{ "ls~1,vmlinux", false, 1 | 8 },
	{ "ls~3", false, 0 },
	{ "/usr/bin/ls", false, 1 },
	{ "usr/bin/ls", false, 1 },
	{ "/bin/ls", false, 1 },
	{ "bin/ls", false, 1 },
	{ "/bin/l*", false, 1 },
	{ "/ls", false, 0 },
	{ "l*", false, 1 | 2 | 64 },
	{ "*", false, 127 },
	{ "*ls", false, 1 | 64 },
	{ "/usr/*", false, 1 | 2 },
	{ "usr/*", false, 1 | 2 },
	{ "{kern}", false, 4 | 8 },
	{ "kernel", false, 4 | 8 },
	{ "[kernel]", false, 4 | 8 },
	{ "%5Bkernel%5D", false, 4 | 8 },
	{ "ls,kernel", false, 1 | 4 | 8 | 64 },
	{ "[jit]", false, 16 },
	{ "[jit]", true, 0 },
	{ "[jit]*", false, 0 },
	{ "%5Bjit%5D,vmlinux", false, 8 | 16 },
	{ "kernel*", false, 0 },
	{ "/kernel", false, 0 },
	{ "kernel", true, 0 },
	{ "vmlinux", false, 8 },
	{ "/no-vmlinux", false, 4 },
	{ "no-vmlinux,vmlinux", false, 4 | 8 },
	{ "[heap]", false, 16 },
	{ "%5Bheap%5D", false, 16 },
	{ "[heap]*", false, 32 }, /* a glob: one of h, e, a, p */
	{ "\\[heap]*", false, 16 },
	{ "a\\,b", false, 32 },
	{ "a,b", false, 0 },
	{ "libc.so.6,ls", false, 1 | 2 | 64 },
	{ "", false, 0 },
	{ "all", false, 127 },
	{ "%61ll", false, 0 },
	{ "usr", true, 1 | 2 },
	{ "/usr", true, 1 | 2 },
	{ "/usr/bin", true, 1 },
	{ "/us", true, 0 },
	{ "/u*", true, 1 | 2 },
	{ "*", true, 1 | 2 | 8 | 32 | 64 },
	{ "/bin", true, 1 },
	{ "bin", true, 1 },
	{ "ls,opt", true, 32 | 64 },
	{ "ls,", true, 0 },
	{ "/usr/bin/ls", true, 0 },
};

Test(images, are_meant_by_values_as_the_table_says)
{
	for (size_t i = 0; i < sizeof(image_cases) / sizeof(*image_cases); i++) {
		const struct image_case *c = &image_cases[i];
		CLEANUP(spec_value_putp) struct spec_value *v = NULL;
		bool bits[sizeof(images) / sizeof(*images)];
		unsigned got = 0;

		cr_assert_eq(spec_value_new(&spec_tags[SPEC_IMAGE], c->raw, false, &v,
					    NULL),
			     0);
		cr_assert_eq(spec_match_images(&match, v, c->prefix, bits, NULL), 0);
		for (size_t k = 0; k < match.nr_images; k++)
			got |= (unsigned)bits[k] << k;
		cr_expect_eq(got, c->want, "\"%s\": %u instead of %u", c->raw, got,
			     c->want);
	}
}

Test(images, an_exact_value_is_no_list)
{
	CLEANUP(spec_value_putp) struct spec_value *v = NULL;
	bool bits[sizeof(images) / sizeof(*images)];

	cr_assert_eq(spec_value_new(&spec_tags[SPEC_IMAGE], "a,b", true, &v, NULL), 0);
	cr_assert_eq(spec_match_images(&match, v, false, bits, NULL), 0);
	cr_expect(bits[5] && !bits[0]);
}

static bool event_matches(const char *raw, const char *event)
{
	CLEANUP(spec_value_putp) struct spec_value *v = NULL;

	cr_assert_eq(spec_value_new(&spec_tags[SPEC_EVENT], raw, false, &v, NULL), 0);
	return spec_match_event(&match, v, event);
}

Test(events, called_cycles_find_each_other_where_the_name_does_not_exist)
{
	cr_expect(event_matches("cycles", "CPU_CLK_UNHALTED"));
	cr_expect(event_matches("cpu-cycles,x", "CPU_CLK_UNHALTED"));
	cr_expect_not(event_matches("CPU_CLK_UNHALTED", "cycles"));
	cr_expect_not(event_matches("cycles", "LLC_MISSES"));
	cr_expect_not(event_matches("CPU_*", "CPU_CLK_UNHALTED"));
	cr_expect(event_matches("x,all", "LLC_MISSES"));
}

Test(numbers, never_match_what_was_not_separated)
{
	CLEANUP(spec_value_putp) struct spec_value *v = NULL;

	cr_assert_eq(spec_value_new(&spec_tags[SPEC_CPU], "0,2", false, &v, NULL), 0);
	cr_expect(spec_match_number(v, 0));
	cr_expect(spec_match_number(v, 2));
	cr_expect_not(spec_match_number(v, 1));
	cr_expect_not(spec_match_number(v, SPEC_ALL));
}

/* ---- what is given must match, all of it */

struct given_case { /* NULL: not given; the file is ls (application) with libc.so.6 */
	const char *name, *image, *lib, *exclude, *lib_exclude;
	bool want;
};

static const struct given_case given_cases[] = {
	{ NULL, NULL, NULL, NULL, NULL, true },
	{ NULL, "ls", NULL, NULL, NULL, true },
	{ NULL, "libc.so.6", NULL, NULL, NULL, false },
	{ NULL, NULL, "libc.so.6", NULL, NULL, true },
	{ NULL, NULL, "ls", NULL, NULL, false },
	{ NULL, "ls", "libc.so.6", NULL, NULL, true },
	{ NULL, "vmlinux", "libc.so.6", NULL, NULL, false },
	{ NULL, NULL, NULL, "ls", NULL, false },
	{ NULL, NULL, NULL, "libc.so.6", NULL, false },
	{ NULL, NULL, NULL, NULL, "libc.so.6", false },
	{ NULL, NULL, NULL, NULL, "ls", true },
	{ "ls", NULL, NULL, NULL, NULL, true },
	{ "libc.so.6", NULL, NULL, NULL, NULL, true },
	{ "vmlinux", NULL, NULL, NULL, NULL, false },
	{ "ls", NULL, NULL, "libc.so.6", NULL, false },
	{ "ls", NULL, NULL, "vmlinux", NULL, true },
	{ "libc.so.6", NULL, NULL, "libc.so.6", NULL, false },
	{ "libc.so.6", NULL, NULL, NULL, "libc.so.6", false },
	{ "vmlinux", "ls", NULL, NULL, NULL, false },
	{ "vmlinux", NULL, "libc.so.6", NULL, NULL, false },
	{ "ls", NULL, "libc.so.6", NULL, NULL, true },
	{ "ls", NULL, "vmlinux", NULL, NULL, false },
	{ "libc.so.6", "ls", NULL, NULL, NULL, true },
};

static struct spec *add(struct spec *s, enum spec_tag_id id, const char *raw)
{
	CLEANUP(spec_value_putp) struct spec_value *v = NULL;
	struct spec *n;

	if (!raw)
		return s;
	cr_assert_eq(spec_value_new(&spec_tags[id], raw, false, &v, NULL), 0);
	n = spec_with(s, &spec_tags[id], v);
	spec_put(s);
	return n;
}

Test(given, each_tag_takes_files_away)
{
	struct spec_name name = { .event = (char *)"LLC_MISSES", .count = 6000 };
	struct spec_match_file file = { .name = &name, .app = 0, .image = 1 };
	char *sessions[] = { (char *)"current" };

	for (size_t i = 0; i < sizeof(given_cases) / sizeof(*given_cases); i++) {
		const struct given_case *c = &given_cases[i];
		CLEANUP(spec_putp) struct spec *s = spec_new(sessions, 1);
		struct spec_select sel;

		s = add(s, SPEC_DEFAULT, c->name);
		s = add(s, SPEC_IMAGE, c->image);
		s = add(s, SPEC_LIB_IMAGE, c->lib);
		s = add(s, SPEC_IMAGE_EXCLUDE, c->exclude);
		s = add(s, SPEC_LIB_IMAGE_EXCLUDE, c->lib_exclude);
		cr_assert_eq(spec_select_init(&sel, s, &match, NULL, NULL), 0);
		cr_expect_eq(spec_select_file(&sel, &file), c->want, "case %zu", i);
		spec_select_fini(&sel);
	}
}

Test(given, the_other_tags_come_on_top)
{
	struct spec_name name = { .event = (char *)"LLC_MISSES",
				  .count = 6000,
				  .unit_mask = 65,
				  .tgid = 1,
				  .tid = 2,
				  .cpu = SPEC_ALL };
	struct spec_task task = { .comm = (char *)"make", .cgroup = (char *)"/a/b" };
	struct spec_match_file file = {
		.name = &name, .app = 0, .image = 1, .task = &task
	};
	char *sessions[] = { (char *)"current" };
	static const struct {
		enum spec_tag_id id;
		const char *yes, *no;
	} rows[] = {
		{ SPEC_EVENT, "x,LLC_MISSES", "LLC*" },
		{ SPEC_COUNT, "6000", "600" },
		{ SPEC_UNIT_MASK, "0x41", "41" },
		{ SPEC_TGID, "1", "2" },
		{ SPEC_TID, "3,2", "1" },
		{ SPEC_CPU, "all", "0" },
		{ SPEC_COMM, "cc1,m*", "cc1" },
		{ SPEC_CGROUP, "b", "%2Fa" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *raws[] = { rows[i].yes, rows[i].no };

		for (int k = 0; k < 2; k++) {
			CLEANUP(spec_putp) struct spec *s = spec_new(sessions, 1);
			struct spec_select sel;

			s = add(s, rows[i].id, raws[k]);
			cr_assert_eq(spec_select_init(&sel, s, &match, NULL, NULL), 0);
			cr_expect_eq(spec_select_file(&sel, &file), k == 0, "%s:%s",
				     spec_tags[rows[i].id].name, raws[k]);
			spec_select_fini(&sel);
		}
	}
}

Test(order, a_file_of_an_unknown_process_matches_no_name_of_one)
{
	struct spec_name name = { .event = (char *)"LLC_MISSES" };
	struct spec_match_file file = { .name = &name, .app = 0, .image = 1 };
	char *sessions[] = { (char *)"current" };
	CLEANUP(spec_putp) struct spec *s = spec_new(sessions, 1);
	struct spec_select sel;

	s = add(s, SPEC_COMM, "*");
	cr_assert_eq(spec_select_init(&sel, s, &match, NULL, NULL), 0);
	cr_expect_not(spec_select_file(&sel, &file));
	spec_select_fini(&sel);
}

static bool task_matches(enum spec_tag_id id, const char *raw, bool exact,
			 const char *text)
{
	CLEANUP(spec_value_putp) struct spec_value *v = NULL;

	cr_assert_eq(spec_value_new(&spec_tags[id], raw, exact, &v, NULL), 0);
	return spec_match_task(&spec_tags[id], v, text);
}

static bool has_first(void *ctx, const char *name, size_t *only)
{
	bool is = !strcmp(name, "ls") || !strcmp(name, "/usr/bin/ls");

	(void)ctx;
	if (is)
		*only = 0;
	return is;
}

Test(match, of_an_image_that_alone_is_called_so_no_other_is_looked_at)
{
	/* the others have no names that could be compared */
	static const struct spec_match_image none[1000];
	static const char *const raws[] = { "ls", "/usr/bin/ls", "usr/bin/ls" };
	const struct spec_match m = { .images = none,
				      .nr_images = sizeof(none) / sizeof(none[0]),
				      .has_image = has_first };

	for (size_t i = 0; i < 2 * sizeof(raws) / sizeof(raws[0]); i++) {
		CLEANUP(spec_value_putp) struct spec_value *v = NULL;
		bool bits[1000];

		if (i / 2 == 2 && i % 2) /* no name as it is stored */
			continue;
		cr_assert_eq(spec_value_new(&spec_tags[SPEC_IMAGE], raws[i / 2], i % 2,
					    &v, NULL),
			     0);
		cr_assert_eq(spec_match_images(&m, v, false, bits, NULL), 0);
		for (size_t k = 0; k < 1000; k++)
			cr_expect_eq(bits[k], !k, "%s: %zu", raws[i / 2], k);
	}
}

Test(match, names_of_processes_are_names_and_globs)
{
	cr_expect(task_matches(SPEC_COMM, "sh", false, "sh"));
	cr_expect(task_matches(SPEC_COMM, "ls,s?", false, "sh"));
	cr_expect(task_matches(SPEC_COMM, "*", false, "kworker/0:1"));
	cr_expect_not(task_matches(SPEC_COMM, "0:1", false, "kworker/0:1"));
	cr_expect(task_matches(SPEC_COMM, "a,b", true, "a,b"));
	cr_expect_not(task_matches(SPEC_COMM, "a,b", false, "a,b"));
	cr_expect_not(task_matches(SPEC_COMM, "*", false, NULL));
	cr_expect(task_matches(SPEC_COMM, "all", false, NULL));
}

Test(match, cgroups_are_paths_or_names_on_the_way)
{
	static const char path[] = "/user.slice/user-0.slice/a.scope";

	cr_expect(task_matches(SPEC_CGROUP, "user.slice", false, path));
	cr_expect(task_matches(SPEC_CGROUP, "user-?.slice", false, path));
	cr_expect(task_matches(SPEC_CGROUP, "a.scope", false, path));
	cr_expect(task_matches(SPEC_CGROUP, "%2Fuser.slice%2F*", false, path) ==
		  task_matches(SPEC_CGROUP, "/user.slice/*", false, path));
	cr_expect(task_matches(SPEC_CGROUP, "*a.scope", false, path));
	cr_expect_not(task_matches(SPEC_CGROUP, "slice", false, path));
	cr_expect_not(task_matches(SPEC_CGROUP, "/user.slice", false, path));
	cr_expect_not(task_matches(SPEC_CGROUP, "user.slice", false, "/"));
}
