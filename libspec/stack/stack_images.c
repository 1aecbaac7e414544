/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/stack/stack_images.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/vec.h"
#include "libspec/sample/sample_disk.h"
#include "libspec/session/table.h"
#include "libspec/stack/stack_format.h"

static const struct spec_table images_table = { .name = "images",
						.header = "# opfs stack-images 1",
						.nr_fields = 3 };

enum { NUMBER, KIND, NAME };
enum { MAX_GAP = 4096 };

void spec_stack_images_fini(struct spec_stack_images *t)
{
	for (size_t i = 0; i < t->nr; i++)
		spec_image_fini(&t->by_number[i].name);
	free(t->by_number);
	*t = (struct spec_stack_images){ 0 };
}

uint32_t spec_stack_images_bound(const struct spec_stack_images *t)
{
	size_t bound = 2 * t->nr_rows + MAX_GAP;

	return bound < SPEC_STACK_MAX_IMAGES ? (uint32_t)bound
					     : SPEC_STACK_MAX_IMAGES - 1;
}

static bool parse_kind(const char *text, bool *kernel)
{
	*kernel = text && !strcmp(text, "kernel");
	return text && (*kernel || !strcmp(text, "user"));
}

static int make_room(struct spec_stack_images *t, size_t nr)
{
	if (nr <= t->nr)
		return 0;
	if (vec_reserve_((void **)&t->by_number, &t->cap, t->nr, nr - t->nr,
			 sizeof(*t->by_number)))
		return -ENOMEM;
	memset(t->by_number + t->nr, 0, (nr - t->nr) * sizeof(*t->by_number));
	t->nr = nr;
	return 0;
}

static int add_row(void *ctx, char *const *f)
{
	struct spec_stack_images *t = ctx;
	struct spec_stack_image image = { 0 };
	uint64_t number;
	int rc;

	if (!f[NUMBER] || !f[NAME] ||
	    !spec_table_parse(f[NUMBER], SPEC_STACK_MAX_IMAGES - 1, &number) || !number ||
	    !parse_kind(f[KIND], &image.kernel))
		return -EBADMSG;
	if (number > spec_stack_images_bound(t))
		return -EBADMSG;
	/* the first row of a number counts, as for the writer */
	if (number < t->nr && t->by_number[number].name.kind != SPEC_IMAGE_NONE)
		return -EBADMSG;
	rc = spec_image_parse(f[NAME], &image.name, NULL);
	if (rc)
		return rc == -ENOMEM ? rc : -EBADMSG;
	if (make_room(t, number + 1)) {
		spec_image_fini(&image.name);
		return -ENOMEM;
	}
	t->by_number[number] = image;
	t->nr_rows++;
	return 0;
}

int spec_stack_images_read(int stacks_fd, struct spec_stack_images *out, struct err *err)
{
	CLEANUP(spec_stack_images_fini) struct spec_stack_images t = { 0 };
	int rc = spec_table_read(&images_table, stacks_fd, add_row, &t, err);

	if (rc)
		return err_add(err, rc, SPEC_STACK_DIR);
	*out = TAKE(t);
	return 0;
}

int spec_stack_images_append(int stacks_fd, uint32_t number,
			     const struct spec_image *name, bool kernel, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf line = { 0 };
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	int rc = spec_image_format(name, &path, err);

	if (rc)
		return rc;
	spec_table_number(&line, number);
	spec_table_field(&line, kernel ? "kernel" : "user");
	spec_table_field(&line, strbuf_str(&path));
	if (strbuf_error(&line))
		return err_errno(err, -ENOMEM, SPEC_STACK_DIR "/images");
	rc = spec_table_append(&images_table, stacks_fd, &line, err);
	return rc ? err_add(err, rc, SPEC_STACK_DIR) : 0;
}

int spec_stack_images_sync(int stacks_fd, struct err *err)
{
	int rc = spec_disk_sync(stacks_fd, images_table.name, err);

	return rc ? err_add(err, rc, SPEC_STACK_DIR) : 0;
}
