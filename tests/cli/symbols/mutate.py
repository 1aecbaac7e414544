#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""mutate.py FILE OUT SEED: a damaged copy: headers and tables hit more often."""
import random
import struct
import sys

path, out, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
rng = random.Random(seed)
data = bytearray(open(path, "rb").read())
shoff, = struct.unpack_from("<Q", data, 40)
areas = [(0, 64), (64, 900), (shoff, len(data)), (0, len(data))]
for _ in range(rng.choice([1, 3, 10, 100])):
    lo, hi = rng.choice(areas)
    at = rng.randrange(lo, max(lo + 1, min(hi, len(data) - 8)))
    if rng.random() < 0.3:
        value = rng.choice([0, 1, 0xFFFFFFFFFFFFFFFF, 1 << 63, len(data), rng.getrandbits(64)])
        struct.pack_into("<Q", data, at, value)
    else:
        data[at] = rng.randrange(256)
if rng.random() < 0.2:
    del data[rng.randrange(len(data)):]
open(out, "wb").write(data)
