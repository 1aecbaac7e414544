#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a "current" of 100,000 sample files costs those who read it: start, list, first
report, and once more; and what it costs to read all reports of a session of 1,000
programs.   usage: bench/many_files.py BIN_DIR [FILES [PROGRAMS]]

A thousand applications, each with ten libraries and ten processes kept apart, some
samples a file.  Times are wall clock, memory the peak of the mount.  Then CPU time of
the mount, for a tenth of the files and for all: what grows with the session and not with
what is asked for shows there.  The programs are small, alike but for their build-id, and
all their reports are read by grep -R, which follows links.
"""
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mklarge  # noqa: E402  pylint: disable=wrong-import-position
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


def growth(bins, files, top):
    """Prints CPU of the mount for listing all and for small reports."""
    made, parts = make(top, files), min(100, files // (LIBS * TGIDS))
    with report.Mount(bins, top, top + ".m") as mount:
        current = mount.point + "/current/"
        costs = []

        def cost(command):
            before = report.cpu_of(mount.process.pid)
            out = subprocess.run(command, stdout=subprocess.PIPE, check=True,
                                 cwd=current).stdout
            costs.append(report.cpu_of(mount.process.pid) - before)
            return out

        cost(["ls"])
        entries = len(cost(["find", "."]).splitlines())
        for tag, first in ("image:app", 0), ("tgid:", 1000):
            cost(["cat"] + ["%s%d/%s" % (tag, first + i, name) for i in range(parts)
                            for name in ("summary", "report", "report.tsv")])
    print("%6d files: CPU of the mount to read it %.2f s, find (%d entries) %.2f s, a "
          "report of an image %.2f ms, of a process %.2f ms"
          % (made, costs[0], entries, costs[1], costs[2] / parts / 3e-3,
             costs[3] / parts / 3e-3))


PROGRAM = "volatile long sum;\n" + "".join(
    """__attribute__((noinline)) void func_%d(int n)
{
	for (int i = 0; i < n; i++)
		sum += i * %d;
}
""" % (i, i + 3) for i in range(6)) + """int main(void)
{
	%s
	return 0;
}
""" % " ".join("func_%d(9);" % i for i in range(6))


def make_programs(top, nr):
    """Copies of one program, each with another build-id, and a session of samples."""
    path = top + "/program"
    with open(path + ".c", "w") as f:
        f.write(PROGRAM)
    subprocess.check_call(["gcc", "-O1", "-Wl,--build-id", "-o", path, path + ".c"])
    with open(path, "rb") as f:
        data = bytearray(f.read())
    note = struct.pack("<III4s", 4, 20, 3, b"GNU")
    build_id = data.index(note) + len(note)
    rng = random.Random(1)
    for i in range(nr):
        copy = "%s/app%d" % (top, i)
        struct.pack_into("<Q", data, build_id, i + 1)
        with open(copy, "wb") as f:
            f.write(data)
        start, length = mklarge.text_of(copy)
        mklarge.write_file("%s/s/samples/saved/{root}%s/{dep}/{root}%s"
                           "/TIMER.1000000.0.all.all.all" % (top, copy, copy),
                           (copy, start, length, int(os.stat(copy).st_mtime)), SAMPLES,
                           rng)


def read_all(bins, top, nr):
    """Prints what reading every report of a session of programs costs."""
    make_programs(top, nr)
    with report.Mount(bins, top + "/s", top + "/m") as mount:
        pid, begun = mount.process.pid, time.monotonic()
        read = len(subprocess.run(["grep", "-R", "-c", "", mount.point + "/saved"],
                                  stdout=subprocess.PIPE, check=True).stdout.splitlines())
        took = time.monotonic() - begun
        with open(mount.point + "/status") as f:
            made = int(re.search("^Reports made: ([0-9]+)", f.read(), re.M)[1])
        with open("/proc/%d/stat" % pid) as f:
            own = sum(int(x) for x in f.read().rsplit(")", 1)[1].split()[11:13])
        print("all reports of %d programs: %d read, %d made, %.0f a second; CPU each: "
              "mount %.3f ms, helpers %.3f ms; peak %.0f MiB"
              % (nr, read, made, read / took, 1e3 * own / report.TICK / read,
                 1e3 * (report.cpu_of(pid) - own / report.TICK) / read,
                 report.rss_of(pid)))


def main():
    bins = sys.argv[1]
    files = int(sys.argv[2]) if len(sys.argv) > 2 else 100000
    programs = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
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
        growth(bins, files // 10, top + "/tenth")
        growth(bins, files, top + "/all")
        os.mkdir(top + "/programs")
        read_all(bins, top + "/programs", programs)


if __name__ == "__main__":
    main()
