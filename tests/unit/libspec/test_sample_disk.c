/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "libspec/sample/sample_write.h"
#include "tests/unit/libspec/scratch.h"

static const char path[] = "{root}/a/{dep}/{root}/a/E.1.0.all.all.all";
static const struct spec_sample_header header = { .cpu_type = 4, .count = 1 };

/* Calls of fsync() and msync() that still fail, and with what. */
static int failing, code;

static int fail(void)
{
	failing--;
	errno = code;
	return -1;
}

int fsync(int fd)
{
	return failing > 0 ? fail() : ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd);
}

int msync(void *at, size_t len, int flags)
{
	return failing > 0 ? fail()
			   : ((int (*)(void *, size_t,
				       int))dlsym(RTLD_NEXT, "msync"))(at, len, flags);
}

static struct scratch s;

static void setup(void)
{
	s = scratch_new();
}

static void teardown(void)
{
	scratch_fini(&s);
}

TestSuite(sample_disk, .init = setup, .fini = teardown);

static struct spec_sample_writer *open_writer(void)
{
	struct spec_sample_writer *w = NULL;
	struct err err = { 0 };

	cr_assert_eq(spec_sample_writer_open(s.fd, path, &header, &w, &err), 0, "%s",
		     err.msg);
	return w;
}

static void add(struct spec_sample_writer *w, uint64_t from, uint64_t to)
{
	for (uint64_t key = from; key < to; key++)
		cr_assert_eq(spec_sample_add(w, key, 2, NULL), 0);
}

static void expect_disk(struct spec_sample_writer *w, uint64_t total, uint64_t sure)
{
	struct spec_disk disk = spec_sample_disk(w);

	cr_expect_eq(disk.total, total, "total %llu", (unsigned long long)disk.total);
	cr_expect_eq(disk.sure, sure, "sure %llu", (unsigned long long)disk.sure);
}

Test(sample_disk, is_sure_of_what_was_written_back)
{
	struct spec_sample_writer *w = open_writer();

	expect_disk(w, 0, 0);
	add(w, 0, 10);
	expect_disk(w, 20, 0);
	cr_assert_eq(spec_sample_sync(w, NULL), 0);
	expect_disk(w, 20, 20);
	add(w, 5, 15);
	expect_disk(w, 40, 20);
	add(w, 15, 200); /* grows: that is another file */
	expect_disk(w, 410, 0);
	spec_sample_writer_free(w);
	w = open_writer();
	expect_disk(w, 410, 410);
	spec_sample_writer_free(w);
}

Test(sample_disk, is_not_sure_of_what_the_disk_refused)
{
	struct spec_sample_writer *w = open_writer();
	struct err err = { 0 };

	add(w, 0, 10);
	cr_assert_eq(spec_sample_sync(w, NULL), 0);
	add(w, 0, 1);
	failing = 1;
	code = ENOSPC;
	cr_expect_eq(spec_sample_sync(w, &err), -ENOSPC);
	expect_disk(w, 22, 20);
	failing = 1;
	code = EINVAL; /* a file system that has nothing to do */
	cr_expect_eq(spec_sample_sync(w, NULL), 0);
	spec_sample_writer_free(w);
}

Test(sample_disk, finds_what_the_file_holds)
{
	struct spec_sample_writer *w = open_writer();
	struct err err = { 0 };
	uint64_t found = 1;

	add(w, 0, 10);
	spec_sample_writer_free(w);
	cr_expect_eq(spec_disk_sync(s.fd, path, &err), 0, "%s", err.msg);
	failing = 1;
	code = EIO;
	cr_expect_eq(spec_disk_sync(s.fd, path, NULL), -EIO);
	failing = 1;
	cr_expect_eq(spec_disk_find(s.fd, path, 7, &found, NULL), 0);
	cr_expect_eq(found, 20, "it failed before, and does no more");
	failing = 100;
	cr_expect_eq(spec_disk_find(s.fd, path, 7, &found, NULL), 0);
	cr_expect_eq(found, 7, "where it fails still, what was there before is believed");
	failing = 0;
	cr_expect_eq(spec_disk_total(s.fd, path, &found, NULL), 0);
	cr_expect_eq(found, 20);
	failing = 100;
	cr_expect_eq(spec_disk_total(s.fd, path, &found, NULL), 0);
	cr_expect_eq(found, 0);
	failing = 0;
	scratch_write(&s, path, "what the disk made of it", 24);
	cr_expect_eq(spec_disk_total(s.fd, path, &found, NULL), -EBADMSG);
	cr_expect_eq(spec_disk_find(s.fd, path, 7, &found, NULL), 0);
	cr_expect_eq(found, 0);
	cr_expect_eq(spec_disk_find(s.fd, path, 7, &found, NULL), -ENOENT);
	cr_expect_eq(found, 0);
}

static void cut(off_t len)
{
	CLEANUP(close_fd) int fd = openat(s.fd, path, O_WRONLY | O_CLOEXEC);

	cr_assert_eq(ftruncate(fd, len), 0);
}

/* As a disk that fails does, a file that was cut raises SIGBUS at an access. */
Test(sample_disk, survives_a_mapping_that_fails)
{
	struct spec_sample_writer *w = open_writer();
	struct err err = { 0 };
	uint64_t key = 0;
	int rc = 0;

	add(w, 0, 2000);
	cut(4096);
	while (!rc && key < 3000)
		rc = spec_sample_add(w, key++, 1, &err);
	cr_expect_eq(rc, -EIO);
	cr_expect(spec_sample_failed(w));
	cr_expect_eq(spec_sample_add(w, 0, 1, &err), -EIO, "it stays so");
	cr_expect_eq(spec_sample_sync(w, &err), -EIO);
	spec_sample_writer_free(w);
}

Test(sample_disk, does_not_copy_a_mapping_that_fails)
{
	struct spec_sample_writer *w = open_writer();
	uint64_t key = 0;
	struct stat st;
	int rc = 0;

	add(w, 0, 8000);
	cut(0);
	/* whichever access is the first: none puts what stands in into a file */
	while (!rc && key < 100000)
		rc = spec_sample_add(w, 8000 + key++, 1, NULL);
	cr_expect_eq(rc, -EIO);
	cr_assert_eq(fstatat(s.fd, path, &st, 0), 0);
	cr_expect_eq(st.st_size, 0);
	spec_sample_writer_free(w);
	cr_expect_eq(unlinkat(s.fd, ".new", AT_REMOVEDIR), 0);
}
