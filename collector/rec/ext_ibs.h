/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_REC_EXT_IBS_H
#define COLLECTOR_REC_EXT_IBS_H

#include "collector/rec/ext.h"

/*
 * AMD's Instruction-Based Sampling: a tagged fetch or op tells what befell it.
 * ARGS: "fetch:EVENT,...:COUNT:UNITMASK|op:EVENT,...:COUNT:UNITMASK", either part alone
 * as well.  All fetch events have one count and unit mask, and so have all op events,
 * since there is one hardware counter for each.
 */
extern const struct coll_ext_feature coll_ext_ibs;

/* Where perf, and so the driver, puts the registers (MSRs C001_1030 and following). */
enum { COLL_IBS_FETCH_CTL, COLL_IBS_FETCH_LINEAR, COLL_IBS_FETCH_PHYSICAL };
enum {
	COLL_IBS_OP_CTL,
	COLL_IBS_OP_RIP,
	COLL_IBS_OP_DATA,
	COLL_IBS_OP_DATA2,
	COLL_IBS_OP_DATA3,
	COLL_IBS_OP_LINEAR,
	COLL_IBS_OP_PHYSICAL
};

/* Of the capabilities (CPUID 8000_001B, EAX): the bit "RIP invalid" means something. */
enum { COLL_IBS_CAP_RIP_INVALID = 1 << 7 };

#endif
