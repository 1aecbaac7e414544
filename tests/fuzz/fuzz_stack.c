/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: libspec base */
/*
 * A table of stacks of any bytes: its first byte says how many 64ths of the rest are the
 * frames, and what follows is the table of images.  Readers refuse it, or read something
 * sound; a writer that opens it goes on in it, and changes no frame that was read.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "libspec/stack/stack_images.h"
#include "libspec/stack/stack_read.h"
#include "libspec/stack/stack_write.h"
#include "tests/fuzz/fuzz.h"

enum { ADDS = 300, MAX_BYTES = 1 << 16 };

static int dir_fd = -1, stacks_fd = -1;

static void make_dir(void)
{
	if (dir_fd >= 0)
		return;
	dir_fd = fuzz_dir_open();
	require(!mkdirat(dir_fd, SPEC_STACK_DIR, 0755));
	stacks_fd = openat(dir_fd, SPEC_STACK_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	require(stacks_fd >= 0);
}

static void put(const char *name, const uint8_t *data, size_t size)
{
	CLEANUP(close_fd)
	int fd = openat(stacks_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	require(fd >= 0 && !file_write_all(fd, data, size));
}

/* False if it is refused. */
static bool read_frames(struct spec_stacks *t)
{
	CLEANUP(close_fd) int fd = spec_stacks_open(dir_fd, NULL);
	struct err err = { 0 };

	require(fd >= 0);
	if (spec_stacks_read(fd, UINT32_MAX, t, &err)) {
		require(err.code == -EBADMSG && !t->nr);
		return false;
	}
	require(t->nr && !t->nodes[0].parent && !t->nodes[0].image && !t->nodes[0].off);
	for (uint32_t i = 1; i < t->nr; i++)
		require(spec_stack_sound(&t->nodes[i], i));
	return true;
}

static bool read_images(struct spec_stack_images *t)
{
	struct err err = { 0 };
	int rc = spec_stack_images_read(stacks_fd, t, &err);

	require(!rc || rc == -EBADMSG);
	require(t->nr <= SPEC_STACK_MAX_IMAGES);
	return !rc;
}

static void add_frames(struct spec_stack_writer *w)
{
	char name[] = "/fuzz";
	const struct spec_image image = { .kind = SPEC_IMAGE_ROOT, .name = name };
	uint32_t number = 0, node = 0, nr = spec_stack_nr(w);
	int rc = spec_stack_image(w, &image, false, &number, NULL);

	require(rc ? rc == -E2BIG : number > 0 && number < SPEC_STACK_MAX_IMAGES);
	for (uint32_t i = 0; i < ADDS; i++) {
		uint32_t next = spec_stack_add(w, node, number, i);

		require(next || spec_stack_why(w, NULL));
		require(next == spec_stack_add(w, node, number, i));
		node = i % 50 ? next : 0;
	}
	require(spec_stack_nr(w) <= nr + ADDS && !spec_stack_failed(w));
}

/* What was read before is still there, and nothing is damaged any more. */
static void compare(const struct spec_stacks *before, uint32_t nr)
{
	CLEANUP(spec_stacks_fini) struct spec_stacks t = { 0 };
	CLEANUP(spec_stack_images_fini) struct spec_stack_images images = { 0 };

	require(read_frames(&t));
	require(read_images(&images));
	require(t.nr == nr && !t.damaged);
	for (uint32_t i = 1; i < before->nr; i++)
		require(!memcmp(&t.nodes[i], &before->nodes[i], sizeof(t.nodes[i])));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(spec_stacks_fini) struct spec_stacks t = { 0 };
	CLEANUP(spec_stack_images_fini) struct spec_stack_images images = { 0 };
	struct spec_stack_writer *w = NULL;
	size_t frames = size ? (size - 1) * (data[0] % 65) / 64 : 0;
	bool sound;
	uint32_t nr;

	make_dir();
	put(SPEC_STACK_FRAMES, size ? data + 1 : data, frames);
	put("images", size ? data + 1 + frames : data, size ? size - 1 - frames : 0);
	sound = read_frames(&t);
	sound = read_images(&images) && sound;
	if (spec_stack_writer_open(dir_fd, 0, MAX_BYTES, &w, NULL))
		return 0;
	require(sound);
	add_frames(w);
	nr = spec_stack_nr(w);
	spec_stack_writer_free(w);
	compare(&t, nr);
	return 0;
}
