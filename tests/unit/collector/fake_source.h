/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_COLLECTOR_FAKE_SOURCE_H
#define TESTS_COLLECTOR_FAKE_SOURCE_H

#include <stdatomic.h>
#include <stdint.h>

#include "collector/engine/engine.h"
#include "libspec/session/stats.h"

/* An engine on a session directory whose source is made up: one process, many images. */

enum { FAKE_IMAGES = 12, FAKE_ROUND = 60 /* samples a drain */, FAKE_DEPTH = 12 };

/* Shared with whoever watches: samples that were begun to be given, and were given. */
struct fake_count {
	_Atomic uint64_t begun, done;
};

struct fake {
	struct coll_source base;
	struct coll_options opt;
	struct coll_engine engine;
	struct fake_count *count;
	uint64_t random;
	bool mapped;
	uint64_t ips[FAKE_DEPTH]; /* of the sample that is handed over */
};

/* @stacks: with call chains.  0 or -errno, and then @err says why. */
int fake_open(struct fake *f, const char *dir, struct fake_count *count, uint64_t seed,
	      bool stacks, struct err *err);
void fake_close(struct fake *f);
uint64_t fake_random(struct fake *f);

/* What all sessions of a directory hold: taken and stored by their figures, and in their
 * files.  Also of those that are hidden.  0, or -EBADMSG for one damaged file. */
struct fake_sum {
	uint64_t taken, stored, losses, in_files;
	uint64_t stacks, told_stacks, lost_stacks; /* in files, and by the figures */
	unsigned sessions, excess; /* files with more stacks than samples */
};
int fake_sum(const char *dir, struct fake_sum *out, struct err *err);

#endif
