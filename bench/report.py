#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What reading costs: report of a large session through the mount, cold and warm, and of
one recorded program beside perf report.   usage: bench/report.py BIN_DIR [RUNS]

CPU is user and system time of the mount and all its helper processes, and of the reader.
Cold: a mount that has just been made (the files are in the page cache).  Warm: the same
file opened, read and closed again.
"""
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TICK = os.sysconf("SC_CLK_TCK")


def children(pid):
    """pid and everything below it."""
    found = [pid]
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open("/proc/%s/stat" % entry) as f:
                    if int(f.read().rsplit(")", 1)[1].split()[1]) == pid:
                        found += children(int(entry))
            except OSError:
                pass
    return found


def cpu_of(pid):
    """CPU seconds of pid, what it waits for, and its living children."""
    ticks = 0
    for p in children(pid):
        with open("/proc/%d/stat" % p) as f:
            ticks += sum(int(x) for x in f.read().rsplit(")", 1)[1].split()[11:15])
    return ticks / TICK


def rss_of(pid):
    """Peak resident memory of pid in MiB."""
    with open("/proc/%d/status" % pid) as f:
        for line in f:
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024


class Mount:
    def __init__(self, bins, session, point):
        self.point = point
        os.makedirs(point, exist_ok=True)
        self.process = subprocess.Popen([bins + "/opfs", "mount", "-f", point,
                                         "--session-dir", session])
        while not os.path.ismount(point):
            if self.process.poll() is not None:
                sys.exit("report.py: mount: exit %d" % self.process.returncode)
            time.sleep(0.01)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.call(["umount", self.point])
        self.process.wait()

    def cost(self, path):
        """CPU, wall seconds and bytes of reading a file once."""
        before, start = cpu_of(self.process.pid), time.perf_counter()
        with open(os.path.join(self.point, path), "rb") as f:
            size = len(f.read())
        wall = time.perf_counter() - start
        after = cpu_of(self.process.pid)
        return after - before, wall, size


def warm_seconds(path):
    """Wall seconds of open, stat, the first 64 KiB and close of a file that was read."""
    times = []
    for _ in range(50):
        start = time.perf_counter()
        fd = os.open(path, os.O_RDONLY)
        os.fstat(fd)
        os.read(fd, 65536)
        os.close(fd)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def command_cpu(cmd):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(cmd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    bins, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    tmp = tempfile.mkdtemp(prefix="opfs-bench.")
    try:
        large = tmp + "/large"
        print(subprocess.check_output(
            [sys.executable, HERE + "/mklarge.py", large], text=True).strip())
        for name in ("summary", "report"):
            cold, warm, again, peak, size = [], [], [], [], 0
            for _ in range(runs):
                with Mount(bins, large, tmp + "/mnt") as m:
                    path = "current/" + name
                    cpu, wall, size = m.cost(path)
                    cold.append((cpu, wall))
                    warm.append(warm_seconds(os.path.join(m.point, path)))
                    again.append(m.cost(path)[1])
                    peak.append(rss_of(m.process.pid))
            print("%-8s cold %.2f s CPU, %.2f s wall; warm %.3f ms, all of it %.1f ms; "
                  "%d bytes; peak %.0f MiB"
                  % (name, statistics.median(c[0] for c in cold),
                     statistics.median(c[1] for c in cold),
                     statistics.median(warm) * 1e3,
                     statistics.median(again) * 1e3, size, statistics.median(peak)))

        work = ["python3", "-c",
                "import json\nfor i in range(400): json.loads(json.dumps("
                "[{str(j): [j] * 9} for j in range(300)]))"]
        subprocess.run(["perf", "record", "-B", "-q", "-F", "10000", "-e", "cpu-clock",
                        "-o",
                        tmp + "/perf.data", "--"] + work, check=True)
        os.mkdir(tmp + "/small")
        subprocess.run([bins + "/opcollect", "record", "-F", "10000", "-e", "TIMER",
                        "--session-dir", tmp + "/small", "--"] + work, check=True,
                       stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        ours, theirs = [], []
        for _ in range(runs):
            theirs.append(command_cpu(["perf", "report", "-n", "--no-children", "--stdio",
                                       "-i",
                                       tmp + "/perf.data"]))
            ours.append(command_cpu([bins + "/opfs", "cat", "--session-dir",
                                     tmp + "/small",
                                     "current/report"]))
        a, b = statistics.median(ours), statistics.median(theirs)
        print("same program at 10 kHz: opfs cat %.3f s, perf report %.3f s, ratio %.2f"
              % (a, b, a / b))
    finally:
        shutil.rmtree(tmp, ignore_errors=True)


if __name__ == "__main__":
    main()
