/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_OPFS_FAKE_H
#define TESTS_UNIT_OPFS_FAKE_H

#include "libspec/sample/sample_format.h"
#include "opfs/profile/profile.h"

/* A catalog and profiles made by hand, with or without files behind them. */
struct fake {
	struct catalog cat;
	char dir[64]; /* of the sample files, temporary; "" before there is one */
};

void fake_init(struct fake *f);
void fake_fini(struct fake *f);

/* An image by its shown name; "/NAME" with one slash only is a kernel image, "[x] (..."
 * and "anon (..." are anonymous.  The same name gives the same index. */
uint32_t fake_image(struct fake *f, const char *shown);

struct fake_event {
	const char *name;
	uint64_t count, mask;
	uint32_t cpu_type;
};

/* A flat file of the catalog that no file on disk is behind.  Returns its index. */
uint32_t fake_file(struct fake *f, const char *app, const char *image,
		   const struct fake_event *e, uint64_t total);

/* The same with a file in f->dir that holds @nodes (key and value are used). */
uint32_t fake_sample_file(struct fake *f, const char *app, const char *image,
			  const struct fake_event *e,
			  const struct spec_sample_node *nodes, uint32_t nr);

/* All flat files, loaded without symbols but with PROFILE_SYMBOLS. */
struct profile *fake_load(struct fake *f, unsigned needs);

#endif
