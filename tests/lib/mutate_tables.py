#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Damaged copies of a session with all that is told beside its sample files.

    mutate_tables.py SEED BASE SESSION_DIR NUMBER

BASE is a session directory; SESSION_DIR becomes one with NUMBER copies of its session
"current", as current, m001, m002 ...  Tables, figures, MANIFEST and settings of each are
damaged at random, and abi and the kept symbols of all.  The same seed makes the same
damage.
"""
import os
import random
import shutil
import struct
import sys

WORDS = (b"", b"-", b"0", b"-1", b"18446744073709551615", b"18446744073709551616",
         b"9" * 40, b"4294967296", b"%", b"%0", b"%00", b"%2F", b"%0A", b"{root}",
         b"{kern}", b"{dep}", b"/", b"//", b"/../../etc/shadow", b"..", b"a" * 300,
         b"x" * 5000, b"\xff\xfe", b"\0", b"\t", b"\n", b"# opfs images 1",
         b"container 1", b"container -1", b"container 99999999999", b"gone",
         b"0xffffffffffffffff", b"live", b"1 1 1 1", b"[vdso]", b"/proc/self/mem",
         b"/dev/zero", b"ab" * 20, b"ab" * 200, b"abc")
NUMBERS = (0, 1, 48, (1 << 64) - 1, 1 << 63, 1 << 32, 1 << 31)


def damage(data, rng):
    """One change."""
    at = rng.randrange(len(data) + 1)
    how = rng.choice(("byte", "cut", "double", "word", "word", "field", "field", "swap",
                      "insert", "number"))
    if how == "byte":
        data[at:at + 1] = bytes([rng.randrange(256)])
    elif how == "cut":
        del data[at:]
    elif how == "double":
        data[at:at] = data[at:at + rng.randrange(200)] * rng.choice((1, 2, 500))
    elif how == "word":
        data[at:at + rng.choice((0, 1, 8))] = rng.choice(WORDS)
    elif how == "field":
        between = rng.choice((b"\t", b" ", b"\n", b"%"))
        fields = bytes(data).split(between)
        fields[rng.randrange(len(fields))] = rng.choice(WORDS)
        data[:] = between.join(fields)
    elif how == "swap":
        lines = bytes(data).split(b"\n")
        rng.shuffle(lines)
        data[:] = b"\n".join(lines)
    elif how == "insert":
        data[at:at] = rng.randbytes(rng.randrange(1, 64))
    elif len(data) >= 8:
        number = rng.choice(NUMBERS + (len(data), len(data) + 1, rng.getrandbits(64)))
        at = rng.randrange(min(len(data) - 7, rng.choice((120, 1 << 30))))
        struct.pack_into("<Q", data, at, number)


def damaged(path, rng):
    """Replaces the file, which other names may share; sometimes by something else."""
    with open(path, "rb") as f:
        data = bytearray(f.read())
    os.unlink(path)
    what = rng.random()
    if what < 0.02:
        os.mkdir(path)
    elif what < 0.04:
        os.mkfifo(path)
    elif what < 0.06:
        os.symlink(rng.choice(("/etc/shadow", "/dev/zero", "/proc/kmsg", path)), path)
    elif what > 0.07:
        for _ in range(rng.choice((1, 1, 1, 2, 4, 16))):
            damage(data, rng)
        with open(path, "wb") as f:
            f.write(data)


def main():
    seed, base, out, number = sys.argv[1:]
    rng = random.Random(int(seed))
    session = os.path.join(base, "samples/current")
    beside = [t for t in ("images", "tasks", "regions", "MANIFEST", "settings")
              if os.path.exists(os.path.join(session, t))]
    beside += ["stats/" + s for s in sorted(os.listdir(os.path.join(session, "stats")))]
    os.makedirs(out + "/samples")
    shutil.copytree(base + "/symbols", out + "/symbols")
    shutil.copy(base + "/abi", out + "/abi")
    if rng.random() < 0.5:
        damaged(out + "/abi", rng)
    for name in sorted(os.listdir(out + "/symbols")):
        if name != ".lock" and rng.random() < 0.7:
            damaged(os.path.join(out, "symbols", name), rng)
    for i in range(int(number)):
        to = "%s/samples/%s" % (out, "m%03d" % i if i else "current")
        shutil.copytree(session, to, copy_function=os.link)
        for name in rng.sample(beside, rng.choice((1, 1, 2, 4, len(beside)))):
            damaged(os.path.join(to, name), rng)


if __name__ == "__main__":
    main()
