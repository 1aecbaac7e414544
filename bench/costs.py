#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the collector costs, in one table, beside perf record in the same run.

An insert is a count in a sample file (bench/db_insert.c); a sample is what each of them
costs the collector at 10 kHz while the program runs.  Hot: the same few places again and
again; cold: a new place each time.  Of "record -a -g" at 10 kHz beside two deep Python
programs and a compiler: CPU seconds until the command ends, after it without names
(perf -B, --symbols=0), and what the names add, of new binaries and of known ones.  The
daemon, and perf record -a, take 99 samples a second; idle: as far as the machine is.
Medians.
usage: bench/costs.py BIN_DIR DB_INSERT [RUNS [SECONDS OF A DAEMON]]
"""
import json
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import daemon
from collect import cpu_of, fresh, taken, tools

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RATE = 10000
PLACES = 1 << 22
SECONDS = 3

# A program of so many CPU seconds, that stays at one place, or goes through many.
WORK = """
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
static double cpu(void)
{
	struct rusage r;
	getrusage(RUSAGE_SELF, &r);
	return r.ru_utime.tv_sec + r.ru_stime.tv_sec
		+ (r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
}
static double of_parent(void)
{
	char path[64];
	double ns = 0;
	snprintf(path, sizeof(path), "/proc/%%d/schedstat", getppid());
	FILE *f = fopen(path, "r");
	if (!f || fscanf(f, "%%lf", &ns) != 1)
		exit(1);
	fclose(f);
	return ns;
}
int main(int argc, char **argv)
{
	double before = of_parent();
	while (cpu() < atof(argv[1]))
#ifdef COLD
		__asm__ volatile(".rept %d\\nnop\\n.endr");
#else
		for (volatile int i = 0; i < 1000000; i++) ;
#endif
	FILE *f = fopen(argv[2], "w");
	fprintf(f, "%%f\\n", of_parent() - before);
	return fclose(f);
}
""" % PLACES
DEEP = """
import sys
sys.setrecursionlimit(5000)
def f(n): return 1 if n == 0 else f(n - 1) + 1
for i in range(8000): f(60)
"""


def running(pid):
    """CPU seconds, and times it went to sleep, of a process and what it has started; but
    not of this one."""
    cpu = sleeps = 0
    for task in os.listdir("/proc/%d/task" % pid):
        at = "/proc/%d/task/%s/" % (pid, task)
        try:
            with open(at + "schedstat") as f:
                cpu += int(f.read().split()[0]) / 1e9
            with open(at + "status") as f:
                sleeps += sum(int(line.split()[1]) for line in f
                              if line.startswith("voluntary"))
            with open(at + "children") as f:
                children = f.read().split()
        except OSError:  # it has ended
            continue
        for child in children:
            if int(child) != os.getpid():
                more = running(int(child))
                cpu, sleeps = cpu + more[0], sleeps + more[1]
    return cpu, sleeps


def whole_work(out):
    """What is recorded with -a -g; tells its own cost, and that of its parent so far."""
    deep = [subprocess.Popen([sys.executable, "-c", DEEP]) for _ in range(2)]
    subprocess.check_call(["gcc", "-O2", "-I.", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64",
                           "-c", "-o", out + ".o", "collector/engine/collect.c"], cwd=TOP)
    for p in deep:
        p.wait()
    own = sum(getattr(resource.getrusage(who), of) for of in ("ru_utime", "ru_stime")
              for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    with open(out, "w") as f:
        f.write("%f" % own)
    with open(out + ".parent", "w") as f:
        f.write("%f" % running(os.getppid())[0])


def median_of(rows):
    return [statistics.median(column) for column in zip(*rows)]


def a_sample(bins, tmp, runs, kind):
    """Nanoseconds of each sample, of both collectors."""
    prog, own = tmp + "/" + kind, tmp + "/own"
    subprocess.run(["gcc", "-O1", "-D" + kind.upper(), "-x", "c", "-o", prog, "-"],
                   input=WORK, text=True, check=True)
    commands = tools(bins, RATE, [], tmp)
    rows = []
    for _ in range(runs):
        row = []
        for name in ("no names", "perf"):
            fresh(tmp)
            _, cost, text = cpu_of(commands[name] + [prog, str(SECONDS), own], own)
            row.append(cost / max(taken(name, text, tmp + "/perf.data"), 1))
        rows.append(row)
    return median_of(rows)


def whole_machine(bins, tmp, runs):
    """Of record -a -g: CPU until the command ends, and after, of both; and of names."""
    own = tmp + "/own"
    work = [sys.executable, os.path.abspath(__file__), "--work", own]
    commands = tools(bins, RATE, ["-a", "-g"], tmp)
    rows = []
    for _ in range(runs):
        row = []
        for name, new in (("no names", True), ("perf", True), ("opcollect", True),
                          ("opcollect", False)):
            if new:
                fresh(tmp)
            total, mine, _ = cpu_of(commands[name] + work, own)
            with open(own + ".parent") as f:
                during = float(f.read())
            row += [during, total - mine - during]
        rows.append([row[0], row[2], row[1], row[3], row[5] - row[1], row[7] - row[1]])
    return median_of(rows)


def daemons(bins, tmp, runs, seconds):
    """Wakeups a second and percent of a CPU, of both."""
    rows = []
    for _ in range(runs):
        row = []
        for what in ("opcollect", "perf"):
            p = daemon.start(what, bins, tmp, 99)
            time.sleep(3)
            before, begun = running(p.pid), time.time()
            time.sleep(seconds)
            after, took = running(p.pid), time.time() - begun
            p.send_signal(signal.SIGTERM if what == "opcollect" else signal.SIGINT)
            p.wait()
            fresh(tmp)
            row += [(after[1] - before[1]) / took, (after[0] - before[0]) / took * 100]
        rows.append([row[0], row[2], row[1], row[3]])
    return median_of(rows)


def inserts(program):
    """Nanoseconds of an insert: hot, and cold."""
    lines = [json.loads(line) for line in
             subprocess.check_output([program], text=True).splitlines()]
    by_case = {row["case"]: row.get("ns_per_insert") for row in lines}
    return by_case["hot-1000"], by_case["random-1000000"]


def show(what, unit, ours, perf=None):
    print("%-34s %-3s %10.3f" % (what, unit, ours) +
          (" %10.3f %7.2f" % (perf, ours / perf) if perf else ""), flush=True)


def main():
    if sys.argv[1] == "--work":
        whole_work(sys.argv[2])
        return
    bins, db_insert = sys.argv[1:3]
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 10
    tmp = tempfile.mkdtemp(prefix="opfs-bench.")
    try:
        print("%-38s %10s %10s %7s" % ("", "opcollect", "perf", "ratio"))
        for kind, rows in zip(("hot", "cold"),
                              zip(*(inserts(db_insert) for _ in range(runs)))):
            show("an insert, " + kind, "ns", statistics.median(rows))
        for kind in ("hot", "cold"):
            show("a sample, " + kind, "ns", *a_sample(bins, tmp, runs, kind))
        during, of_perf, after, perf_after, new, known = whole_machine(bins, tmp, runs)
        show("record -a -g: until the end", "s", during, of_perf)
        show("record -a -g: after it", "s", after, perf_after)
        show("  names of new binaries", "s", new)
        show("  names of known ones", "s", known)
        wakes, perf_wakes, cpu, perf_cpu = daemons(bins, tmp, runs, seconds)
        show("daemon: wakeups a second", "", wakes, perf_wakes)
        show("daemon: of a CPU", "%", cpu, perf_cpu)
    finally:
        shutil.rmtree(tmp, ignore_errors=True)


if __name__ == "__main__":
    main()
