#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Annotated sources against addr2line, on a program with a sample on every instruction
(of a static program on all of what was linked first, ours, and on many of the rest).

usage: compare.py OPFS PROGRAM SESSION_DIR MKSESSION ADDR2LINE [with:inlines]

Each instruction has another number of samples.  What annotate/ counts for every line of
every file must be the sum of what addr2line says of each address; with with:inlines also
every call of inlined code, against addr2line -i.  Names of inlined functions are compared
with llvm-addr2line only: that of binutils names the function around them now and then.
"""
import collections
import json
import os
import re
import subprocess
import sys


def run(*args, **kw):
    return subprocess.run(args, check=True, stdout=subprocess.PIPE, text=True,
                          **kw).stdout


ENOUGH = 12000  # instructions


def instructions(program):
    every = [int(m, 16) for m in re.findall(r"^ +([0-9a-f]+):\t", run(
        "objdump", "-d", "-j", ".text", program), re.M)]
    return every[:ENOUGH] + every[ENOUGH::1 + len(every) // ENOUGH]


def offset_of(program):
    loads = []
    for line in run("readelf", "-lW", program).splitlines():
        words = line.split()
        if words and words[0] == "LOAD":
            loads.append((int(words[2], 16), int(words[1], 16), int(words[5], 16)))
    return lambda at: next(at - vma + off for vma, off, size in loads
                           if vma <= at < vma + size)


def place(text, directory):
    """(file, line) of addr2line's "FILE:LINE (discriminator N)"; None: unknown.

    Callers are sometimes given without the directory of the compilation.
    """
    name, line = text.split(" (")[0].rsplit(":", 1)
    if name == "??" or (line in ("?", "0") and name[0] != "/"): # the latter by a symbol
        return None
    return (os.path.normpath(os.path.join(directory, name)),
            int(line) if line != "?" else 0)


def chains(tool, program, addresses):
    """For each address its places, innermost first, each with its function."""
    lines = run(tool, "-a", "-f", "-i", "-e", program,
                input="".join("%#x\n" % a for a in addresses)).splitlines()
    all_of = []
    for line in lines:
        if re.fullmatch(r"0x[0-9a-f]+", line):
            all_of.append([])
        else:
            all_of[-1].append(line)
    return [[(f, place(p, os.path.dirname(program))) for f, p in zip(c[::2], c[1::2])]
            for c in all_of]


def expected(tool, program, samples):
    lines = collections.Counter()
    calls = collections.Counter()
    rest = 0
    for chain, count in zip(chains(tool, program, samples), samples.values()):
        if chain[0][1] is None:
            rest += count
            continue
        lines[chain[0][1]] += count
        seen = {(chain[i + 1][1], chain[i][0]) for i in range(len(chain) - 1)}
        for key in seen:
            calls[key] += count
    return lines, calls, rest


PREFIX = re.compile(r"( *(\d+) +[0-9.e-]+)? *:")


def read_calls(name, line, text, calls):
    m = re.search(r"/\* inlined here: (.*) \*/$", text)
    for one in m.group(1).split(", ") if m else []:
        function, count, _ = re.fullmatch(r"(.*?) +(\d+) +([0-9.e-]+)", one).groups()
        calls[(name, line), function] += int(count)


def shown(opfs, where, name, lines, calls):
    text = run(opfs, "cat", *where[:-1], "%s/annotate%s" % (where[-1], name))
    body, _, end = text.partition("/* \n * Total samples for file")
    number = 0
    for row in body.splitlines():
        if row.startswith("/* No source") or row.startswith(" /*"):
            continue
        head = PREFIX.match(row)
        told = re.match(r"\(line (\d+)", row[head.end():])
        number = int(told.group(1)) if told else number + 1
        if head.group(2):
            lines[name, number] += int(head.group(2))
        read_calls(name, number, row, calls)
    zero = re.search(r"^<credited to line zero> +(\d+)", end, re.M)
    if zero:
        lines[name, 0] += int(zero.group(1))


def without_source(opfs, where):
    try:
        text = run(opfs, "cat", *where[:-1], where[-1] + "/annotate/no-source",
                   stderr=subprocess.DEVNULL)
    except subprocess.CalledProcessError:
        return 0
    return sum(int(m) for m in re.findall(r"^ *(\d+) +[0-9.e-]+ *:", text, re.M))


def complain(what, want, got):
    for key in sorted(set(want) | set(got), key=str):
        if want[key] != got[key]:
            print("%s %s: addr2line has %d, annotate %d" %
                  (what, key, want[key], got[key]))
    return want == got


def without_names(calls):
    """Sums by line; an address counts once for each of its calls there."""
    total = collections.Counter()
    for (where, _), count in calls.items():
        total[where] += count
    return total


def main():
    opfs, program, session, mksession, tool = sys.argv[1:6]
    tag = "/".join(["current", "demangle:none"] + sys.argv[6:])
    where = ["--session-dir", session, tag]
    addresses = instructions(program)
    offset = offset_of(program)
    samples = {a: 1 + i % 97 for i, a in enumerate(addresses)}
    told = [{"app": program, "samples": {hex(offset(a)): n for a, n in samples.items()}}]
    run(mksession, session, input=json.dumps(told))
    want_lines, want_calls, rest = expected(tool, program, samples)
    lines, calls = collections.Counter(), collections.Counter()
    files = {k[0] for k in want_lines}
    if len(sys.argv) > 6:
        files |= {k[0][0] for k in want_calls}
    else:
        want_calls.clear()
    for name in files:
        shown(opfs, where, name, lines, calls)
    if tool == "addr2line":
        want_calls, calls = without_names(want_calls), without_names(calls)
    good = complain("line", want_lines, lines) and complain("call", want_calls, calls)
    got = without_source(opfs, where)
    if got != rest:
        print("without source: addr2line has %d, annotate %d" % (rest, got))
        good = False
    assert len(files) > 1 and sum(want_lines.values()) > 1000
    assert len(sys.argv) == 6 or want_calls
    print("%d lines, %d calls in %d files" %
          (len(want_lines), len(want_calls), len(files)))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
