/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_NAME_CLOCK_H
#define LIBSPEC_NAME_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

/* Moments in text.  All numbers are CLOCK_REALTIME in ns. */

#define SPEC_NS_PER_S UINT64_C(1000000000)

/* Appends "2026-11-21T09:00:00.123456789Z"; a fraction of 0 is left out. */
void spec_clock_utc(uint64_t ns, struct strbuf *out);
/* The same back: exactly that form, from 1970 to 9999. */
bool spec_clock_parse_utc(const char *text, uint64_t *ns);
/* Appends "2026-11-21T09-00-00Z", which names the session that began then. */
void spec_clock_name(uint64_t ns, struct strbuf *out);
/* The same back, of a name with or without a suffix "-2". */
bool spec_clock_parse_name(const char *name, uint64_t *ns);

#endif
