/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/profile.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/opfs/fake.h"
#include "tests/unit/opfs/made_up_syms.h"

/* ---- helpers */

static const struct profile_query all_symbols = { .needs = PROFILE_SYMBOLS };

static struct profile *load(void)
{
	struct profile *loaded = NULL;
	struct err err = { 0 };

	cr_assert_eq(load_all(&all_symbols, &loaded, &err), 0, "%s", err.msg);
	return loaded;
}

static const struct profile_row *row_of(const char *app, const char *image,
					const char *name)
{
	uint32_t a = fake_image(&f, app), i = fake_image(&f, image);

	for (size_t r = 0; r < p->nr_rows; r++)
		if (p->rows[r].app == a && p->rows[r].image == i &&
		    !strcmp(p->rows[r].name, name))
			return &p->rows[r];
	return NULL;
}

static uint64_t samples_of(const char *app, const char *image, const char *name,
			   size_t class)
{
	const struct profile_row *row = row_of(app, image, name);

	return row ? row->samples[class] : 0;
}

static void expect_sums(void)
{
	for (size_t c = 0; c < p->nr_classes; c++) {
		uint64_t rows = 0, pairs = 0, files = 0;

		for (size_t i = 0; i < p->nr_rows; i++)
			rows += p->rows[i].samples[c];
		for (size_t i = 0; i < p->nr_pairs; i++)
			pairs += p->pairs[i].samples[c];
		for (size_t i = 0; i < p->nr_selected; i++)
			if (!strcmp(p->cat->files[p->selected[i]].name.event,
				    p->classes[c].event))
				files += p->cat->files[p->selected[i]].total;
		cr_expect_eq(rows, p->classes[c].total);
		cr_expect_eq(pairs, p->classes[c].total);
		cr_expect_eq(files, p->classes[c].total);
	}
}

/* ---- claims */

TestSuite(profile, .init = setup, .fini = teardown);

Test(profile, totals_need_no_file)
{
	fake_file(&f, "/bin/demo", "/bin/demo", &cycles, 10);
	fake_file(&f, "/bin/demo", "/lib/libc.so", &cycles, 3);
	fake_file(&f, "/bin/demo", "/bin/demo", &misses, 4);
	fake_file(&f, "/bin/demo", "/bin/demo", &cycles, 1); /* another thread's */
	p = fake_load(&f, PROFILE_PAIRS);
	cr_expect_eq(loads, 0);
	cr_assert_eq(p->nr_classes, 2);
	cr_expect_eq(p->nr_pairs, 2);
	cr_expect_eq(p->nr_rows, 0);
	cr_expect_eq(p->classes[0].total, 14);
	cr_expect_eq(p->classes[1].total, 4);
	cr_expect_str_eq(p->session, "current");
}

Test(profile, classes_are_sorted_by_mask_then_event_then_count_as_text)
{
	static const struct fake_event given[] = {
		{ "B", 9, 1, 41 },
		{ "B", 1000, 0, 41 },
		{ "A", 5, 1, 41 },
		{ "B", 200, 0, 41 },
	};
	static const uint64_t counts[] = { 1000, 200, 5, 9 };

	for (int i = 0; i < 4; i++)
		fake_file(&f, "/bin/a", "/bin/a", &given[i], given[i].count);
	p = fake_load(&f, PROFILE_PAIRS);
	cr_assert_eq(p->nr_classes, 4);
	for (int i = 0; i < 4; i++) {
		cr_expect_eq(p->classes[i].count, counts[i]);
		cr_expect_eq(p->classes[i].total, counts[i]);
		cr_expect_eq(p->pairs[0].samples[i], counts[i]);
	}
}

Test(profile, samples_are_counted_by_symbol_application_and_event)
{
	static const struct spec_sample_node one[] = {
		{ .key = 0x100, .value = 1 },  { .key = 0x10f, .value = 2 },
		{ .key = 0x110, .value = 4 },  { .key = 0x100, .value = 8 }, /* again */
		{ .key = 0x120, .value = 16 }, { .key = UINT64_MAX, .value = 32 },
		{ .key = 0x21f, .value = 0 },
	};
	static const struct spec_sample_node two[] = { { .key = 0x200, .value = 64 } };

	fake_sample_file(&f, "/bin/demo", "/bin/demo", &cycles, one, 7);
	fake_sample_file(&f, "/bin/demo", "/bin/demo", &misses, two, 1);
	fake_sample_file(&f, "/bin/other", "/bin/demo", &cycles, two, 1);
	p = load();
	cr_expect_eq(loads, 1, "one image, two applications: loaded %d times", loads);
	cr_expect_eq(samples_of("/bin/demo", "/bin/demo", "first", 0), 11);
	cr_expect_eq(samples_of("/bin/demo", "/bin/demo", "second()", 0), 4);
	cr_expect_eq(samples_of("/bin/demo", "/bin/demo", "(no symbol)", 0), 48);
	cr_expect_eq(samples_of("/bin/demo", "/bin/demo", "third", 0), 0);
	cr_expect_eq(samples_of("/bin/demo", "/bin/demo", "third", 1), 64);
	cr_expect_eq(samples_of("/bin/other", "/bin/demo", "third", 0), 64);
	cr_expect_eq(row_of("/bin/demo", "/bin/demo", "third")->vma, 0x1200);
	expect_sums();
}

Test(profile, more_nodes_than_a_block_holds_all_count)
{
	enum { NR = 10001 };
	struct spec_sample_node *nodes = calloc(NR, sizeof(*nodes));

	cr_assert_not_null(nodes);
	for (uint32_t i = 0; i < NR; i++)
		nodes[i] =
			(struct spec_sample_node){ .key = 0x100 + i % 0x20, .value = 1 };
	fake_sample_file(&f, "/bin/demo", "/bin/demo", &cycles, nodes, NR);
	p = load();
	cr_expect_eq(p->classes[0].total, NR);
	cr_expect_eq(p->nr_rows, 2);
	expect_sums();
	free(nodes);
}

Test(profile, kernel_keys_count_from_text)
{
	static const struct spec_sample_node nodes[] = { { .key = 0x10, .value = 3 } };
	uint32_t at;

	at = fake_sample_file(&f, "/bin/demo", "/boot/vmlinux", &cycles, nodes, 1);
	f.cat.files[at].header.is_kernel = 1;
	p = load();
	cr_expect_eq(last_job.kind, SYM_VMLINUX);
	cr_expect_eq(samples_of("/bin/demo", "/boot/vmlinux", "second()", 0), 3);
	cr_expect_str_eq(p->images[fake_image(&f, "/boot/vmlinux")].reason,
			 "not compared");
}

Test(profile, an_image_without_symbols_is_one_row_with_a_reason)
{
	static const char *const images[] = { "/bin/gone", "/bin/empty", "/no-vmlinux",
					      "anon (tgid:1 range:0x1-0x2)",
					      "[vdso] (tgid:1 range:0x1-0x2)" };

	for (int i = 0; i < 5; i++)
		fake_file(&f, "/bin/demo", images[i], &cycles, 10u + (unsigned)i);
	p = load();
	cr_expect_eq(loads, 2, "no job for what cannot have symbols");
	for (int i = 0; i < 5; i++) {
		const struct profile_row *row = row_of("/bin/demo", images[i], images[i]);
		const struct profile_image *img = &p->images[fake_image(&f, images[i])];

		cr_assert_not_null(row, "%s", images[i]);
		cr_expect_eq(row->kind, PROFILE_ROW_IMAGE);
		cr_expect_eq(row->samples[0], 10u + (unsigned)i);
		cr_expect(img->used && img->reason && *img->reason, "%s", images[i]);
	}
	expect_sums();
}

Test(profile, a_stripped_image_is_itself_but_for_its_plt)
{
	static const struct spec_sample_node nodes[] = {
		{ .key = 0x21, .value = 3 },
		{ .key = 0x1000, .value = 5 },
	};
	const struct profile_image *img;

	fake_sample_file(&f, "/bin/stripped", "/bin/stripped", &cycles, nodes, 2);
	p = load();
	img = &p->images[fake_image(&f, "/bin/stripped")];
	cr_expect_eq(samples_of("/bin/stripped", "/bin/stripped", "exit@plt", 0), 3);
	cr_expect_eq(samples_of("/bin/stripped", "/bin/stripped", "/bin/stripped", 0), 5);
	cr_expect_eq(img->state, SYM_NO_SYMBOLS);
	cr_expect(img->reason && strstr(img->reason, "abcd"), "%s", img->reason);
	expect_sums();
}

Test(profile, kernel_images_are_told_apart_by_name_and_recorded_path)
{
	static const struct {
		const char *image, *real_path;
		int kind;
		const char *path, *name;
	} rows[] = {
		{ "/ext4", NULL, SYM_MODULE, NULL, "ext4" },
		{ "/ext4", "/lib/modules/6/ext4.ko.xz", SYM_MODULE,
		  "/lib/modules/6/ext4.ko.xz", "ext4" },
		{ "/vmlinux", NULL, SYM_KALLSYMS, NULL, "vmlinux" },
		{ "/vmlinux", "/proc/kallsyms", SYM_KALLSYMS, "/proc/kallsyms", NULL },
		{ "/vmlinux", "/boot/vmlinux-6", SYM_VMLINUX, "/boot/vmlinux-6", NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct spec_image_row known = { .real_path = (char *)rows[i].real_path };
		const struct spec_sample_node none = { 0 };
		uint32_t at;

		fake_fini(&f);
		fake_init(&f);
		at = fake_sample_file(&f, "/bin/demo", rows[i].image, &cycles, &none, 1);
		f.cat.files[at].header.is_kernel = 1;
		if (rows[i].real_path)
			f.cat.images[fake_image(&f, rows[i].image)].row = &known;
		profile_put(load());
		cr_expect_eq((int)last_job.kind, rows[i].kind, "row %zu", i);
	}
}

Test(profile, the_binary_that_was_sampled_is_the_one_looked_for)
{
	struct spec_image_row known = {
		.real_path = (char *)"/bin/demo",
		.build_id = { .len = 20, .bytes = { 0xab, 0xcd } },
		.mtime = 77,
	};
	const struct spec_sample_node none = { 0 };
	uint32_t at;

	at = fake_sample_file(&f, "/bin/demo#abcd", "/bin/demo#abcd", &cycles, &none, 1);
	f.cat.files[at].header.mtime = 76;
	f.cat.images[fake_image(&f, "/bin/demo#abcd")].row = &known;
	profile_put(load());
	cr_expect_eq(last_job.kind, SYM_USER);
	cr_expect_str_eq(last_job.path, "/bin/demo");
	cr_expect_eq(last_job.build_id.len, 20);
	cr_expect_eq(last_job.build_id.bytes[1], 0xcd);
	cr_expect_eq(last_job.mtime, 77);
}

Test(profile, files_that_disagree_about_the_binarys_time_are_accepted_and_told)
{
	static const struct spec_sample_node nodes[] = { { .key = 0x100, .value = 3 } };
	const char *reason;

	f.cat.files[fake_sample_file(&f, "/bin/a", "/bin/demo", &cycles, nodes, 1)]
		.header.mtime = 1000;
	f.cat.files[fake_sample_file(&f, "/bin/b", "/bin/demo", &cycles, nodes, 1)]
		.header.mtime = 2000;
	p = load();
	cr_expect_eq(samples_of("/bin/a", "/bin/demo", "first", 0), 3);
	cr_expect_eq(samples_of("/bin/b", "/bin/demo", "first", 0), 3);
	reason = p->images[fake_image(&f, "/bin/demo")].reason;
	cr_assert_not_null(reason);
	cr_expect(strstr(reason, "1000") && strstr(reason, "2000"), "%s", reason);
}

Test(profile, a_file_that_went_bad_is_named_and_the_others_count)
{
	static const struct spec_sample_node nodes[] = { { .key = 0x100, .value = 3 } };

	fake_sample_file(&f, "/bin/demo", "/bin/demo", &cycles, nodes, 1);
	fake_file(&f, "/bin/demo", "/bin/demo", &cycles, 5);
	p = load();
	cr_expect_eq(p->classes[0].total, 3);
	cr_assert_eq(p->nr_bad, 1);
	cr_expect_str_eq(p->bad[0].path, "no such file");
	cr_expect_neq(p->bad[0].reason[0], '\0');
}

Test(profile, helpers_that_cannot_be_started_cost_symbols_only)
{
	load_result = -EAGAIN;
	fake_file(&f, "/bin/demo", "/bin/demo", &cycles, 5);
	p = load();
	cr_expect_eq(p->classes[0].total, 5);
	cr_expect_str_eq(p->images[0].reason, "helpers cannot be started");
}

Test(profile, ends_when_nobody_waits)
{
	static const struct spec_sample_node nodes[] = { { .key = 0x100, .value = 3 } };
	atomic_bool cancel = true;
	struct viewer v = { .cancel = &cancel };
	struct profile_query q = { .needs = PROFILE_SYMBOLS, .viewer = &v };
	struct err err = { 0 };

	fake_sample_file(&f, "/bin/demo", "/bin/demo", &cycles, nodes, 1);
	cr_expect_eq(load_all(&q, &p, &err), -EINTR);
	cr_expect_null(p);
}

Test(profile, too_many_events_are_refused_with_a_remedy)
{
	struct fake_event e = { "E", 0, 0, 41 };
	struct err err = { 0 };

	for (e.count = 0; e.count <= PROFILE_MAX_CLASSES; e.count++)
		fake_file(&f, "/bin/demo", "/bin/demo", &e, 1);
	cr_expect_eq(load_all(&all_symbols, &p, &err), -E2BIG);
	cr_expect(strstr(err.msg, "event:"), "%s", err.msg);
}

Test(profile, many_images_are_all_loaded)
{
	char name[32];

	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "/lib/lib%d.so", i);
		fake_file(&f, "/bin/demo", name, &cycles, 1);
	}
	p = load();
	cr_expect_eq(loads, 100);
	cr_expect_eq(p->nr_rows, 100);
	expect_sums();
}

Test(profile, nothing_selected_is_an_empty_profile)
{
	p = load();
	cr_expect_eq(p->nr_classes, 0);
	cr_expect_eq(p->nr_rows, 0);
}
