/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_COLLECTOR_COLLECTING_H
#define TESTS_COLLECTOR_COLLECTING_H

#include <criterion/criterion.h>

#include "collector/engine/collect.h"

/*
 * A collector of one session, which takes the records that a test tells: at first those
 * of process 10, that executed /bin/prog and uses /lib/lib.so.
 */
extern struct coll_collect c;
extern int session_fd;

#define DASH "{root}/bin/prog/{dep}/"
/* What an image is filed under that is its own application. */
#define ALONE(image) "{root}/" image "/{dep}/{root}/" image "/"
#define LEAF "/TIMER.1000.0.all.all.all"

/* TELL(TGID, KIND, FIELD...): a record of that process. */
#define TELL(who, what, ...)                                                             \
	cr_assert_eq(coll_collect_take(&c, &(struct coll_rec){ .tgid = (who),            \
							       .tid = (who),             \
							       .kind = COLL_REC_##what,  \
							       __VA_ARGS__ }),           \
		     0)

void collecting_begin(void);
void collecting_end(void);

/* Process 10 maps a file. */
void map_file(uint64_t start, uint64_t pgoff, const char *file, uint64_t inode);
void sample_in(uint32_t tgid, enum coll_domain domain, uint64_t ip, const uint64_t *ips,
	       size_t nr_ips);

/* How often @key was counted in the file; -1: no such file. */
long counted(const char *path, uint64_t key);
uint64_t stat_of(enum spec_stat s);
/* All that was taken is stored, lost or ignored. */
void expect_balance(void);

#endif
