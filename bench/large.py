#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What reports of large sessions cost, and how that grows.

usage: bench/large.py BIN_DIR [SIZE...]

Sessions of 6 applications with 5 images each, 2 threads and 2 events: 120 files.  SIZE 1
is 30,000 addresses a file in 12,000 functions an image, 3.5 million addresses and 360,000
rows; 0.1, 1 (the default) and 10 grow both.  CPU is user and system time of opfs cat and
all its helpers, the median of 5, memory the peak of the largest process; files are in the
page cache.
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

from reports import HERE, cost

RUNS = 5
FILES = ("summary", "report", "details", "report.xml", "report.tsv", "report.json")


def measure(bins, top, size):
    session = os.path.join(top, "size%g" % size)
    made = subprocess.check_output(
        [sys.executable, HERE + "/mklarge.py", session, "6", "5", "%d" % (30000 * size),
         "--make", "%d" % (12000 * size), "--threads", "2", "--events", "2"], text=True)
    addresses = int(made.split(" files, ")[1].split()[0])
    text = os.path.join(top, "text")
    for name in FILES:
        cmd = [bins + "/opfs", "cat", "--session-dir", session, "current/" + name]
        cost(cmd, text)
        with open(text, "rb") as f:
            lines = sum(1 for _ in f)
        runs = [cost(cmd) for _ in range(RUNS)]
        cpu = statistics.median(r[0] for r in runs)
        print("%9d addresses  %-12s %9d lines  %6.2f s CPU, %5.0f ns an address, "
              "%6.0f ns a line; peak %5.0f MiB"
              % (addresses, name, lines, cpu, cpu / addresses * 1e9, cpu / lines * 1e9,
                 statistics.median(r[1] for r in runs)), flush=True)
    shutil.rmtree(session)


def main():
    bins, sizes = os.path.abspath(sys.argv[1]), [float(a) for a in sys.argv[2:]]
    top = tempfile.mkdtemp(prefix="opfs-bench.")
    try:
        for size in sizes or [0.1, 1]:
            measure(bins, top, size)
    finally:
        shutil.rmtree(top, ignore_errors=True)


if __name__ == "__main__":
    main()
