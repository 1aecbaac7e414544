# SPDX-License-Identifier: GPL-2.0-or-later
"""jitdump.py FILE ADDRESS NAME [MOVED_TO]: a jitdump as python 3.13 writes it: how to
unwind, then the code.

With --frame=BYTES[,SIZE]: of code of SIZE bytes that begins with "sub $BYTES,%rsp" and
ends with "add $BYTES,%rsp; ret"."""
import struct
import sys

frame, size = None, 128
args = sys.argv[1:]
if args[0].startswith("--frame="):
    frame, size = map(int, args.pop(0)[8:].split(","))
path, at, name = args[0], int(args[1], 16), args[2].encode()


def record(kind, body):
    return struct.pack("<IIQ", kind, 16 + len(body), 1) + body


def code(where):
    return (struct.pack("<IIQQQQ", 1, 1, where, where, size, 1) + name + b"\0"
            + b"\xc3" * size)


def entry(body):
    body += bytes(-(len(body) + 4) % 8)
    return struct.pack("<I", len(body)) + body


def eh_frame():
    """As if it stood behind the code, at the next multiple of 8 bytes."""
    # version 1, "zR", alignments 1 and -8, return address 16, pointers relative, 4 bytes;
    # CFA is rsp + 8, the return address is below it
    common = entry(struct.pack("<IB", 0, 1) + b"zR\0" + bytes([1, 0x78, 16, 1, 0x1b])
                   + bytes([0x0c, 7, 8, 0x90, 1]))
    begin = len(common) + 8
    back = -((size + 7) // 8 * 8 + begin)
    # behind 4 bytes CFA is rsp + 8 + BYTES; before the last one as at first
    rows = bytes([0x40 | 4, 0x0e, 8 + frame, 0x40 | size - 5, 0x0e, 8])
    return common + entry(struct.pack("<Iii", len(common) + 4, back, size) + b"\0" + rows
                          ) + bytes(4)


with open(path, "wb") as out:
    out.write(struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, 1, 1, 0))
    how = eh_frame() if frame else bytes(36)
    out.write(record(4, struct.pack("<QQQ", len(how) + 20, 20, 64) + how + bytes(20)))
    if len(args) > 3:
        out.write(record(0, code(0x1000)))
        moved = int(args[3], 16)
        out.write(record(1, struct.pack("<IIQQQQQ", 1, 1, moved, 0x1000, moved, size, 1)))
    else:
        out.write(record(0, code(at)))
    out.write(bytes(3))  # what is still being written
