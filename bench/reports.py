#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What each kind of report costs, and how it grows.

usage: bench/reports.py BIN_DIR TESTS

BIN_DIR has opfs, TESTS programs with debug information (the unit tests).  The sessions
are made by mklarge.py in the sizes in which OProfile 1.5 was measured; its figures (CPU
seconds and MiB on the same kind of machine, Debian 12, 2 cores AMD EPYC) are printed
beside, with the ratio.  CPU is user and system time of opfs and all its helpers; files
are in the page cache; every run is a new process.
"""
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
RUNS = 3


def cost(cmd, out=os.devnull):
    """CPU seconds and peak MiB of the largest process, of a command and its children."""
    pid = os.fork()
    if not pid:
        os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.execvp(cmd[0], cmd)
    _, status, usage = os.wait4(pid, 0)
    if status:
        sys.exit("reports.py: %s: status %d" % (" ".join(cmd), status))
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


class Session:
    def __init__(self, bins, top, name, size, programs=None):
        self.opfs = bins + "/opfs"
        self.dir = os.path.join(top, name)
        print(subprocess.check_output(
            [sys.executable, HERE + "/mklarge.py", self.dir] + [str(n) for n in size] +
            (["--from", programs] if programs else []), text=True).strip())

    def measure(self, title, paths, theirs=None):
        results = [cost([self.opfs, "cat", "--session-dir", self.dir] + paths)
                   for _ in range(RUNS)]
        cpu = statistics.median(r[0] for r in results)
        peak = max(r[1] for r in results)
        line = "  %-34s %6.2f s CPU, peak %4.0f MiB" % (title, cpu, peak)
        if theirs:
            line += ("; OProfile %.2f s, %d MiB: ratio %.2f" %
                     (*theirs, cpu / theirs[0]))
        print(line, flush=True)
        return cpu

    def list(self, path):
        """Every file below a directory of the tree."""
        lines = subprocess.check_output(
            [self.opfs, "ls", "-l", "--session-dir", self.dir, path],
            text=True).splitlines()
        for line in lines:
            name = path + "/" + line.split()[-1]
            if line.startswith("d"):
                yield from self.list(name)
            else:
                yield name


def main():
    bins, tests = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    tmp = tempfile.mkdtemp(prefix="opfs-bench.")
    try:
        s = Session(bins, tmp, "L1", (28, 40, 2000))
        s.measure("summary", ["current/summary"], (0.06, 11))
        s.measure("report", ["current/report"], (2.2, 93))
        s.measure("details", ["current/details"], (6.7, 405))
        s = Session(bins, tmp, "L3", (12, 12, 30000))
        s.measure("report", ["current/report"], (8.0, 257))
        s.measure("report, demangle:none", ["current/demangle:none/report"])
        s.measure("report.xml", ["current/report.xml"])
        s.measure("report.json", ["current/report.json"])
        s = Session(bins, tmp, "L3-lines", (12, 12, 30000), tests)
        s.measure("report, debug-info", ["current/with:debug-info/report"], (25.5, 259))
        s.measure("all of annotate/", list(s.list("current/annotate")), (31.0, 515))
        s.measure("asm", ["current/asm"])
        s = Session(bins, tmp, "L4", (12, 32, 2000, 2000))
        s.measure("callgraph", ["current/callgraph"], (21.6, 337))
        print("how report grows:")
        for size in ((12, 3, 30000), (12, 6, 30000), (12, 12, 7500), (12, 12, 15000)):
            s = Session(bins, tmp, "x".join(str(n) for n in size), size)
            s.measure("report", ["current/report"])
    finally:
        shutil.rmtree(tmp, ignore_errors=True)


if __name__ == "__main__":
    main()
