#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a collector and watches its helpers: processes with "--box=" on the command line.

    boxwatch.py REPORT SESSION_DIR COMMAND...

Helpers are those of this run alone: they have its OPFS_TEST_RUN in their environment, or
descend from the command.  Every few milliseconds their mappings and descriptors are
looked at: none may be of a file below SESSION_DIR (samples, figures, the lock).  Exits as
the command does.  REPORT gets JSON:

    {"helpers": how many were seen, "held": [[PID, what]...], "left": [PID...]}

"left" are those that are still there ten seconds after the command has ended.
"""

import json
import os
import subprocess
import sys
import time
import uuid


def read(pid, name):
    try:
        with open("/proc/%d/%s" % (pid, name), "rb") as f:
            return f.read()
    except OSError:
        return b""


def parent(pid):
    try:
        return int(read(pid, "stat").rpartition(b")")[2].split()[1])
    except (IndexError, ValueError):
        return 0


def alive(pid):
    return read(pid, "stat").rpartition(b")")[2].split()[:1] not in ([], [b"Z"], [b"X"])


class Watch:
    def __init__(self, session_dir, run):
        self.session = os.fsencode(os.path.realpath(session_dir)) + b"/"
        self.run = b"OPFS_TEST_RUN=" + run.encode() + b"\0"
        self.top = None
        self.helpers = set()  # (pid, start time)
        self.held = []

    def ours(self, pid):
        if self.run in read(pid, "environ"):
            return True
        for _ in range(10):
            if pid <= 1:
                return False
            if pid == self.top:
                return True
            pid = parent(pid)
        return False

    def holds(self, pid):
        """Mappings and descriptors below the session directory."""
        for line in read(pid, "maps").splitlines():
            path = line.split(None, 5)[5:]
            if path and path[0].startswith(self.session):
                yield "map " + os.fsdecode(path[0])
        try:
            fds = os.listdir("/proc/%d/fd" % pid)
        except OSError:
            return
        for fd in fds:
            try:
                target = os.fsencode(os.readlink("/proc/%d/fd/%s" % (pid, fd)))
            except OSError:
                continue
            if target.startswith(self.session):
                yield "fd " + os.fsdecode(target)

    def look(self):
        here = []
        for name in os.listdir("/proc"):
            pid = int(name) if name.isdigit() else 0
            if not pid or b"--box=" not in read(pid, "cmdline") or \
               read(pid, "cmdline").startswith(b"python3"):
                continue
            stat = read(pid, "stat").rpartition(b")")[2].split()
            if len(stat) < 20 or not self.ours(pid):
                continue
            here.append(pid)
            self.helpers.add((pid, stat[19]))
            for what in self.holds(pid):
                if [pid, what] not in self.held:
                    self.held.append([pid, what])
        return here


def main(argv):
    if len(argv) < 4:
        sys.exit(__doc__)
    run = uuid.uuid4().hex
    watch = Watch(argv[2], run)
    # a shell's background ignores SIGINT, and so would the command
    command = subprocess.Popen(argv[3:], env=dict(os.environ, OPFS_TEST_RUN=run))
    watch.top = command.pid
    try:
        os.nice(-20)  # some helpers live for milliseconds
    except OSError:
        pass
    while command.poll() is None:
        watch.look()
        time.sleep(0.01)
    left, until = watch.look(), time.monotonic() + 10
    while left and time.monotonic() < until:
        time.sleep(0.05)
        left = watch.look()
    with open(argv[1], "w") as f:
        json.dump({"helpers": len(watch.helpers), "held": watch.held,
                   "left": [p for p in left if alive(p)]}, f)
    return command.returncode if command.returncode >= 0 else 128 - command.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv))
