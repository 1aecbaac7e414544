#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the stacks of a session, and names their functions, from the descriptions of the
formats alone: it shares no code with opfs.

    stackread.py DIR [SESSION]   prints the stacks of a session, outermost frame first
"""
import os
import struct
import sys

import opsamples

EXACT = 1 << 63
ENDS = {1: "copy too short", 2: "no unwind table", 3: "no mapping", 4: "damaged chain",
        5: "depth limit", 6: "no room for more stacks", 7: "unknown frame",
        8: "no registers", 9: "lost by the disk", 10: "recorded without a stack",
        11: "stack not copied"}


class Frame:
    """image: as it is shown, None for none; off: of what was executed, or the reason"""

    def __init__(self, image, off, kernel=False):
        self.image, self.off, self.kernel = image, off, kernel


def table(session):
    """The frames of each node, outermost first; the images of its numbers."""
    images = {}
    with open(os.path.join(session, b"stacks", b"images"), "rb") as f:
        for line in f.read().split(b"\n")[1:-1]:
            number, kind, stored = line.split(b"\t")
            parts = stored.replace(b"%25", b"%").split(b"/")
            escaped = os.path.exists(os.path.join(session, b"images"))
            image, _ = opsamples.parse_image(parts, None, escaped)
            images[int(number)] = image, kind == b"kernel"
    with open(os.path.join(session, b"stacks", b"frames"), "rb") as f:
        data = f.read()
    magic, version, size, nr = struct.unpack_from("<8sIIQ", data)
    assert (magic, version, size) == (b"OPFSSTK\n", 1, 16)
    stacks = [()]
    for i in range(1, nr):
        parent, image, off = struct.unpack_from("<IIQ", data, 64 + 16 * i)
        if image:
            called = off & ~EXACT
            if not off & EXACT and called:
                called -= 1
            frame = Frame(images[image][0], called, images[image][1])
        else:
            frame = Frame(None, off)
        stacks.append(stacks[parent] + (frame,))
    return stacks


def read(session_dir, name="current"):
    """Flat files, each as opsamples tells its name, with "stacks": [(frames, samples)]"""
    session = os.path.join(os.fsencode(session_dir), b"samples", os.fsencode(name))
    abi, stacks, out = opsamples.read_abi(session_dir), table(session), []
    escaped = os.path.exists(os.path.join(session, b"images"))
    for path in opsamples.sample_files(session):
        told = opsamples.parse_name(path, escaped)
        if told["callee"] is not None:
            continue
        rest = opsamples.File(os.path.join(session, path), abi).total()
        told["stacks"] = []
        try:
            nodes = opsamples.File(os.path.join(session, b"stacks", path), abi).nodes
        except FileNotFoundError:
            nodes = []
        for key, value, _ in nodes[1:]:
            told["stacks"].append((stacks[key], value))
            rest -= value
        if rest:
            told["stacks"].append(((Frame(None, 10),), rest))
        out.append(told)
    return out


def characters(text):
    """(bytes, character, or None for a byte that is not of UTF-8)"""
    while text:
        size, c = 1, None
        for n in range(1, 5):
            try:
                size, c = n, text[:n].decode()
                break
            except UnicodeDecodeError:
                pass
        yield text[:size], c
        text = text[size:]


def is_control(raw, c):
    code = ord(c) if c else raw[0]
    return code < 32 or 127 <= code < 160


def shown(name):
    """A function's name as opfs has it."""
    return bytes(ord("?") if c < 32 or c == 127 else c for c in name)


class Symbols:
    """Functions of an ELF file of 64 bits, by offset in it."""

    def __init__(self, path):
        self.functions, self.loads, self.build_id = [], [], ""
        try:
            with open(path, "rb") as f:
                self.data = f.read()
        except OSError:
            return
        if self.data[:5] != b"\x7fELF\x02":
            return
        phoff, shoff = struct.unpack_from("<QQ", self.data, 32)
        phsize, phnr, shsize, shnr = struct.unpack_from("<4H", self.data, 54)
        for i in range(phnr):
            kind, _, off, vma, _, size = struct.unpack_from("<IIQQQQ", self.data,
                                                            phoff + i * phsize)
            if kind == 1:
                self.loads.append((off, vma, size))
            if kind == 4:
                self.notes(off, size)
        sections = [struct.unpack_from("<IIQQQQIIQQ", self.data, shoff + i * shsize)
                    for i in range(shnr)]
        for s in sections:
            if s[1] == 2:
                self.symtab(s, sections[s[6]][4])
        self.functions.sort()
        self.functions = [(vma, size or after - vma, name) for (vma, size, name), after in
                          zip(self.functions, [f[0] for f in self.functions[1:]] + [0])]

    def notes(self, at, size):
        end = at + size
        while at + 12 <= end:
            name, desc, kind = struct.unpack_from("<3I", self.data, at)
            if kind == 3 and self.data[at + 12:at + 16] == b"GNU\0":
                self.build_id = self.data[at + 16:at + 16 + desc].hex()
            at += 12 + (name + 3) // 4 * 4 + (desc + 3) // 4 * 4

    def symtab(self, section, strings):
        for at in range(section[4], section[4] + section[5], 24):
            name, info, _, index, vma, size = struct.unpack_from("<IBBHQQ", self.data, at)
            if info & 15 == 2 and index:
                end = self.data.index(b"\0", strings + name)
                self.functions.append((vma, size, shown(self.data[strings + name:end])))

    def vma(self, off):
        for start, vma, size in self.loads:
            if start <= off < start + size:
                return off - start + vma
        return off

    def find(self, off):
        """(name, first address), or None"""
        at = self.vma(off)
        for vma, size, name in self.functions:
            if vma <= at < vma + size:
                return name, vma
        return None


class Names:
    """The functions of frames."""

    def __init__(self):
        self.known = {}

    def symbols(self, image):
        if image not in self.known:
            self.known[image] = Symbols(image)
        return self.known[image]

    def symbol(self, frame):
        """What symbol: calls it, or None"""
        found = frame.image is not None and self.symbols(frame.image).find(frame.off)
        return found[0] if found else None

    def function(self, frame):
        if frame.image is None:
            kind = "[%s]" if frame.off == 7 else "[truncated: %s]"
            return (kind % ENDS[frame.off]).encode()
        return self.symbol(frame) or b"[%s]" % os.path.basename(frame.image)

    def address(self, frame):
        return self.symbols(frame.image).vma(frame.off) if frame.image else 0


def main():
    names = Names()
    for f in read(*sys.argv[1:]):
        for frames, samples in f["stacks"]:
            print(f["event"].decode(), samples,
                  b";".join(names.function(x) for x in frames))


if __name__ == "__main__":
    main()
