#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a stream of the driver's event buffer (kernel/uapi/opfs_buffer.h) to stdout.

On stdin a record a line; numbers are decimal or 0x; NAME=VALUE words may follow:

    hello [hz=100] [version=1]      counter I EVENT MASK COUNT [extra=0] [type=4]
    image COOKIE PATH [inode=] [dev=8:1] [id=HEX] [mtime=SECONDS] [size=] [deleted=1]
                                    [like=FILE: what stat and readelf tell of it]
    task TGID TID APP [comm=prog] [start=77] [execs=1] [parent=TGID]
    cpu N       cookie N       kernel       user       time NS
    anon other|heap|stack|vdso|vsyscall FIRST LAST
    sample PC [counter=255] [times=1] [late=1]
    ibs_fetch PC CAPS REGISTER...   ibs_op PC CAPS REGISTER...
    trace       end [lost=0]        exit TGID TID [NS]
    module loaded|going NAME START LEN
    lost REASON N                   bye [taken=what was told] [throttles=0] [aborted=0]
    note CODE ARG WORD...           word WORD...
    bytes HEX                       repeat N / until (lines between, N times)
"""
import os
import struct
import subprocess
import sys

ESCAPE = (1 << 64) - 1
MAGIC = 0x314655425346504F
CODES = {"task": 1, "cpu": 2, "cookie": 3, "kernel": 4, "user": 5, "module": 6,
         "trace": 8,
         "end": 9, "ibs_fetch": 13, "ibs_op": 14, "image": 15, "anon": 16, "exit": 17,
         "lost": 18, "hello": 19, "time": 20, "counter": 21, "bye": 22}
ANON = {"other": 0, "heap": 1, "stack": 2, "vdso": 3, "vsyscall": 4}
LATE = 1 << 31


def num(text):
    return int(text, 0)


def padded(text, size=None):
    data = os.fsencode(text)
    size = size or (len(data) + 7) // 8 * 8
    data = data[:size].ljust(size, b"\0")
    return list(struct.unpack("<%dQ" % (size // 8), data))


def build_id(path):
    out = subprocess.run(["readelf", "-n", path], capture_output=True, text=True).stdout
    return next((l.split()[-1] for l in out.splitlines() if "Build ID" in l), "")


class Stream:
    def __init__(self, out):
        self.out = out
        self.told = 0     # samples and losses
        self.frames = -1  # of the trace that is open

    def words(self, *words):
        self.out.write(struct.pack("<%dQ" % len(words), *[w & ESCAPE for w in words]))

    def note(self, code, arg=0, words=()):
        self.words(ESCAPE, code | len(words) << 16 | (arg & 0xFFFFFFFF) << 32, *words)

    def count_sample(self, times=1):
        if self.frames < 0:
            self.told += times
        else:
            self.told += not self.frames
            self.frames += times

    def do_hello(self, hz=100, version=1, depth=0):
        self.told = 0
        self.note(19, num(str(version)), [MAGIC, 1000, 2000, 4, num(str(depth)),
                                          num(str(hz))])

    def do_counter(self, index, event, mask, count, extra="0", type="4"):
        self.note(21, num(index), [num(event), num(mask), num(count), num(extra), 3,
                                   num(type)])

    def do_image(self, cookie, path, inode="0", dev="8:1", id="", mtime="0", size="0",
                 deleted="0", like=None):
        if like:
            st = os.stat(like)
            inode, mtime, size = str(st.st_ino), str(int(st.st_mtime)), str(st.st_size)
            id = build_id(like)
        raw = bytes.fromhex(id)
        major, minor = map(num, dev.split(":"))
        name = os.fsencode(path)
        self.note(15, num(cookie),
                  [major << 32 | minor, num(inode), len(raw) << 32 | num(deleted) << 40,
                   num(mtime) * 10**9, num(size)] +
                  list(struct.unpack("<3Q", raw[:20].ljust(24, b"\0"))) +
                  [len(name)] + padded(path))

    def do_task(self, tgid, tid, app, comm="prog", start="77", execs="1", parent=None):
        words = [num(tgid), num(app), num(start), num(execs)] + padded(comm, 16)
        self.note(1, num(tid), words + ([num(parent)] if parent else []))

    def do_anon(self, kind, first, last):
        self.note(16, ANON[kind], [num(first), num(last)])

    def do_sample(self, pc, counter="255", times="1", late="0"):
        self.count_sample(num(times))
        pair = struct.pack("<2Q", num(pc), num(counter) | (LATE if num(late) else 0))
        self.out.write(pair * num(times))

    def ibs(self, code, pc, caps, *regs):
        self.count_sample()
        counter = 0xF0 if code == 13 else 0xF1
        self.note(code, len(regs), [num(pc), counter, num(caps)] + [num(r) for r in regs])

    def do_ibs_fetch(self, *words):
        self.ibs(13, *words)

    def do_ibs_op(self, *words):
        self.ibs(14, *words)

    def do_trace(self):
        self.frames = 0
        self.note(8)

    def do_end(self, lost="0"):
        self.frames = -1
        self.note(9, 0, [num(lost)])

    def do_exit(self, tgid, tid, ns="5000"):
        self.note(17, num(tid), [num(tgid), num(ns)])

    def do_module(self, state, name, start, size):
        self.note(6, 1 if state == "loaded" else 2,
                  [5000, num(start), num(size)] + padded(name, 64))

    def do_lost(self, reason, n):
        self.told += num(n)
        self.note(18, num(reason), [num(n), num(n)])

    def do_bye(self, taken=None, throttles="0", aborted="0"):
        self.note(22, 0, [num(taken) if taken else self.told, num(throttles),
                          num(aborted)])

    def do_note(self, code, arg, *words):
        self.note(num(code), num(arg), [num(w) for w in words])

    def do_word(self, *words):
        self.words(*[num(w) for w in words])

    def do_bytes(self, text):
        self.out.write(bytes.fromhex(text))

    def line(self, text):
        words = text.split()
        named = dict(w.split("=", 1) for w in words[1:] if "=" in w
                     and not w.startswith("/"))
        plain = [w for w in words[1:] if "=" not in w or w.startswith("/")]
        do = getattr(self, "do_" + words[0], None)
        if do:
            do(*plain, **named)
        else:  # cpu, cookie, kernel, user, time: an argument, or a word
            arg = num(plain[0]) if plain else 0
            self.note(CODES[words[0]], 0 if words[0] == "time" else arg,
                      [arg] if words[0] == "time" else [])


def main():
    stream = Stream(sys.stdout.buffer)
    lines = [l.split("#")[0].strip() for l in sys.stdin]
    lines = [l for l in lines if l]
    i = 0
    while i < len(lines):
        words = lines[i].split()
        if words[0] == "repeat":
            end = lines.index("until", i)
            for _ in range(num(words[1])):
                for text in lines[i + 1:end]:
                    stream.line(text)
            i = end + 1
            continue
        stream.line(lines[i])
        i += 1


main()
