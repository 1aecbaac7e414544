# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs in gdb: stops a program many times, and compares gdb's stack with unwindat's.

    STOPS=200 UNWINDAT=... gdb -nx -batch -x gdb_stacks.py --args PROGRAM...

STOPS     how many stops are compared
STEP      from where to where single steps are made, as "first last", names of functions,
          or "entry", where the loader begins; else a signal stops it at random moments
THREADS   if set, the stacks of all threads are compared
SEED      of the random numbers

Prints a line for each stack that differs, and last how many were what:

    equal   the same addresses
    short   the same as far as the 64 KiB went that unwindat was given
    beyond  the same, then gdb went on to where no code is
    astray  the same, then gdb ended or went on to where no code is, and we did not
    unread  nothing but the first: its rule counts from a register that no sample has
    jit     not compared: frames in code that no file describes
    jitwhole  how many of these we have to the outermost frame
    differ
"""
import os
import random
import re
import subprocess
import tempfile

import gdb

COPIED = 64 << 10
MAX_FRAMES = 1000
# What stops the program after a moment, while gdb waits for it.
STOPPER = "while read -r pid s; do sleep $s; kill -INT $pid; done 2>/dev/null"


class Unwindat:
    def __init__(self):
        self.dir = tempfile.mkdtemp()
        self.tool = subprocess.Popen([os.environ["UNWINDAT"]], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE)

    def ask(self, regs, maps, stack):
        head = " ".join(f"{r:x}" for r in regs)
        text = f"{head} {len(maps):x} {len(stack):x}\n" + "".join(maps)
        self.tool.stdin.write(text.encode() + bytes(stack))
        self.tool.stdin.flush()
        answer = self.tool.stdout.readline().split()
        if not answer:
            raise RuntimeError("unwindat has ended")
        return answer[0].decode(), [int(a.rstrip(b"!"), 16) for a in answer[1:]]


def read_maps(unwindat):
    """What is mapped, as lines, the vdso as a file, and as (start, end, perms, path)."""
    inferior = gdb.selected_inferior()
    lines, ranges = [], []
    with open(f"/proc/{inferior.pid}/maps") as f:
        for line in f:
            m = re.match(r"(\w+)-(\w+) (\S+) \S+ \S+ \S+ *(.*)", line)
            start, end, path = int(m[1], 16), int(m[2], 16), m[4]
            if path == "[vdso]":
                path = f"{unwindat.dir}/vdso-{inferior.pid}"
                if not os.path.exists(path):
                    with open(path, "wb") as out:
                        out.write(inferior.read_memory(start, end - start))
                line = line.replace("[vdso]", path)
            if path.endswith(" (deleted)"):
                line = line.replace(path, f"/proc/{inferior.pid}/map_files/{m[1]}-{m[2]}")
            lines.append(line)
            ranges.append((start, end, m[3], path))
    return lines, ranges


def by_gdb():
    addresses, frame = [], gdb.newest_frame()
    try:
        while frame and len(addresses) < MAX_FRAMES:
            if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
                addresses.append(frame.pc())
            frame = frame.older()
    except gdb.error:  # it tells so of stacks that end
        pass
    return addresses


def by_us(unwindat, lines, ranges):
    frame = gdb.newest_frame()
    regs = [int(frame.read_register(r)) & (1 << 64) - 1
            for r in ("rip", "rsp", "rbp", "rbx")]
    size = 0
    for start, end, perms, _ in ranges:
        if start <= regs[1] + size < end and "w" in perms:
            size = min(COPIED, end - regs[1])
    stack = gdb.selected_inferior().read_memory(regs[1], size) if size else b""
    return unwindat.ask(regs, lines, stack)


def common(a, b):
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


class Tally:
    def __init__(self):
        self.counts = dict.fromkeys(("equal", "short", "beyond", "astray", "unread",
                                     "jit", "jitwhole", "differ"), 0)
        self.frames = 0

    def judge(self, end, ours, theirs, ranges):
        code = [(s, e, p) for s, e, perms, p in ranges if "x" in perms]

        def mapped(a):
            return next((p for s, e, p in code if s <= a < e), None)

        if ours == theirs:
            return "equal"
        if any(mapped(a) == "" for a in ours + theirs):
            return "jit"
        if end == "damaged" and ours == theirs[:1]:
            return "unread"
        if end == "short" and theirs[:len(ours)] == ours:
            return "short"
        if theirs[:len(ours)] == ours and not any(map(mapped, theirs[len(ours):])):
            return "beyond"
        same = common(ours, theirs)
        if len(ours) > same and not any(map(mapped, theirs[same:same + 1])):
            return "astray"
        return "differ"

    def compare(self, unwindat):
        lines, ranges = read_maps(unwindat)
        theirs = by_gdb()
        end, ours = by_us(unwindat, lines, ranges)
        what = self.judge(end, ours, theirs, ranges)
        self.counts[what] += 1
        if what == "jit" and end == "whole":
            self.counts["jitwhole"] += 1
        self.frames += len(ours)
        if what in ("differ", "beyond", "astray"):
            self.show(what, end, ours, theirs)

    def show(self, what, end, ours, theirs):
        same = common(ours, theirs)

        def names(list_):
            some = list_[max(0, same - 2):same + 3]
            return " ".join(gdb.execute(f"info symbol {a:#x}", to_string=True)
                            .split(" in section")[0].strip().replace(" ", "") or "?"
                            for a in some) + f" {[hex(a) for a in some]}"

        print(f"{what}: {same} the same; we, {end}: {names(ours)}; gdb: {names(theirs)}")

    def total(self):
        return sum(self.counts.values()) - self.counts["jitwhole"]


def threads(all_of_them):
    if not all_of_them:
        return [gdb.selected_thread()]
    return list(gdb.selected_inferior().threads())


def compare_all(tally, unwindat):
    for thread in threads("THREADS" in os.environ):
        thread.switch()
        tally.compare(unwindat)


def start():
    gdb.execute("starti", to_string=True)


def is_running():
    return gdb.selected_inferior().pid != 0 and gdb.selected_inferior().threads()


def random_stops(tally, unwindat, stops):
    stopper = subprocess.Popen(["sh", "-c", STOPPER], stdin=subprocess.PIPE, text=True,
                               start_new_session=True)
    while tally.total() < stops:
        if not is_running():
            start()
        stopper.stdin.write(f"{gdb.selected_inferior().pid} "
                            f"{random.uniform(0.001, 0.05):.3f}\n")
        stopper.stdin.flush()
        gdb.execute("continue", to_string=True)
        if is_running():
            compare_all(tally, unwindat)
    stopper.stdin.close()
    if is_running():
        gdb.execute("kill")
    stopper.wait()


def steps(tally, unwindat, stops, first, last):
    start()
    if first != "entry":
        gdb.execute(f"tbreak {first}", to_string=True)
        gdb.execute("continue", to_string=True)
    end = gdb.Breakpoint(last) if last else None
    while is_running() and tally.total() < stops:
        compare_all(tally, unwindat)
        if end and end.hit_count:
            break
        gdb.execute("stepi", to_string=True)
    if is_running():
        gdb.execute("kill")


def main():
    random.seed(int(os.environ.get("SEED", "1")))
    for setting in ("pagination off", "confirm off", "backtrace past-main on",
                    "backtrace past-entry on", "breakpoint pending on",
                    "debuginfod enabled off", "style enabled off", "width 0"):
        gdb.execute(f"set {setting}", to_string=True)
    for name in ("SIGALRM", "SIGVTALRM", "SIGPROF", "SIGUSR1", "SIGUSR2", "SIGCHLD"):
        gdb.execute(f"handle {name} nostop noprint pass", to_string=True)
    gdb.execute("handle SIGINT stop print nopass", to_string=True)
    tally, unwindat = Tally(), Unwindat()
    stops = int(os.environ["STOPS"])
    if "STEP" in os.environ:
        steps(tally, unwindat, stops, *(os.environ["STEP"].split() + [None])[:2])
    else:
        random_stops(tally, unwindat, stops)
    print(" ".join(f"{k}={v}" for k, v in tally.counts.items()), f"frames={tally.frames}")


main()
