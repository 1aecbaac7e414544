#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Damages the sample files of a session where they are.

    mutate_samples.py SEED SESSION      SESSION is SESSION_DIR/samples/NAME

Prints the samples of the files that a reader accepts (internals.md: magic and version are
right, and as many bytes are there as nodes in use need), and then a line for each file
that it does not, relative to SESSION.
"""
import os
import random
import struct
import sys

NODES = 104


def damaged(data, rng):
    """At least half of the files stay readable."""
    data = bytearray(data)
    how = rng.choice(("header", "magic", "used", "size", "cut", "nodes", "nodes", "table",
                      "grow", "empty", "noise"))
    if how == "header":
        for _ in range(rng.choice((1, 4, 20))):
            data[rng.randrange(8, 72)] = rng.randrange(256)
    elif how == "magic":
        data[rng.randrange(8)] ^= 1 << rng.randrange(8)
    elif how in ("used", "size"):
        value = rng.choice((0, 1, 2, 127, 128, 129, 1 << 20, 1 << 31, (1 << 32) - 1))
        struct.pack_into("<I", data, 72 + 4 * (how == "used"), value)
    elif how == "cut":
        del data[rng.randrange(len(data)):]
    elif how == "nodes":
        for _ in range(rng.choice((1, 10, 100))):
            data[rng.randrange(NODES, NODES + 16 * 60)] = rng.randrange(256)
    elif how == "table":
        for _ in range(50):
            data[rng.randrange(len(data) - 4 * 128, len(data))] = rng.randrange(256)
    elif how == "grow":
        data += rng.randbytes(rng.randrange(1, 5000))
    elif how == "empty":
        data.clear()
    else:
        data = bytearray(rng.randbytes(len(data)))
    return data


def total(data):
    """Samples of a file; None: it is refused."""
    if len(data) < NODES or data[:4] != b"DAE\n" or data[4:8] != b"\x13\0\0\0":
        return None
    size, used = struct.unpack_from("<II", data, 72)
    if used > size or len(data) < NODES + 16 * used:
        return None
    return sum(struct.unpack_from("<QII", data, NODES + 16 * i)[1]
               for i in range(1, used))


def main():
    seed, session = sys.argv[1:]
    samples, refused, nr = 0, [], 0
    for top in "{root}", "{kern}":
        for folder, _, names in sorted(os.walk(os.path.join(session, top))):
            for name in sorted(names):
                path = os.path.join(folder, name)
                shown = os.path.relpath(path, session)
                with open(path, "rb") as f:
                    data = f.read()
                data = damaged(data, random.Random("%s %d" % (seed, nr)))
                nr += 1
                with open(path, "wb") as f:
                    f.write(data)
                here = total(data)
                if here is None:
                    refused.append(shown)
                elif "/{cg}/" not in shown:
                    samples += here
    print(samples)
    for name in sorted(refused):
        print(name)


if __name__ == "__main__":
    main()
