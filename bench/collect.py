#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What collecting costs, beside perf record, in one run.

For each rate, flat and with call chains, a program of fixed work runs alone, under
perf record and under opcollect record, in turn.  Printed are medians: CPU of the
collector (everything but the program itself), per sample, and the program's slow-down.
perf runs with -B, without its build-id pass over the data at the end (in which perf 6.1
dies on some kernels): that favours perf.
usage: bench/collect.py BIN_DIR [RUNS]
"""
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

WORK = """
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
static volatile unsigned long sink;
static __attribute__((noinline)) unsigned long leaf(unsigned long x)
{
	for (int i = 0; i < 40; i++)
		x = x * 6364136223846793005ul + 1442695040888963407ul;
	return x;
}
static __attribute__((noinline)) unsigned long deep(int n, unsigned long x)
{ return n ? deep(n - 1, x) + 1 : leaf(x); }
int main(int argc, char **argv)
{
	unsigned long n = strtoul(argv[1], 0, 10), x = 1;
	struct rusage r;
	for (unsigned long i = 0; i < n; i++) x = deep(12, x);
	sink = x;
	getrusage(RUSAGE_SELF, &r);
	FILE *f = fopen(argv[2], "w");
	fprintf(f, "%f\\n", r.ru_utime.tv_sec + r.ru_stime.tv_sec
		+ (r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6);
	return fclose(f);
}
"""


def cpu_of(cmd, own):
    """CPU seconds of cmd's whole family, of the profiled program alone, and output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit("collect.py: %s: exit %d\n%s" % (cmd, done.returncode, done.stdout))
    total = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    with open(own) as f:
        return total, float(f.read()), done.stdout


def taken(name, text, data):
    if name == "perf":
        text = subprocess.check_output(["perf", "report", "-i", data, "--stats"],
                                       text=True,
                                       stderr=subprocess.DEVNULL)
    m = re.search(r"SAMPLE events:\s+(\d+)" if name == "perf" else r"(\d+) taken", text)
    return int(m.group(1)) if m else 0


def main():
    bins, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    tmp = tempfile.mkdtemp(prefix="opfs-bench.")
    try:
        src, prog, own = tmp + "/work.c", tmp + "/work", tmp + "/own"
        with open(src, "w") as f:
            f.write(WORK)
        subprocess.check_call(["gcc", "-O1", "-g", "-fno-omit-frame-pointer",
                               "-fno-optimize-sibling-calls", "-o", prog, src])
        loops = "18000000"
        work = [prog, loops, own]
        print("%-10s %-5s %9s %12s %12s %12s %8s %9s" % (
            "rate", "mode", "collector", "CPU s", "samples", "us/sample", "ratio",
            "slow-down"))
        for rate in (999, 10000):
            for mode, flag in (("flat", []), ("-g", ["-g"])):
                tools = {
                    "perf": ["perf", "record", "-B", "-e", "cpu-clock", "-F", str(rate)] +
                            flag +    ["-o", tmp + "/perf.data", "--"] + work,
                    "opcollect": [bins + "/opcollect", "record", "-e", "TIMER", "-F",
                                  str(rate)] + flag +
                                 ["--session-dir", tmp + "/s", "--"] + work,
                }
                got = {name: [] for name in tools}
                plain = []
                for _ in range(runs):
                    plain.append(cpu_of(work, own)[1])
                    for name, cmd in tools.items():
                        shutil.rmtree(tmp + "/s", ignore_errors=True)
                        os.makedirs(tmp + "/s")
                        total, mine, text = cpu_of(cmd, own)
                        got[name].append((total - mine, mine,
                                          taken(name, text, tmp + "/perf.data")))
                base = statistics.median(plain)
                cost = {n: statistics.median(r[0] for r in rows)
                        for n, rows in got.items()}
                for name, rows in got.items():
                    samples = statistics.median(r[2] for r in rows)
                    slow = statistics.median(r[1] for r in rows) / base - 1
                    print("%-10d %-5s %9s %12.3f %12d %12.2f %8.2f %8.1f%%" % (
                        rate, mode, name, cost[name], samples,
                        cost[name] / samples * 1e6 if samples else 0,
                        cost[name] / cost["perf"], slow * 100), flush=True)
    finally:
        shutil.rmtree(tmp, ignore_errors=True)


if __name__ == "__main__":
    main()
