#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines and inlined functions of 20,000 addresses of a large binary, beside addr2line.

usage: bench/inlines.py BIN_DIR [BINARY]

BINARY has DWARF: the vmlinux of Debian's linux-image-VERSION-amd64-dbg, if that is
installed, else opfs itself.  A session has one sample at each address, in random
functions; opfs reads it as with:inlines/report, and as profile.pb.gz, which has lines
too; all of that is timed: the session, the symbols, DWARF, the text.  The others get the
same addresses, sorted.  Each run is a new process that knows nothing yet; files are in
the page cache.  Runs of all alternate; medians count.
"""
import glob
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LIB = os.path.join(HERE, "../tests/lib")
sys.path.insert(0, LIB)
import stackread  # noqa: E402

NR, RUNS = 20000, 5


def choose(binary):
    """(offset, address) of places in functions."""
    elf, rng, found = stackread.Symbols(binary), random.Random(1), {}
    pool = [(vma, size) for vma, size, _ in elf.functions if size > 0]
    while len(found) < NR:
        vma, size = rng.choice(pool)
        at = vma + rng.randrange(size)
        for off, start, length in elf.loads:
            if start <= at < start + length:
                found[at - start + off] = at
    return sorted(found.items())


def timed(command, feed):
    """Wall seconds, CPU seconds."""
    before, start = os.times(), time.monotonic()
    subprocess.run(command, input=feed, stdout=subprocess.DEVNULL, check=True)
    after = os.times()
    return (time.monotonic() - start, after.children_user + after.children_system -
            before.children_user - before.children_system)


def main(bins, binary=None):
    kernels = sorted(glob.glob("/usr/lib/debug/boot/vmlinux-*"), key=os.path.getsize)
    binary = os.path.realpath(binary or (kernels or [bins + "/opfs"])[-1])
    places = choose(binary)
    feed = "".join("%#x\n" % at for _, at in places).encode()
    with tempfile.TemporaryDirectory() as top:
        made = json.dumps([{"app": binary, "stacks": [
            [["%s@%#x" % (binary, off)], 1] for off, _ in places]}])
        cat = [bins + "/opfs", "cat", "--session-dir", top]
        subprocess.run([sys.executable, LIB + "/mksession.py", top], input=made.encode(),
                       check=True)
        commands = {
            "with:inlines/report": cat + ["current/with:inlines/report"],
            "with:inlines/profile.pb.gz": cat + ["current/with:inlines/profile.pb.gz"],
            "llvm-addr2line -i": ["llvm-addr2line", "-f", "-i", "-e", binary],
            "addr2line -i": ["addr2line", "-f", "-i", "-e", binary],
        }
        took = {name: [] for name in commands}
        for _ in range(RUNS):
            for name, command in commands.items():
                took[name].append(timed(command, feed))
    print("%s, %d MB, %d addresses" % (binary, os.path.getsize(binary) // 1000000, NR))
    base = None
    for name, runs in took.items():
        wall = statistics.median(r[0] for r in runs)
        base = base or wall
        print("  %-28s %6.2f s (%.2f to %.2f), %6.2f s CPU, ratio %5.1f" %
              (name, wall, min(r[0] for r in runs), max(r[0] for r in runs),
               statistics.median(r[1] for r in runs), wall / base))


if __name__ == "__main__":
    main(*sys.argv[1:])
