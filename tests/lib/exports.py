#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Files made from whole stacks, read by the tools that they are for, against what a
second implementation finds in the session's own files.

usage: exports.py hostile BINARY         gives functions of BINARY, "Q0___", hostile names
       exports.py make SEED PROGRAM...   prints what mksession.py takes
       exports.py check OPFS DIR SEED N [read]   checks N slices made at random, or the
                                         whole; with read, by pprof and
                                         callgrind_annotate too, through files here
"""
import ast
import collections
import gzip
import json
import os
import random
import re
import subprocess
import sys

import stackread

HOSTILE = [b"semi;colon;s", b"two\nlines 5", b"\xff\xfe bad \x80 \xc3(", b"(1)",
           b"(2) two", b"100%s%n", b"  spaces around  ", b"calls=5 0x10", b"fn=(3) fn",
           b"ends in 12",
           b"tab\tand\x1b[31m", "é € \u0085".encode(), b"[all]", b"x" * 5000]
EVENTS = [("CPU_CLK_UNHALTED", 100000, 0), ("LLC_MISSES", 6000, 65),
          ("LLC_MISSES", 6000, 1)]
Slice = collections.namedtuple("Slice", "words keeps")


def hostile(path):
    with open(path, "rb") as f:
        data = f.read()
    for i, name in enumerate(HOSTILE):
        old = b"\0" + placeholder(i) + b"\0"
        assert data.count(old) == 1, (i, data.count(old))
        data = data.replace(old, b"\0" + name + b"\0")
    with open(path, "wb") as f:
        f.write(data)


def placeholder(i):
    return (b"Q%x" % i).ljust(len(HOSTILE[i]), b"_")


# ---- sessions

def random_frame(rng, pool):
    image, lo, hi = rng.choice(pool)
    return "%s@%#x%s" % (image, rng.randrange(lo, hi), rng.choice(["", "", "", "!"]))


def make(seed, programs):
    rng, pool, files = random.Random(seed), [], []
    for path in programs:
        elf = stackread.Symbols(path)
        offs = {vma: vma - (v - o) for vma, _, _ in elf.functions
                for o, v, n in elf.loads if v <= vma < v + n}
        pool += [(path, offs[vma], offs[vma] + size)
                 for vma, size, name in elf.functions
                 if not name.startswith((b"_", b"frame_", b"register", b"deregister"))]
    pool += [("kern:no-vmlinux", 0x100, 0x200), ("/gone/lib.so", 0x10, 0x20)]
    for app in programs:
        for event, count, um in EVENTS:
            for cpu in ("all",) if um == 1 else (0, 1):
                stacks = collections.defaultdict(list)
                for _ in range(25):
                    frames = [random_frame(rng, pool) for _ in range(rng.randint(1, 9))]
                    if rng.random() < .2:
                        frames.insert(0, "#%d" % rng.randint(1, 8))
                    if rng.random() < .1:
                        frames.insert(rng.randrange(len(frames)), "#7")
                    leaf = frames[-1].split("@")[0]
                    frames[-1] = frames[-1].rstrip("!")
                    stacks[leaf].append([frames, rng.randint(1, 999)])
                for image, those in stacks.items():
                    files.append({"app": app, "image": image, "event": event, "um": um,
                                  "count": count, "cpu": cpu, "tgid": 7, "tid": 7,
                                  "stacks": those, "kernel": image.startswith("kern:")})
    json.dump({"files": files}, sys.stdout)


# ---- slices

def encoded(name):
    return "".join(chr(c) if chr(c).isalnum() else "%%%02X" % c for c in name)


def random_word(rng, files, names):
    f = rng.choice(files)
    tag = rng.choice(["image", "lib-image", "cpu", "symbol", "exclude-symbols",
                      "include-symbols"])
    if tag in ("image", "lib-image"):
        field = "app" if tag == "image" else "image"
        return ("%s:%s" % (tag, encoded(f[field])),
                lambda g, leaf: g[field] == f[field])
    if tag == "cpu":
        return "cpu:%s" % ("all" if f["cpu"] is None else f["cpu"]), \
            lambda g, leaf: g["cpu"] == f["cpu"]
    plain = sorted({n for g in files for s, _ in g["stacks"]
                    for n in [names.symbol(s[-1])] if n and n.isalnum() and len(n) < 99})
    some = rng.sample(plain, rng.choice([1, 2, 3]))
    return ("%s:%s" % (tag, ",".join(n.decode() for n in some)),
            lambda g, leaf: (leaf in some) != tag.startswith("exclude"))


def random_slice(rng, files, names):
    f = rng.choice(files)
    event = "event:%s/unit-mask:%d" % (f["event"].decode(), f["unit_mask"])
    chosen = [(event, lambda g, leaf: (g["event"], g["unit_mask"]) ==
               (f["event"], f["unit_mask"]))]
    tags = set()
    for _ in range(rng.choice([0, 1, 1, 2])):
        word, keeps = random_word(rng, files, names)
        if word.split(":")[0] not in tags:
            tags.add(word.split(":")[0])
            chosen.append((word, keeps))
    return Slice([w for w, _ in chosen],
                 lambda g, leaf: all(keeps(g, leaf) for _, keeps in chosen))


def rows_of(files, slice_, names):
    """(file, frames, samples) of a slice."""
    return [(f, s, n) for f in files for s, n in f["stacks"]
            if slice_.keeps(f, names.symbol(s[-1]))]


# ---- what is expected

def cleaned(name, also=()):
    """The name in formats that have no escapes."""
    out = b""
    for raw, c in stackread.characters(name):
        bad = c is None or stackread.is_control(raw, c) or raw in also
        out += b"_" * len(raw) if bad else raw
    inner = out.strip(b" ")
    return b"_" * (len(out) - len(out.lstrip(b" "))) + inner + \
        b"_" * (len(out) - len(out.rstrip(b" ")))


def folded_wanted(rows, names):
    want = collections.Counter()
    for _, frames, n in rows:
        want[b";".join(cleaned(names.function(x), [b";"]) + b"_[k]" * x.kernel
                       for x in frames)] += n
    return want


def columns_of(rows):
    """Columns, in order; the format of a name."""
    found = sorted({(f["unit_mask"], f["event"], f["count"]) for f, _, _ in rows})
    twins = collections.Counter(c[1] for c in found)

    def name(c):
        if twins[c[1]] == 1:
            return c[1].decode()
        return "%s:%d" % (c[1].decode(), c[2]) + (":0x%02x" % c[0] if c[0] else "")
    return found, [name(c) for c in found]


def pprof_wanted(rows, columns, names):
    """(frames as (name, system name, address, mapping, build-id), labels) -> values"""
    want = {}
    for f, frames, n in rows:
        key = tuple((cleaned(names.function(x)), names.address(x),
                     cleaned(x.image) if x.image else b"",
                     names.symbols(x.image).build_id if x.image else "")
                    for x in reversed(frames))
        labels = tuple((k, f[k]) for k in ("cpu", "tgid", "tid") if f[k] is not None)
        values = want.setdefault((key, labels), [0] * len(columns))
        values[columns.index((f["unit_mask"], f["event"], f["count"]))] += n
    return want


def callgrind_names(rows, names):
    """A function's name in callgrind.out: with its image if that is not the only one."""
    images = collections.defaultdict(set)
    for _, frames, _ in rows:
        for x in frames:
            images[cleaned(names.function(x))].add(x.image)
    images[b"[all]"].add(None)

    def name(frame):
        plain = cleaned(names.function(frame))
        if len(images[plain]) > 1:
            return plain + b" [%s]" % (cleaned(frame.image) if frame.image else b"???")
        return plain
    return name, b"[all] [???]" if len(images[b"[all]"]) > 1 else b"[all]"


# ---- what the files say

def parse_text(text):
    """protoc's text format as lists of values by key."""
    top = collections.defaultdict(list)
    open_ = [top]
    for line in text.split(b"\n"):
        line = line.strip(b" ")
        if line.endswith(b"{"):
            inner = collections.defaultdict(list)
            open_[-1][line[:-2].decode()].append(inner)
            open_.append(inner)
        elif line == b"}":
            open_.pop()
        elif line:
            key, value = line.split(b": ", 1)
            if value[:1] == b'"':
                value = ast.literal_eval("b" + value.decode())
            else:
                value = {b"true": 1}.get(value) or int(value)
            open_[-1][key.decode()].append(value)
    return top


def only(message, key, default=0):
    return message[key][0] if message[key] else default


def pprof_by_protoc(packed):
    here = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run(["protoc", "--decode=Profile", "-I", here,
                           here + "/profile.proto"], input=gzip.decompress(packed),
                          stdout=subprocess.PIPE, check=True)
    p = parse_text(done.stdout)
    text = p["string_table"]
    assert text[0] == b"" and len(set(text)) == len(text)
    mappings = {m["id"][0]: m for m in p["mapping"]}
    functions = {f["id"][0]: f for f in p["function"]}
    frames = {}
    for loc in p["location"]:
        m = mappings.get(only(loc, "mapping_id"), collections.defaultdict(list))
        f = functions[loc["line"][0]["function_id"][0]]
        assert len(loc["line"]) == 1 and f["system_name"]
        frames[loc["id"][0]] = (text[only(f, "name")], only(loc, "address"),
                                text[only(m, "filename")],
                                text[only(m, "build_id")].decode())
    got = {}
    for s in p["sample"]:
        labels = tuple(sorted((text[x["key"][0]].decode(), only(x, "num"))
                              for x in s["label"]))
        key = tuple(frames[i] for i in s["location_id"]), labels
        assert key not in got
        got[key] = s["value"]
    return [text[t["type"][0]].decode() for t in p["sample_type"]], got


def pprof_by_go(path):
    done = subprocess.run(["go", "tool", "pprof", "-raw", path], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    samples, places = done.stdout.split(b"\nSamples:\n")[1].split(b"\nLocations\n")
    names = {}
    for line in places.split(b"\nMappings\n")[0].split(b"\n"):
        at = re.fullmatch(rb" *(\d+): 0x([0-9a-f]+) (?:M=\d+ )?(.*) :0(?::0)? s=0", line)
        assert at, line
        names[at[1]] = at[3]
    kinds, *lines = samples.split(b"\n")
    got = collections.Counter()
    for line in lines:
        if re.match(rb" *[a-z]+:\[", line):
            continue
        values, path_ = line.split(b": ")
        stack = tuple(names[i] for i in path_.split())
        for kind, value in zip(kinds.split(), values.split()):
            got[kind.split(b"/")[0].decode(), stack] += int(value)
    return +got


def read_callgrind(data):
    """Own costs, and those of calls: by name, of each column."""
    self_, calls, tables, at = {}, {}, {"fn": {}, "ob": {}}, {}
    call = None

    def uncompressed(kind, value):
        m = re.fullmatch(rb"\((\d+)\)(?: (.*))?", value)
        if m[2] is not None:
            assert m[1] not in tables[kind]
            tables[kind][m[1]] = m[2]
        return tables[kind][m[1]]

    head, body = data.split(b"\nsummary:", 1)
    events = head.rsplit(b"\nevents: ", 1)[1].split()
    for event in events:
        assert re.fullmatch(rb"[A-Za-z_]\w*", event), event
    lines = body.split(b"\n")
    for line in lines[1:]:
        key, _, value = line.partition(b"=")
        if key in (b"fn", b"cfn"):
            at[key] = uncompressed("fn", value)
        elif key in (b"ob", b"cob"):
            uncompressed("ob", value)
        elif key == b"calls":
            call = at[b"cfn"]
        elif line.startswith(b"0x"):
            address, *costs = line.split(b" ")
            where = (at[b"fn"], call, int(address, 16)) if call else at[b"fn"]
            sums = (calls if call else self_).setdefault(where, [0] * len(events))
            for i, cost in enumerate(costs):
                sums[i] += int(cost)
            call = None
    assert lines[0].split() == lines[-2].split()[1:]
    return self_, calls, [int(n) for n in lines[0].split()]


def annotated(path, inclusive):
    done = subprocess.run(["callgrind_annotate", "--threshold=100", "--auto=no",
                           "--show-percs=no", "--inclusive=" + inclusive, path],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
    assert not done.stderr, done.stderr
    got = {}
    for line in done.stdout.split(b" file:function\n")[1].split(b"\n")[1:]:
        m = re.fullmatch(rb" *([\d, .]*\d|\.) +\?\?\?:(.*) \[.*?\]", line.rstrip(b" "))
        if m:
            got[m[2]] = [int(n.replace(b",", b"").replace(b".", b"0"))
                         for n in m[1].split()]
    return got


# ---- comparing

class Checker:
    def __init__(self, opfs, where, read):
        self.opfs, self.where, self.read = opfs, where, read
        self.names = stackread.Names()
        self.files = stackread.read(where)

    def cat(self, words, file):
        path = "/".join(["current", "demangle:none"] + words + [file])
        done = subprocess.run([self.opfs, "cat", "--session-dir", self.where, path],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert not done.returncode, (path, done.stderr)
        return done.stdout

    def keep(self, name, data):
        with open(name, "wb") as f:
            f.write(data)
        return name

    def check_folded(self, words, rows):
        got = self.cat(words, "stacks.folded")
        # as flamegraph.pl reads it
        lines = [re.fullmatch(rb"(.*)\s+?(\d+(?:\.\d*)?)", x)
                 for x in got.split(b"\n")[:-1]]
        assert all(lines) and all(b"" not in x[1].split(b";") for x in lines), got
        stacks = [x[1] for x in lines]
        assert stacks == sorted(set(stacks))
        assert {x[1]: int(x[2]) for x in lines} == folded_wanted(rows, self.names)

    def check_pprof(self, words, rows, columns, titles):
        packed = self.cat(words, "profile.pb.gz")
        assert packed == self.cat(words, "profile.pb.gz")
        types, got = pprof_by_protoc(packed)
        want = pprof_wanted(rows, columns, self.names)
        assert (types, got) == (titles, want), words
        if self.read:
            sums = collections.Counter()
            for (frames, _), values in want.items():
                for title, value in zip(titles, values):
                    sums[title, tuple(x[0] for x in frames)] += value
            assert pprof_by_go(self.keep("p.pb.gz", packed)) == +sums

    def callgrind_wanted(self, rows, columns, all_rows):
        name, outermost = callgrind_names(all_rows, self.names)
        self_, calls, inclusive = {}, {}, {}

        def add(sums, key, c, n):
            sums.setdefault(key, [0] * len(columns))[c] += n
        for f, frames, n in rows:
            c = columns.index((f["unit_mask"], f["event"], f["count"]))
            said, seen = [name(x) for x in frames], set()
            add(self_, said[-1], c, n)
            for i, called in enumerate(said):
                if called not in seen:
                    caller = (said[i - 1], called, self.names.address(frames[i - 1])) \
                        if i else (outermost, called, 0)
                    add(calls, caller, c, n)
                    add(inclusive, called, c, n)
                seen.add(called)
            add(inclusive, outermost, c, n)
        return self_, calls, inclusive

    def check_callgrind(self, words, rows, columns, all_rows):
        data = self.cat(words, "callgrind.out")
        self_, calls, inclusive = self.callgrind_wanted(rows, columns, all_rows)
        got = read_callgrind(data)
        assert got[0] == self_ and got[1] == calls, words
        assert got[2] == [sum(v[c] for v in self_.values()) for c in range(len(columns))]
        if not self.read:
            return
        path = self.keep("callgrind.out", data)

        def some(sums):
            return {k: v for k, v in sums.items() if any(v)}
        assert some(annotated(path, "no")) == some(self_), words
        assert some(annotated(path, "yes")) == some(inclusive), words

    def check_slice(self, slice_, one_event):
        rows = rows_of(self.files, slice_, self.names)
        if not rows:
            return 0
        files = [f for f in self.files
                 if any(slice_.keeps(f, leaf) for leaf in self.leaves(slice_))]
        all_rows = [(f, s, n) for f in files for s, n in f["stacks"]]
        columns, titles = columns_of(all_rows)
        total = sum(n for _, _, n in rows)
        tsv = self.cat(slice_.words, "report.tsv").split(b"\n")[1:-1]
        assert sum(int(x.split(b"\t")[4]) for x in tsv) == total, slice_.words
        if one_event:
            self.check_folded(slice_.words, rows)
        self.check_pprof(slice_.words, rows, columns, titles)
        self.check_callgrind(slice_.words, rows, columns, all_rows)
        return 1

    def leaves(self, slice_):
        return {self.names.symbol(s[-1]) for f in self.files for s, _ in f["stacks"]}


def check(opfs, where, seed, number, *read):
    checker, rng, done = Checker(opfs, where, bool(read)), random.Random(int(seed)), 0
    if not int(number):
        done = checker.check_slice(Slice([], lambda f, leaf: True), False)
        assert done == 1
    while done < int(number):
        slice_ = random_slice(rng, checker.files, checker.names)
        done += checker.check_slice(slice_, True)
    print("%d slices" % done)


if __name__ == "__main__":
    {"hostile": hostile, "check": check,
     "make": lambda seed, *programs: make(seed, programs)}[sys.argv[1]](*sys.argv[2:])
