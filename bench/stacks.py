#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What whole stacks cost, beside perf: to record, to keep and to read.

usage: bench/stacks.py BIN_DIR [RUNS] [--small | --growth]

bench/walker.py makes a program with some 20,000 distinct stacks, 27 functions deep in
the mean.  It is recorded at 40 kHz by opcollect and by perf, flat and with stacks, in
turn: half a million samples each (--small: a tenth).  Then both read what they have
recorded.  Printed are medians; CPU is user and system time of a command and all its
children, and memory the peak of its largest process.  What takes more than 5 s is done
once.  With OLD=BIN_DIR in the environment an older opcollect is measured as well.  perf's
own stackcollapse.py stands for the scripts of FlameGraph, which Debian does not have.

--growth tells instead how the costs of opfs grow: with samples of the same program, with
distinct stacks, and with the sessions that are summed.
"""
import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
import collect  # noqa: E402
import report  # noqa: E402
import reports  # noqa: E402
import walker  # noqa: E402

RATE, CPU_SECONDS, PATHS, SEED = "40000", 12.5, 1500, 1
LONG = 5
DIRECTORIES = 70000
FILES = ("more:/stacks.folded", "flamegraph.svg", "with:children/report", "calltree",
         "more:/profile.pb.gz", "more:/callgrind.out")
# file -> CPU seconds and MiB that it should not exceed
AIMS = {"more:/stacks.folded": (0.3, 100), "flamegraph.svg": (0.3, 100)}


def beside(value, aim):
    return "aim %g: %s" % (aim, "met" if value <= aim else "MISSED")


def load():
    return "load %.1f" % os.getloadavg()[0]


def often(measure, runs):
    """What measure() returns, first CPU seconds, several times unless that takes long."""
    rows = [measure()]
    while len(rows) < runs and rows[0][0] < LONG:
        rows.append(measure())
    return [statistics.median(column) for column in zip(*rows)] + [len(rows)]


def bytes_on_disk(path):
    return sum(os.lstat(os.path.join(top, name)).st_blocks * 512
               for top, _, names in os.walk(path) for name in names)


# ---- recording

class Recorder:
    """A tool that records a program; its cost is that of all but the program."""

    def __init__(self, title, cmd, data, kept):
        self.title, self.cmd, self.data, self.kept = title, cmd, data, kept
        self.rows = []

    def record(self, work, own):
        shutil.rmtree(self.data, ignore_errors=True)
        os.makedirs(self.data)
        total, mine, text = collect.cpu_of(self.cmd + ["--"] + work, own)
        perf = self.cmd[0] == "perf"
        samples = collect.taken("perf" if perf else "", text, self.data + "/perf.data")
        lost = re.search(r"(\d+) lost", text)
        self.rows.append((total - mine, samples, bytes_on_disk(self.kept),
                          int(lost.group(1)) if lost else 0))

    def ns(self):
        """CPU of a sample."""
        return statistics.median(r[0] / r[1] for r in self.rows) * 1e9


def opcollect(title, bins, tmp, flags):
    data = tmp + "/" + title.replace(" ", "")
    return Recorder(title, [bins + "/opcollect", "record", "-e", "TIMER", "-F", RATE,
                            "--session-dir", data] + flags, data, data + "/samples")


def perf_record(title, tmp, flags):
    data = tmp + "/" + title.replace(" ", "")
    return Recorder(title, ["perf", "record", "-B", "-e", "cpu-clock", "-F", RATE, "-o",
                            data + "/perf.data"] + flags, data, data)


def recorders(bins, tmp):
    old = os.environ.get("OLD")
    return ([opcollect("opcollect", bins, tmp, []),
             opcollect("opcollect -g", bins, tmp, ["-g"])] +
            ([opcollect("OLD opcollect -g", old, tmp, ["-g"])] if old else []) +
            [perf_record("perf record", tmp, []),
             perf_record("perf record -g", tmp, ["-g"])])


def print_recorded(tools):
    theirs = {tool.title: tool.ns() for tool in tools}
    print("%-18s %9s %11s %8s %12s %7s" % ("", "samples", "ns/sample", "of perf's",
                                           "bytes/sample", "lost"))
    for tool in tools:
        peer = "perf record" + " -g" * tool.title.endswith("-g")
        print("%-18s %9d %11.0f %8.2f %12.1f %7d" % (
            tool.title, statistics.median(r[1] for r in tool.rows), tool.ns(),
            tool.ns() / theirs[peer],
            statistics.median(r[2] / r[1] for r in tool.rows),
            statistics.median(r[3] for r in tool.rows)))


def depth_of(folded):
    """Lines of a folded file, and frames a sample."""
    lines = frames = samples = 0
    with open(folded) as f:
        for line in f:
            count = int(line.rsplit(" ", 1)[1])
            lines, samples = lines + 1, samples + count
            frames += count * (line.count(";") + 1)
    return lines, frames / samples


def print_stacks(tools, folded):
    """What a stack costs more than a sample without."""
    ns = {tool.title: tool.ns() for tool in tools}
    stack = ns["opcollect -g"] - ns["opcollect"]
    lines, depth = depth_of(folded)
    print("%d distinct stacks of functions, %.1f deep" % (lines, depth))
    print("a stack costs opcollect %.0f ns more than a sample without; of ten frames "
          "%.0f ns, %s" % (stack, stack * 10 / depth, beside(stack * 10 / depth, 150)))
    if "OLD opcollect -g" in ns:
        print("-g costs %.2f of what it cost OLD, %s" % (
            ns["opcollect -g"] / ns["OLD opcollect -g"],
            beside(ns["opcollect -g"], ns["OLD opcollect -g"])))


def record(bins, tmp, work, own, runs):
    tools = recorders(bins, tmp)
    for _ in range(runs):
        for tool in tools:
            tool.record(work, own)
    print_recorded(tools)
    return tools


# ---- reading

def command(cmd, tmp, runs):
    """Prints nothing; CPU, wall, MiB, bytes and runs of a command."""
    out = tmp + "/out"

    def once():
        begun = time.monotonic()
        cpu, peak = reports.cost(cmd, out)
        return cpu, time.monotonic() - begun, peak, os.stat(out).st_size
    return often(once, runs)


def print_read(title, cpu, wall, peak, size, runs, aims=None):
    line = "%-44s %7.3f s CPU %7.2f s wall %6.0f MiB %10d bytes, %d runs" % (
        title, cpu, wall, peak, size, runs)
    if aims:
        line += "; %s, %s" % (beside(cpu, aims[0]), beside(peak, aims[1]))
    print(line, flush=True)
    return cpu


def opfs_cat(bins, session, path, tmp, runs):
    return command([bins + "/opfs", "cat", "--session-dir", session, path], tmp, runs)


def read_cold(bins, session, tmp, runs):
    for path in FILES:
        print_read("opfs cat current/" + path,
                   *opfs_cat(bins, session, "current/" + path, tmp, runs), AIMS.get(path))


def read_mounted(bins, session, tmp, runs):
    """A mount of its own for each file, then the same file again."""
    for path in FILES:
        rows = []
        for _ in range(runs):
            with report.Mount(bins, session, tmp + "/mnt") as m:
                cold, warm = m.cost("current/" + path), m.cost("current/" + path)
                rows.append((*cold, warm[1], report.rss_of(m.process.pid)))
        cpu, wall, size, again, peak = (statistics.median(c) for c in zip(*rows))
        print_read("mounted, cold: " + path, cpu, wall, peak, size, runs)
        print("%-44s %33.4f s wall" % ("mounted, again", again), flush=True)


def directories(bins, session, tmp, runs):
    """du of all of calls:, which has a directory for every function below its callers."""
    def once():
        with report.Mount(bins, session, tmp + "/mnt") as m:
            calls, before = m.point + "/current/calls:", report.cpu_of(m.process.pid)
            begun = time.monotonic()
            cpu, _ = reports.cost(["du", "-B512", "-s", calls], tmp + "/out")
            wall = time.monotonic() - begun
            cpu += report.cpu_of(m.process.pid) - before
            nr = len(subprocess.check_output(["find", calls, "-type", "d", "-printf",
                                              "x"]))
            return cpu, wall, report.rss_of(m.process.pid), nr
    cpu, wall, peak, nr, times = often(once, runs)
    with open(tmp + "/out") as f:
        samples = int(f.read().split()[0])
    print("du -B512 -s calls: of %d directories says %d samples: %.2f s CPU, %.2f s "
          "wall, %.0f MiB, %d runs; %.2f s CPU for %d, %s" % (
              nr, samples, cpu, wall, peak, times, cpu * DIRECTORIES / nr, DIRECTORIES,
              beside(cpu * DIRECTORIES / nr, 6)), flush=True)


def read_by_perf(data, tmp, runs):
    tail = ["-i", data + "/perf.data"]
    for words in (["report", "--stdio", "-g"],
                  ["report", "--stdio", "--children", "-g", "none"],
                  ["report", "--stdio", "--no-children", "-g"],
                  ["script", "report", "stackcollapse"]):
        print_read("perf " + " ".join(words),
                   *command(["perf"] + words + tail, tmp, runs))


def compare(bins, tmp, prog, runs, seconds):
    own = tmp + "/own"
    work = [prog, str(PATHS), str(SEED), str(seconds), own]
    tools = record(bins, tmp, work, own, runs)
    data = {tool.title: tool.data for tool in tools}
    session = data["opcollect -g"]
    folded = tmp + "/folded"
    reports.cost([bins + "/opfs", "cat", "--session-dir", session,
                  "current/more:/stacks.folded"], folded)
    print_stacks(tools, folded)
    print(load())
    read_cold(bins, session, tmp, runs)
    read_mounted(bins, session, tmp, runs)
    directories(bins, session, tmp, runs)
    read_by_perf(data["perf record -g"], tmp, runs)
    print(load())


# ---- growth

def nodes_of(session):
    size = 0
    for top, _, names in os.walk(session):
        if os.path.basename(top) == "stacks" and "frames" in names:
            size += (os.stat(top + "/frames").st_size - 64) // 16
    return size


def grown(title, bins, session, tmp, runs, samples, where="current/"):
    print("%s: %d samples, %d frames in tables" % (title, samples, nodes_of(session)))
    for path in FILES:
        print_read("  " + path, *opfs_cat(bins, session, where + path, tmp, runs))


def growth(bins, tmp, prog, runs):
    own = tmp + "/own"
    for paths, seconds in ((PATHS, 0.25), (PATHS, 2.5), (PATHS, 25), (PATHS * 10, 25),
                           (PATHS * 100, 25)):
        tool = opcollect("grown", bins, tmp, ["-g"])
        tool.record([prog, str(paths), str(SEED), str(seconds), own], own)
        grown("%d paths, %.0f ns a sample" % (paths, tool.ns()), bins, tool.data, tmp,
              runs, tool.rows[0][1])
    tool = opcollect("summed", bins, tmp, ["-g"])
    for nr in (1, 10, 60):
        while len(tool.rows) < nr:
            keep = tmp + "/kept%d" % len(tool.rows)
            tool.record([prog, str(PATHS), str(SEED + len(tool.rows)),
                         "0.5", own], own)
            os.rename(tool.data + "/samples/current", keep)
        for n in range(nr):
            shutil.copytree(tmp + "/kept%d" % n, tool.data + "/samples/s%02d" % n,
                            dirs_exist_ok=True)
        names = ",".join("s%02d" % n for n in range(nr))
        grown("%d sessions" % nr, bins, tool.data, tmp, runs,
              sum(r[1] for r in tool.rows), "session:%s/" % names)


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("bins")
    p.add_argument("runs", nargs="?", type=int, default=5)
    p.add_argument("--small", action="store_true")
    p.add_argument("--growth", action="store_true")
    args = p.parse_args()
    bins = os.path.abspath(args.bins)
    tmp = os.path.realpath(tempfile.mkdtemp(prefix="opfs-bench.", dir="/var/tmp"))
    try:
        prog = walker.build(tmp)
        print(load())
        if args.growth:
            growth(bins, tmp, prog, args.runs)
        else:
            compare(bins, tmp, prog, args.runs, CPU_SECONDS / (10 if args.small else 1))
    finally:
        shutil.rmtree(tmp, ignore_errors=True)


if __name__ == "__main__":
    main()
