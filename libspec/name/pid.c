/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/name/pid.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"

void spec_pid_show(int64_t stored, struct strbuf *out)
{
	if (stored < 0 || stored > UINT32_MAX || !spec_pid_uses(stored)) {
		strbuf_printf(out, "%lld", (long long)stored);
		return;
	}
	strbuf_printf(out, "%u.%u", spec_pid_number(stored), spec_pid_uses(stored) + 1);
}

bool spec_pid_parse(const char *text, uint64_t *stored)
{
	const char *dot = strchr(text, '.');
	uint64_t number, nth;
	char first[16];

	if (!dot)
		return number_parse(text, 10, UINT64_MAX, stored);
	if (dot - text >= (long)sizeof(first))
		return false;
	snprintf(first, sizeof(first), "%.*s", (int)(dot - text), text);
	if (!number_parse(first, 10, UINT64_MAX, &number) ||
	    number != spec_pid_number((int64_t)number) ||
	    !number_parse(dot + 1, 10, UINT64_MAX, &nth) || nth < 2 ||
	    nth > SPEC_PID_MAX_USES)
		return false;
	*stored = spec_pid_stored((uint32_t)number, (uint32_t)nth - 1);
	return true;
}
