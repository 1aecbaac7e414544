/* SPDX-License-Identifier: GPL-2.0-or-later */
/* EVENT(name, what it counts, unit mask that needs no name): the architectural events of
 * Intel's CPUs in OProfile's words.  All others: events/event_list.h. */
EVENT("CPU_CLK_UNHALTED", "Clock cycles when not halted", 0)
EVENT("UNHALTED_REFERENCE_CYCLES", "Unhalted reference cycles", 1)
EVENT("INST_RETIRED", "number of instructions retired", 0)
EVENT("LLC_MISSES", "Last level cache demand requests from this core that missed the LLC", 0x41)
EVENT("LLC_REFS", "Last level cache demand requests from this core", 0x4f)
EVENT("BR_INST_RETIRED", "number of branch instructions retired", 0)
EVENT("BR_MISS_PRED_RETIRED", "number of mispredicted branches retired (precise)", 0)
