/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Disks that are full or fail under a table of stacks. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tests/unit/libspec/stack_table.h"

enum { PLENTY = 1 << 20, FIRST = 508, TRIES = 2000 };

#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

static struct scratch s;
static struct spec_stack_writer *w;
static int full, sync_fails; /* what these calls fail with, if not 0 */
static bool cut_when_mapped;
static unsigned asked;

int posix_fallocate64(int fd, off64_t off, off64_t len)
{
	asked++;
	return full ? full : NEXT(posix_fallocate64)(fd, off, len);
}

ssize_t write(int fd, const void *data, size_t len)
{
	if (full) {
		errno = full;
		return -1;
	}
	return NEXT(write)(fd, data, len);
}

int msync(void *at, size_t len, int flags)
{
	if (sync_fails) {
		errno = sync_fails;
		return -1;
	}
	return NEXT(msync)(at, len, flags);
}

int fsync(int fd)
{
	if (sync_fails) {
		errno = sync_fails;
		return -1;
	}
	return NEXT(fsync)(fd);
}

void *mmap64(void *at, size_t len, int prot, int flags, int fd, off64_t off)
{
	void *base = NEXT(mmap64)(at, len, prot, flags, fd, off);

	if (cut_when_mapped && fd >= 0)
		cr_assert_eq(ftruncate(fd, 4096), 0);
	return base;
}

static void setup(void)
{
	s = scratch_new();
	w = table_open(&s, PLENTY);
}

static void teardown(void)
{
	full = sync_fails = 0;
	spec_stack_writer_free(w);
	scratch_fini(&s);
}

TestSuite(stack_faults, .init = setup, .fini = teardown);

static void expect_sound(uint32_t nr)
{
	CLEANUP(spec_stacks_fini) struct spec_stacks t = table_read(&s);

	cr_expect_eq(t.nr, nr);
	cr_expect_eq(t.damaged, 0);
	cr_expect_eq(table_lost(&t, nr), 0);
}

Test(stack_faults, on_a_full_disk_known_frames_go_on_and_new_ones_wait_for_room)
{
	struct err err = { 0 };
	uint32_t tries = 0;

	table_grow_to(w, FIRST);
	full = ENOSPC;
	for (uint32_t i = 0; i < TRIES; i++) {
		cr_assert_eq(table_add_other(w, i), 0);
		cr_assert_eq(table_add(w, 1 + i % (FIRST - 1)), 1 + i % (FIRST - 1));
	}
	cr_expect_eq(spec_stack_why(w, &err), -ENOSPC);
	cr_expect(strstr(err.msg, "stacks/frames: no room"), "%s", err.msg);
	cr_expect_not(spec_stack_failed(w));
	cr_expect_eq(spec_stack_nr(w), FIRST);
	expect_sound(FIRST);
	cr_expect_lt(asked, 10, "the disk is not asked for each frame");
	full = 0;
	while (table_add(w, FIRST) != FIRST)
		cr_assert_lt(++tries, TRIES);
	cr_expect_gt(tries, 0);
	table_grow_to(w, 3000);
	expect_sound(3000);
}

Test(stack_faults, on_a_full_disk_no_table_is_made)
{
	struct spec_stack_writer *other = NULL;
	struct err err = { 0 };

	spec_stack_writer_free(w);
	cr_assert_eq(unlinkat(s.fd, "stacks/frames", 0), 0);
	full = ENOSPC;
	cr_expect_eq(spec_stack_writer_open(s.fd, 0, PLENTY, &other, &err), -ENOSPC);
	cr_expect(strstr(err.msg, "stacks/frames"), "%s", err.msg);
	full = 0;
	cr_expect_eq(spec_stacks_open(s.fd, NULL), -ENOENT);
	cr_expect_eq(unlinkat(s.fd, "stacks/.new", AT_REMOVEDIR), 0, "nothing is left");
	w = table_open(&s, PLENTY);
}

Test(stack_faults, an_image_without_a_row_has_no_number)
{
	char name[] = "/a";
	const struct spec_image image = { .kind = SPEC_IMAGE_ROOT, .name = name };
	struct err err = { 0 };
	uint32_t number = 0;

	full = ENOSPC;
	cr_expect_eq(spec_stack_image(w, &image, false, &number, &err), -ENOSPC);
	cr_expect(strstr(err.msg, "stacks: images"), "%s", err.msg);
	full = 0;
	cr_expect_eq(spec_stack_image(w, &image, false, &number, NULL), 0);
	cr_expect_eq(number, 1);
	cr_expect_eq(spec_stack_sync(w, NULL), 0);
}

static void expect_refused(const char *file)
{
	struct err err = { 0 };

	sync_fails = EIO;
	cr_expect_eq(spec_stack_sync(w, &err), -EIO);
	cr_expect(strstr(err.msg, file), "%s", err.msg);
	cr_expect_not(spec_stack_failed(w));
	sync_fails = 0;
	cr_expect_eq(spec_stack_sync(w, NULL), 0);
}

Test(stack_faults, a_disk_that_refuses_nodes_or_images_is_told)
{
	char name[] = "/a";
	const struct spec_image image = { .kind = SPEC_IMAGE_ROOT, .name = name };
	uint32_t number;

	expect_refused("stacks/frames: writing back");
	cr_expect_eq(spec_stack_image(w, &image, false, &number, NULL), 0);
	expect_refused("stacks: images: writing back");
	expect_refused("stacks/frames: writing back");
}

static void cut_file(off_t len)
{
	CLEANUP(close_fd) int fd = openat(s.fd, "stacks/frames", O_WRONLY | O_CLOEXEC);

	cr_assert_eq(ftruncate(fd, len), 0);
}

Test(stack_faults, a_table_whose_mapping_failed_gets_no_frame_and_says_so)
{
	struct err err = { 0 };

	table_grow_to(w, FIRST + 10);
	cut_file(4096);
	for (uint32_t i = 0; i < TRIES; i++)
		cr_assert_eq(table_add_other(w, i), 0);
	cr_expect(spec_stack_failed(w));
	cr_expect_eq(spec_stack_why(w, &err), -EIO);
	cr_expect_eq(table_add(w, 2), 0, "nor one that it had");
	cr_expect_eq(spec_stack_sync(w, &err), -EIO);
}

Test(stack_faults, a_table_whose_mapping_failed_does_not_come_back)
{
	table_grow_to(w, FIRST);
	cut_file(4096);
	cr_expect_eq(table_add(w, 400), 0);
	cut_file(8192);
	for (uint32_t i = 0; i < TRIES; i++)
		cr_assert_eq(table_add_other(w, i), 0);
	cr_expect_eq(table_add(w, 2), 0);
	cr_expect(spec_stack_failed(w));
}

Test(stack_faults, a_file_cut_short_is_not_grown)
{
	struct err err = { 0 };

	table_grow_to(w, FIRST);
	cut_file(8191); /* in the last page, so no access fails */
	cr_expect_eq(table_add_other(w, 0), 0);
	cr_expect_eq(spec_stack_why(w, &err), -EIO);
	cr_expect(strstr(err.msg, "cut short"), "%s", err.msg);
	cr_expect_eq(spec_stack_sync(w, NULL), -EIO);
	cut_file(8192);
	cr_expect_eq(table_add(w, 2), 2);
}

Test(stack_faults, a_file_that_fails_while_it_is_opened_is_not_taken)
{
	struct spec_stack_writer *other = NULL;
	struct err err = { 0 };

	table_grow_to(w, 3000);
	spec_stack_writer_free(w);
	w = NULL;
	cut_when_mapped = true;
	cr_expect_eq(spec_stack_writer_open(s.fd, 0, PLENTY, &other, &err), -EIO);
	cr_expect(strstr(err.msg, "failed under it"), "%s", err.msg);
}
