/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/opfs/fake.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

enum { MAX_IMAGES = 4096, MAX_FILES = 8192 };

void fake_init(struct fake *f)
{
	struct catalog *c = &f->cat;

	*f = (struct fake){ 0 };
	c->refs = 1000; /* never freed by catalog_put() */
	c->images = arena_calloc(&c->arena, MAX_IMAGES, sizeof(*c->images));
	c->files = arena_calloc(&c->arena, MAX_FILES, sizeof(*c->files));
	c->dirs = arena_calloc(&c->arena, 1, sizeof(*c->dirs));
	c->nr_dirs = 1;
	c->dirs[0].session = arena_strdup(&c->arena, "current");
	c->dirs[0].fd = -1;
	c->copy_fd = -1;
}

void fake_fini(struct fake *f)
{
	if (f->dir[0])
		file_remove_tree(AT_FDCWD, f->dir, NULL);
	if (f->cat.dirs[0].fd >= 0)
		close(f->cat.dirs[0].fd);
	arena_fini(&f->cat.arena);
}

uint32_t fake_image(struct fake *f, const char *shown)
{
	struct catalog *c = &f->cat;
	struct catalog_image *img;

	for (uint32_t i = 0; i < c->nr_images; i++)
		if (!strcmp(c->images[i].shown, shown))
			return i;
	cr_assert_lt(c->nr_images, MAX_IMAGES);
	img = &c->images[c->nr_images++];
	img->shown = arena_strdup(&c->arena, shown);
	img->base = img->shown;
	img->name.name = img->shown;
	img->name.kind = SPEC_IMAGE_ANON;
	if (shown[0] == '/') {
		img->name.kind = SPEC_IMAGE_ROOT;
		img->base = strrchr(img->shown, '/') + 1;
		if (img->base == img->shown + 1) {
			img->name.kind = SPEC_IMAGE_KERN;
			img->name.name = img->shown + 1;
		}
	} else if (strchr(shown, ' ')) {
		img->name.name = arena_memdup(&c->arena, shown,
					      (size_t)(strchr(shown, ' ') - shown));
	}
	return (uint32_t)(c->nr_images - 1);
}

uint32_t fake_file(struct fake *f, const char *app, const char *image,
		   const struct fake_event *e, uint64_t total)
{
	struct catalog *c = &f->cat;
	struct catalog_file *file = &c->files[c->nr_files];

	cr_assert_lt(c->nr_files, MAX_FILES);
	file->app = fake_image(f, app);
	file->image = fake_image(f, image);
	file->callee = CATALOG_NO_IMAGE;
	file->name.event = arena_strdup(&c->arena, e->name);
	file->name.count = e->count;
	file->name.unit_mask = e->mask;
	file->name.tgid = file->name.tid = file->name.cpu = SPEC_ALL;
	file->path = arena_strdup(&c->arena, "no such file");
	file->total = total;
	memcpy(file->header.magic, SPEC_SAMPLE_MAGIC, 4);
	file->header.version = SPEC_SAMPLE_VERSION;
	file->header.cpu_type = e->cpu_type;
	file->header.cpu_mhz = 2400;
	c->nr_flat = ++c->nr_files;
	return (uint32_t)(c->nr_files - 1);
}

static void write_file(struct fake *f, const struct catalog_file *file,
		       const struct spec_sample_node *nodes, uint32_t nr)
{
	struct spec_sample_descr descr = { .size = nr < 128 ? 128 : nr + 1,
					   .current_size = nr + 1 };
	size_t bytes = SPEC_SAMPLE_NODES_OFF + (size_t)descr.size * 20;
	char *data = calloc(1, bytes);

	cr_assert_not_null(data);
	memcpy(data, &file->header, sizeof(file->header));
	memcpy(data + 72, &descr, sizeof(descr));
	memcpy(data + SPEC_SAMPLE_NODES_OFF + 16, nodes, (size_t)nr * sizeof(*nodes));
	cr_assert_eq(file_replace(f->cat.dirs[0].fd, file->path, data, bytes, 0600, 0,
				  NULL),
		     0);
	free(data);
}

uint32_t fake_sample_file(struct fake *f, const char *app, const char *image,
			  const struct fake_event *e,
			  const struct spec_sample_node *nodes, uint32_t nr)
{
	uint64_t total = 0;
	char path[32];
	uint32_t at;

	if (!f->dir[0]) {
		strcpy(f->dir, "/tmp/opfs-test-XXXXXX");
		cr_assert_not_null(mkdtemp(f->dir));
		f->cat.dirs[0].fd = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		cr_assert_geq(f->cat.dirs[0].fd, 0);
	}
	for (uint32_t i = 0; i < nr; i++)
		total += nodes[i].value;
	at = fake_file(f, app, image, e, total);
	snprintf(path, sizeof(path), "f%u", at);
	f->cat.files[at].path = arena_strdup(&f->cat.arena, path);
	write_file(f, &f->cat.files[at], nodes, nr);
	return at;
}

struct profile *fake_load(struct fake *f, unsigned needs)
{
	uint32_t *all = calloc(f->cat.nr_files + 1, sizeof(*all));
	struct profile_query q = { .cat = &f->cat,
				   .needs = needs,
				   .demangle = SYM_DEMANGLE_NORMAL };
	struct profile *p = NULL;
	struct err err = { 0 };

	cr_assert_not_null(all);
	for (uint32_t i = 0; i < f->cat.nr_files; i++)
		all[i] = i;
	q.selected = all;
	q.nr_selected = f->cat.nr_files;
	cr_assert_eq(profile_load(&q, &p, &err), 0, "%s", err.msg);
	free(all);
	return p;
}
