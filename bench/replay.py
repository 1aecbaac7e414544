#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""replay.py BIN: the collector's CPU time a sample, from the driver's buffer to the file.

Replays streams as the driver writes them (kernel/uapi/opfs_buffer.h):
  hot      samples of one program in two images, a few thousand addresses
  switches a task, CPU or image switch before every other sample, 50 programs
  chains   every sample has eight callers (with -g: nine counts a sample)
Each is timed several times, less a stream without samples; the least counts.
"""
import os
import random
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
from stream import (begin, bye, image, note, task, words,  # noqa: E402
                    COOKIE, CPU, END, TRACE, USER)

SAMPLES = 2000000


def head():
    out = [begin(), note(USER)]
    out += [image(i, "/bench/bin/prog%d" % i) for i in range(1, 51)]
    out += [image(100, "/bench/lib/libc.so"), task(1, 1), note(COOKIE, 1)]
    return b"".join(out)


def addresses():
    rng = random.Random(1)
    return [rng.randrange(1 << 20) for _ in range(4096)]


def hot(n):
    block = b"".join(words(a, 255) for a in addresses())
    turn = note(COOKIE, 1) + block + note(COOKIE, 100) + block
    return turn * (n // 8192), n // 8192 * 8192


def switches(n):
    rng = random.Random(2)
    out = []
    for a in addresses():
        k = rng.randrange(3)
        i = rng.randrange(1, 51)
        out.append(task(i, i) if k == 0 else note(CPU, i % 4) if k == 1 else
                   note(COOKIE, rng.choice([i, 100])))
        out += [words(a, 255), words(a + 4, 255)]
    block = b"".join(out)
    return block * (n // 8192), n // 8192 * 8192


def chains(n):
    out = []
    hot_ones = addresses()[:256]
    for i, a in enumerate(hot_ones):
        out.append(note(TRACE, 9))
        out += [words(hot_ones[(i + d * 7) % 256], 255) for d in range(9)]
        out.append(note(END, 0, 0))
    block = b"".join(out)
    return block * (n // 2048), n // 2048 * 256


def cpu_time(bin_dir, stream, where, args):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([bin_dir + "/opcollect", "replay", "-d", where, *args, stream],
                   check=True,
                   stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def least(bin_dir, data, tmp, args):
    stream = tmp + "/stream"
    with open(stream, "wb") as f:
        f.write(head() + data + bye())
    return min(cpu_time(bin_dir, stream, tmp + "/data", args) for _ in range(5))


def main():
    bin_dir = sys.argv[1]
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/tmp")) as tmp:
        empty = least(bin_dir, b"", tmp, [])
        for name, make, args in (("hot", hot, []), ("switches", switches, []),
                                 ("chains", chains, ["-g"])):
            data, nr = make(SAMPLES)
            ns = (least(bin_dir, data, tmp, args) - empty) * 1e9 / nr
            print("%-9s %9d samples  %6.1f ns a sample" % (name, nr, ns))


main()
