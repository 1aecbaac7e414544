/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_OPFS_REFERENCE_H
#define TESTS_UNIT_OPFS_REFERENCE_H

#include "tests/unit/opfs/fake.h"

/* The rows OProfile found in its reference session, as a profile. */
struct reference {
	const char *app;     /* rows of this application only; NULL: all */
	const char *symbols; /* "a,b,": these symbols only; "!a,": all but these; NULL */
	bool two_events;     /* else CPU_CLK_UNHALTED only */
	bool merge_lib;      /* every image is its own application */
};

struct profile *reference_profile(struct fake *f, const struct reference *r);

/* What OProfile printed to stdout in tests/data/transcripts/@name; free() it. */
char *reference_text(const char *name);

#endif
