/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_SPEC_SPAN_H
#define LIBSPEC_SPEC_SPAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "libspec/spec/spec.h"

/*
 * Spans of time: what time: and last: ask for, and when sessions were.  All numbers are
 * CLOCK_REALTIME in ns.
 */
struct spec_span {
	uint64_t from_ns, to_ns; /* both belong to it; from <= to */
};

/**
 * spec_span_parse - what a value of time: or last: means
 * @text: decoded; time: takes FROM..TO, where each may be missing, or one moment; last:
 *	an age.  Moments: -10m (ages: numbers with s, m, h, d or w), now, 09:00, 09:00:30,
 *	2026-11-21, 2026-11-21T09:00, with or without seconds, in the local time zone or,
 *	ending in Z, UTC.
 * @now_ns: the moment that ages count from
 * A clock time without a date is the last one that there was; behind ".." the first one
 * after FROM.  A single moment lasts as long as it was told: a second, minute or day.
 * Returns 0, or -EINVAL with what is accepted.
 */
int spec_span_parse(const struct spec_tag *tag, const char *text, uint64_t now_ns,
		    struct spec_span *out, struct err *err);

static inline bool spec_span_overlap(const struct spec_span *a, const struct spec_span *b)
{
	return a->from_ns <= b->to_ns && b->from_ns <= a->to_ns;
}

/* When a session was. */
struct spec_session_span {
	struct spec_span span; /* to_ns: of the last sample, as far as it can be told */
	bool closed;           /* it does not grow any more */
};

/**
 * spec_session_span - when the session at @session_fd, called @name, was
 * From stats/started, else the name, to the last drain in stats/live; one that somebody
 * drained within the last ten seconds before @now_ns goes on: it ends at @now_ns.
 * Returns 0, -ENODATA: it tells no time (OProfile's); -EBADMSG; -errno.
 */
int spec_session_span(int session_fd, const char *name, uint64_t now_ns,
		      struct spec_session_span *out, struct err *err);

/* Writes stats/started, "SECONDS.NANOSECONDS"; makes stats/ if missing. */
int spec_started_write(int session_fd, uint64_t start_ns, struct err *err);
/* The same back, also whole seconds.  0, -ENOENT: there is none; -EBADMSG. */
int spec_started_read(int session_fd, uint64_t *start_ns, struct err *err);

/* Appends "2026-11-21 09:00:00 to 09:05:12 +0100" in the local time zone. */
void spec_span_show(const struct spec_span *s, struct strbuf *out);

#endif
