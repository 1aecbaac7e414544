/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_DAEMON_CONFIG_H
#define COLLECTOR_DAEMON_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/opt.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "collector/daemon/options.h"

/*
 * The daemon's options as they were given, and by whom: a value of somebody further down
 * this list takes the place of all values of those above him.
 */
enum coll_origin {
	COLL_BY_DEFAULT,
	COLL_BY_FILE,
	COLL_BY_COMMAND_LINE,
	COLL_BY_SET, /* "opcollect set" */
};

struct coll_setting {
	const struct opt *opt;
	enum coll_origin origin;
	VEC(char *) values; /* heap; of an option without argument: "true" or "false" */
};

struct coll_config {
	VEC(struct coll_setting) settings; /* one a row of coll_daemon_opts */
	char *file;                        /* that was read; NULL: none; heap */
};

/* All defaults.  0 or -ENOMEM. */
int coll_config_init(struct coll_config *c, struct err *err);
int coll_config_copy(const struct coll_config *from, struct coll_config *to,
		     struct err *err);
void coll_config_fini(struct coll_config *c); /* accepts a zeroed one */

/**
 * coll_config_give - gives an option a value
 * @name: as in coll_daemon_opts
 * @value: NULL for an option without argument
 * Several values of one origin add up.  Returns 0; -EINVAL for a value that is wrong.
 */
int coll_config_give(struct coll_config *c, const char *name, const char *value,
		     enum coll_origin origin, struct err *err);

/* Takes all values of an option away, its default too. */
void coll_config_clear(struct coll_config *c, const char *name);

/**
 * coll_config_read - reads the file
 * @path: NULL: the default one, which need not exist
 * Returns 0, or -errno with file, line and cause.
 */
int coll_config_read(struct coll_config *c, const char *path, struct err *err);

/* The last value of an option, which is in force; NULL: it has none. */
const char *coll_config_value(const struct coll_config *c, const char *name);

/**
 * coll_config_apply - what the values mean together
 * @out: borrows from @c; of the caller also after a failure
 * Returns 0, or -EINVAL for what contradicts itself.
 */
int coll_config_apply(const struct coll_config *c, struct coll_daemon_options *out,
		      struct err *err);

/* Appends a configuration file with all options, and where each value came from. */
void coll_config_print(const struct coll_config *c, struct strbuf *out);

#endif
