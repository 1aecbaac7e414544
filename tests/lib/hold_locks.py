#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""hold_locks.py UID READY PATH...: becomes that user, locks (flock) every file and
directory at and below PATH that he can open, tells how many in READY, and holds them
until it is killed."""
import fcntl
import os
import sys
import time


def below(path):
    yield path
    for base, dirs, files in os.walk(path):
        for name in dirs + files:
            yield os.path.join(base, name)


uid = int(sys.argv[1])
os.setgroups([])
os.setresgid(uid, uid, uid)
os.setresuid(uid, uid, uid)
held = []
for top in sys.argv[3:]:
    for path in below(top):
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            held.append(fd)
        except OSError:
            pass
with open(sys.argv[2], "w", encoding="utf-8") as ready:
    print(len(held), file=ready)
for _ in range(600):
    time.sleep(1)
