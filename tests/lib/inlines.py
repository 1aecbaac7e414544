#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Inlined functions in reports, against what another reader of DWARF says of them.

usage: inlines.py make SEED NR PROGRAM       what mksession.py takes: NR random stacks
       inlines.py check OPFS DIR PROGRAM TOOL SEED [SAME]    TOOL is llvm-addr2line; it
                                                 reads SAME, with the same code, instead

Frames are at random addresses of PROGRAM, every fourth stack has some elsewhere.  All
files are computed here from the description and TOOL's answers, and compared as a whole.
"""
import bisect
import collections
import gzip
import json
import os
import random
import re
import subprocess
import sys

import exports
import stackread

ELSEWHERE = ["kern:no-vmlinux@0x10", "/gone/lib.so@0x20"]
NOT_OURS = re.compile(rb"_init$|_fini$|_start$|frame_|(de)?register_|__do_global|.*@")
NAMES = {"kern:no-vmlinux": "[no-vmlinux]", "/gone/lib.so": "[lib.so]"}
Function = collections.namedtuple("Function", "vma size name")


def functions(program):
    """Those with a name and code for themselves."""
    elf = stackread.Symbols(program)
    found = collections.defaultdict(set)
    for vma, size, name in elf.functions:
        if not NOT_OURS.match(name):
            found[vma].add(Function(vma, size, name.decode()))
    alone = sorted(min(f) for f in found.values() if len(f) == 1)
    return elf, [f for f, after in zip(alone, alone[1:]) if f.vma + f.size <= after.vma]


def make(seed, number, program):
    rng, stacks = random.Random(int(seed)), []
    elf, pool = functions(program)
    off = {f.vma: f.vma - v + o for f in pool for o, v, n in elf.loads
           if v <= f.vma < v + n}
    for i in range(int(number)):
        frames = []
        for _ in range(rng.randint(1, 5)):
            f, exact = rng.choice(pool), rng.random() < .2
            at = off[f.vma] + rng.randrange(f.size) + (not exact)
            frames.append("%s@%#x%s" % (program, at, "!" * exact))
        if i % 4 == 0:
            frames.insert(rng.randrange(len(frames)), rng.choice(ELSEWHERE))
        f = rng.choice(pool)
        frames.append("%s@%#x" % (program, off[f.vma] + rng.randrange(f.size)))
        stacks.append([frames, rng.randint(1, 99)])
    json.dump([{"app": program, "stacks": stacks}], sys.stdout)


# ---- what is expected

def answers(tool, program, addresses):
    """Of each address [(function, file, line)], the innermost first; line 0: unknown."""
    out = subprocess.run([tool, "-a", "-f", "-i", "-e", program], check=True, text=True,
                         input="".join("%#x\n" % a for a in addresses),
                         stdout=subprocess.PIPE).stdout.splitlines()
    found = []
    for line in out:
        if re.fullmatch(r"0x[0-9a-f]+", line):
            found.append([])
        else:
            found[-1].append(line)
    places = []
    for lines in found:
        chain = []
        for name, at in zip(lines[::2], lines[1::2]):
            file, line = at.split(" (")[0].rsplit(":", 1)
            chain.append((name, file, int(line) if line.isdigit() else 0))
        places.append(chain)
    return dict(zip(addresses, places))


class Expected:
    """stacks: [(frames, samples)]; a frame is a list, outermost first, of what is one
    address: (key of the function, name, is it inlined?)"""

    def __init__(self, description, program, tool, same):
        self.elf, pool = functions(program)
        self.starts, self.pool = [f.vma for f in pool], pool
        self.stacks, at = [], []
        with open(description) as f:
            said = json.load(f)[0]["stacks"]
        for frames, samples in said:
            self.stacks.append(([self.place(x, i + 1 == len(frames))
                                 for i, x in enumerate(frames)], samples))
        at = sorted({a for frames, _ in self.stacks for a in frames
                     if isinstance(a, int)})
        self.chains = answers(tool, same, at)
        self.stacks = [([self.functions_at(a) for a in frames], n)
                       for frames, n in self.stacks]

    def place(self, text, last):
        image, off = text.rstrip("!").split("@")
        if image in NAMES:
            return image
        return self.elf.vma(int(off, 16)) - (not last and text[-1] != "!")

    def functions_at(self, at):
        if not isinstance(at, int):
            return [(at, NAMES[at], False)]
        f = self.pool[bisect.bisect_right(self.starts, at) - 1]
        assert f.vma <= at < f.vma + f.size
        return [(f.vma, f.name, False)] + \
            [(name, name, True) for name, _, _ in reversed(self.chains[at][:-1])]


def joined(frames):
    return [f for those in frames for f in those]


# ---- comparing

def shown(f, mark):
    return f[1] + mark * f[2]


class Checker:
    def __init__(self, opfs, where, want):
        self.opfs, self.where, self.want = opfs, where, want
        self.all = sum(n for _, n in want.stacks)

    def cat(self, *words):
        path = "/".join(("current", "demangle:none") + words)
        done = subprocess.run([self.opfs, "cat", "--session-dir", self.where, path],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert not done.returncode, (path, done.stderr)
        return done.stdout

    def text(self, *words):
        return self.cat("with:inlines", *words).decode().splitlines()

    def folded(self):
        want, got = collections.Counter(), collections.Counter()
        for frames, n in self.want.stacks:
            names = [f[1] + ("_[k]" if f[0] == "kern:no-vmlinux" else "_[i]" * f[2])
                     for f in joined(frames)]
            want[";".join(names)] += n
        for line in self.text("stacks.folded"):
            stack, n = line.rsplit(" ", 1)
            got[stack] += int(n)
        assert got == want, [x for x in (got - want).items()][:3] + \
            [x for x in (want - got).items()][:3]
        return sum(";" in x and "_[i]" in x for x in want)

    def rows(self):
        want, got = collections.Counter(), collections.Counter()
        for frames, n in self.want.stacks:
            want[shown(joined(frames)[-1], " (inlined)")] += n
        for line in self.text("report.tsv")[1:]:
            fields = line.split("\t")
            got[fields[3]] += int(fields[4])
            assert fields[7] == fields[3].replace(" (inlined)", "") or \
                fields[3].startswith("[")
        assert got == want

    def children(self):
        """A function counts once a stack, however often it is in it."""
        want, got = collections.Counter(), {}
        self_ = collections.Counter()
        for frames, n in self.want.stacks:
            for f in set(joined(frames)):
                want[shown(f, " (inlined)")] += n
            self_[shown(joined(frames)[-1], " (inlined)")] += n
        for line in self.text("with:children", "with:no-header", "report"):
            total, _, own, _, image, name = line.split(None, 5)
            name = {"no-vmlinux": "[no-vmlinux]", "lib.so": "[lib.so]"}.get(image, name)
            was = got.get(name, (0, 0))
            got[name] = was[0] + int(total), was[1] + int(own)
        assert got == {name: (n, self_[name]) for name, n in want.items()}

    def tree(self):
        want, got, path = collections.Counter(), collections.Counter(), []
        for frames, n in self.want.stacks:
            names = [shown(f, " (inlined)") for f in joined(frames)]
            for i in range(len(names)):
                want[tuple(names[:i + 1])] += n
        for line in self.text("threshold:0", "with:no-header", "calltree"):
            total, _, _, _, _, name = line.split(None, 5)
            depth = len(name) - len(name.lstrip("."))
            path[depth:] = [name[depth:]]
            got[tuple(path)] += int(total)
        assert got == want

    def pprof(self):
        """What is one address is one location, with a line for each function."""
        here = os.path.dirname(os.path.abspath(__file__))
        packed = self.cat("with:inlines", "profile.pb.gz")
        done = subprocess.run(["protoc", "--decode=Profile", "-I", here,
                               here + "/profile.proto"], check=True,
                              input=gzip.decompress(packed), stdout=subprocess.PIPE)
        p = exports.parse_text(done.stdout)
        text = [x.decode() for x in p["string_table"]]
        of = {f["id"][0]: f for f in p["function"]}
        places, files = {}, collections.defaultdict(set)
        for loc in p["location"]:
            names = [text[of[x["function_id"][0]]["name"][0]] for x in loc["line"]]
            at, said = exports.only(loc, "address"), self.want.chains
            places[loc["id"][0]] = tuple(reversed(names))
            if at not in said:
                assert len(names) == 1
                continue
            assert [exports.only(x, "line") for x in loc["line"]] == \
                [line for _, _, line in said[at]], (hex(at), said[at])
            for x, (_, file, line) in zip(loc["line"], said[at]):
                # without a line the file is one that symbols tell
                files[x["function_id"][0]].add(file if line else "??")
        for number, known in files.items():
            file = text[exports.only(of[number], "filename")] or "??"
            assert file in {os.path.normpath(f) for f in known}, (file, known)
        got, want = collections.Counter(), collections.Counter()
        for s in p["sample"]:
            got[tuple(places[i] for i in reversed(s["location_id"]))] += s["value"][0]
        for frames, n in self.want.stacks:
            want[tuple(tuple(f[1] for f in those) for those in frames)] += n
        assert got == want

    def callgrind(self):
        own, calls, totals = exports.read_callgrind(
            self.cat("with:inlines", "callgrind.out"))
        assert totals == [self.all]
        want = collections.Counter()
        for frames, n in self.want.stacks:
            want[joined(frames)[-1][1]] += n
        got = collections.Counter()
        for name, costs in own.items():
            got[re.sub(r" \[.*\]$", "", name.decode())] += costs[0]
        assert got == want

    def slices(self, rng):
        """A tag chooses the same samples with and without inlined functions."""
        names = sorted({those[0][1] for frames, _ in self.want.stacks for those in frames
                        if not isinstance(those[0][0], str)})
        for tag in ["symbol", "through", "callers", "exclude-symbols"] * 4:
            name = rng.choice(names)
            word = "%s:%s" % (tag, exports.encoded(name.encode()))
            sums = []
            for words in ([word], ["with:inlines", word], [word, "with:inlines"]):
                try:
                    folded = self.cat(*words, "stacks.folded").decode().splitlines()
                except AssertionError as e:  # nothing of it: then with none of both
                    assert b"no s" in e.args[0][1], e
                    sums.append(0)
                    continue
                tsv = self.cat(*words, "report.tsv").decode().splitlines()[1:]
                n = sum(int(x.rsplit(" ", 1)[1]) for x in folded)
                assert n == sum(int(x.split("\t")[4]) for x in tsv), words
                sums.append(n)
            assert len(set(sums)) == 1, (word, sums)


def check(opfs, where, program, tool, seed, same=None):
    want = Expected(where + ".json", program, tool, same or program)
    checker = Checker(opfs, where, want)
    inlined = checker.folded()
    checker.rows()
    checker.children()
    checker.tree()
    checker.pprof()
    checker.callgrind()
    checker.slices(random.Random(int(seed)))
    deepest = max(len(c) for c in want.chains.values())
    print("%d addresses, %d stacks with inlined functions, %d deep" %
          (len(want.chains), inlined, deepest))


if __name__ == "__main__":
    {"make": make, "check": check}[sys.argv[1]](*sys.argv[2:])
