/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/store/recover.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "libspec/sample/sample_disk.h"
#include "libspec/session/session.h"

struct sums {
	int fd;
	uint64_t flat, arcs;
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
		spec_stats_note(s->fd, why.msg, NULL);
		return 0;
	}
	if (file->name->callee.name)
		s->arcs += total;
	else
		s->flat += total;
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

static int complete(int fd, struct spec_live *live, struct err *err)
{
	struct sums s = { .fd = fd };
	struct spec_stats stats;
	int rc = spec_session_walk(fd, spec_session_escaped(fd), sum_file, &s, err);

	if (rc)
		return rc;
	if (spec_stats_read(fd, &stats, NULL))
		stats = (struct spec_stats){ 0 }; /* cut short by a power failure */
	stats.value[SPEC_STAT_LOST_KILLED] += waited(&stats);
	stats.value[SPEC_STAT_STORED] = s.flat;
	stats.value[SPEC_STAT_ARCS] = s.arcs;
	stats.value[SPEC_STAT_TAKEN] = known(&stats);
	rc = spec_stats_write(fd, &stats, err);
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

static bool correct(struct spec_stats *stats, const struct sums *s, uint64_t *lost)
{
	uint64_t *stored = &stats->value[SPEC_STAT_STORED],
		 *arcs = &stats->value[SPEC_STAT_ARCS];
	bool wrong = s->flat < *stored || s->arcs < *arcs;

	*lost = 0;
	if (s->flat < *stored) {
		*lost = *stored - s->flat;
		stats->value[SPEC_STAT_LOST_WRITE_BACK] += *lost;
		*stored = s->flat;
	}
	if (s->arcs < *arcs) {
		stats->value[SPEC_STAT_LOST_CG_FILE] += *arcs - s->arcs;
		*arcs = s->arcs;
	}
	return wrong;
}

/* Only the files tell of it now. */
static int make_figures(int session_fd, const struct sums *s, struct spec_stats *out,
			struct err *err)
{
	*out = (struct spec_stats){ 0 };
	out->value[SPEC_STAT_STORED] = s->flat;
	out->value[SPEC_STAT_ARCS] = s->arcs;
	out->value[SPEC_STAT_TAKEN] = known(out);
	return spec_stats_note(session_fd,
			       "the disk refused the figures: they were made from the "
			       "sample files, losses are unknown",
			       err);
}

int coll_confirm(int session_fd, struct coll_figures *figures, struct spec_live *live,
		 uint64_t *lost, struct err *err)
{
	struct sums s = { .fd = session_fd };
	struct spec_stats *stats = &figures->stats;
	bool wrong;
	int rc = spec_session_walk(session_fd, spec_session_escaped(session_fd), sum_file,
				   &s, err);

	if (!rc && !figures->known) {
		rc = spec_stats_read(session_fd, stats, err);
		if (rc == -EBADMSG)
			rc = make_figures(session_fd, &s, stats, err);
	}
	if (rc)
		return rc;
	wrong = correct(stats, &s, lost);
	figures->known = true;
	/* also the same ones: what the disk refused of them would only be in memory */
	rc = spec_stats_write(session_fd, stats, err);
	if (!rc && wrong)
		rc = spec_stats_note(session_fd,
				     "the disk refused samples after they had been "
				     "counted: figures were made from the sample files",
				     err);
	live->generation += wrong;
	return rc ? rc : spec_live_write(session_fd, live, err);
}
