#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What record -a is worth on a busy machine, beside perf record -a.

Beside 0, 10, 30 and 80 processes that only spin, 20 programs of 0.2 s CPU each run while
the whole machine is recorded, by both in turn.  Printed are the share of programs that
was identified (by build-id; for perf: that has samples under its name) and the samples
lost.  Then, with 2,000 processes that sleep, the seconds from the start of each until its
first sample, and their ratio.  perf runs with -B, without its build-id pass at the end.
usage: bench/busy.py BIN_DIR [SPINNERS...]
"""
import ctypes
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "../tests/lib"))
sys.dont_write_bytecode = True
import tables  # noqa: E402

PROGRAMS, SLEEPERS, HZ = 20, 2000, "997"
POLL = {"7", "271", "73"}  # poll() and ppoll() of x86-64, ppoll() of arm64
PATIENCE = 120  # seconds for a collector to begin

WORK = """
#include <time.h>
int main(void)
{
	volatile unsigned x = 1;
	while ((double)clock() / CLOCKS_PER_SEC < 0.2)
		for (int i = 0; i < 10000; i++) x = x * 1664525u + 1013904223u;
	return 0;
}
"""


def dies_with_us():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def many(command, n):
    """n background processes of a shell, which end by themselves if nobody ends them."""
    if not n:
        return []
    shell = subprocess.Popen(
        ["sh", "-c", "i=0; while [ $i -lt %d ]; do %s & i=$((i+1)); done; echo; wait" %
         (n, command)], stdout=subprocess.PIPE, start_new_session=True)
    shell.stdout.readline()
    return [shell]


def end(shells):
    for p in shells:
        os.killpg(p.pid, signal.SIGKILL)
        p.wait()


def build(tmp):
    """Programs that only their build-ids tell apart; returns their paths."""
    with open(tmp + "/work.c", "w") as f:
        f.write(WORK)
    subprocess.check_call(["gcc", "-O1", "-g", "-c", "-o", tmp + "/work.o",
                           tmp + "/work.c"])
    paths = []
    for i in range(PROGRAMS):
        paths.append("%s/prog%02d" % (tmp, i))
        ident = hashlib.sha1(paths[-1].encode()).hexdigest()
        subprocess.check_call(["gcc", "-o", paths[-1], tmp + "/work.o",
                               "-Wl,--build-id=0x" + ident])
    return paths


class Opcollect:
    name = "opcollect"

    def __init__(self, bins, tmp):
        self.dir = tmp + "/s"
        shutil.rmtree(self.dir, ignore_errors=True)
        self.cmd = [bins + "/opcollect", "record", "-e", "TIMER", "-F", HZ, "-a",
                    "--session-dir", self.dir]

    def begun(self, pid):
        return tables.sampled(self.dir)

    def result(self, paths, text):
        """Programs that were identified, and samples that were lost."""
        images = tables.all_images(self.dir)
        good = sum(images.get(p, ("", "", ""))[1:] == (tables.build_id(p), "-")
                   for p in paths)
        lost = re.search(r"(\d+) lost", text)
        return good, int(lost.group(1)) if lost else 0


class Perf:
    name = "perf"

    def __init__(self, bins, tmp):
        self.data = tmp + "/perf.data"
        if os.path.exists(self.data):
            os.unlink(self.data)
        self.cmd = ["perf", "record", "-B", "-e", "cpu-clock", "-F", HZ, "-a", "-o",
                    self.data]

    def begun(self, pid):
        """It has read /proc, enabled its events and waits for them."""
        try:
            with open("/proc/%d/syscall" % pid) as f:
                return f.read().split()[0] in POLL
        except OSError:
            return False

    def report(self, *words):
        return subprocess.run(["perf", *words, "-i", self.data], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

    def result(self, paths, text):
        seen = set(self.report("script", "-F", "ip,dso").replace("(", " ").replace(
            ")", " ").split())
        lost = re.search(r"LOST_SAMPLES events:\s+(\d+)",
                         self.report("report", "--stats"))
        return sum(p in seen for p in paths), int(lost.group(1)) if lost else 0


def finish(proc):
    proc.send_signal(signal.SIGINT)
    return proc.communicate()[0]


def start(tool):
    return subprocess.Popen(tool.cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, preexec_fn=dies_with_us)


def wait_for(tool, proc):
    """Until it has begun; returns how long that took."""
    start_at = time.monotonic()
    while not tool.begun(proc.pid):
        if proc.poll() is not None:
            sys.exit("busy.py: %s: exit %d\n%s" % (tool.cmd, proc.returncode,
                                                   proc.communicate()[0]))
        if time.monotonic() > start_at + PATIENCE:
            return float("inf")
        time.sleep(0.005)
    return time.monotonic() - start_at


def identify(tool, paths):
    proc = start(tool)
    wait_for(tool, proc)
    for i in range(0, len(paths), 4):
        for p in [subprocess.Popen([p]) for p in paths[i:i + 4]]:
            p.wait()
    return tool.result(paths, finish(proc))


def first_sample(tool):
    """Seconds from the start to the first sample: its own time where the file tells it
    (perf, by the clock that we read as well), else when it can be seen in a file."""
    if tool.name == "perf":
        tool.cmd += ["-k", "CLOCK_MONOTONIC"]
    start_at = time.monotonic()
    proc = start(tool)
    took = wait_for(tool, proc)
    time.sleep(1)
    finish(proc)
    if tool.name == "perf":
        times = tool.report("script", "-F", "time", "--ns").split()
        took = min((float(t.rstrip(":")) for t in times), default=float("inf")) - start_at
    return took


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    bins = sys.argv[1]
    counts = [int(n) for n in sys.argv[2:]] or [0, 10, 30, 80]
    tmp = os.path.realpath(tempfile.mkdtemp(prefix="opfs-bench."))
    procs = []
    try:
        paths = build(tmp)
        print("%-9s %-10s %11s %9s %9s" % ("spinners", "collector", "identified", "share",
                                           "lost"))
        for n in counts:
            procs = many("timeout --foreground 1000 sh -c 'while :; do :; done'", n)
            for kind in (Perf, Opcollect):
                good, lost = identify(kind(bins, tmp), paths)
                print("%-9d %-10s %5d of %2d %8d%% %9d" % (
                    n, kind.name, good, len(paths), 100 * good // len(paths), lost),
                    flush=True)
            end(procs)
        print("\n%-9s %-9s %-10s %16s %8s" % ("sleepers", "spinners", "collector",
                                              "first sample, s", "ratio"))
        for n in counts:
            procs = many("sleep 1000", SLEEPERS)
            procs += many("timeout --foreground 1000 sh -c 'while :; do :; done'", n)
            took = {kind: first_sample(kind(bins, tmp)) for kind in (Perf, Opcollect)}
            for kind in took:
                print("%-9d %-9d %-10s %16.2f %8.2f" % (
                    SLEEPERS, n, kind.name, took[kind], took[kind] / took[Perf]),
                    flush=True)
            end(procs)
        procs = []
    finally:
        end(procs)
        shutil.rmtree(tmp, ignore_errors=True)


if __name__ == "__main__":
    main()
