#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""mutate.py FILE DIR N: N damaged copies; headers and tables are hit more often."""
import random
import struct
import sys

path, out, copies = sys.argv[1], sys.argv[2], int(sys.argv[3])
whole = open(path, "rb").read()
shoff, = struct.unpack_from("<Q", whole, 40)
areas = [(0, 64), (64, 900), (shoff, len(whole)), (0, len(whole))]


def damage(seed):
    rng = random.Random(seed)
    data = bytearray(whole)
    for _ in range(rng.choice([1, 3, 10, 100])):
        lo, hi = rng.choice(areas)
        at = rng.randrange(lo, max(lo + 1, min(hi, len(data) - 8)))
        if rng.random() < 0.3:
            values = [0, 1, (1 << 64) - 1, 1 << 63, len(data), rng.getrandbits(64)]
            struct.pack_into("<Q", data, at, rng.choice(values))
        else:
            data[at] = rng.randrange(256)
    if rng.random() < 0.2:
        del data[rng.randrange(len(data)):]
    return data


for i in range(1, copies + 1):
    open(f"{out}/{i}", "wb").write(damage(i))
