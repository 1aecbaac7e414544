#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Sessions of random stacks, and slices of them, against a second implementation.

usage: stack_slices.py source NAME                C of a program or library NAME
       stack_slices.py make SEED DIR              what mksession.py takes
       stack_slices.py check SEED DIR MOUNT NR    compares NR slices in a mount

DIR holds the binaries "one", "two" and "libdo.so", made of such sources.  Every file of a
slice is computed here from the stacks that "make" made up, and compared as a whole, or by
what it adds up to.  It shares no code with opfs.
"""
import collections
import json
import os
import random
import re
import subprocess
import sys

NAMES = {"one": ["main", "run", "step", "twice"], "two": ["main", "work", "twice"],
         "libdo.so": ["do_it", "twice", "sort", "report"]}
EVENTS = ["CYCLES", "TIMER"]
KERNEL = "kern:ext4"                       # without symbols
BARE = "[truncated: recorded without a stack]"
ENDS = {3: "[truncated: no mapping]", 5: "[truncated: depth limit]", 7: "[unknown frame]"}


def source(name):
    return "".join("int %s(void) { static volatile int n; return n++; }\n" % f
                   for f in NAMES[name])


# ---- stacks

class Binaries:
    """Where functions are in their files."""
    def __init__(self, where):
        self.at = {}
        for name in NAMES:
            path = os.path.join(where, name)
            nm = subprocess.run(["nm", path], stdout=subprocess.PIPE, check=True)
            for line in nm.stdout.decode().splitlines():
                words = line.split()
                if len(words) == 3 and words[2] in NAMES[name]:
                    self.at[path, words[2]] = int(words[0], 16)

    def functions(self, path):
        return [f for p, f in self.at if p == path]


def random_frame(rng, binaries, where, app):
    if rng.random() < 0.05:
        return None, ENDS[7]
    path = rng.choice([app, app, os.path.join(where, "libdo.so")])
    return path, rng.choice(binaries.functions(path))


def random_stack(rng, binaries, where, app, image):
    stack = []
    if rng.random() < 0.2:
        stack.append((None, ENDS[rng.choice([3, 5])]))
    for _ in range(rng.choice([0, 1, 1, 2, 3, 4, 8])):
        stack.append(random_frame(rng, binaries, where, app))
    leaf = (image, "[ext4]" if image == KERNEL else
            rng.choice(binaries.functions(image)))
    return tuple(stack) + (leaf,)


def random_files(seed, where):
    """(app, image, event, {stack: samples}); some of the last stack are not stored."""
    rng = random.Random(seed)
    binaries = Binaries(where)
    for name in "one", "two":
        app = os.path.join(where, name)
        for image in app, os.path.join(where, "libdo.so"), KERNEL:
            for event in EVENTS:
                stacks = collections.Counter()
                for _ in range(rng.choice([1, 5, 40])):
                    stack = random_stack(rng, binaries, where, app, image)
                    stacks[stack] += rng.randint(1, 50)
                if rng.random() < 0.3:
                    stacks[(None, BARE), stack[-1]] += 7
                yield app, image, event, stacks


def described(seed, where):
    """The same for mksession.py."""
    rng = random.Random(seed + 1)
    binaries = Binaries(where)
    numbers = {text: number for number, text in ENDS.items()}

    def frame(path, name, last):
        if path is None:
            return "#%d" % numbers[name]
        start = binaries.at.get((path, name), 0x1000)
        # a return address may be the first byte behind a call
        return "%s@%#x" % (path, start + (0 if last else rng.choice([1, 4])))

    files = []
    for app, image, event, stacks in random_files(seed, where):
        rows, flat = [], collections.Counter()
        for stack, samples in stacks.items():
            flat[frame(*stack[-1], True).rsplit("@", 1)[1]] += samples
            if stack[0][1] != BARE:
                rows.append([[frame(p, n, i == len(stack) - 1)
                              for i, (p, n) in enumerate(stack)], samples])
        files.append({"app": app, "image": image, "event": event, "count": 1000,
                      "kernel": image == KERNEL, "stacks": rows, "samples": flat})
    total = sum(sum(f["samples"].values()) for f in files)
    return {"files": files, "live": [1, 1700000000 * 10**9, "closed"],
            "stats": {"total_samples": total, "stored_samples": total,
                      "total_stacks": sum(s for f in files for _, s in f["stacks"])}}


# ---- slices, and what is in them

class Slice:
    def __init__(self, rng, files):
        self.words, tests = [], []
        self.event = rng.choice(EVENTS)
        self.give("event", self.event, tests, lambda f, s: f[2] == self.event)
        if rng.random() < 0.4:
            app = rng.choice(files)[0]
            self.give("image", os.path.basename(app), tests, lambda f, s: f[0] == app)
        if rng.random() < 0.3:
            image = rng.choice(files)[1]
            short = image[5:] if image == KERNEL else os.path.basename(image)
            self.give("lib-image", short, tests, lambda f, s: f[1] == image)
        some = rng.choice(list(rng.choice(files)[3]))
        self.by_stack(rng, [name for _, name in some], tests)
        if rng.random() < 0.3:
            leaf = some[-1][1]
            self.give("symbol", "%2Fext4" if leaf == "[ext4]" else leaf, tests,
                      lambda f, s: s[-1][1] == leaf)
        rng.shuffle(self.words)
        self.tests = tests

    def give(self, tag, value, tests, test):
        self.words.append("%s:%s" % (tag, value))
        tests.append(test)

    def by_stack(self, rng, names, tests):
        kind = rng.choice(["calls", "callers", "through", None])
        nr = rng.randint(1, len(names))
        if kind == "calls":
            part = [Named(rng, n) for n in names[:nr]]
            test = lambda f, s: begins(s, part)
        elif kind == "callers":
            part = [Named(rng, n) for n in names[::-1][:nr]]
            test = lambda f, s: begins(s[::-1], part)
        elif kind == "through":
            first = rng.randrange(len(names))
            part = [Named(rng, n) for n in names[first:first + nr]]
            test = lambda f, s: passes(s, part)
        else:
            return
        self.give(kind, "/".join(n.text for n in part), tests, test)

    def stacks(self, files):
        """{stack: samples}"""
        out = collections.Counter()
        for f in files:
            for stack, samples in f[3].items():
                if all(test(f, stack) for test in self.tests):
                    out[stack] += samples
        return out


class Named:
    """A component of a call tree's value, which means the function, or others as well."""
    def __init__(self, rng, name):
        kind = rng.choice(["name"] * 4 + ["list", "pattern", "any"])
        if kind == "list":
            other = rng.choice(["sort", "report", "[ext4]", "nobody"])
            self.text = ",".join(rng.sample([listed(name), listed(other)], 2))
            self.means = lambda n: n in (name, other)
        elif kind == "pattern":
            self.text = listed(name[0]) + "*"
            self.means = lambda n: n.startswith(name[0])
        elif kind == "any":
            self.text = "*"
            self.means = lambda n: True
        else:
            self.text = listed(name)
            self.means = lambda n: n == name


def begins(stack, part):
    return len(stack) >= len(part) and all(p.means(n) for p, (_, n) in zip(part, stack))


def passes(stack, part):
    """Do the functions follow the outermost one that the first of them means?"""
    for at, (_, name) in enumerate(stack):
        if part[0].means(name):
            return begins(stack[at:], part)
    return False


def listed(name):
    if name in ("sort", "report"):
        return "%%%02X%s" % (ord(name[0]), name[1:])
    return name.replace("[", "%5B")


# ---- files of a slice

def read(mount, words, name):
    path = os.path.join(mount, "current", *words, name)
    try:
        with open(path, encoding="utf-8") as f:
            return f.read()
    except OSError as e:
        return "%s: %s" % (path, e.strerror)


def rows(text, columns):
    """Of a table: the numbers of each row, and its last words."""
    for line in text.splitlines():
        words = line.split(None, columns)
        if words and words[0].isdigit():
            yield [float(w) for w in words[:columns]], words[columns]


def short(path):
    return "-" if path is None else "ext4" if path == KERNEL else os.path.basename(path)


def tree_of(stacks, inverted):
    """{path of functions: [total, self]}, functions with their images."""
    out = collections.defaultdict(lambda: [0, 0])
    for stack, samples in stacks.items():
        path = tuple((short(p), n) for p, n in (stack[::-1] if inverted else stack))
        for i in range(1, len(path) + 1):
            out[path[:i]][0] += samples
        out[path][1] += samples
    return dict(out)


def tree_in(text):
    out, path = {}, []
    for (total, _, own, _), rest in rows(text, 4):
        image, function = rest.split(None, 1)
        name = function.lstrip(".")
        path[len(function) - len(name):] = [(image, name)]
        out[tuple(path)] = [int(total), int(own)]
    return out


def children_of(stacks):
    """{name of function: [total, self]}, of the functions that are called so."""
    out = collections.defaultdict(lambda: [0, 0])
    for stack, samples in stacks.items():
        for _, name in {frame for frame in stack if frame[0]}:
            out[name][0] += samples
        if stack[-1][0]:
            out[stack[-1][1]][1] += samples
    return dict(out)


def children_in(text):
    """The same of "report"; several applications have rows of their own."""
    out = collections.defaultdict(lambda: [0, 0])
    for (total, _, own, _), rest in rows(text, 4):
        name = rest.split()[-1]
        name = "[ext4]" if name == "/ext4" else name
        out[name][0] += int(total)
        out[name][1] += int(own)
    return dict(out)


def folded_of(stacks):
    out = collections.Counter()
    for stack, samples in stacks.items():
        out[";".join(n + ("_[k]" if p == KERNEL else "") for p, n in stack)] += samples
    return dict(out)


def folded_in(text):
    return {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1])
            for line in text.splitlines()}


def drawn_in(text):
    """Samples of the frame that stands for all."""
    found = re.search(r"<title>all \(?[^0-9<]*([0-9,]+) samples?", text)
    return int(found.group(1).replace(",", "")) if found else text[:200]


def disk_usage(path):
    done = subprocess.run(["du", "-B512", "-s", path], stdout=subprocess.PIPE)
    return int(done.stdout.split()[0]) if done.returncode == 0 else None


class Checker:
    def __init__(self, mount):
        self.mount, self.wrong = mount, 0

    def same(self, what, words, want, got):
        if want != got:
            self.wrong += 1
            print("%s/%s:\n  want %.500s\n  got  %.500s" % ("/".join(words), what,
                                                          want, got))

    def slice(self, words, stacks):
        total = sum(stacks.values())
        plain = words + ["threshold:0"]
        for name, inverted in (("calltree", False), ("callertree", True)):
            self.same(name, words, tree_of(stacks, inverted),
                      tree_in(read(self.mount, plain, name)))
        report = read(self.mount, words, "report")
        self.same("report", words, total,
                  sum(int(n[0]) for n, _ in rows(report, 2)))
        chosen = any(w.startswith("symbol:") for w in words)
        if not chosen:
            self.same("with:children/report", words, children_of(stacks),
                      children_in(read(self.mount, words + ["with:children"],
                                       "report")))
        self.same("stacks.folded", words, folded_of(stacks),
                  folded_in(read(self.mount, words + ["more:"], "stacks.folded")))
        self.same("flamegraph.svg", words, total,
                  drawn_in(read(self.mount, words, "flamegraph.svg")))
        for tag in "calls:", "callers:":
            if not any(w.startswith(tag) for w in words):
                path = os.path.join(self.mount, "current", *words, tag)
                self.same("du " + tag, words, total, disk_usage(path))
        path = os.path.join(self.mount, "current", *words)
        self.same("size", words, total, os.stat(path).st_size)
        if words[-1].split(":")[0] in ("calls", "callers", "through"):
            self.same("du", words, total, disk_usage(path))


def check(seed, where, mount, nr):
    rng = random.Random(seed + 2)
    files = list(random_files(seed, where))
    checker = Checker(mount)
    done = 0
    while done < nr:
        s = Slice(rng, files)
        stacks = s.stacks(files)
        if stacks:
            checker.slice(s.words, stacks)
            done += 1
    print("%d slices, %d differences" % (done, checker.wrong))
    return checker.wrong != 0


def main():
    what, args = sys.argv[1], sys.argv[2:]
    if what == "source":
        print(source(args[0]))
    elif what == "make":
        json.dump(described(int(args[0]), args[1]), sys.stdout)
    else:
        sys.exit(check(int(args[0]), args[1], args[2], int(args[3])))


if __name__ == "__main__":
    main()
