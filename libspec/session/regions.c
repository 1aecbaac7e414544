/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/session/regions.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/number.h"
#include "libspec/session/table.h"

static const struct spec_table regions_table = {
	.name = "regions", .header = "# opfs regions 1", .nr_fields = 2, .mode = 0640
};

enum { STORED, START };

static int add_row(void *ctx, char *const *f)
{
	struct spec_regions *t = ctx;
	uint64_t start;

	if (!f[STORED] || !f[START] || strncmp(f[START], "0x", 2) != 0 ||
	    !number_parse(f[START] + 2, 16, UINT64_MAX, &start))
		return -EBADMSG;
	return map_set(&t->starts, f[STORED], strlen(f[STORED]), start);
}

int spec_regions_read(int session_fd, struct spec_regions *out, struct err *err)
{
	CLEANUP(spec_regions_fini) struct spec_regions t = { 0 };
	int rc;

	spec_table_stat(&regions_table, session_fd, &out->file);
	t.file = out->file;
	rc = spec_table_read(&regions_table, session_fd, add_row, &t, err);
	if (rc && rc != -EACCES)
		return rc;
	*out = TAKE(t);
	return 0;
}

bool spec_regions_find(const struct spec_regions *t, const char *stored,
		       const struct cred *who, struct spec_image *img)
{
	uint64_t start;

	if (!map_get(&t->starts, stored, strlen(stored), &start) ||
	    (who && !cred_allows(who, &t->file, S_IROTH)))
		return false;
	img->end = start + (img->end - img->start);
	img->start = start;
	return true;
}

bool spec_regions_same_readers(const struct spec_regions *t, int session_fd)
{
	return spec_table_same_readers(&regions_table, session_fd, &t->file);
}

int spec_regions_append(int session_fd, const struct spec_image *img, uint64_t start,
			struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf line = { 0 };
	CLEANUP(strbuf_fini) struct strbuf stored = { 0 };

	spec_image_show(img, &stored);
	spec_table_field(&line, strbuf_str(&stored));
	strbuf_printf(&line, "\t0x%" PRIx64, start);
	if (strbuf_error(&stored) || strbuf_error(&line))
		return err_errno(err, -ENOMEM, "%s", regions_table.name);
	return spec_table_append(&regions_table, session_fd, &line, err);
}

void spec_regions_fini(struct spec_regions *t)
{
	map_fini(&t->starts);
	*t = (struct spec_regions){ 0 };
}
