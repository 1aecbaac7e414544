#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The session of grammar.bats: file number N holds 2^N samples, so that a number of
samples tells which files a path selects.  usage: session.py TOP >description.json"""
import json
import sys

TOP = sys.argv[1]          # a directory: $TOP/link is a symbolic link to $TOP/real
LS = "/usr/bin/ls"
LONG = "/".join([""] + ["d%02d" % i + "x" * 246 for i in range(15)])  # 3,750 bytes
LONG += "/" + "y" * (4000 - len(LONG) - 1)
NAMES = [
    ("ls", {"app": LS}),
    ("libc", {"app": LS, "image": "/usr/lib/libc.so.6"}),
    ("ls-extra", {"app": "/usr/bin/ls-extra"}),
    ("ls/report", {"app": "/usr/bin/ls/report"}),
    ("report", {"app": "/opt/report"}),
    ("space", {"app": "/opt/with space/a b"}),
    ("colon", {"app": "/opt/co:lon:x"}),
    ("comma", {"app": "/opt/a,b"}),
    ("bracket", {"app": "/opt/[x]"}),
    ("percent", {"app": "/opt/100%41"}),
    ("vdso", {"app": LS, "image": "anon:[vdso]:10:7f00:7fff"}),
    ("heap1", {"app": LS, "image": "anon:[heap]:10:1000:1fff"}),
    ("heap2", {"app": LS, "image": "anon:[heap]:11:1000:1fff"}),
    ("novmlinux", {"app": LS, "image": "kern:no-vmlinux", "kernel": True}),
    ("ext4", {"app": LS, "image": "kern:ext4", "kernel": True}),
    ("vmlinux", {"app": LS, "image": "/boot/vmlinux", "kernel": True}),
    ("llc", {"app": LS, "event": "LLC_MISSES", "count": 6000, "um": 65}),
    ("cpu0", {"app": "/opt/threads", "tgid": 10, "tid": 11, "cpu": 0}),
    ("cpu1", {"app": "/opt/threads", "tgid": 10, "tid": 12, "cpu": 1}),
    ("dash", {"app": "/opt/-dash"}),
    ("all", {"app": "/opt/all"}),
    ("n255", {"app": "/opt/" + "n" * 255}),
    ("n4000", {"app": LS, "image": LONG}),
    ("tgid", {"app": "/opt/tgid"}),
    ("ls2", {"app": "/opt/x/ls"}),
    ("eventall", {"app": LS, "event": "all", "count": 1}),
    ("linked", {"app": TOP + "/real/prog"}),
    ("star", {"app": "/opt/st*r"}),
    ("star2", {"app": "/opt/stair"}),
    ("backslash", {"app": "/opt/b\\s"}),
    ("control", {"app": "/opt/c\x01\n\udcff"}),
]
assert len(NAMES) < 32 and len(LONG) == 4000


def numbered(session, files):
    return [dict(d, session=session, samples={"0x1000": 1 << i})
            for i, (_, d) in enumerate(files)]


OTHERS = ["a,b", "a", "b", "events", "README", "all", "image", "report", "run 1", "r[1]",
          "s" * 255]
FILES = numbered("current", NAMES)
for i, name in enumerate(OTHERS):
    FILES.append({"session": name, "app": "/bin/s", "samples": {"0x1000": 1 << i}})
FILES += numbered("braces", [(n, dict(d, escape=True)) for n, d in [
    ("dep", {"app": "/opt/{dep}"}),
    ("root", {"app": "/opt/{root}/x"}),
    ("kern", {"app": "/opt/{kern}"}),
    ("plain", {"app": "/opt/plain", "image": "kern:ext4"}),
    ("percent", {"app": "/opt/%7Bdep}"}),
    ("kernel", {"app": "/opt/kernel"}),
]])

if len(sys.argv) > 2:      # the sum of the named files
    known = {n: 1 << i for i, (n, _) in enumerate(NAMES)}
    known["everything"] = (1 << len(NAMES)) - 1
    print(sum(known[n] if n in known else 0 for n in sys.argv[2:]))
else:
    json.dump({"files": FILES}, sys.stdout)
