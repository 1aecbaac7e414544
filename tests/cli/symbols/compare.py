#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""compare.py SYMDUMP FILE [NAMES_FROM]: what libsym says against readelf and objdump.

Every symbol told must stand in the symbol table with that address and size; every
function of the table must be found at its address under one of its names; offsets must
be those of the program headers; PLT labels must be objdump's.
"""
import re
import subprocess
import sys


def run(*argv):
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def told(symdump, path):
    rows = {}
    for line in run(symdump, path).splitlines():
        off, size, vma, name = line.split(" ", 3)
        rows[int(vma, 16)] = (int(off, 16), int(size, 16), name)
    return rows


def table(path, dynamic):
    syms = {}
    for line in run("readelf", "-W", "--dyn-syms" if dynamic else "-s",
                    path).splitlines():
        f = line.split()
        if len(f) < 8 or not re.fullmatch(r"\d+:", f[0]) or not f[6].isdigit():
            continue
        syms.setdefault(int(f[1], 16), []).append((f[7].split("@")[0], int(f[2], 0),
                                                   f[3]))
    return syms


def loads(path):
    found = []
    for line in run("readelf", "-lW", path).splitlines():
        f = line.split()
        if f and f[0] == "LOAD":
            found.append((int(f[1], 16), int(f[2], 16), int(f[4], 16)))
    return found


def code(path):
    found = []
    for m in re.finditer(
        r"^\s*\[\s*\d+\]\s(\S+)\s+\S+\s+([0-9a-f]+) ([0-9a-f]+) ([0-9a-f]+)"
        r" [0-9a-f]+\s+(\w*)", run("readelf", "-SW", path), re.M):
        if "X" in m[5]:
            found.append((int(m[2], 16), int(m[4], 16)))
    return found


def plt(path):
    text = run("objdump", "-d", "--no-show-raw-insn", path)
    return {int(m[1], 16): m[2]
            for m in re.finditer(r"^([0-9a-f]+) <(.*@plt)>:$", text, re.M)}


def main():
    symdump, path = sys.argv[1:3]
    names_from = sys.argv[3] if len(sys.argv) > 3 else path
    rows, syms, wrong = told(symdump, path), table(names_from, False), []
    if not syms or not any(t[2] == "FUNC" for v in syms.values() for t in v):
        syms = table(names_from, True)
    segments, sections = loads(path), code(path)
    for vma, (off, size, name) in rows.items():
        if name.endswith("@plt"):
            continue
        if not any(off - o == vma - v and 0 <= vma - v < n for o, v, n in segments):
            wrong.append(f"{name}: offset {off:#x} for address {vma:#x}")
        here = [t for t in syms.get(vma, []) if t[0] == name]
        if not here:
            wrong.append(f"{name}: not at {vma:#x}")
        elif here[0][1] and here[0][1] != size:
            wrong.append(f"{name}: size {size}, not {here[0][1]}")
    for vma, names in syms.items():
        inside = any(v <= vma < v + n for v, n in sections)
        kept = [t for t in names if t[2] in ("FUNC", "IFUNC") and t[1]]
        if inside and kept and vma not in rows:
            wrong.append(f"{kept[0][0]} at {vma:#x} is not told")
    labels, mine = plt(path), {v: r[2] for v, r in rows.items() if r[2].endswith("@plt")}
    if not labels:  # objdump makes up none for static programs
        mine = {v: n for v, n in mine.items() if not n.startswith("*ABS*")}
    if labels != mine:
        wrong.append(f"PLT: {set(labels.items()) ^ set(mine.items())}")
    print("\n".join(wrong) or f"{len(rows)} symbols, {len(labels)} of them PLT")
    sys.exit(bool(wrong))


main()
