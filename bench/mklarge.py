#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a large session over real binaries of this machine: usage:
   mklarge.py DIR [APPS LIBS OFFSETS [ARCS]] [--from PROGRAMS] [--make FUNCTIONS]
              [--threads N] [--events N]

APPS applications with LIBS dependents each, OFFSETS distinct offsets a file: by default
28 * 40 = 1,120 files of 2,000 offsets, 2.24 million in all.  With ARCS there is a file of
so many arcs for every image of an application, from the image before it (12 32 2000 2000:
384 such files).  --from takes both
applications and libraries from a directory of programs, those with debug information say.
--make makes programs in DIR/programs instead, each of so many functions, every other one
with a C++ name.  With --threads and --events there is a file for each of N threads and
events (6 5 30000 --make 12000 --threads 2 --events 2: 120 files, 3.6 million offsets).
The bytes are put together
here from the description of the format in doc/internals.md, not by the project's writer.
"""
import argparse
import array
import os
import random
import struct
import subprocess


FUNCTION_BYTES = 64


def spec(event, thread):
    """The last part of a sample file's name; 0: threads were not kept apart."""
    return "/%s.1000.0.%s.%s.all" % ("TIMER" if not event else "EVENT_%d" % event,
                                     100 * thread or "all", 100 * thread or "all")


def make_program(path, functions, rng):
    """An ELF file with a .text of functions of FUNCTION_BYTES each, by assembler and
    linker; nobody runs it."""
    source = [".text"]
    for i in range(functions):
        letters = 4 + int(rng.expovariate(0.15)) % 24
        name = "".join(rng.choice("aeioulmnrst") for _ in range(letters)) + "_%d" % i
        if i % 2:
            name = "_ZN7library5Class%d%sEiPKc" % (len(name), name)
        source.append(".globl %s\n.type %s,@function\n%s: .skip %d\n.size %s,.-%s"
                      % (name, name, name, FUNCTION_BYTES, name, name))
    subprocess.run(["gcc", "-x", "assembler", "-nostdlib", "-static", "-Wl,-e0",
                    "-o", path, "-"],
                   input="\n".join(source) + "\n", text=True, check=True)


def make_programs(top, count, functions, rng):
    os.makedirs(top, exist_ok=True)
    for i in range(count):
        make_program("%s/program%02d" % (top, i), functions, rng)


def text_of(path):
    """File offset and size of .text, or None if path is no 64-bit ELF file."""
    with open(path, "rb") as f:
        h = f.read(64)
        if len(h) < 64 or h[:5] != b"\x7fELF\x02":
            return None
        off, = struct.unpack_from("<Q", h, 40)
        size, num, names = struct.unpack_from("<HHH", h, 58)
        f.seek(off)
        table = f.read(size * num)
        sections = [struct.unpack_from("<IIQQQQ", table, i * size) for i in range(num)]
        f.seek(sections[names][4])
        strings = f.read(sections[names][5])
        for name, _, _, _, offset, length in sections:
            if strings[name:name + 6] == b".text\0":
                return offset, length
    return None


def binaries(where, want, least):
    found = []
    for top in where:
        for name in sorted(os.listdir(top)):
            path = os.path.realpath(os.path.join(top, name))
            if path in (f[0] for f in found) or not os.path.isfile(path):
                continue
            try:
                text = text_of(path)
            except (OSError, struct.error, IndexError):
                continue
            if text and text[1] >= least:
                found.append((path, text[0], text[1], int(os.stat(path).st_mtime)))
            if len(found) == want:
                return found
    return found


def write_file(path, image, offsets, rng, callee=None):
    _, start, length, mtime = image
    keys = {start + rng.randrange(length) for _ in range(offsets)}
    if callee:
        keys = {key << 32 | callee[1] + rng.randrange(callee[2]) for key in keys}
    keys = sorted(keys)
    size = 128
    while size < len(keys) + 1:
        size *= 2
    heads = array.array("I", bytes(4 * size))
    nodes = bytearray(16 * size)
    for n, key in enumerate(keys, 1):
        slot = ((key >> 32) ^ key) & 0xffffffff
        slot = (slot ^ (slot >> 8)) & (size - 1)
        struct.pack_into("<QII", nodes, 16 * n, key, 1 + int(rng.expovariate(0.2)),
                         heads[slot])
        heads[slot] = n
    header = struct.pack("<4sIIIIIIIdQIIQQ", b"DAE\n", 0x13, 4, 0, 0, 1000, 0, 0, 2400.0,
                         mtime, 0, 0, 0, 0)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(header + struct.pack("<II24x", size, len(keys) + 1) + nodes +
                heads.tobytes())
    return len(keys)


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("dir")
    parser.add_argument("sizes", type=int, nargs="*", help="APPS LIBS OFFSETS [ARCS]")
    parser.add_argument("--from", dest="programs")
    parser.add_argument("--make", type=int)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--events", type=int, default=1)
    return parser.parse_args()


def main():
    o = options()
    top, given = o.dir, o.programs
    apps, libs, offsets, arcs = ((o.sizes or [28, 40, 2000]) + [0])[:4]
    rng = random.Random(1)
    if o.make:
        given = os.path.abspath(top + "/programs")
        make_programs(given, apps + libs - 1, o.make, rng)
    programs = binaries([given] if given else ["/usr/bin", "/usr/sbin"], apps, 8000)
    system = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
              "/usr/lib/gcc/x86_64-linux-gnu/12"]
    if given:
        libraries = binaries([given], apps + libs - bool(o.make), 8000)[apps:]
    else:
        libraries = binaries(system if os.path.isdir(system[0]) else ["/usr/lib"],
                             libs - 1, 20000)
    specs = [spec(event, thread) for event in range(o.events)
             for thread in range(1, o.threads + 1) or [0]]
    total = files = 0
    for app in programs:
        caller = app
        for image in [app] + libraries:
            where = "%s/samples/current/{root}%s/{dep}/{root}" % (top, app[0])
            for name in specs:
                total += write_file(where + image[0] + name, image, offsets, rng)
                files += 1
                if arcs:
                    write_file(where + caller[0] + "/{cg}/{root}" + image[0] + name,
                               caller, arcs, rng, image)
            caller = image
    print("%s: %d files, %d distinct offsets, %d binaries"
          % (top, files, total, len(programs) + len(libraries)))


if __name__ == "__main__":
    main()
