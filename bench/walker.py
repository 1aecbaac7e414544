# SPDX-License-Identifier: GPL-2.0-or-later
"""A program with as many different stacks as are asked for, to be recorded.

300 functions in it and in two shared objects call each other along paths that are always
the same: usage: walker PATHS SEED CPU_SECONDS OWN.  PATHS paths of 8 to 48 functions
branch off each other.  SEED determines the order in which they are walked: as in real
programs the next one mostly begins like the last (samples that are 25 us apart have some
60 % of their frames in common), and some are walked much more often than others.  Each
function has a frame of its own, all with frame pointers.  The CPU seconds that it took
itself are written to OWN.
"""
import os
import random
import subprocess

PARTS, FUNCS = ("libparse", "libstore", "walker"), 100
VERBS = ("parse", "read", "find", "sort", "hash", "merge", "visit", "fold", "emit",
         "check")
NOUNS = ("header", "value", "symbol", "block", "token", "entry", "range", "table",
         "scope", "record_of_the_previous_generation")

FLAGS = ["-O1", "-g", "-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer",
         "-fno-optimize-sibling-calls", "-fno-shrink-wrap", "-fno-inline"]

HEAD = """
#include <stdint.h>
typedef void step(const uint16_t *path);
extern step *const walker_steps[];
extern volatile uint64_t walker_sink;
#define END UINT16_MAX
static inline __attribute__((always_inline)) void work(unsigned n)
{
	uint64_t x = n;
	for (; n; n--) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		__asm__ volatile("" : "+r"(x));
	}
	walker_sink = x;
}
#define STEP(name) void name(const uint16_t *path) { \\
	if (*path == END) { work(1500); return; } \\
	work(2); walker_steps[*path](path + 1); walker_sink++; }
"""

MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
volatile uint64_t walker_sink;
enum { NR_STEPS = sizeof(walker_steps) / sizeof(walker_steps[0]), LONGEST = 48,
	SHORTEST = 8, REACH = 20, JUMP = 10 };
static uint64_t state;
static unsigned below(unsigned n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 32) * n >> 32;
}
/* The first so many functions of a path that is there, and others behind them. */
static void make(uint16_t (*paths)[LONGEST + 1], unsigned at)
{
	unsigned len = SHORTEST + below(LONGEST - SHORTEST + 1);
	unsigned same = at ? below(len + 1) : 0;
	uint16_t *path = paths[at];
	if (same)
		memcpy(path, paths[below(at)], same * sizeof(*path));
	for (unsigned i = 0; i < len; i++)
		if (i >= same || path[i] == END)
			path[i] = below(NR_STEPS);
	path[len] = END;
}
static int compare(const void *a, const void *b)
{
	return memcmp(a, b, LONGEST * sizeof(uint16_t));
}
static double own(void)
{
	struct rusage r;
	getrusage(RUSAGE_SELF, &r);
	return r.ru_utime.tv_sec + r.ru_stime.tv_sec
		+ (r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
}
int main(int argc, char **argv)
{
	unsigned nr = strtoul(argv[1], 0, 10);
	uint16_t (*paths)[LONGEST + 1] = calloc(nr, sizeof(*paths));
	double until = strtod(argv[3], 0);
	state = 88172645463325252u;
	for (unsigned i = 0; i < nr; i++)
		make(paths, i);
	qsort(paths, nr, sizeof(*paths), compare);
	state += strtoul(argv[2], 0, 10);
	for (unsigned at = 0, again = 0, i = 1;; again--, i++) {
		if (!again) {
			at = below(JUMP) ? (at + below(2 * REACH + 1) + nr - REACH) % nr
				: below(nr);
			again = 1 + 100 / (1 + at * 2654435761u % 100);
		}
		walker_steps[*paths[at]](paths[at] + 1);
		if (i % 1000 == 0 && own() >= until)
			break;
	}
	FILE *f = fopen(argv[4], "w");
	fprintf(f, "%f\\n", own());
	return fclose(f);
}
"""


def names():
    """Of all functions; those of a part one after another."""
    return ["%s_%s_%d" % (VERBS[i % 10], NOUNS[i // 10 % 10], i)
            for i in range(FUNCS * len(PARTS))]


def build(where):
    """Compiles it; returns its path."""
    steps = names()
    declared = "".join("step %s;\n" % name for name in steps)
    order = list(steps)
    random.Random(1).shuffle(order)
    table = "step *const walker_steps[] = {%s};\n" % ", ".join(order)
    for n, part in enumerate(PARTS):
        mine = steps[n * FUNCS:(n + 1) * FUNCS]
        with open(os.path.join(where, part + ".c"), "w") as f:
            f.write(HEAD + declared + "".join("STEP(%s)\n" % name for name in mine))
            if part == "walker":
                f.write(table + MAIN)
    for part in PARTS[:-1]:
        subprocess.check_call(["gcc", "-shared", "-fPIC", *FLAGS, "-o",
                               part + ".so", part + ".c"], cwd=where)
    subprocess.check_call(["gcc", "-rdynamic", *FLAGS, "-o", "walker", "walker.c",
                           "-L.", "-l:libparse.so", "-l:libstore.so",
                           "-Wl,-rpath,$ORIGIN"],
                          cwd=where)
    return os.path.join(where, "walker")
