/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "events/generate/pfm.h"

#include <ctype.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct pmu {
	const char *name, *cpu;
} pmus[] = {
#define PMU(name, cpu) { name, cpu },
#include "events/generate/pmu_list.h"
#undef PMU
};

bool pfm_start(void)
{
	return !setenv("LIBPFM_ENCODE_INACTIVE", "1", 1) &&
	       pfm_initialize() == PFM_SUCCESS;
}

bool pfm_cpu_type(const pfm_pmu_info_t *pmu, char room[96])
{
	if (pmu->type != PFM_PMU_TYPE_CORE)
		return false;
	for (size_t i = 0; i < sizeof(pmus) / sizeof(pmus[0]); i++)
		if (!strcmp(pmus[i].name, pmu->name)) {
			snprintf(room, 96, "%s", pmus[i].cpu ? pmus[i].cpu : "");
			return pmus[i].cpu;
		}
	snprintf(room, 96, "libpfm4/%.80s", pmu->name);
	return true;
}

bool pfm_code_of(const char *pmu, const char *event, const char *umask, const char *other,
		 struct pfm_code *out)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	pfm_perf_encode_arg_t arg = { .size = sizeof(arg), .attr = &attr };
	char text[512];

	snprintf(text, sizeof(text), "%s::%s%s%s%s%s", pmu, event, umask ? ":" : "",
		 umask ? umask : "", other ? ":" : "", other ? other : "");
	if (pfm_get_os_event_encoding(text, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &arg))
		return false;
	*out = (struct pfm_code){ attr.type, attr.config, attr.config1 };
	return true;
}

bool pfm_pmu_at(int i, pfm_pmu_info_t *out)
{
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	return pfm_get_pmu_info((pfm_pmu_t)i, out) == PFM_SUCCESS;
}

bool pfm_event_at(int i, pfm_event_info_t *out)
{
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	return pfm_get_event_info(i, PFM_OS_NONE, out) == PFM_SUCCESS;
}

bool pfm_umask_at(const pfm_event_info_t *e, int i, pfm_event_attr_info_t *out)
{
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	return pfm_get_event_attr_info(e->idx, i, PFM_OS_NONE, out) == PFM_SUCCESS &&
	       out->type == PFM_ATTR_UMASK;
}

void pfm_clean_name(const char *name, char room[128])
{
	size_t len = strnlen(name, 100);

	for (size_t i = 0; i < len; i++)
		room[i] = (char)(isalnum((unsigned char)name[i]) ? name[i] : '_');
	room[len] = '\0';
}
