#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the same samples, drawn at random, into two sessions: filed as --separate=kernel
and as --separate=lib does.

usage: kernel_sessions.py SEED kernel|lib | mksession.py SESSION_DIR
"""
import collections
import json
import random
import sys

PROGRAMS = ["/opt/a/prog", "/opt/b/prog", "/usr/bin/other"]
LIBRARIES = ["/usr/lib/libx.so", "/usr/lib/liby.so"]
KERNEL = ["kern:no-vmlinux", "kern:ext4", "/proc/kallsyms", "/lib/modules/6.1/xfs.ko"]
EVENTS = [("CYCLES", 0), ("CYCLES", 1), ("MISSES", 0)]


def main():
    draw = random.Random(int(sys.argv[1]))
    by_itself = sys.argv[2] == "lib"
    files = collections.defaultdict(collections.Counter)

    def count(app, image, callee, event, key):
        if by_itself and image in KERNEL:
            app = image
        files[app, image, callee, event][key] += draw.randint(1, 1000)

    # a kernel thread, then programs
    count(KERNEL[0], KERNEL[0], None, EVENTS[0], 64)
    for _ in range(60):
        app = draw.choice(PROGRAMS)
        event = draw.choice(EVENTS)
        # the kernel calls no programs
        chain = sorted((draw.choice([app] + LIBRARIES + KERNEL) for _ in range(3)),
                       key=lambda image: image not in KERNEL)
        count(app, chain[0], None, event, draw.randint(1, 4) * 16)
        for caller, callee in zip(chain[1:], chain):
            count(app, caller, callee, event, draw.randint(1, 4) << 36 | 16)
    out = []
    for (app, image, callee, (event, mask)), samples in files.items():
        d = {"app": app, "image": image, "event": event, "um": mask,
             "kernel": image in KERNEL, "samples": samples}
        if callee:
            d["callee"] = callee
        out.append(d)
    json.dump(out, sys.stdout)


if __name__ == "__main__":
    main()
