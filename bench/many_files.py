#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a "current" of 100,000 sample files costs those who read it: start, list, first
report, and once more.   usage: bench/many_files.py BIN_DIR [FILES]

A thousand applications, each with ten libraries and ten processes kept apart, some
samples a file.  Times are wall clock, memory the peak of the mount.
"""
import os
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import report  # noqa: E402  pylint: disable=wrong-import-position

LIBS, TGIDS, SAMPLES = 10, 10, 20


def sample_file(seed):
    """One database of a few samples, as tests/lib/mksession.py writes them."""
    size = 128
    table, nodes = [0] * size, [(0, 0, 0)]
    for i in range(SAMPLES):
        key = (seed * 7919 + i * 64) & 0xfffff
        slot = (key ^ (key >> 8)) & (size - 1)
        nodes.append((key, 1 + i, table[slot]))
        table[slot] = len(nodes) - 1
    used = len(nodes)
    nodes += [(0, 0, 0)] * (size - used)
    head = struct.pack("<4sIIIIIIIdQIIQQ", b"DAE\n", 0x13, 4, 0, 0, 1000000, 0, 0, 0.0, 0,
                       0, 0, 0, 0)
    return (head + struct.pack("<II24x", size, used) +
            b"".join(struct.pack("<QII", *n) for n in nodes) +
            struct.pack("<%dI" % size, *table))


def make(top, files):
    """The session; returns how many files there are."""
    made = 0
    current = os.path.join(top, "samples", "current")
    os.makedirs(current + "/stats")
    with open(current + "/images", "w") as f:
        f.write("# opfs images 1\n")
    with open(current + "/stats/live", "w") as f:
        f.write("1 %d live\n" % time.time_ns())
    for app in range(files // (LIBS * TGIDS)):
        for lib in range(LIBS):
            where = "%s/{root}/opt/app%d/{dep}/{root}/opt/lib%d.so" % (current, app, lib)
            os.makedirs(where)
            for task in range(TGIDS):
                tgid = 1000 + app * TGIDS + task
                name = "%s/TIMER.1000000.0.%d.%d.all" % (where, tgid, tgid)
                with open(name, "wb") as f:
                    f.write(sample_file(made))
                made += 1
    return made


def timed(what, command):
    begun = time.monotonic()
    out = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    print("%-52s %7.2f s  %9d bytes" % (what, time.monotonic() - begun, len(out)))


def main():
    bins = sys.argv[1]
    files = int(sys.argv[2]) if len(sys.argv) > 2 else 100000
    with tempfile.TemporaryDirectory(dir="/var/tmp") as top:
        session, point = top + "/s", top + "/m"
        made = make(session, files)
        print("%d sample files, %d MiB" % (made, made * 2664 >> 20))
        opfs = [bins + "/opfs"]
        here = ["--session-dir", session]
        timed("opfs check current", opfs + ["check"] + here + ["current"])
        timed("opfs ls current/image:", opfs + ["ls"] + here + ["current/image:"])
        timed("opfs cat current/summary", opfs + ["cat"] + here + ["current/summary"])
        begun = time.monotonic()
        with report.Mount(bins, session, point) as mount:
            print("%-52s %7.2f s" % ("mount", time.monotonic() - begun))
            for turn in ("first", "second"):
                timed(turn + " ls current/image", ["ls", point + "/current/image"])
            for name in ("summary", "report", "image:app7/report", "tgid:1234/report"):
                for turn in ("first", "second"):
                    timed("%s cat current/%s" % (turn, name),
                          ["cat", point + "/current/" + name])
            print("%-52s %7.0f MiB" % ("peak memory of the mount",
                                       report.rss_of(mount.process.pid)))


if __name__ == "__main__":
    main()
