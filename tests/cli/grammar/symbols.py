#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The session of symbol.bats: every function of libodd.s, the Nth with 2^N samples.
usage: symbols.py LIBRARY >description.json"""
import json
import os
import re
import subprocess
import sys

LIB = sys.argv[1]


def readelf(*options):
    return subprocess.run(["readelf", "-W", *options, LIB], check=True,
                          stdout=subprocess.PIPE).stdout.decode()


text = re.search(r"\] \.text +PROGBITS +([0-9a-f]+) ([0-9a-f]+)", readelf("-S"))
shift = int(text.group(2), 16) - int(text.group(1), 16)
at = {}
for line in readelf("-s").splitlines():
    field = line.split(None, 7)
    if len(field) == 8 and field[3] == "FUNC" and field[6] != "UND":
        at[field[7]] = int(field[1], 16) + shift
order = [l.split(None, 1)[1].strip().strip('"').split('"')[0]
         for l in open(os.path.dirname(os.path.abspath(__file__)) + "/libodd.s")
         if l.startswith("\tfunction")]
files = []
for i, name in enumerate(order):
    name = name.replace("LONG", "l" * 300)
    files.append((at[name] + 1, 1 << i))
mtime = int(os.stat(LIB).st_mtime)
json.dump([{"app": "/opt/app", "image": LIB, "mtime": mtime,
            "samples": {hex(k): v for k, v in files}},
           {"app": "/opt/app", "event": "OTHER", "image": LIB, "mtime": mtime,
            "samples": {hex(files[0][0]): 5}}], sys.stdout)
