/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_HEADER_H
#define OPFS_REPORT_HEADER_H

#include <stdint.h>

#include "base/strbuf.h"
#include "opfs/profile/profile.h"

/* The lines above the rows of reports: the CPU, and what was counted. */

#define HEADER_CPU_TIMER 4 /* samples are taken by a timer: no event to describe */

/* What an event counts, or NULL if that is not known: the tables of events/. */
const char *header_event_doc(uint32_t cpu_type, const char *event);

/* "NAME, speed N MHz (estimated)"; nothing without a class. */
void header_cpu(const struct profile *p, struct strbuf *out);

/* The line "CPU: ...", the event if all columns have the same, and a line for every
 * column; nothing without a class. */
void header_lines(const struct profile *p, struct strbuf *out);

#define HEADER_TITLE_MAX 17 /* The width of a column title of a summary, in bytes */
#define HEADER_TITLE_HEAD 4 /* bytes in front of "..." in the middle of one */

/**
 * header_title - how a class is called above a column of a summary
 * "EVENT:COUNT", with split: "cpu:N", "tgid:N" or "tid:N"; cut to 14 bytes and "..." if
 * too long, or in the middle if another one would be called the same.  Classes that
 * differ in nothing but the unit mask end in ":0xMASK".
 */
void header_title(const struct profile *p, size_t class, char out[HEADER_TITLE_MAX + 1]);

#endif
