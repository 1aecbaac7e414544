# SPDX-License-Identifier: GPL-2.0-or-later
"""Streams as the driver writes them (kernel/uapi/opfs_buffer.h), for measurements."""
import struct

ESCAPE = (1 << 64) - 1
TASK, CPU, COOKIE, USER, TRACE, END, IMAGE, HELLO, BYE = 1, 2, 3, 5, 8, 9, 15, 19, 22


def words(*w):
    return struct.pack("<%dQ" % len(w), *w)


def note(code, arg=0, *w):
    return words(ESCAPE, code | len(w) << 16 | arg << 32, *w)


def image(cookie, path):
    data = path.encode()
    room = (len(data) + 7) // 8 * 8
    return note(IMAGE, cookie, 8 << 32 | 1, cookie, 0, 0, 0, 0, 0, 0, len(data),
                *struct.unpack("<%dQ" % (room // 8), data.ljust(room, b"\0")))


def task(n, app):
    return note(TASK, 1000 + n, 1000 + n, app, 77 + n, 1,
                *struct.unpack("<2Q", (b"prog%d" % n).ljust(16, b"\0")))


def begin():
    return note(HELLO, 1, 0x314655425346504F, 1000, 2000, 4, 8, 1000)


def bye():
    return note(BYE, 0, 0, 0, 0)
