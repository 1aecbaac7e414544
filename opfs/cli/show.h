/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_CLI_SHOW_H
#define OPFS_CLI_SHOW_H

#include "opfs/cli/cli.h"

/* Files on a terminal: laid out for it, and by pages.  Elsewhere as they are. */

/* Rows of an option table: --color and --no-pager. */
#define SHOW_OPTS                                                                        \
	{ .name = "color",                                                               \
	  .arg = "[WHEN]",                                                               \
	  .doc = "colour shares: auto (on a terminal), always, never",                   \
	  .set = show_set_color },                                                       \
	{                                                                                \
		.name = "no-pager", .doc = "do not show the output by pages",            \
		.set = show_set_no_pager                                                 \
	}
int show_set_color(void *ctx, const char *arg, struct err *err);
int show_set_no_pager(void *ctx, const char *arg, struct err *err);

/* After the options: finds out what standard output is. */
void show_init(struct cli *c);
/* The same file with short names, if that is shown to people and there is such a file;
 * else NULL.  Heap. */
char *show_short_names(const struct cli *c, const char *path, const struct place *p);
/* Is the text of a file written as it is? */
bool show_plain(const struct cli *c, const struct report *report);
/* Writes the text of a file, or keeps it for show_end().  0, or CLI_FAILED with the
 * reason told; a file for programs is not written to a terminal. */
int show_text(struct cli *c, const char *program, const char *path,
	      const struct report *report, const struct text *text);
/* Shows what was kept.  0, or CLI_FAILED with the reason told. */
int show_end(struct cli *c, const char *program);

#endif
