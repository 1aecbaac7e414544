#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Damaged copies of ELF files, and sessions with samples in them.

    mutate_elf.py SEED SESSIONS IMAGES DIR FILE...

writes DIR/bin/NN/NNN, IMAGES for each of SESSIONS sessions, damaged copies of the FILEs
in turn, and prints the description for mksession.py of sessions mNN with samples all over
the code that the undamaged file has.  Every image has the same number of samples; every
third one has calls too.  FILEs called *.debug and *.dwz are put beside the images, one
damaged copy a session.  The same seed makes the same damage.
"""
import json
import os
import random
import struct
import sys

SAMPLED = 60
# What is damaged, how often: names of sections begin so.
TARGETS = (("header", 8), ("segments", 6), ("sections", 16), (".symtab", 6),
           (".strtab", 3),
           (".dynsym", 4), (".dynstr", 2), (".dynamic", 4), (".plt", 4), (".rela", 4),
           (".got", 2), (".note", 4), (".gnu", 4), (".eh_frame", 2), (".text", 3),
           (".shstrtab", 2), (".debug_line", 14), (".debug_info", 14),
           (".debug_abbrev", 12), (".debug_str", 4), (".debug_rng", 4),
           (".debug_ranges", 4), (".debug_aranges", 3), (".debug_loc", 1),
           (".debug_addr", 2), ("compressed", 10), ("file", 6), ("cut", 4))


class Elf:
    def __init__(self, path):
        self.name = os.path.basename(path)
        with open(path, "rb") as f:
            self.data = data = f.read()
        self.phoff, self.shoff = struct.unpack_from("<QQ", data, 32)
        self.phnum = struct.unpack_from("<H", data, 56)[0]
        self.shnum, shstr = struct.unpack_from("<HH", data, 60)
        heads = [struct.unpack_from("<IIQQQQIIQQ", data, self.shoff + 64 * i)
                 for i in range(self.shnum)]
        self.areas = {"header": [(0, 64)], "file": [(0, len(data))], "cut": [(0, 0)],
                      "segments": [(self.phoff, self.phoff + 56 * self.phnum)],
                      "sections": [(self.shoff, self.shoff + 64 * self.shnum)]}
        self.code = []
        for name, kind, flags, _, off, size, *_ in heads:
            if kind in (0, 8) or not size:
                continue
            at = heads[shstr][4] + name
            text = data[at:data.index(b"\0", at)].decode()
            for target, _ in TARGETS:
                if text.startswith(target):
                    self.areas.setdefault(target, []).append((off, off + size))
            if flags & 0x800:
                self.areas.setdefault("compressed", []).append((off, off + 32))
            if flags & 4:
                self.code.append((off, size))

    def offsets(self):
        """Offsets all over the code, and some where nothing is."""
        total = sum(size for _, size in self.code)
        out = [0, len(self.data) + 4096, (1 << 63) + 1]
        step = max(1, total // (SAMPLED - len(out)))
        for i in range(SAMPLED - len(out)):
            at = i * step % total
            for off, size in self.code:
                if at < size:
                    out.append(off + at)
                    break
                at -= size
        return sorted(set(out))

    def damaged(self, rng):
        data = bytearray(self.data)
        targets = [(t, n) for t, n in TARGETS if t in self.areas]
        names, weights = zip(*targets)
        for target in rng.choices(names, weights, k=rng.choice((1, 1, 2, 4))):
            lo, hi = rng.choice(self.areas[target])
            if target == "cut":
                del data[rng.randrange(len(data)):]
                continue
            for _ in range(rng.choice((1, 2, 8, 40))):
                damage(data, rng, lo, min(hi, len(data)), target == "sections")
        return data


def damage(data, rng, lo, hi, fields):
    """Some bytes, a bit, or a whole field of [lo, hi)."""
    if hi - lo < 1:
        return
    width = min(rng.choice((1, 1, 2, 4, 8)), hi - lo)
    at = rng.randrange(lo, hi - width + 1)
    if fields and hi - at >= 8 and rng.random() < 0.6:
        width, at = 8, lo + (at - lo) // 8 * 8
        if at + 8 > hi:
            return
    old = int.from_bytes(data[at:at + width], "little")
    top = 1 << 8 * width
    new = rng.choice((0, 1, top - 1, top // 2, old + 1, old - 1, old ^ 1 << rng.randrange(
        8 * width), rng.randrange(top), len(data), old * 2, 0x7f, 0x80 * (top // 255)))
    data[at:at + width] = (new % top).to_bytes(width, "little")


def main():
    seed, sessions, images = (int(a) for a in sys.argv[1:4])
    top = sys.argv[4]
    beside = [Elf(p) for p in sys.argv[5:] if p.endswith((".debug", ".dwz"))]
    originals = [Elf(p) for p in sys.argv[5:] if not p.endswith((".debug", ".dwz"))]
    files = []
    for s in range(sessions):
        folder = "%s/bin/%02d" % (top, s)
        os.makedirs(folder)
        for elf in beside:
            with open("%s/%s" % (folder, elf.name), "wb") as f:
                f.write(elf.damaged(random.Random("%d %d %s" % (seed, s, elf.name))))
        for i in range(images):
            rng = random.Random("%d %d %d" % (seed, s, i))
            elf = originals[i % len(originals)]
            path = "%s/%03d-%s" % (folder, i, elf.name)
            with open(path, "wb") as f:
                f.write(elf.damaged(rng))
            offsets = elf.offsets()
            one = {"session": "m%02d" % s, "app": path}
            files.append(dict(one, samples={hex(o): 1 + n % 7
                                            for n, o in enumerate(offsets)}))
            if i % 3 == 0:
                calls = {hex(a << 32 | b): 1 for a, b in zip(offsets, offsets[1:-1])
                         if a and a >> 32 == 0 and b >> 32 == 0}
                files.append(dict(one, callee=path, samples=calls))
    json.dump(files, sys.stdout)


if __name__ == "__main__":
    main()
