/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "libspec/name/name.h"

static char *show(const struct spec_image *img)
{
	struct strbuf text = { 0 };

	spec_image_show(img, &text);
	return strbuf_take(&text);
}

#define EXPECT_SHOW(img, text)                                                           \
	do {                                                                             \
		CLEANUP(free_ptr) char *shown_ = show(img);                              \
		cr_expect_str_eq(shown_, text);                                          \
	} while (0)

static bool same_name(const struct spec_name *a, const struct spec_name *b)
{
	return spec_image_equal(&a->app, &b->app) &&
	       spec_image_equal(&a->image, &b->image) &&
	       spec_image_equal(&a->callee, &b->callee) && !strcmp(a->event, b->event) &&
	       a->count == b->count && a->unit_mask == b->unit_mask &&
	       a->tgid == b->tgid && a->tid == b->tid && a->cpu == b->cpu;
}

Test(name, of_a_flat_file)
{
	CLEANUP(spec_name_fini) struct spec_name n = { 0 };

	cr_assert_eq(spec_name_parse("{root}/bin/ls/{dep}/{root}/lib/libc.so.6/"
				     "CPU_CLK_UNHALTED.100000.65.12.13.3",
				     false, &n, NULL),
		     0);
	cr_expect_eq(n.app.kind, SPEC_IMAGE_ROOT);
	cr_expect_str_eq(n.app.name, "/bin/ls");
	cr_expect_str_eq(n.image.name, "/lib/libc.so.6");
	cr_expect_eq(n.callee.kind, SPEC_IMAGE_NONE);
	cr_expect_str_eq(n.event, "CPU_CLK_UNHALTED");
	cr_expect_eq(n.count, 100000);
	cr_expect_eq(n.unit_mask, 65);
	cr_expect_eq(n.tgid, 12);
	cr_expect_eq(n.tid, 13);
	cr_expect_eq(n.cpu, 3);
}

Test(name, of_a_kernel_image_is_shown_with_a_slash)
{
	CLEANUP(spec_name_fini) struct spec_name n = { 0 };

	cr_assert_eq(spec_name_parse("{kern}/vmlinux/{dep}/{kern}/ext4/E.1.0.all.all.all",
				     false, &n, NULL),
		     0);
	cr_expect_eq(n.image.kind, SPEC_IMAGE_KERN);
	cr_expect_str_eq(n.image.name, "ext4");
	EXPECT_SHOW(&n.image, "/ext4");
	cr_expect_eq(n.tgid, SPEC_ALL);
	cr_expect_eq(n.tid, SPEC_ALL);
	cr_expect_eq(n.cpu, SPEC_ALL);
}

Test(name, of_anonymous_memory_says_process_and_range)
{
	CLEANUP(spec_name_fini) struct spec_name n = { 0 };

	cr_assert_eq(
		spec_name_parse("{root}/a/{dep}/{anon:[vdso]}/"
				"4242.0x7f0000010000.0x7f0000011fff/E.1.0.all.all.all",
				false, &n, NULL),
		0);
	cr_expect_eq(n.image.kind, SPEC_IMAGE_ANON);
	cr_expect_eq(n.image.tgid, 4242);
	cr_expect_eq(n.image.start, 0x7f0000010000);
	cr_expect_eq(n.image.end, 0x7f0000011fff);
	EXPECT_SHOW(&n.image, "[vdso] (tgid:4242 range:0x7f0000010000-0x7f0000011fff)");
}

Test(name, of_a_call_graph_file_has_a_callee)
{
	CLEANUP(spec_name_fini) struct spec_name n = { 0 };

	cr_assert_eq(spec_name_parse("{root}/a/{dep}/{anon:anon}/1.0x1.0x2/{cg}/"
				     "{anon:anon}/1.0x3.0x4/E.1.0.all.all.all",
				     false, &n, NULL),
		     0);
	cr_expect_eq(n.image.start, 1);
	cr_expect_eq(n.callee.kind, SPEC_IMAGE_ANON);
	cr_expect_eq(n.callee.start, 3);
}

Test(name, no_vmlinux_under_root_is_the_kernel_when_it_is_the_callee)
{
	CLEANUP(spec_name_fini) struct spec_name root = { 0 }, kern = { 0 };

	cr_assert_eq(spec_name_parse("{root}/a/{dep}/{root}/a/{cg}/{root}/no-vmlinux/"
				     "E.1.0.all.all.all",
				     false, &root, NULL),
		     0);
	cr_assert_eq(spec_name_parse("{root}/a/{dep}/{root}/a/{cg}/{kern}/no-vmlinux/"
				     "E.1.0.all.all.all",
				     false, &kern, NULL),
		     0);
	EXPECT_SHOW(&root.callee, "/no-vmlinux");
	EXPECT_SHOW(&kern.callee, "/no-vmlinux");
	cr_expect(spec_image_equal(&root.callee, &kern.callee));
}

Test(name, drops_what_stands_before_root_and_repeated_slashes)
{
	CLEANUP(spec_name_fini) struct spec_name n = { 0 };

	cr_assert_eq(
		spec_name_parse("samples//current//{root}//bin//ls/{dep}/{root}/bin/ls//"
				"E.1.0.all.all.all",
				false, &n, NULL),
		0);
	cr_expect_str_eq(n.app.name, "/bin/ls");
	cr_expect_str_eq(n.image.name, "/bin/ls");
}

struct bad_path {
	char path[200], why[60];
};

ParameterizedTestParameters(name, refuses)
{
#define IMG "{root}/a/{dep}/{root}/a/"
	static struct bad_path rows[] = {
		{ "", "neither" },
		{ "/", "neither" },
		{ "E.1.0.all.all.all", "neither {root}" },
		{ "{anon}/a/{dep}/{root}/a/E.1.0.all.all.all", "application" },
		{ "{root}/a/E.1.0.all.all.all", "no {dep}" },
		{ "{root}/{dep}/{root}/a/E.1.0.all.all.all", "no image" },
		{ "{root}/a/{dep}/{root}/E.1.0.all.all.all", "no image" },
		{ "{root}/a/{dep}/E.1.0.all.all.all", "must follow" },
		{ "{root}/a/{dep}/a/E.1.0.all.all.all", "must follow" },
		{ "{root}/a/../b/{dep}/{root}/a/E.1.0.all.all.all", "\"..\"" },
		{ IMG "{cg}/E.1.0.all.all.all", "must follow" },
		{ IMG "{cg}/{root}/E.1.0.all.all.all", "no image" },
		{ IMG "CPU_CLK.x.all", "EVENT.COUNT" },
		{ IMG "E.1.0.all.all", "EVENT.COUNT" },
		{ IMG "E.1.0.all.all.all.all", "EVENT.COUNT" },
		{ IMG ".1.0.all.all.all", "no event" },
		{ IMG "E..0.all.all.all", "count" },
		{ IMG "E.x.0.all.all.all", "count" },
		{ IMG "E.-1.0.all.all.all", "count" },
		{ IMG "E.+1.0.all.all.all", "count" },
		{ IMG "E. 1.0.all.all.all", "count" },
		{ IMG "E.18446744073709551616.0.all.all.all", "count" },
		{ IMG "E.1.0x1.all.all.all", "unit mask" },
		{ IMG "E.1.0.4294967296.all.all", "process" },
		{ IMG "E.1.0.all.ALL.all", "thread" },
		{ IMG "E.1.0.all.all.", "CPU" },
		{ IMG "", "EVENT.COUNT" },
		{ "{root}/a/{dep}/{anon:x}/1.0x1/E.1.0.all.all.all", "TGID.0xSTART" },
		{ "{root}/a/{dep}/{anon:x}/1.1.2/E.1.0.all.all.all", "TGID.0xSTART" },
		{ "{root}/a/{dep}/{anon:x}/1.0x2.0x1/E.1.0.all.all.all", "TGID.0xSTART" },
		{ "{root}/a/{dep}/{anon:x}/1.0x1.0x10000000000000000/E.1.0.all.all.all",
		  "TGID.0xSTART" },
		{ "{root}/a/{dep}/{anon:x/1.0x1.0x2/E.1.0.all.all.all", "must follow" },
		{ "{root}/a/{dep}/{anon:x}/1.0x1.0x2/more/E.1.0.all.all.all",
		  "too much" },
	};
#undef IMG

	return cr_make_param_array(struct bad_path, rows, sizeof(rows) / sizeof(*rows));
}

ParameterizedTest(struct bad_path *row, name, refuses)
{
	struct spec_name n = { .count = 77 };
	struct err err = { 0 };

	cr_expect_eq(spec_name_parse(row->path, true, &n, &err), -EINVAL, "%s",
		     row->path);
	cr_expect(strstr(err.msg, row->why), "%s: %s", row->path, err.msg);
	cr_expect_eq(n.count, 77, "the result is untouched");
}

struct trip {
	char app[120], image[120], event[60], path[300];
};

ParameterizedTestParameters(name, comes_back_from_its_path)
{
#define SPEC ".1.0.all.all.all"
	static struct trip rows[] = {
		{ "/a", "/b", "E", "{root}/a/{dep}/{root}/b/E" SPEC },
		{ "/{dep}", "/{root}/x", "E",
		  "{root}/%7Bdep}/{dep}/{root}/%7Broot}/x/E" SPEC },
		{ "/%7Ba", "/%25%7Ba", "E",
		  "{root}/%25%7Ba/{dep}/{root}/%25%25%7Ba/E" SPEC },
		{ "/%2F", "/%25", "E", "{root}/%2F/{dep}/{root}/%25/E" SPEC },
		{ "/a{", "/ b:c,d[e]*", "E", "{root}/a{/{dep}/{root}/ b:c,d[e]*/E" SPEC },
		{ "/a", "/b", "cpu/cycles.x/p%",
		  "{root}/a/{dep}/{root}/b/cpu%2Fcycles%2Ex%2Fp%25" SPEC },
		{ "/a\\", "/\xff\n", "\xc3\xa4",
		  "{root}/a\\/{dep}/{root}/\xff\n/%C3%A4" SPEC },
	};
#undef SPEC

	return cr_make_param_array(struct trip, rows, sizeof(rows) / sizeof(*rows));
}

ParameterizedTest(struct trip *row, name, comes_back_from_its_path)
{
	struct spec_name n = {
		.app = { .kind = SPEC_IMAGE_ROOT, .name = row->app },
		.image = { .kind = SPEC_IMAGE_ROOT, .name = row->image },
		.event = row->event,
		.count = 1,
		.tgid = SPEC_ALL,
		.tid = SPEC_ALL,
		.cpu = SPEC_ALL,
	};
	CLEANUP(spec_name_fini) struct spec_name back = { 0 };
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	struct err err = { 0 };

	cr_assert_eq(spec_name_format(&n, &path, &err), 0, "%s", err.msg);
	cr_expect_str_eq(path.data, row->path);
	cr_assert_eq(spec_name_parse(path.data, true, &back, &err), 0, "%s", err.msg);
	cr_expect(same_name(&n, &back));
}

static uint64_t random_u64(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* A path of pieces that are easily mistaken for something else. */
static void random_path(uint64_t *state, char *out, bool rooted)
{
	static const char *const pieces[] = {
		"{root}", "{dep}", "{cg}",       "{kern}", "{anon:x}", "%7B",       "%25",
		"%7b",    "%",     "{",          "}",      "a",        "all",       ".x",
		"...",    "%2",    "%25%7Bdep}", "\\",     " ",        "1.0x1.0x2",
	};
	int nr = 1 + (int)(random_u64(state) % 4);

	*out = '\0';
	for (int i = 0; i < nr; i++) {
		if (i || rooted)
			strcat(out, "/");
		strcat(out, "q" + (random_u64(state) % 2));
		for (int j = 0; j < 1 + (int)(random_u64(state) % 3); j++)
			strcat(out, pieces[random_u64(state) %
					   (sizeof(pieces) / sizeof(*pieces))]);
	}
}

static void random_image(uint64_t *state, char *name, struct spec_image *out, bool app)
{
	enum spec_image_kind kinds[] = { SPEC_IMAGE_ROOT, SPEC_IMAGE_KERN,
					 SPEC_IMAGE_ANON };

	*out = (struct spec_image){ .kind = kinds[random_u64(state) % (app ? 2 : 3)],
				    .name = name };
	random_path(state, name, out->kind == SPEC_IMAGE_ROOT);
	if (out->kind == SPEC_IMAGE_ANON) {
		out->tgid = (uint32_t)random_u64(state);
		out->start = random_u64(state);
		out->end = out->start | random_u64(state);
	}
}

Test(name, whatever_its_images_are_called_comes_back)
{
	uint64_t state = 12345;

	for (int i = 0; i < 20000; i++) {
		char a[300], b[300], c[300], event[300];
		struct spec_name n = { .event = event,
				       .count = random_u64(&state),
				       .unit_mask = random_u64(&state),
				       .tgid = (int64_t)(random_u64(&state) >> 32),
				       .tid = SPEC_ALL,
				       .cpu = i };
		CLEANUP(spec_name_fini) struct spec_name back = { 0 };
		CLEANUP(strbuf_fini) struct strbuf path = { 0 };
		struct err err = { 0 };

		random_image(&state, a, &n.app, true);
		random_image(&state, b, &n.image, false);
		if (i % 2)
			random_image(&state, c, &n.callee, false);
		random_path(&state, event, false);
		if (spec_name_format(&n, &path, &err) == -EINVAL)
			continue; /* "." or ".." */
		cr_assert_eq(err.code, 0, "%s", err.msg);
		cr_assert_eq(spec_name_parse(path.data, true, &back, &err), 0, "%s",
			     err.msg);
		cr_assert(same_name(&n, &back), "%s", path.data);
	}
}

Test(name, is_verbatim_in_a_session_of_oprofile)
{
	CLEANUP(spec_name_fini) struct spec_name n = { 0 };

	cr_assert_eq(spec_name_parse("{root}/%7Ba/{dep}/{root}/{b}/a%2Eb.1.0.all.all.all",
				     false, &n, NULL),
		     0);
	cr_expect_str_eq(n.app.name, "/%7Ba");
	cr_expect_str_eq(n.image.name, "/{b}");
	cr_expect_str_eq(n.event, "a%2Eb");
}

Test(name, never_holds_a_nul_from_an_escape)
{
	CLEANUP(spec_name_fini) struct spec_name n = { 0 };

	cr_assert_eq(spec_name_parse("{root}/a/{dep}/{root}/a/x%00y.1.0.all.all.all",
				     true, &n, NULL),
		     0);
	cr_expect_str_eq(n.event, "x%00y");
}

static int format_lengths(size_t component, size_t nr, size_t event, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };
	CLEANUP(strbuf_fini) struct strbuf ev = { 0 };
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	struct spec_name n = { .count = 1 };
	int rc;

	for (size_t i = 0; i < nr; i++) {
		strbuf_putc(&name, '/');
		strbuf_fill(&name, 'n', component);
	}
	strbuf_fill(&ev, 'E', event);
	n.app = n.image =
		(struct spec_image){ .kind = SPEC_IMAGE_ROOT, .name = name.data };
	n.event = ev.data;
	strbuf_puts(&out, "kept");
	rc = spec_name_format(&n, &out, err);
	if (rc)
		cr_expect_str_eq(out.data, "kept");
	return rc;
}

Test(name, longer_than_a_directory_entry_or_a_path_is_refused)
{
	struct err err = { 0 };

	cr_expect_eq(format_lengths(255, 1, 10, NULL), 0);
	cr_expect_eq(format_lengths(256, 1, 10, &err), -ENAMETOOLONG);
	cr_expect(strstr(err.msg, "255"), "%s", err.msg);
	cr_expect_eq(format_lengths(10, 1, 255, NULL), -ENAMETOOLONG);
	cr_expect_eq(format_lengths(100, 20, 10, NULL), 0);
	cr_expect_eq(format_lengths(100, 21, 10, NULL), -ENAMETOOLONG);
}

Test(name, that_has_no_place_in_the_grammar_is_not_written)
{
	static const char *const names[] = { "relative", "/a//b",  "/a/",
					     "/..",      "/a/./b", "/" };
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	char event[] = "E";
	struct spec_name n = { .event = event, .count = 1 };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char name[16];

		strcpy(name, names[i]);
		n.app = n.image =
			(struct spec_image){ .kind = SPEC_IMAGE_ROOT, .name = name };
		cr_expect_eq(spec_name_format(&n, &out, NULL), -EINVAL, "%s", name);
	}
	cr_expect_eq(out.len, 0);
}

Test(name, of_an_image_can_be_copied)
{
	char label[] = "heap";
	struct spec_image img = {
		.kind = SPEC_IMAGE_ANON, .name = label, .tgid = 1, .start = 2, .end = 3
	};
	CLEANUP(spec_image_fini) struct spec_image copy = { 0 };

	cr_assert_eq(spec_image_copy(&copy, &img, NULL), 0);
	cr_expect(spec_image_equal(&copy, &img));
	cr_expect_neq(copy.name, img.name);
	copy.end++;
	cr_expect_not(spec_image_equal(&copy, &img));
}

struct image_text {
	struct spec_image image;
	const char *text;
};

static char plain[] = "/bin/ls", braces[] = "/{dep}/%7Ba", module[] = "ext4",
	    odd[] = "/a\n\t%41", label[] = "a/b%}", none[] = "";

static const struct image_text images[] = {
	{ { SPEC_IMAGE_ROOT, plain, 0, 0, 0 }, "{root}/bin/ls" },
	{ { SPEC_IMAGE_ROOT, braces, 0, 0, 0 }, "{root}/%7Bdep}/%25%7Ba" },
	{ { SPEC_IMAGE_ROOT, odd, 0, 0, 0 }, "{root}/a\n\t%41" },
	{ { SPEC_IMAGE_KERN, module, 0, 0, 0 }, "{kern}/ext4" },
	{ { SPEC_IMAGE_ANON, label, 12, 0x1000, 0x1fff },
	  "{anon:a%2Fb%25}}/12.0x1000.0x1fff" },
	{ { SPEC_IMAGE_ANON, none, 0, 0, UINT64_MAX },
	  "{anon:}/0.0x0.0xffffffffffffffff" },
};

Test(name, of_an_image_alone_comes_back)
{
	for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++) {
		CLEANUP(spec_image_fini) struct spec_image back = { 0 };
		CLEANUP(strbuf_fini) struct strbuf text = { 0 };

		cr_assert_eq(spec_image_format(&images[i].image, &text, NULL), 0);
		cr_expect_str_eq(text.data, images[i].text);
		cr_assert_eq(spec_image_parse(text.data, &back, NULL), 0, "%s",
			     text.data);
		cr_expect(spec_image_equal(&back, &images[i].image), "%s", text.data);
	}
}

Test(name, that_is_no_image_alone_is_refused)
{
	static const char *const texts[] = {
		"",
		"/",
		"bin/ls",
		"{root}",
		"{root}/",
		"{kern}",
		"{dep}/a",
		"{root}/..",
		"{root}/./a",
		"{anon:x}",
		"{anon:x}/1.0x1",
		"{anon:x}/1.0x2.0x1",
		"{anon:x}/1.0x1.0x2/more",
		"{anon:/1.0x1.0x2",
		"{anon}/1.0x1.0x2",
	};
	char path[PATH_MAX + 1];
	struct spec_image image = { .tgid = 77 };
	struct err err = { 0 };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		cr_expect_eq(spec_image_parse(texts[i], &image, &err), -EINVAL, "%s",
			     texts[i]);
	memset(path, 'x', sizeof(path));
	memcpy(path, "{root}/", 7);
	path[PATH_MAX] = '\0';
	cr_expect_eq(spec_image_parse(path, &image, &err), -EINVAL);
	cr_expect(strstr(err.msg, "too long"), "%s", err.msg);
	cr_expect_eq(image.tgid, 77, "the result is untouched");
}

static int format_image_of(size_t nr, size_t component)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	struct spec_image image = { .kind = SPEC_IMAGE_ROOT };
	int rc;

	for (size_t i = 0; i < nr; i++) {
		strbuf_putc(&name, '/');
		strbuf_fill(&name, 'n', component);
	}
	image.name = name.data;
	strbuf_puts(&out, "kept");
	rc = spec_image_format(&image, &out, NULL);
	if (rc)
		cr_expect_str_eq(out.data, "kept");
	return rc;
}

Test(name, of_an_image_alone_is_as_long_as_one_that_can_be_read_back)
{
	struct spec_image no_image = { 0 };
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };

	cr_expect_eq(format_image_of(1, 255), 0);
	cr_expect_eq(format_image_of(1, 256), -ENAMETOOLONG);
	cr_expect_eq(format_image_of(40, 100), 0);
	cr_expect_eq(format_image_of(41, 100), -ENAMETOOLONG);
	cr_expect_eq(spec_image_format(&no_image, &out, NULL), -EINVAL);
}
