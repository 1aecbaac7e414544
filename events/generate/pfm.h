/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EVENTS_GENERATE_PFM_H
#define EVENTS_GENERATE_PFM_H

#include <perfmon/pfmlib.h>
#include <stdbool.h>
#include <stdint.h>

/* What libpfm4 tells, for the generator of tables and for the tests of encodings. */

/* Makes libpfm4 encode for every processor, not only this one.  False: it cannot. */
bool pfm_start(void);

/* The processor type of a PMU in @room; false: it is none of a core, or the tables kept
 * by hand have it. */
bool pfm_cpu_type(const pfm_pmu_info_t *pmu, char room[96]);

struct pfm_code {
	uint32_t type;
	uint64_t config, config1;
};

/* Encodes "PMU::EVENT[:UMASK[:UMASK]]" for perf; false: libpfm4 refuses. */
bool pfm_code_of(const char *pmu, const char *event, const char *umask, const char *other,
		 struct pfm_code *out);

bool pfm_pmu_at(int i, pfm_pmu_info_t *out);
bool pfm_event_at(int i, pfm_event_info_t *out);
bool pfm_umask_at(const pfm_event_info_t *e, int i, pfm_event_attr_info_t *out);

/* A name with nothing but letters, digits and _. */
void pfm_clean_name(const char *name, char room[128]);

#endif
