/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/session/catalog_stacks.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "libspec/session/session.h"
#include "libspec/stack/stack_read.h"
#include "opfs/session/catalog_read.h"

enum { MAX_FRAMES = 16 << 20 }; /* of an owner who is not trusted */

static const char frames[] = SPEC_STACK_TABLE;

int catalog_stacks_open(struct catalog_build *b, struct catalog_dir *d)
{
	struct spec_stack_header header;
	struct err why = { 0 };
	struct stat st;
	int fd, rc;

	if (b->abi)
		return 0; /* nobody wrote any on other kinds of machines */
	fd = spec_stacks_open(d->fd, &why);
	if (fd == -ENOENT)
		return 0;
	rc = fd < 0 ? fd : spec_stacks_header(fd, &header, &why);
	if (rc) {
		if (fd >= 0)
			close(fd);
		return catalog_build_bad(b, frames, why.msg);
	}
	if (b->max_ns &&
	    (fstat(fd, &st) || st.st_size > (off_t)spec_stack_len(MAX_FRAMES))) {
		close(fd);
		return catalog_read_too_large(b, b->err);
	}
	d->frames_fd = fd;
	d->max_frames = b->max_ns ? MAX_FRAMES : UINT32_MAX;
	return 0;
}

struct read {
	struct catalog_build *b;
	int fd;             /* of the directory */
	struct map by_path; /* the session's flat files -> index */
};

static void read_fini(struct read *r)
{
	close_fd(&r->fd);
	map_fini(&r->by_path);
}

static int bad(struct read *r, const char *path, const char *why)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	strbuf_printf(&text, SPEC_STACK_DIR "/%s", path);
	return catalog_build_bad(r->b, strbuf_str(&text), why);
}

static int sum(struct read *r, const char *path, struct catalog_file *f)
{
	CLEANUP(spec_sample_fini) struct spec_sample_reader s = { .fd = -1 };
	uint64_t max = r->b->copying ? f->total : UINT64_MAX, total = 0;
	off_t copy_off = r->b->copy_end;
	struct err why = { 0 };
	int rc = spec_sample_open(r->fd, path, &s, &why);

	if (rc == -ENOENT) /* removed meanwhile */
		return 0;
	rc = rc ? rc : catalog_read_nodes(r->b, &s, max, &total, &why);
	if (rc == -ENOMEM)
		return catalog_build_no_memory(r->b);
	if (rc == -EINTR || rc == -EFBIG)
		return err_set(r->b->err, rc, "%s", why.msg);
	if (rc)
		return bad(r, path, why.msg);
	f->stacks = (struct catalog_stacks){ .total = total,
					     .copy_off = copy_off,
					     .nr_nodes = s.nr_nodes };
	return 0;
}

static int visit(void *ctx, struct spec_session_file *file)
{
	struct read *r = ctx;
	uint64_t at;
	int rc = catalog_read_check(r->b, r->b->err);

	if (rc)
		return rc;
	if (file->bad)
		return bad(r, file->path, file->bad->msg);
	if (map_get(&r->by_path, file->path, strlen(file->path), &at))
		return sum(r, file->path, &r->b->flat.data[at]);
	/* a live one: it was made since the flat ones were read */
	return r->b->copying ? 0
			     : bad(r, file->path,
				   "there is no sample file of this "
				   "name that it has the stacks of");
}

int catalog_stacks_images(struct catalog_build *b, struct catalog_dir *d)
{
	const struct spec_stack_images *t = &d->stack_images;
	uint32_t *of = arena_calloc(&b->c->arena, t->nr + 1, sizeof(*of));
	int rc = 0;

	if (!of)
		return catalog_build_no_memory(b);
	for (size_t i = 0; i < t->nr && !rc; i++) {
		of[i] = CATALOG_NO_IMAGE;
		if (t->by_number[i].name.kind == SPEC_IMAGE_NONE)
			continue;
		rc = catalog_build_image(b, &t->by_number[i].name, &of[i]);
		if (!rc)
			b->image_list.data[of[i]].kernel |= t->by_number[i].kernel;
	}
	d->image_of_stack = of;
	return rc;
}

static int map_paths(struct read *r, size_t first)
{
	for (size_t i = first; i < r->b->flat.len; i++) {
		const char *path = r->b->flat.data[i].path;

		if (map_set(&r->by_path, path, strlen(path), i))
			return catalog_build_no_memory(r->b);
	}
	return 0;
}

int catalog_stacks_read(struct catalog_build *b, struct catalog_dir *d, size_t first)
{
	CLEANUP(read_fini) struct read r = { .b = b, .fd = -1 };
	struct err why = { 0 };
	int rc;

	if (d->frames_fd < 0)
		return 0;
	r.fd = file_open_within(d->fd, SPEC_STACK_DIR, O_RDONLY | O_DIRECTORY);
	if (r.fd < 0)
		return catalog_build_bad(b, SPEC_STACK_DIR, strerror(-r.fd));
	rc = map_paths(&r, first);
	rc = rc ? rc : spec_session_walk(r.fd, d->escaped, visit, &r, b->err);
	if (rc)
		return rc;
	/* after the counts: then all frames that were counted have their images there */
	rc = spec_stack_images_read(r.fd, &d->stack_images, &why);
	if (rc == -ENOMEM)
		return catalog_build_no_memory(b);
	if (rc)
		rc = catalog_build_bad(b, SPEC_STACK_DIR "/images", why.msg);
	return rc ? rc : catalog_stacks_images(b, d);
}
