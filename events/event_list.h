/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * EVENT(name, kind, perf type, perf config, default count, flags, what it counts)
 * A count of 0 follows the rate.  Several names of one event: each a row.
 */
#define HW(config) EV_HARDWARE, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config
#define SW(config) EV_SOFTWARE, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##config

EVENT("TIMER", EV_TIMER, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0, TIME,
      "time, in nanoseconds")

EVENT("cycles", HW(CPU_CYCLES), 0, CYCLES, "processor cycles")
EVENT("cpu-cycles", HW(CPU_CYCLES), 0, CYCLES, "processor cycles")
EVENT("CPU_CLK_UNHALTED", HW(CPU_CYCLES), 0, CYCLES, "cycles while not halted")
EVENT("CPU_CYCLES", HW(CPU_CYCLES), 0, CYCLES, "processor cycles")
EVENT("CYCLES", HW(CPU_CYCLES), 0, CYCLES, "processor cycles")
EVENT("ref-cycles", HW(REF_CPU_CYCLES), 0, CYCLES, "cycles at constant frequency")
EVENT("bus-cycles", HW(BUS_CYCLES), 100000, NONE, "bus cycles")
EVENT("instructions", HW(INSTRUCTIONS), 2000000, NONE, "instructions retired")
EVENT("INST_RETIRED", HW(INSTRUCTIONS), 2000000, NONE, "instructions retired")
EVENT("cache-references", HW(CACHE_REFERENCES), 100000, NONE, "last-level cache accesses")
EVENT("LLC_REFS", HW(CACHE_REFERENCES), 100000, NONE, "last-level cache accesses")
EVENT("cache-misses", HW(CACHE_MISSES), 10000, NONE, "last-level cache misses")
EVENT("LLC_MISSES", HW(CACHE_MISSES), 10000, NONE, "last-level cache misses")
EVENT("branches", HW(BRANCH_INSTRUCTIONS), 500000, NONE, "branch instructions retired")
EVENT("branch-instructions", HW(BRANCH_INSTRUCTIONS), 500000, NONE,
      "branch instructions retired")
EVENT("BR_INST_RETIRED", HW(BRANCH_INSTRUCTIONS), 500000, NONE,
      "branch instructions retired")
EVENT("branch-misses", HW(BRANCH_MISSES), 20000, NONE, "mispredicted branches")
EVENT("BR_MISS_PRED_RETIRED", HW(BRANCH_MISSES), 20000, NONE, "mispredicted branches")
EVENT("stalled-cycles-frontend", HW(STALLED_CYCLES_FRONTEND), 1000000, NONE,
      "cycles stalled at issue")
EVENT("stalled-cycles-backend", HW(STALLED_CYCLES_BACKEND), 1000000, NONE,
      "cycles stalled at retirement")

EVENT("cpu-clock", SW(CPU_CLOCK), 0, TIME, "time of a CPU, in nanoseconds")
EVENT("task-clock", SW(TASK_CLOCK), 0, TIME, "time of a task, in nanoseconds")
EVENT("page-faults", SW(PAGE_FAULTS), 1, NONE, "page faults")
EVENT("faults", SW(PAGE_FAULTS), 1, NONE, "page faults")
EVENT("minor-faults", SW(PAGE_FAULTS_MIN), 1, NONE, "page faults without input or output")
EVENT("major-faults", SW(PAGE_FAULTS_MAJ), 1, NONE, "page faults that read a disk")
EVENT("context-switches", SW(CONTEXT_SWITCHES), 1, NONE, "switches to another task")
EVENT("cs", SW(CONTEXT_SWITCHES), 1, NONE, "switches to another task")
EVENT("cpu-migrations", SW(CPU_MIGRATIONS), 1, NONE, "moves to another CPU")
EVENT("migrations", SW(CPU_MIGRATIONS), 1, NONE, "moves to another CPU")
EVENT("alignment-faults", SW(ALIGNMENT_FAULTS), 1, NONE, "unaligned accesses fixed up")
EVENT("emulation-faults", SW(EMULATION_FAULTS), 1, NONE, "instructions emulated")

#undef HW
#undef SW
