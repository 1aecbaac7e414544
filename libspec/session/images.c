/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/session/images.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/vec.h"
#include "libspec/session/table.h"

static const struct spec_table images_table = { .name = "images",
						.header = "# opfs images 1",
						.nr_fields = 8 };

enum { STORED, REAL_PATH, BUILD_ID, MTIME, SIZE, DEVICE, INODE, NOTE };

static void row_fini(struct spec_image_row *row)
{
	free(row->stored);
	free(row->real_path);
	free(row->note);
	*row = (struct spec_image_row){ 0 };
}

static bool parse_device(const char *text, struct spec_image_row *row)
{
	uint64_t major, minor;
	char first[16];
	const char *colon;

	if (!text)
		return true;
	colon = strchr(text, ':');
	if (!colon || colon == text || !colon[1] ||
	    (size_t)(colon - text) >= sizeof(first))
		return false;
	memcpy(first, text, (size_t)(colon - text));
	first[colon - text] = '\0';
	if (!spec_table_parse(first, UINT32_MAX, &major) ||
	    !spec_table_parse(colon + 1, UINT32_MAX, &minor))
		return false;
	row->dev_major = (uint32_t)major;
	row->dev_minor = (uint32_t)minor;
	return true;
}

static int parse_row(char *const *f, struct spec_image_row *out)
{
	CLEANUP(row_fini) struct spec_image_row row = { 0 };

	if (!f[STORED] || !f[REAL_PATH] ||
	    build_id_parse(f[BUILD_ID] ? f[BUILD_ID] : "", &row.build_id) ||
	    !spec_table_parse(f[MTIME], UINT64_MAX, &row.mtime) ||
	    !spec_table_parse(f[SIZE], UINT64_MAX, &row.size) ||
	    !parse_device(f[DEVICE], &row) ||
	    !spec_table_parse(f[INODE], UINT64_MAX, &row.inode))
		return -EBADMSG;
	row.stored = strdup(f[STORED]);
	row.real_path = strdup(f[REAL_PATH]);
	row.note = f[NOTE] ? strdup(f[NOTE]) : NULL;
	if (!row.stored || !row.real_path || (f[NOTE] && !row.note))
		return -ENOMEM;
	*out = TAKE(row);
	return 0;
}

static int add_row(void *ctx, char *const *fields)
{
	struct spec_images *t = ctx;
	CLEANUP(row_fini) struct spec_image_row row = { 0 };
	uint64_t at = t->nr;
	int rc = parse_row(fields, &row);

	if (rc)
		return rc;
	if (map_get(&t->by_stored, row.stored, strlen(row.stored), &at)) {
		row_fini(&t->rows[at]);
	} else {
		if (vec_reserve_((void **)&t->rows, &t->cap, t->nr, 1, sizeof(row)) ||
		    map_set(&t->by_stored, row.stored, strlen(row.stored), at))
			return -ENOMEM;
		t->nr++;
	}
	t->rows[at] = TAKE(row);
	return 0;
}

int spec_images_read(int session_fd, struct spec_images *out, struct err *err)
{
	CLEANUP(spec_images_fini) struct spec_images t = { 0 };
	int rc = spec_table_read(&images_table, session_fd, add_row, &t, err);

	if (!rc)
		*out = TAKE(t);
	return rc;
}

const struct spec_image_row *spec_images_find(const struct spec_images *t,
					      const char *stored)
{
	uint64_t at;

	return map_get(&t->by_stored, stored, strlen(stored), &at) ? &t->rows[at] : NULL;
}

uint32_t spec_image_container(const struct spec_image_row *row)
{
	static const char container[] = SPEC_IMAGE_CONTAINER;
	size_t len = sizeof(container) - 1;
	uint64_t pid;

	return row->note && !strncmp(row->note, container, len) &&
			       spec_table_parse(row->note + len, INT32_MAX, &pid)
		       ? (uint32_t)pid
		       : 0;
}

int spec_images_append(int session_fd, const struct spec_image_row *row, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf line = { 0 };
	char id[BUILD_ID_TEXT];

	if (!row->stored || !*row->stored || !row->real_path || !*row->real_path ||
	    row->build_id.len > BUILD_ID_MAX)
		return err_set(err, -EINVAL, "%s: a row without a name",
			       images_table.name);
	build_id_format(&row->build_id, id);
	spec_table_field(&line, row->stored);
	spec_table_field(&line, row->real_path);
	spec_table_field(&line, id);
	spec_table_number(&line, row->mtime);
	spec_table_number(&line, row->size);
	if (row->dev_major || row->dev_minor)
		strbuf_printf(&line, "\t%" PRIu32 ":%" PRIu32, row->dev_major,
			      row->dev_minor);
	else
		spec_table_field(&line, NULL);
	spec_table_number(&line, row->inode);
	spec_table_field(&line, row->note);
	return spec_table_append(&images_table, session_fd, &line, err);
}

void spec_images_fini(struct spec_images *t)
{
	for (size_t i = 0; i < t->nr; i++)
		row_fini(&t->rows[i]);
	free(t->rows);
	map_fini(&t->by_stored);
	*t = (struct spec_images){ 0 };
}
