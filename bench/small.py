#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a small report costs, beside perf report of the same work.
usage: bench/small.py BIN_DIR [RUNS]

CPU is user and system time of a command and its children, median of RUNS (15), all
commands by turns.  "nothing kept": no answers of helpers are kept; "kept": those of the
run before are there.
"""
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

WORK = ["sh", "-c", "ls -lR /usr/lib | sort | gzip >/dev/null; "
        "python3 -c 'print(sum(range(10000000)))'"]


def cpu(cmd, env):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(cmd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True,
                   env=env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3


def main():
    bins, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 15
    tmp = tempfile.mkdtemp(prefix="opfs-bench.")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": True}
    none, kept = dict(os.environ, OPFS_CACHE_DIR=""), dict(os.environ,
                                                           OPFS_CACHE_DIR=tmp + "/kept")
    try:
        subprocess.run([bins + "/opcollect", "record", "-F", "999", "-e", "TIMER", "-o",
                        tmp + "/s", "--"] + WORK, env=none, **quiet)
        subprocess.run(["perf", "record", "-q", "-F", "999", "-e", "cpu-clock", "-o",
                        tmp + "/perf.data", "--"] + WORK, **quiet)
        report = [bins + "/opfs", "cat", "--session-dir", tmp + "/s", "current/report"]
        files = sum(n.startswith("TIMER.") for _, _, names in os.walk(tmp + "/s")
                    for n in names)
        rows = subprocess.check_output(report, env=kept).count(b"\n")
        commands = [
            ("opfs --version", [bins + "/opfs", "--version"], none),
            ("opfs cat report, nothing kept", report, none),
            ("opfs cat report, kept", report, kept),
            ("perf report", ["perf", "report", "-n", "--no-children", "--stdio", "-i",
                             tmp + "/perf.data"], none),
        ]
        times = {name: [] for name, _, _ in commands}
        for _ in range(runs):
            for name, cmd, env in commands:
                times[name].append(cpu(cmd, env))
        print("%d sample files, %d lines; load %.1f" % (files, rows, os.getloadavg()[0]))
        theirs = statistics.median(times["perf report"])
        for name, _, _ in commands:
            ms = statistics.median(times[name])
            print("%-30s %6.1f ms CPU, %.2f of perf report" % (name, ms, ms / theirs))
    finally:
        shutil.rmtree(tmp, ignore_errors=True)


if __name__ == "__main__":
    main()
