#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""One binary, a sample on every instruction (or many), against binutils.

    agree.py OPFS FILE SESSION_DIR [WHOLE]

WHOLE is the same binary with its symbols (what readelf and objdump are asked of; default
FILE).  Every address of `details` must be where readelf's program headers have it, with
its samples, below a function that readelf's symbol table has around it; functions must be
called what c++filt calls them; each instruction of `asm` must read as objdump prints it.
"""
import collections
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
ENOUGH = 12000  # instructions
MKSESSION = os.path.join(HERE, "../../lib/mksession.py")


def run(*args, **kw):
    return subprocess.run(args, check=True, stdout=subprocess.PIPE, text=True,
                          **kw).stdout


class Binary:
    def __init__(self, path, whole):
        self.loads = []
        for line in run("readelf", "-lW", path).splitlines():
            f = line.split()
            if f and f[0] == "LOAD":
                self.loads.append((int(f[2], 16), int(f[1], 16), int(f[4], 16)))
        self.text = {}  # address: instruction
        self.labels = {}  # address: objdump's name of the place, for the PLT
        for line in run("objdump", "-d", "--no-show-raw-insn", whole).splitlines():
            m = re.fullmatch(r"([0-9a-f]+) <(.*)>:", line)
            if m:
                self.labels[int(m[1], 16)] = label = m[2]
            m = re.fullmatch(r" +([0-9a-f]+):\t(.*)", line)
            if m:
                self.text[int(m[1], 16)] = (m[2].rstrip(), label)
        self.sections = []
        for m in re.finditer(r"^\s*\[\s*\d+\]\s(\S+)\s+\S+\s+([0-9a-f]+) [0-9a-f]+ "
                             r"([0-9a-f]+) [0-9a-f]+\s+(\w*)",
                             run("readelf", "-SW", whole),
                             re.M):
            if "X" in m[4]:
                self.sections.append((m[1], int(m[2], 16), int(m[2], 16) + int(m[3], 16)))
        self.functions = []
        for line in run("readelf", "-W", "-s", whole).splitlines():
            f = line.split()
            if len(f) >= 8 and f[0][-1] == ":" and f[6].isdigit() and \
               f[3] in ("FUNC", "IFUNC", "NOTYPE"):
                at = int(f[1], 16)
                self.functions.append((at, int(f[2], 0), f[7].split("@")[0], f[3]))

    def offset(self, vma):
        return next(vma - v + o for v, o, n in self.loads if v <= vma < v + n)

    def section(self, vma):
        return next(s for s in self.sections if s[1] <= vma < s[2])

    def names(self, vma):
        """What the function at an address may be called: of those whose size reaches it
        the ones that begin last; else those without a size."""
        _, begin, end = self.section(vma)
        around = [f for f in self.functions if f[0] <= vma < f[0] + f[1]]
        if around:
            last = max(f[0] for f in around)
            return {f[2] for f in around if f[0] == last}
        open_ended = [f for f in self.functions
                      if not f[1] and begin <= f[0] <= vma and f[3] != "OBJECT"]
        before = [f for f in self.functions if begin <= f[0] <= vma]
        last = max((f[0] for f in before), default=None)
        return {f[2] for f in open_ended if f[0] == last} | {"(no symbol)"}


def expect(good, what, at, want, got):
    if not good:
        Wrong.append("%s at %s: %s expected, %s told" % (what, at, want, got))


Wrong = []


def check_details(text, binary, samples):
    """Rows by symbol and below each its addresses."""
    name, seen = None, {}
    for line in text.splitlines():
        m = re.fullmatch(r"([0-9a-f]{8,16}) (\d+) +\S+ +(.*)", line)
        if m:
            name = m[3]
            continue
        m = re.fullmatch(r"  ([0-9a-f]{8,16}) (\d+) +\S+ *", line)
        if m:
            seen[int(m[1], 16)] = (int(m[2]), name)
    expect(seen.keys() == samples.keys(), "details", "all", len(samples), len(seen))
    plt = 0
    for vma, (count, name) in seen.items():
        expect(count == samples.get(vma), "samples", hex(vma), samples.get(vma), count)
        if binary.section(vma)[0].startswith(".plt"):
            label = binary.text[vma][1]
            expect(name == label or not label.endswith("@plt"), "PLT", hex(vma), label,
                   name)
            plt += label.endswith("@plt") and name == label
            continue
        names = binary.names(vma)
        expect(name in names, "function", hex(vma), names, name)
    return len({n for _, n in seen.values()}), plt


def check_names(text):
    """As c++filt, in one run for all."""
    rows = [line.split("\t") for line in text.splitlines()[1:]]
    rows = [(f[7], f[3]) for f in rows if f[7]]
    want = run("c++filt", "-i", input="".join(m + "\n" for m, _ in rows)).splitlines()
    for (mangled, shown), name in zip(rows, want):
        expect(shown == name, "name", mangled, name, shown)
    return sum(m != n for m, n in rows)


def check_asm(text, binary, samples):
    """Instructions and their samples.  Outside of functions asm begins to decode
    somewhere before a sample: there only instructions with samples must be right."""
    counts, nr, inside = collections.Counter(), 0, False
    for line in text.splitlines():
        if re.match(r"[0-9a-f]+ <|/\*", line):
            inside = line[0] != "/"
        m = re.fullmatch(r"(?: *(\d+) +\S+)? *: +([0-9a-f]+):\t(.*)", line)
        if not m:
            continue
        vma = int(m[2], 16)
        counts[vma] += int(m[1] or 0)
        if not inside and not m[1]:
            continue
        nr += 1
        theirs = binary.text.get(vma, ("nothing",))[0]
        expect(m[3].rstrip() == theirs, "instruction", hex(vma), theirs, m[3])
    for vma, count in samples.items():
        expect(counts[vma] == count, "samples of asm", hex(vma), count, counts[vma])
    expect(sum(counts.values()) == sum(samples.values()), "samples of asm", "all",
           sum(samples.values()), sum(counts.values()))
    return nr


def chosen(binary):
    """Every instruction; of a large binary those of every so many functions."""
    labels = sorted({label for _, label in binary.text.values()})
    keep = set(labels[::1 + len(binary.text) // ENOUGH])
    return sorted(vma for vma, (_, label) in binary.text.items() if label in keep)


def main():
    opfs, path, session = sys.argv[1:4]
    binary = Binary(path, sys.argv[4] if len(sys.argv) > 4 else path)
    samples = {vma: 1 + i % 97 for i, vma in enumerate(chosen(binary))}
    told = [{"app": os.path.realpath(path), "mtime": int(os.stat(path).st_mtime),
             "samples": {hex(binary.offset(v)): n for v, n in samples.items()}}]
    run(MKSESSION, session, input=json.dumps(told))

    def cat(name):
        return run(opfs, "cat", "--session-dir", session, "current/" + name)

    functions, plt = check_details(cat("demangle:none/details"), binary, samples)
    demangled = check_names(cat("report.tsv"))
    instructions = check_asm(cat("demangle:none/asm"), binary, samples)
    print("%d samples in %d functions, %d in the PLT, %d demangled, %d instructions" % (
        sum(samples.values()), functions, plt, demangled, instructions))
    print("\n".join(Wrong[:20]))
    if len(Wrong) > 20:
        print("and %d more" % (len(Wrong) - 20))
    return 1 if Wrong else 0


if __name__ == "__main__":
    sys.exit(main())
