/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/store/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "collector/store/arcs.h"
#include "libspec/sample/sample_disk.h"
#include "libspec/sample/sample_write.h"
#include "libspec/session/session.h"
#include "libspec/stack/stack_images.h"
#include "libspec/stack/stack_read.h"

struct sums {
	int session_fd;
	int fd; /* the directory that is being walked */
	bool has_stacks;
	uint64_t flat, arcs, stacks;
};

static int sum_file(void *ctx, struct spec_session_file *file)
{
	struct sums *s = ctx;
	struct err why = { 0 };
	uint64_t total = 0;
	int rc = file->bad ? err_set(&why, -EBADMSG, "%s", file->bad->msg)
			   : spec_disk_total(s->fd, file->path, &total, &why);

	if (rc == -ENOMEM)
		return rc;
	if (rc) {
		log_warn("a file of a session is damaged: %s", why.msg);
		spec_stats_note(s->session_fd, why.msg, NULL);
		return 0;
	}
	if (s->fd != s->session_fd)
		s->stacks += total;
	else if (file->name->callee.name)
		s->arcs += total;
	else
		s->flat += total;
	return 0;
}

/* The table of stacks, and what of it a killed collector left undone. */
static int settle_table(int session_fd, int stacks_fd, struct err *err)
{
	CLEANUP(close_fd) int fd = spec_stacks_open(session_fd, NULL);
	int rc = spec_sample_sweep(stacks_fd, err);

	if (!rc && fd >= 0 && fsync(fd))
		rc = err_errno(err, -errno, SPEC_STACK_TABLE);
	return rc ? rc : spec_stack_images_sync(stacks_fd, err);
}

static int sum_stacks(struct sums *s, bool escaped, struct err *err)
{
	CLEANUP(close_fd)
	int fd = file_open_within(s->session_fd, SPEC_STACK_DIR, O_RDONLY | O_DIRECTORY);
	int rc;

	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return err_errno(err, fd, SPEC_STACK_DIR);
	s->has_stacks = true;
	s->fd = fd;
	rc = settle_table(s->session_fd, fd, err);
	return rc ? rc : spec_session_walk(fd, escaped, sum_file, s, err);
}

/* What all files of a session hold that can be read; they are on the disk then. */
static int sum_up(int session_fd, struct sums *s, struct err *err)
{
	bool escaped = spec_session_escaped(session_fd);
	int rc;

	*s = (struct sums){ .session_fd = session_fd, .fd = session_fd };
	rc = spec_session_walk(session_fd, escaped, sum_file, s, err);
	return rc ? rc : sum_stacks(s, escaped, err);
}

/* Arcs that cannot be made are no reason to leave a session open, unless memory lacks. */
static int make_arcs(int session_fd, struct spec_stats *figures, struct err *err)
{
	struct coll_arcs arcs;
	struct err why = { 0 };
	int rc = coll_arcs_close(session_fd, figures, &arcs, &why);

	if (rc == -ENOMEM)
		return err_set(err, rc, "%s", why.msg);
	if (!rc)
		why = arcs.why;
	if (!why.code)
		return 0;
	log_warn("arcs of a session: %s", why.msg);
	spec_stats_note(session_fd, why.msg, NULL);
	return 0;
}

static uint64_t known(const struct spec_stats *s)
{
	return s->value[SPEC_STAT_STORED] + spec_stats_lost(s) + spec_stats_ignored(s);
}

/*
 * What waited for an answer was counted as taken, and nowhere else.  Some of it may have
 * been filed in the second since then: a loss too many is told rather than one too few.
 */
static uint64_t waited(const struct spec_stats *s)
{
	uint64_t taken = s->value[SPEC_STAT_TAKEN];

	return taken > known(s) ? taken - known(s) : 0;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Samples that no stack was wanted of have none, and lost none. */
static void complete_stacks(struct spec_stats *stats, const struct sums *s)
{
	uint64_t *stored = &stats->value[SPEC_STAT_STORED],
		 *stacks = &stats->value[SPEC_STAT_STACKS],
		 *lost = &stats->value[SPEC_STAT_LOST_STACKFILE];
	uint64_t without = less(*stored, *stacks + *lost);

	if (s->has_stacks)
		*lost = less(s->flat, s->stacks + without);
	*stacks = s->stacks;
}

static int complete(int fd, struct spec_live *live, struct err *err)
{
	struct spec_stats stats;
	struct sums s;
	int rc;

	if (spec_stats_read(fd, &stats, NULL))
		stats = (struct spec_stats){ 0 }; /* cut short by a power failure */
	rc = make_arcs(fd, &stats, err);
	if (!rc)
		rc = sum_up(fd, &s, err);
	if (rc)
		return rc;
	complete_stacks(&stats, &s);
	stats.value[SPEC_STAT_LOST_KILLED] += waited(&stats);
	stats.value[SPEC_STAT_STORED] = s.flat;
	stats.value[SPEC_STAT_ARCS] = s.arcs;
	stats.value[SPEC_STAT_TAKEN] = known(&stats);
	rc = spec_stats_write(fd, &stats, NULL, err);
	if (!rc)
		rc = spec_stats_note(
			fd,
			"the collector was killed: figures were made from the "
			"sample files, losses of its last second are unknown",
			err);
	live->generation++;
	live->closed = true;
	return rc ? rc : spec_live_write(fd, live, err);
}

int coll_recover(int session_fd, struct spec_live *live, struct err *err)
{
	if (spec_live_read(session_fd, live, NULL))
		*live = (struct spec_live){ 0 };
	return live->closed ? 0 : complete(session_fd, live, err);
}

/* Moves what a figure says that the files do not hold to another one. */
static uint64_t take_out(struct spec_stats *stats, enum spec_stat from, enum spec_stat to,
			 uint64_t found)
{
	uint64_t lost = less(stats->value[from], found);

	stats->value[from] -= lost;
	stats->value[to] += lost;
	return lost;
}

static bool correct(struct spec_stats *stats, const struct sums *s, uint64_t *lost)
{
	uint64_t others;

	*lost = take_out(stats, SPEC_STAT_STORED, SPEC_STAT_LOST_WRITE_BACK, s->flat);
	others = take_out(stats, SPEC_STAT_ARCS, SPEC_STAT_LOST_CG_FILE, s->arcs) +
		 take_out(stats, SPEC_STAT_STACKS, SPEC_STAT_LOST_STACKFILE, s->stacks);
	return *lost || others;
}

/* Only the files tell of it now. */
static int make_figures(int session_fd, const struct sums *s, struct spec_stats *out,
			struct err *err)
{
	*out = (struct spec_stats){ 0 };
	out->value[SPEC_STAT_STORED] = s->flat;
	out->value[SPEC_STAT_ARCS] = s->arcs;
	out->value[SPEC_STAT_STACKS] = s->stacks;
	if (s->has_stacks)
		out->value[SPEC_STAT_LOST_STACKFILE] = less(s->flat, s->stacks);
	out->value[SPEC_STAT_TAKEN] = known(out);
	return spec_stats_note(session_fd,
			       "the disk refused the figures: they were made from the "
			       "sample files, losses are unknown",
			       err);
}

int coll_confirm(int session_fd, struct coll_figures *figures, struct spec_live *live,
		 uint64_t *lost, struct err *err)
{
	struct spec_stats *stats = &figures->stats;
	bool wrong, made = false;
	struct sums s;
	int rc = 0;

	if (!figures->known) {
		rc = spec_stats_read(session_fd, stats, err);
		made = rc == -EBADMSG;
		rc = rc && !made ? rc : make_arcs(session_fd, stats, err);
	}
	if (!rc)
		rc = sum_up(session_fd, &s, err);
	if (!rc && made)
		rc = make_figures(session_fd, &s, stats, err);
	if (rc)
		return rc;
	wrong = correct(stats, &s, lost);
	figures->known = true;
	/* also the same ones: what the disk refused of them would only be in memory */
	rc = spec_stats_write(session_fd, stats, NULL, err);
	if (!rc && wrong)
		rc = spec_stats_note(session_fd,
				     "the disk refused samples after they had been "
				     "counted: figures were made from the sample files",
				     err);
	live->generation += wrong;
	return rc ? rc : spec_live_write(session_fd, live, err);
}
