#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a mount and a daemon that run for long stay as small as they were.

Root mounts forty sessions for everybody, and those of a daemon that samples the mount,
rotates every two minutes and keeps four.  Two users read what they come across, in two
processes each.  Once a minute is printed what the mount, its helpers and the daemon take
in memory (MiB, resident) and descriptors, how many names of FUSE file systems the kernel
remembers, what was read, and what could not be, though the session is there.  At the end
the middle values of the second and of the last quarter stand side by side, and what is
left when the readers have ended and the kernel is asked to forget all names.
usage: bench/soak.py BIN_DIR [MINUTES]

Needs root.  Runs an hour, or MINUTES.
"""
import errno
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
from victim import ALICE, BOB, become  # noqa: E402

SESSIONS, IMAGES, DEPTH, PAUSE_S = 40, 100, 6, 0.02
LOUD_FILES = {"archive.tar"}  # as large as all binaries together
COLUMNS = ("mount MiB", "fds", "helpers MiB", "daemon MiB", "fds", "files", "names",
           "reads", "failed", "lost")


def start(command):
    return subprocess.Popen(command, start_new_session=True)


def children(pid):
    own = []
    try:
        for task in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/children" % (pid, task), encoding="ascii") as f:
                own += [int(p) for p in f.read().split()]
    except OSError:
        pass  # it has ended
    return own + [c for p in own for c in children(p)]


def resident(pid):
    """MiB"""
    try:
        with open("/proc/%d/statm" % pid, encoding="ascii") as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
    except OSError:
        return 0


def descriptors(pid):
    return len(os.listdir("/proc/%d/fd" % pid))


def names():
    """Inodes of FUSE that the kernel has; the mount has a node for each of its own."""
    with open("/proc/slabinfo", encoding="ascii") as f:
        return sum(int(line.split()[1]) for line in f if line.startswith("fuse_inode "))


def forget_names():
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as f:
        f.write("2")
    time.sleep(5)


class Walker:
    """A user's process that goes where chance leads it, and counts."""

    def __init__(self, point, uid, number, counts):
        self.point, self.rand = point, random.Random(number)
        self.reads = self.failed = 0
        self.counts = counts
        self.pid = os.fork()
        if not self.pid:
            become(uid)
            while True:
                self.walk()
                self.tell()
                time.sleep(PAUSE_S)

    def tell(self):
        os.pwrite(self.counts, b"%12d %12d\n" % (self.reads, self.failed), 0)

    def end(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def told(self):
        return [int(n) for n in os.pread(self.counts, 26, 0).split() or (0, 0)]

    def walk(self):
        path = self.point
        try:
            for _ in range(DEPTH):
                if self.rand.random() < 0.1:
                    path = self.spell(path)
                entries = os.listdir(path)
                if not entries:
                    return
                path = os.path.join(path, self.rand.choice(entries))
                if not os.path.isdir(path):
                    break
            else:
                return
            if os.path.basename(path) in LOUD_FILES:
                return
            with open(path, "rb") as f:
                while f.read(1 << 20):
                    pass
            self.reads += 1
        except OSError as e:
            self.explain(path, e)

    def spell(self, path):
        """The same session as part of a list, or several."""
        if path != self.point:
            return path
        return os.path.join(path, self.rand.choice(
            ["session:fixed1", "session:fixed1?", "session:fixed*", "session:*",
             "session:fixed2,fixed3", "last:1m"]))

    def explain(self, path, error):
        top = os.path.relpath(path, self.point).split("/")[0]
        # what is read of a session is gone once that was removed
        if error.errno in (errno.ENOENT, errno.ESTALE) and "fixed" not in top:
            return
        self.failed += 1
        if self.failed < 10:
            print("%s: %s" % (path, error.strerror), flush=True)


def make_sessions(top):
    os.mkdir(top + "/bin")
    told = []
    for i in range(IMAGES):
        shutil.copy("/bin/true", "%s/bin/p%d" % (top, i))
    for s in range(SESSIONS):
        for i in range(IMAGES):
            told.append({"session": "fixed%d" % s, "app": "%s/bin/p%d" % (top, i),
                         "samples": {hex(0x2000 + 16 * k): k + s + 1 for k in range(20)}})
    facts = {"fixed%d" % s: {"manifest": [["STARTED", "2026-11-21T09:00:00Z"]]}
             for s in range(SESSIONS)}
    subprocess.run([sys.executable, HERE + "/../tests/lib/mksession.py", top + "/data"],
                   input=json.dumps({"files": told, "sessions": facts}), text=True,
                   check=True)


def lost(top, bins):
    """Samples that the daemon lost, for whatever reason; -1: it does not answer."""
    out = subprocess.run([bins + "/opcollect", "status", "--json", "--socket",
                          top + "/socket"], capture_output=True, text=True, check=False)
    return json.loads(out.stdout)["lost"] if out.returncode == 0 else -1


def row(top, bins, mount, daemon, walkers):
    counts = [w.told() for w in walkers]
    files = subprocess.run(["find", top + "/data/samples", "-type", "f"], check=False,
                           capture_output=True).stdout.count(b"\n")
    return (resident(mount), descriptors(mount), sum(map(resident, children(mount))),
            resident(daemon), descriptors(daemon), files, names(),
            sum(c[0] for c in counts), sum(c[1] for c in counts), lost(top, bins))


def show(name, values):
    print("%-8s" % name + "".join("%12.0f" % v for v in values), flush=True)


def middle(rows):
    return [statistics.median(column) for column in zip(*rows)]


def main():
    bins, minutes = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 60
    if os.geteuid():
        sys.exit("soak.py: needs root, to be several users")
    for program in "opfs", "opcollect":
        if not os.access("%s/%s" % (bins, program), os.X_OK):
            sys.exit("soak.py: there is no program %s/%s: build it, or name the "
                     "directory that has both" % (bins, program))
    top = tempfile.mkdtemp(prefix="opfs-soak.")
    os.chmod(top, 0o755)
    os.mkdir(top + "/mnt")
    make_sessions(top)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    daemon = mount = None
    walkers, rows = [], []
    try:
        daemon = start([bins + "/opcollect", "daemon", "-F", "99", "--separate=thread",
                        "-g", "8", "-d", top + "/data", "--rotate=2m", "--keep=4",
                        "--socket", top + "/socket", "--log", top + "/log",
                        "--symbols=0", "--image", bins + "/opfs"])
        mount = start([bins + "/opfs", "mount", "-f", top + "/mnt", "-o", "allow_other",
                       "--session-dir", top + "/data"])
        while not os.path.ismount(top + "/mnt"):
            if mount.poll() is not None:
                sys.exit("soak.py: there is no mount")
            time.sleep(0.1)
        for n, uid in enumerate((ALICE, BOB) * 2):
            walkers.append(Walker(top + "/mnt", uid, n,
                                  os.open(top + "/counts%d" % n, os.O_RDWR | os.O_CREAT)))
        print("%-8s" % "minute" + "".join("%12s" % c for c in COLUMNS))
        for minute in range(1, minutes + 1):
            time.sleep(60)
            rows.append(row(top, bins, mount.pid, daemon.pid, walkers))
            show(str(minute), rows[-1])
        quarter = max(1, minutes // 4)
        show("2nd 1/4", middle(rows[quarter:2 * quarter] or rows))
        show("last 1/4", middle(rows[-quarter:]))
        ended = walkers[:]
        while walkers:
            walkers.pop().end()
        forget_names()
        show("forgot", row(top, bins, mount.pid, daemon.pid, ended))
    finally:
        for w in walkers:
            w.end()
        subprocess.run(["umount", "-l", top + "/mnt"], check=False)
        for process in daemon, mount:
            if process:
                process.terminate()
                process.wait()
        shutil.rmtree(top, ignore_errors=True)


if __name__ == "__main__":
    main()
