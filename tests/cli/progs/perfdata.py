#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads what "perf record -B -N" wrote, for comparison: perf 6.1 itself crashes when it
looks for the build-ids of newer kernels.

    perfdata.py FILE comm NAME            samples of each process of that name
    perfdata.py FILE functions BINARY NAME...  samples of each function of the binary
"""

import os
import struct
import sys
from collections import Counter

MMAP2, COMM, FORK, SAMPLE = 10, 3, 7, 9
# of sample_type; these in the order of their fields in a sample, and those of them that
# end every other record in theirs
IP, TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER = 1, 2, 4, 1 << 6, 1 << 9, 1 << 7, 1 << 16
TRAILER = TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER


def records(path):
    """All in the order of their times: the file has those of one CPU after those of
    another, and so samples of a child before its fork."""
    with open(path, "rb") as f:
        data = f.read()
    magic, _, attr_size, attrs, _, at, size = struct.unpack_from("<8sQQQQQQ", data)
    assert magic == b"PERFILE2"
    sample_type, = struct.unpack_from("<Q", data, attrs + 24)
    assert sample_type & IP and sample_type & TID and sample_type & TIME
    skip = 8 if sample_type & IDENTIFIER else 0
    after = [f for f in TRAILER if sample_type & f]
    back = 8 * (len(after) - after.index(TIME))
    found = []
    end = at + size
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        if kind in (MMAP2, COMM, FORK, SAMPLE):
            when = at + 8 + skip + 16 if kind == SAMPLE else at + length - back
            found.append((*struct.unpack_from("<Q", data, when), at, kind, length))
        at += length
    for _, at, kind, length in sorted(found):
        yield kind, data[at + 8:at + length], skip


def of_comm(path, name):
    comms, counts = {}, Counter()
    for kind, body, skip in records(path):
        if kind == COMM:
            pid, tid = struct.unpack_from("<II", body)
            if pid == tid:
                comms[pid] = body[8:body.index(b"\0", 8)].decode()
        elif kind == FORK:
            pid, ppid = struct.unpack_from("<II", body)
            if pid != ppid:
                comms[pid] = comms.get(ppid)
        elif kind == SAMPLE:
            _, pid, _ = struct.unpack_from("<QII", body, skip)
            if comms.get(pid) == name:
                counts[pid] += 1
    for count in counts.values():
        print(count)


def of_functions(path, binary, names):
    from ask import ranges
    where, start, counts = ranges(binary), None, dict.fromkeys(names, 0)
    for kind, body, skip in records(path):
        if kind == MMAP2:
            _, _, addr, _, off = struct.unpack_from("<IIQQQ", body)
            if body[64:body.index(b"\0", 64)].decode() == os.path.realpath(binary):
                start = addr - off
        elif kind == SAMPLE and start is not None:
            key = struct.unpack_from("<Q", body, skip)[0] - start
            for n in names:
                counts[n] += where[n][0] <= key < where[n][1]
    print(*(counts[n] for n in names))


if sys.argv[2] == "comm":
    of_comm(sys.argv[1], sys.argv[3])
else:
    of_functions(sys.argv[1], sys.argv[3], sys.argv[4:])
