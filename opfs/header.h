/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_HEADER_H
#define OPFS_HEADER_H

#include <stdint.h>

#include "base/strbuf.h"
#include "opfs/profile.h"

/* What reports say above their rows: the CPU, and what was counted. */

/* OProfile's name of a CPU type of sample-file headers, or NULL: header_cpu_list.h. */
const char *header_cpu_name(uint32_t cpu_type);

/* The name of its directory of events in OProfile, "i386/haswell", or NULL. */
const char *header_cpu_type(uint32_t cpu_type);

#define HEADER_CPU_TIMER 4 /* samples are taken by a timer: there is no event to tell */

/* What an event counts, or NULL if that is not known: the tables of events/. */
const char *header_event_doc(uint32_t cpu_type, const char *event);

/* "NAME, speed N MHz (estimated)"; nothing without a class. */
void header_cpu(const struct profile *p, struct strbuf *out);

/* "Counted NAME events (...) with a unit mask of 0xNN (...) count N". */
void header_class(const struct profile_class *c, struct strbuf *out);

/* What is in a column: as header_class(), or what split: made it of, "Samples on CPU 1". */
void header_column(const struct profile *p, size_t class, struct strbuf *out);

/* The line "CPU: ...", the event if all columns have the same, and a line for every
 * column; nothing without a class. */
void header_lines(const struct profile *p, struct strbuf *out);

#define HEADER_TITLE_MAX 17 /* bytes a column title of a summary may take */

/**
 * header_title - how a class is called above a column of a summary
 * "EVENT:COUNT", with split: "cpu:N", "tgid:N" or "tid:N"; cut to 14 bytes and "..." if
 * too long.  Classes that differ in nothing but the unit mask end in ":0xMASK".
 */
void header_title(const struct profile *p, size_t class, char out[HEADER_TITLE_MAX + 1]);

#endif
