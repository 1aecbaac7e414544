/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_DAEMON_OPTIONS_H
#define COLLECTOR_DAEMON_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/opt.h"
#include "collector/engine/options.h"

#define COLL_DEFAULT_SOCKET "/run/opcollect.sock"
#define COLL_DEFAULT_CONFIG "/etc/opcollect.conf"
#define COLL_DAEMON_HZ "99" /* --frequency */

/* When a session is long or large enough; 0: never for that reason. */
struct coll_rotate {
	uint64_t after_ns, bytes;
};

/* What rotated sessions there may be; 0: any. */
struct coll_keep {
	uint64_t count, age_s, bytes;
};

/* What "opcollect daemon" was told, by its options, its file, and "set". */
struct coll_daemon_options {
	struct coll_options sampling; /* first: rows are shared with "record" */
	const char *socket, *group;   /* @group NULL: the owner only */
	const char *log;              /* auto, stderr, journal, or a file */
	struct coll_rotate rotate;
	struct coll_keep keep;
	uint64_t min_free;     /* bytes that stay free on the disk */
	uint64_t checkpoint_s; /* 0: the kernel writes back when it likes */
	bool detach, stopped;
};

/* The rows, in the order people see them. */
extern const struct opt coll_daemon_opts[];

/* The value of an option that was not given, or NULL: none. */
const char *coll_daemon_default(const char *name);
/* Whether "opcollect set" may change it while the daemon runs. */
bool coll_daemon_may_set(const char *name);

/* Everything as if no option was given; @session_dir and the like are NULL. */
void coll_daemon_options_init(struct coll_daemon_options *o);
void coll_daemon_options_fini(struct coll_daemon_options *o);

#endif
