/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "libspec/stack/stack_images.h"
#include "tests/unit/libspec/stack_table.h"

#define HEADER "# opfs stack-images 1\n"

enum { PLENTY = 64 << 20 };

static struct scratch s;

static void setup(void)
{
	s = scratch_new();
}

static void teardown(void)
{
	scratch_fini(&s);
}

TestSuite(stack_images, .init = setup, .fini = teardown);

static char names[][24] = { "/bin/ls",     "/{root}/{b", "/%7Ba/%", "/a\nb\tc",
			    "/\xff\x01 -", "-",          "/-",      "ext4",
			    "%41{x\n}/\t", "",           "[heap]" };
static const struct spec_image images[] = {
	{ SPEC_IMAGE_ROOT, names[0], 0, 0, 0 },
	{ SPEC_IMAGE_ROOT, names[1], 0, 0, 0 },
	{ SPEC_IMAGE_ROOT, names[2], 0, 0, 0 },
	{ SPEC_IMAGE_ROOT, names[3], 0, 0, 0 },
	{ SPEC_IMAGE_ROOT, names[4], 0, 0, 0 },
	{ SPEC_IMAGE_KERN, names[5], 0, 0, 0 },
	{ SPEC_IMAGE_ROOT, names[6], 0, 0, 0 },
	{ SPEC_IMAGE_KERN, names[7], 0, 0, 0 },
	{ SPEC_IMAGE_ANON, names[8], 1, 2, 3 },
	{ SPEC_IMAGE_ANON, names[9], 1, 2, 3 },
	{ SPEC_IMAGE_ANON, names[10], UINT32_MAX, 0, UINT64_MAX },
};
enum { NR = sizeof(images) / sizeof(images[0]) };

static uint32_t number_of(struct spec_stack_writer *w, const struct spec_image *image)
{
	struct err err = { 0 };
	uint32_t number = 0;

	cr_assert_eq(spec_stack_image(w, image, image->kind == SPEC_IMAGE_KERN, &number,
				      &err),
		     0, "%s", err.msg);
	return number;
}

static struct spec_stack_images read_images(void)
{
	CLEANUP(close_fd) int fd = openat(s.fd, "stacks", O_RDONLY | O_CLOEXEC);
	struct spec_stack_images t = { 0 };
	struct err err = { 0 };

	cr_assert_eq(spec_stack_images_read(fd, &t, &err), 0, "%s", err.msg);
	return t;
}

Test(stack_images, have_numbers_from_1_on_and_keep_them)
{
	for (int run = 0; run < 3; run++) {
		struct spec_stack_writer *w = table_open(&s, PLENTY);

		for (uint32_t i = 0; i < NR; i++)
			cr_expect_eq(number_of(w, &images[i]), i + 1);
		cr_expect_eq(number_of(w, &images[3]), 4);
		spec_stack_writer_free(w);
	}
}

Test(stack_images, come_back_as_they_were_whatever_their_names)
{
	CLEANUP(spec_stack_images_fini) struct spec_stack_images t = { 0 };
	struct spec_stack_writer *w = table_open(&s, PLENTY);

	for (uint32_t i = 0; i < NR; i++)
		number_of(w, &images[i]);
	spec_stack_writer_free(w);
	t = read_images();
	cr_assert_eq(t.nr, NR + 1);
	cr_expect_eq(t.by_number[0].name.kind, SPEC_IMAGE_NONE);
	for (uint32_t i = 0; i < NR; i++) {
		cr_expect(spec_image_equal(&t.by_number[i + 1].name, &images[i]), "%u",
			  i);
		cr_expect_eq(t.by_number[i + 1].kernel,
			     images[i].kind == SPEC_IMAGE_KERN);
	}
}

Test(stack_images, of_a_table_without_any_are_none)
{
	CLEANUP(spec_stack_images_fini) struct spec_stack_images t = { 0 };

	spec_stack_writer_free(table_open(&s, PLENTY));
	t = read_images();
	cr_expect_eq(t.nr, 0);
}

static int rc_of(struct spec_stack_writer *w, enum spec_image_kind kind, char *name)
{
	struct spec_image image = { .kind = kind, .name = name };
	struct err err = { 0 };
	uint32_t number = 0;
	int rc = spec_stack_image(w, &image, false, &number, &err);

	cr_expect_eq(number, 0);
	cr_expect_neq(err.msg[0], '\0');
	return rc;
}

Test(stack_images, that_can_be_no_file_name_get_no_number)
{
	CLEANUP(spec_stack_images_fini) struct spec_stack_images t = { 0 };
	struct spec_stack_writer *w = table_open(&s, PLENTY);
	char component[300], path[5001], relative[] = "a", up[] = "/a/../b", empty[] = "";

	memset(component, 'x', sizeof(component));
	component[0] = '/';
	component[sizeof(component) - 1] = '\0';
	for (size_t i = 0; i < sizeof(path); i++)
		path[i] = i % 100 ? 'x' : '/';
	path[sizeof(path) - 1] = '\0';
	cr_expect_eq(rc_of(w, SPEC_IMAGE_ROOT, component), -ENAMETOOLONG);
	cr_expect_eq(rc_of(w, SPEC_IMAGE_ANON, component), -ENAMETOOLONG);
	cr_expect_eq(rc_of(w, SPEC_IMAGE_ROOT, path), -ENAMETOOLONG, "5,000 bytes");
	cr_expect_eq(rc_of(w, SPEC_IMAGE_ROOT, relative), -EINVAL);
	cr_expect_eq(rc_of(w, SPEC_IMAGE_ROOT, up), -EINVAL);
	cr_expect_eq(rc_of(w, SPEC_IMAGE_KERN, empty), -EINVAL);
	cr_expect_eq(rc_of(w, SPEC_IMAGE_NONE, NULL), -EINVAL);
	cr_expect_eq(number_of(w, &images[0]), 1);
	path[4089] = '\0'; /* with {root} one less than a path may have */
	cr_expect_eq(number_of(w, &(struct spec_image){ SPEC_IMAGE_ROOT, path, 0, 0, 0 }),
		     2);
	spec_stack_writer_free(w);
	t = read_images();
	cr_assert_eq(t.nr, 3);
	cr_expect_str_eq(t.by_number[2].name.name, path);
}

static void read_text(const char *text, struct spec_stack_images *out)
{
	scratch_write(&s, "stacks/images", text, strlen(text));
	*out = read_images();
}

Test(stack_images, rows_that_make_no_sense_are_passed_over)
{
	CLEANUP(spec_stack_images_fini) struct spec_stack_images t = { 0 };

	read_text(HEADER "\n"
			 "0\tuser\t{root}/zero\n"
			 "1\tuser\n"
			 "1\tuser\t{root}/a\tmore\n"
			 "1\t-\t{root}/a\n"
			 "-\tuser\t{root}/a\n"
			 "1\tother\t{root}/a\n"
			 "1\tuser\t-\n"
			 "1\tuser\t/a\n"
			 "1\tuser\t{root}\n"
			 "1\tuser\t{root}/../a\n"
			 "1\tuser\t{anon:x}/1.2.3\n"
			 "x1\tuser\t{root}/a\n"
			 "1048576\tuser\t{root}/beyond\n"
			 "99999999999999999999\tuser\t{root}/a\n"
			 "3\tkernel\t{kern}/good\n"
			 "3\tuser\t{root}/second\n"
			 "4\tuser\t{root}/no/newline",
		  &t);
	cr_assert_eq(t.nr, 4);
	cr_expect_eq(t.by_number[1].name.kind, SPEC_IMAGE_NONE);
	cr_expect_eq(t.by_number[2].name.kind, SPEC_IMAGE_NONE);
	cr_expect_str_eq(t.by_number[3].name.name, "good");
	cr_expect(t.by_number[3].kernel);
}

Test(stack_images, of_another_version_are_refused)
{
	CLEANUP(spec_stack_images_fini) struct spec_stack_images t = { 0 };
	struct spec_stack_writer *w = NULL;
	struct err err = { 0 };
	int fd;

	scratch_write(&s, "stacks/images", "# opfs stack-images 2\n", 22);
	fd = openat(s.fd, "stacks", O_RDONLY | O_CLOEXEC);
	cr_expect_eq(spec_stack_images_read(fd, &t, &err), -EBADMSG);
	cr_expect(strstr(err.msg, "stacks: images"), "%s", err.msg);
	cr_expect_eq(spec_stack_writer_open(s.fd, 0, PLENTY, &w, NULL), -EBADMSG);
	close(fd);
}

/* A kill, or a full disk, cuts the last row short at any byte. */
Test(stack_images, a_row_after_one_cut_short_is_whole)
{
	static const char row[] = "1\tuser\t{root}/cut/short";

	for (size_t len = 1; len < sizeof(row); len++) {
		CLEANUP(spec_stack_images_fini) struct spec_stack_images t = { 0 };
		struct spec_stack_writer *w;
		char text[80];

		snprintf(text, sizeof(text), HEADER "%.*s", (int)len, row);
		scratch_write(&s, "stacks/images", text, strlen(text));
		w = table_open(&s, PLENTY);
		cr_assert_eq(number_of(w, &images[0]), 1, "cut at %zu", len);
		spec_stack_writer_free(w);
		t = read_images();
		cr_assert_eq(t.nr, 2);
		cr_assert(spec_image_equal(&t.by_number[1].name, &images[0]));
	}
}

/* A power failure may lose rows of images that nodes name. */
Test(stack_images, a_number_that_a_node_has_is_not_given_again)
{
	struct spec_stack_writer *w = table_open(&s, PLENTY);
	uint32_t node = spec_stack_add(w, 0, 7, 0x100);

	spec_stack_writer_free(w);
	w = table_open(&s, PLENTY);
	cr_expect_eq(number_of(w, &images[0]), 8);
	cr_expect_eq(spec_stack_add(w, 0, 7, 0x100), node);
	spec_stack_writer_free(w);
}

/* A node that damage gave a far number does not take the numbers up to it away. */
Test(stack_images, are_readable_also_where_a_node_has_a_far_number)
{
	CLEANUP(spec_stack_images_fini) struct spec_stack_images t = { 0 };
	struct spec_stack_writer *w = table_open(&s, PLENTY);
	uint32_t last;

	spec_stack_add(w, 0, SPEC_STACK_MAX_IMAGES - 2, 0x100);
	spec_stack_add(w, 0, 4095, 0x100);
	spec_stack_writer_free(w);
	w = table_open(&s, PLENTY);
	last = number_of(w, &images[0]);
	spec_stack_writer_free(w);
	t = read_images();
	cr_expect_eq(last, 4096);
	cr_assert_eq(t.nr, last + 1);
	cr_expect(spec_image_equal(&t.by_number[last].name, &images[0]));
}

Test(stack_images, beyond_the_last_number_are_refused)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	struct spec_stack_writer *w = table_open(&s, PLENTY);
	uint32_t number = 0;

	spec_stack_add(w, 0, SPEC_STACK_MAX_IMAGES - 2, 0x100);
	spec_stack_writer_free(w);
	strbuf_puts(&text, HEADER);
	for (uint32_t i = 1; i < SPEC_STACK_MAX_IMAGES / 2; i++)
		strbuf_printf(&text, "%u\tuser\t{root}/%u\n", i, i);
	cr_assert_eq(strbuf_error(&text), 0);
	scratch_write(&s, "stacks/images", text.data, text.len);
	w = table_open(&s, PLENTY);
	cr_expect_eq(number_of(w, &images[0]), SPEC_STACK_MAX_IMAGES - 1);
	cr_expect_eq(spec_stack_image(w, &images[1], false, &number, NULL), -E2BIG);
	cr_expect_eq(number_of(w, &images[0]), SPEC_STACK_MAX_IMAGES - 1);
	spec_stack_writer_free(w);
}

/* As a power failure leaves it that came between the file's name and its bytes. */
Test(stack_images, of_an_empty_file_are_none_and_the_first_follows_its_first_line)
{
	CLEANUP(spec_stack_images_fini) struct spec_stack_images t = { 0 };
	struct spec_stack_writer *w;

	scratch_write(&s, "stacks/images", "", 0);
	w = table_open(&s, PLENTY);
	cr_expect_eq(number_of(w, &images[0]), 1);
	spec_stack_writer_free(w);
	t = read_images();
	cr_assert_eq(t.nr, 2);
	cr_expect(spec_image_equal(&t.by_number[1].name, &images[0]));
}

Test(stack_images, with_numbers_far_beyond_their_rows_are_passed_over)
{
	CLEANUP(spec_stack_images_fini) struct spec_stack_images t = { 0 };

	read_text(HEADER "4000\tuser\t{root}/bin/a\n"
			 "1048575\tuser\t{root}/bin/b\n"
			 "2\tuser\t{root}/bin/c\n",
		  &t);
	cr_assert_eq(t.nr, 4001);
	cr_expect_str_eq(t.by_number[2].name.name, "/bin/c");
}
