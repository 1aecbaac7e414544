#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""gmon_samples.py BINARY: a session for mksession.py with samples all over its code.

Every third byte or so of each executable section has a sample, odd addresses and those
outside every function too; some counts do not fit 16 bits.
"""
import json
import os
import re
import subprocess
import sys

path = os.path.realpath(sys.argv[1])
sections = []
for line in subprocess.run(["readelf", "-SW", path], check=True, capture_output=True,
                           text=True).stdout.splitlines():
    m = re.match(r"\s*\[\s*\d+\]\s+(\S+)\s+PROGBITS\s+(\S+)\s+(\S+)\s+(\S+)\s+\S+\s+\w*X",
                 line)
    if m:
        sections.append((m[1], int(m[3], 16), int(m[4], 16)))
samples, seed, arcs, last = {}, 12345, {}, None
big = {7: 65535, 11: 65536, 13: 131070, 17: 131071, 19: 1000003}
n = 0
for name, offset, size in sections:
    at = offset
    while at < offset + size:
        seed = (seed * 1103515245 + 12345) & 0x7fffffff
        n += 1
        samples[hex(at)] = big.get(n % 211, 1 + seed % 9)
        if name == ".text" and last is not None and n % 5 == 0:
            arcs[hex(last << 32 | at)] = 1 + seed % 99
        last = at
        at += 1 + (seed >> 8) % 5
mtime = int(os.stat(path).st_mtime)
json.dump([dict(app=path, image=path, event="CYCLES", samples=samples, mtime=mtime),
           dict(app=path, image=path, callee=path, event="CYCLES", samples=arcs,
                mtime=mtime)], sys.stdout)
