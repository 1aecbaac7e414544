#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How long one user of a mount waits while another one attacks it.

Root mounts sessions for everybody.  Alice reads a report that is cached and one that is
not, in turn, RUNS times (30); first alone, then while bob does his worst, each time as
another user.  Printed are the median and the longest wait in milliseconds, and how often
the time that she waits alone that is.   usage: bench/victim.py BIN_DIR [RUNS [ATTACK]...]

Needs root.  Nothing of an attack lasts longer than two minutes.
"""
import ctypes
import json
import os
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ALICE, BOB = 60001, 60002
LIMIT_S, LONGEST_S, PAUSE_S = 120, 60, 0.1
PROGRAMS, DEAD, BOMBS, BOMBERS, SPARSE_NODES = 500, 16, 200, 8, 1 << 27

FLOOD = """
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	alarm(120);
	if (argc == 1)
		for (;;)
			;
	for (int n = 0;; n--) {
		while (n < atoi(argv[1])) {
			pid_t child = fork();
			if (!child) {
				setsid();
				alarm(5);
				for (volatile int i = 0; i < 20000; i++)
					;
				_exit(0);
			}
			if (child < 0)
				break;
			n++;
		}
		wait(NULL);
	}
}
"""

BOMB = """
	.file 1 "bomb.c"
	.globl main
	.type main, @function
main:
	.rept 500000
	.loc 1 1
	nop
	.loc 1 2
	nop
	.endr
	ret
	.size main, . - main
	.altmacro
	.macro symbol n
s\\n:	nop
	.endm
	.set i, 0
	.rept 200000
	symbol %i
	.set i, i + 1
	.endr
	.section .note.GNU-stack, "", @progbits
"""


def become(uid):
    """This process is now one of that user's, and ends with its parent."""
    if os.geteuid() != uid:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def compile_c(path, text, *flags, kind="c"):
    subprocess.run(["cc", "-g", "-O1", "-Wl,--build-id", "-x", kind, "-", "-o", path,
                    *flags], input=text, text=True, check=True)


def build_id(path):
    with open(path, "rb") as f:
        head = f.read(1 << 16)
    at = head.index(b"\4\0\0\0\x14\0\0\0\3\0\0\0GNU\0") + 16
    return at


def copies(path, pattern, count):
    """Programs that differ in their build-ids."""
    at = build_id(path)
    with open(path, "rb") as f:
        data = bytearray(f.read())
    for i in range(count):
        data[at:at + 8] = struct.pack("<II", 0x1234567, i)
        with open(pattern % i, "wb") as f:
            f.write(data)


class Place:
    """Sessions, a mount of them, and what bob brings along."""

    def __init__(self, bins):
        self.top = tempfile.mkdtemp(prefix="opfs-victim.")
        os.chmod(self.top, 0o755)
        self.data, self.point = self.top + "/data", self.top + "/mnt"
        self.next = 0
        self.build()
        self.sessions()
        os.mkdir(self.point)
        self.dead = self.mount_dead()
        self.mount = subprocess.Popen([bins + "/opfs", "mount", "-f", self.point, "-o",
                                       "allow_other", "--session-dir", self.data],
                                      start_new_session=True)
        while not os.path.ismount(self.point):
            time.sleep(0.01)

    def build(self):
        functions = "".join("int f%d(int x) { return x * %d + 1; }\n" % (i, i)
                            for i in range(300))
        compile_c(self.top + "/plain", functions + "int main(void) { return f7(1); }\n")
        copies(self.top + "/plain", self.top + "/p%d", PROGRAMS)
        compile_c(self.top + "/bomb", BOMB, kind="assembler")
        for i in range(BOMBS):
            os.link(self.top + "/bomb", self.top + "/b%d" % i)
        compile_c(self.top + "/flood", FLOOD)
        flags = subprocess.check_output(["pkg-config", "--cflags", "--libs", "fuse3"],
                                        text=True).split()
        with open(HERE + "/../tests/programs/slowfs.c", encoding="utf-8") as f:
            compile_c(self.top + "/slowfs", f.read(), "-D_GNU_SOURCE",
                      "-D_FILE_OFFSET_BITS=64", *flags)
        os.mkdir(self.top + "/real")
        for i in range(DEAD):
            shutil.copy(self.top + "/plain", self.top + "/real/d%d" % i)

    def sessions(self):
        def session(name, app):
            return {"session": name, "app": app, "samples": {hex(0x1130 + i): 1 + i
                                                             for i in range(100)}}

        told = [session("p%d" % i, self.top + "/p%d" % i) for i in range(PROGRAMS)]
        told += [session("b%d" % i, self.top + "/b%d" % i) for i in range(BOMBS)]
        told += [session("d%d" % i, self.top + "/dead/d%d" % i) for i in range(DEAD)]
        told += [session("sparse", self.top + "/plain")]
        subprocess.run([sys.executable, HERE + "/../tests/lib/mksession.py", self.data],
                       input=json.dumps(told), text=True, check=True)
        for top, _, files in os.walk(self.data + "/samples/sparse"):
            os.chown(top, BOB, BOB)
            for file in files:
                self.sparse = os.path.join(top, file)
                os.chown(self.sparse, BOB, BOB)

    def mount_dead(self):
        os.mkdir(self.top + "/dead")
        with open(self.top + "/control", "w", encoding="utf-8") as f:
            f.write("0\n")
        process = subprocess.Popen([self.top + "/slowfs", self.top + "/dead",
                                    self.top + "/real", self.top + "/control"])
        while not os.path.ismount(self.top + "/dead"):
            time.sleep(0.01)
        return process

    def answers(self, how):
        with open(self.top + "/control", "w", encoding="utf-8") as f:
            f.write(how + "\n")

    def path(self, name):
        return os.path.join(self.point, name)

    def fresh(self, count):
        """Reports that nobody has read."""
        names = ["p%d/report" % i for i in range(self.next + 1, self.next + 1 + count)]
        self.next += count
        return names

    def close(self):
        self.dead.kill()
        subprocess.run(["umount", "-l", self.point, self.top + "/dead"], check=False)
        self.mount.wait()
        self.dead.wait()
        shutil.rmtree(self.top, ignore_errors=True)


def read(path):
    try:
        with open(path, "rb") as f:
            return f.read()
    except OSError:
        return b""


# ---- what bob does: each is called in a process of his, over and over

def burn(place, _):
    os.execl(place.top + "/flood", "burn")


def burn_in_session(place, _):
    os.setsid()
    burn(place, _)


def fork_flood(place, _):
    os.execl(place.top + "/flood", "flood", "50")


def wait_for_the_dead(place, i):
    read(place.path("d%d/report" % i))


def hold_open(place, _):
    held = []
    for _ in range(100):
        try:
            held.append(open(place.path("p0/report"), "rb"))
        except OSError:
            pass
    for _ in range(100):
        for f in held:
            f.seek(0)
            f.read()


def look_up(place, i):
    for n in range(100000):
        name = ("p0/nothing%d-%d", "p0/symbol:nothing%d-%d")[n % 2] % (i, n)
        try:
            os.stat(place.path(name))
        except OSError:
            pass


def read_bombs(place, i):
    for n in range(i, BOMBS, BOMBERS):
        for name in ("report", "details", "symbol:main/source", "symbol:main/asm"):
            read(place.path("b%d/%s" % (n, name)))


def make_sparse(place, i):
    """A sample file that claims 2^27 nodes, of which nothing is on the disk."""
    with open(place.sparse, "r+b") as f:
        f.seek(72)
        f.write(struct.pack("<II", SPARSE_NODES, SPARSE_NODES))
        f.truncate(104 + 20 * SPARSE_NODES)
        f.seek(104 + 16 * (1000 + os.getpid() * i))
        f.write(struct.pack("<QII", 0x1140, 1, 0))
    read(place.path("sparse/report"))
    read(place.path("sparse/details"))


def look_among_the_dead(place, i):
    """Names that only the dead file system explains, and one who wants to make some."""
    for where in ("p0", "."):
        try:
            if i % 2:
                os.mkdir(place.path("%s/new%d" % (where, i)))
            else:
                os.stat(place.path("%s/image:%s/dead/d%d" % (where, place.top, i)))
        except OSError:
            pass


def walk(place, _):
    subprocess.run(["find", place.point, "-size", "+1G"], check=False,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def add_up(place, i):
    read(place.path("session:*/%s" % ("report", "summary", "archive.tar")[i % 3]))


ATTACKS = {
    "12 CPU burners": (burn, 12),
    "200 burners, each a session": (burn_in_session, 200),
    "fork flood": (fork_flood, 12),
    "16 reports of a dead file system": (wait_for_the_dead, DEAD),
    "200 readers x 100 opens": (hold_open, 200),
    "lookups of 100,000 names": (look_up, 4),
    "lines and symbols by the million": (read_bombs, BOMBERS),
    "sparse files of 2^27 nodes": (make_sparse, 4),
    "names in a dead file system": (look_among_the_dead, 16),
    "finding files by their size": (walk, 8),
    "adding up all sessions": (add_up, 6),
}


def attack(place, act, count):
    """A session of bob's with so many processes; returns its leader."""
    leader = os.fork()
    if leader:
        return leader
    os.setsid()
    become(BOB)
    for i in range(count):
        if not os.fork():
            signal.alarm(LIMIT_S)
            become(BOB)
            while True:
                act(place, i)
    while True:
        os.wait()


def end_attack(leader):
    """Those that are sessions of their own end with the leader, or with their alarms."""
    os.killpg(leader, signal.SIGKILL)
    os.waitpid(leader, 0)


# ---- what alice sees

def too_long(_signal, _frame):
    raise TimeoutError


def wait_ms(path):
    begun = time.monotonic()
    signal.alarm(LONGEST_S)
    try:
        with open(path, "rb") as f:
            if not f.read():
                sys.exit("%s is empty" % path)
    except TimeoutError:
        pass
    signal.alarm(0)
    return (time.monotonic() - begun) * 1000


def alice_reads(place, runs):
    """Waits for cached reports, and for others."""
    names = place.fresh(runs)
    ends = os.pipe()
    pid = os.fork()
    if not pid:
        os.setsid()
        become(ALICE)
        signal.signal(signal.SIGALRM, too_long)
        waits = []
        for name in names:
            waits.append([wait_ms(place.path(n)) for n in ("p0/report", name)])
            time.sleep(PAUSE_S)
        os.write(ends[1], json.dumps(waits).encode())
        os._exit(0)
    os.close(ends[1])
    with open(ends[0], "rb") as f:
        waits = json.load(f)
    os.waitpid(pid, 0)
    return list(zip(*waits))


def row(name, waits, alone):
    line = "%-34s" % name
    for mine, quiet in zip(waits, alone):
        for what in (statistics.median, max):
            line += "%9.1f %6.1f x" % (what(mine), what(mine) / what(quiet))
    print(line, flush=True)


def main():
    bins, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 30
    chosen = [a for a in ATTACKS if not sys.argv[3:] or any(w in a for w in sys.argv[3:])]
    if os.geteuid():
        sys.exit("victim.py: needs root, to be alice and bob")
    if runs * (len(chosen) + 2) >= PROGRAMS:
        sys.exit("victim.py: not more than %d runs" % (PROGRAMS // (len(chosen) + 2)))
    place = Place(bins)
    try:
        alice_reads(place, 1)
        alone = alice_reads(place, runs)
        print("%-34s%18s%18s%18s%18s" % ("alice's wait in ms", "cached: median",
                                         "longest", "uncached: median", "longest"))
        row("alone", alone, alone)
        for name in chosen:
            act, count = ATTACKS[name]
            place.answers("never" if "dead" in name else "0")
            leader = attack(place, act, count)
            time.sleep(1)
            try:
                waits = alice_reads(place, runs)
            finally:
                place.answers("0")
                end_attack(leader)
            row(name, waits, alone)
    finally:
        place.close()


if __name__ == "__main__":
    main()
