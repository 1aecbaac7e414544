#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What collecting costs, beside perf record, in one run.

For each rate, flat and with call chains, a program of fixed work runs alone, under
perf record and under opcollect record, in turn, for about a second, and at the higher
rate also for ten times as long.  Printed are medians: CPU of the collector (everything
but the program itself), per sample, and the program's slow-down; then what a recording
costs however short it is, and what a sample adds.  "no names" is opcollect --symbols=0,
which as perf does not keep the names of what was sampled.
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

SHORT = 18000000  # rounds
LONG = 10 * SHORT

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


def fresh(tmp):
    """An empty tmp/s.  The old one is moved away, not removed: for seconds after that,
    ext4 looks long for inodes for new files, and each of them costs three times as
    much."""
    old = tmp + "/s"
    if os.path.exists(old):
        os.rename(old, tempfile.mkdtemp(dir=tmp) + "/s")
    os.makedirs(old)


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


def tools(bins, rate, flag, tmp):
    record = [bins + "/opcollect", "record", "-e", "TIMER", "-F", str(rate)] + flag
    record += ["--session-dir", tmp + "/s"]
    return {
        "perf": ["perf", "record", "-B", "-e", "cpu-clock", "-F", str(rate)] + flag +
                ["-o", tmp + "/perf.data", "--"],
        "opcollect": record + ["--"],
        "no names": record + ["--symbols=0", "--"],
    }


def measure(bins, rate, flag, work, runs, tmp):
    """Medians: of each tool its CPU seconds, its samples, the program's slow-down."""
    commands = tools(bins, rate, flag, tmp)
    got = {name: [] for name in commands}
    plain = []
    for _ in range(runs):
        plain.append(cpu_of(work, work[-1])[1])
        for name, cmd in commands.items():
            fresh(tmp)
            total, mine, text = cpu_of(cmd + work, work[-1])
            got[name].append((total - mine, taken(name, text, tmp + "/perf.data"), mine))
    base = statistics.median(plain)
    medians = {n: [statistics.median(column) for column in zip(*rows)]
               for n, rows in got.items()}
    return {n: (cost, nr, mine / base - 1) for n, (cost, nr, mine) in medians.items()}


def show(rate, mode, seconds, rows):
    for name, (cost, nr, slow) in rows.items():
        print("%-6d %-5s %5.0f %-10s %9.3f %9d %10.2f %7.2f %9.1f%%" % (
            rate, mode, seconds, name, cost, nr, cost / nr * 1e6 if nr else 0,
            cost / rows["perf"][0], slow * 100), flush=True)


def show_parts(mode, short, long):
    """Of two runs of one rate: what a recording costs, and what each sample adds."""
    for name in short:
        (cost, nr, _), (more, many, _) = short[name], long[name]
        each = (more - cost) / max(many - nr, 1)
        print("%-5s %-10s a recording %6.3f s, a sample %6.2f us" % (
            mode, name, cost - each * nr, each * 1e6), flush=True)


def main():
    bins, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    tmp = tempfile.mkdtemp(prefix="opfs-bench.")
    parts = {}
    try:
        src, prog, own = tmp + "/work.c", tmp + "/work", tmp + "/own"
        with open(src, "w") as f:
            f.write(WORK)
        subprocess.check_call(["gcc", "-O1", "-g", "-fno-omit-frame-pointer",
                               "-fno-optimize-sibling-calls", "-o", prog, src])
        print("%-6s %-5s %5s %-10s %9s %9s %10s %7s %10s" % (
            "rate", "mode", "s", "collector", "CPU s", "samples", "us/sample", "ratio",
            "slow-down"))
        for mode, flag in (("flat", []), ("-g", ["-g"])):
            for rate, loops in ((999, SHORT), (10000, SHORT), (10000, LONG)):
                work = [prog, str(loops), own]
                rows = measure(bins, rate, flag, work, runs, tmp)
                show(rate, mode, rows["perf"][1] / rate, rows)
                parts[mode, rate, loops] = rows
        for mode in ("flat", "-g"):
            show_parts(mode, parts[mode, 10000, SHORT], parts[mode, 10000, LONG])
    finally:
        shutil.rmtree(tmp, ignore_errors=True)


if __name__ == "__main__":
    main()
