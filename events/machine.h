/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EVENTS_MACHINE_H
#define EVENTS_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "events/table/table.h"

/* The processor a program runs on. */
struct ev_machine {
	char cpu[64];         /* its processor type; "" if no table is for it */
	char what[96];        /* for people: "AuthenticAMD family 25 model 17" */
	char hypervisor[16];  /* "KVM"; "" on bare metal, or if none tells */
	bool counters;        /* the kernel drives its counters */
	unsigned nr_counters; /* as the processor tells; 0: it does not */
};

/* Found out once; never freed. */
const struct ev_machine *ev_machine(void);

/* Says in a sentence what the machine is and whether it counts: "... offers no
 * performance counters (a virtual machine under KVM ...)". */
void ev_machine_say(const struct ev_machine *m, struct strbuf *out);

/**
 * ev_x86_cpu - the processor type of an x86
 * @vendor: of CPUID, "GenuineIntel"
 * @family: with the extended one added, as /proc/cpuinfo shows it; @model likewise
 * Returns a type, or NULL if there is none for it.  "i386/arch_perfmon" is for others of
 * Intel's.
 */
const char *ev_x86_cpu(const char *vendor, unsigned family, unsigned model);

/* The processor type of an ARM by its MIDR_EL1, or NULL. */
const char *ev_arm_cpu(uint64_t midr);

/* ---- the tables of a processor type and those that are everywhere */

enum { EV_MAX_TABLES = 4 };
struct ev_tables {
	const struct ev_table *all[EV_MAX_TABLES]; /* earlier ones win */
	unsigned nr;
};

/* The machine's, and perf/generic, perf/software, timer.  Read once, never freed; a table
 * of the machine's processor type that cannot be read is left out, and *why (may be NULL)
 * points to the message then, else to "". */
const struct ev_tables *ev_machine_tables(const char **why);

/**
 * ev_table_get - the table of a processor type, from the cache
 * Never freed.  Errors as ev_table_load().
 */
int ev_table_get(const char *cpu, const struct ev_table **out, struct err *err);

#endif
