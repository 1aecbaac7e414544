#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Sessions made at random, paths of selecting tags in them, and what each has to select.

usage: select_paths.py make SEED N              prints what mksession.py takes
       select_paths.py check OPFS DIR SEED N    compares the summaries of all paths with a
                                                second implementation

A specification is shuffled three times; the summary of each beginning of the first order
has to have the totals that the second implementation finds, and no more samples than that
of one tag less; the other orders have to give the same text.  It shares no code with
opfs.
"""
import fnmatch
import json
import os
import random
import subprocess
import sys

APPS = ["/usr/bin/ls", "/usr/bin/make", "/opt/x/ls", "/opt/tool"]
LIBS = ["/usr/lib/libc.so.6", "/usr/lib/libm.so.6", "/opt/x/libx.so", "kern:ext4",
        "kern:no-vmlinux", "anon:[vdso]:10:7000:7fff", "anon:[heap]:11:1000:1fff"]
EVENTS = [("CPU_CLK_UNHALTED", 100000, 0), ("CPU_CLK_UNHALTED", 90000, 0),
          ("LLC_MISSES", 6000, 65), ("LLC_MISSES", 6000, 1), ("BR_INST", 500, 0)]
SPECS = 40                 # in each session
NAMED = ["", "image", "lib-image", "image-exclude", "lib-image-exclude"]


def random_file(rng, session):
    app = rng.choice(APPS)
    image = rng.choice([app, rng.choice(LIBS), rng.choice(LIBS), rng.choice(APPS)])
    event, count, um = rng.choice(EVENTS)
    tgid, tid, cpu = rng.choice([("all",) * 3, (rng.randint(10, 12), rng.randint(10, 15),
                                               rng.choice(["all", 0, 1]))])
    return {"session": session, "app": app, "image": image, "event": event,
            "count": count, "um": um, "tgid": tgid, "tid": tid, "cpu": cpu,
            "kernel": image.startswith("kern:"),
            "samples": {"0x1000": rng.randint(1, 999)}}


def random_session(rng, number):
    files = {}
    for _ in range(rng.choice([1, 5, 30])):
        f = random_file(rng, "s%d" % number)
        files[json.dumps({k: v for k, v in f.items() if k != "samples"})] = f
    return list(files.values())


# ---- the second implementation

def names(image):
    """(how it is shown, what it is called alone)"""
    if image.startswith("kern:"):
        return "/" + image[5:], image[5:]
    if image.startswith("anon:"):
        label, tgid, low, high = image[5:].rsplit(":", 3)
        return "%s (tgid:%s range:0x%s-0x%s)" % (label, tgid, low, high), label
    return image, os.path.basename(image)


def means(item, image, session):
    """Does one item of a list mean the image?  What is called exactly so comes first."""
    shown, alone = names(image)
    known = {n for f in session for i in (f["app"], f["image"]) for n in names(i)}
    if item in known:
        return item in (shown, alone)
    if item == "{kern}":
        return image.startswith("kern:")
    return fnmatch.fnmatchcase(shown if "/" in item else alone, item)


def matches(tag, items, f, session):
    def meant(image):
        return any(means(i, image, session) for i in items)
    rules = {"": lambda: meant(f["app"]) or meant(f["image"]),
             "image": lambda: meant(f["app"]),
             "lib-image": lambda: meant(f["image"]),
             "image-exclude": lambda: not meant(f["app"]) and not meant(f["image"]),
             "lib-image-exclude": lambda: not meant(f["image"]),
             "unit-mask": lambda: f["um"] in [int(i, 0) for i in items]}
    if tag in rules:
        return rules[tag]()
    return str(f[tag]) in items


def totals(words, session):
    """The samples of each column, in the order of columns."""
    sums = {}
    for f in session:
        if all(matches(tag, items, f, session) for tag, items in words):
            column = f["um"], f["event"], str(f["count"])
            sums[column] = sums.get(column, 0) + sum(f["samples"].values())
    return [sums[column] for column in sorted(sums)]


# ---- paths

def random_item(rng, session, tag):
    f = rng.choice(session)
    if tag not in NAMED:
        return str(f["um" if tag == "unit-mask" else tag])
    shown, alone = names(rng.choice([f["app"], f["image"]]))
    like = [alone, alone, shown]
    if shown.startswith("/"):
        like += [alone[:2] + "*", "/*" + alone[-3:]]
    if any(f["kernel"] for f in session):
        like.append("{kern}")
    return rng.choice(like)


def random_words(rng, session):
    """A specification: [(tag, items)]"""
    tags = NAMED + ["event", "count", "unit-mask", "tgid", "tid", "cpu"]
    words = []
    for tag in rng.sample(tags, rng.choice([1, 2, 2, 3, 4])):
        items = [random_item(rng, session, tag) for _ in range(rng.choice([1, 1, 2]))]
        if "all" not in items:
            words.append((tag, items))
    return words


def spelled(tag, items):
    # what is escaped is no wildcard, and no slash may be plain
    text = ",".join(i.replace("/", "%2F") for i in items)
    return (tag + ":" if tag else "") + text


def path_of(session, words):
    return "/".join([session[0]["session"]] + [spelled(*w) for w in words] + ["summary"])


def is_plain(words):
    """Not where a name would be a part of the pattern before it: image:*/NAME"""
    return not any(b[0] == "" and a[0] in NAMED and "*" in a[1][-1]
                   for a, b in zip(words, words[1:]))


def orders(rng, words):
    out = []
    while len(out) < 3:
        rng.shuffle(words)
        if not is_plain(words):
            words.sort(key=lambda w: w[0] != "")
        out.append(list(words))
    return out


# ---- what opfs says

def cat(opfs, where, paths):
    """The texts of files, which all exist, or what is wrong."""
    done = subprocess.run([opfs, "cat", "--session-dir", where] + paths,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return ["CPU:" + text for text in done.stdout.split("CPU:")[1:]], done.stderr


def read_totals(text, columns):
    sums = [0] * columns
    rows = text.split("-\n", 1)[1].splitlines()
    for row in rows:
        if not row.startswith("\t"):
            for c, number in enumerate(row.split()[0:2 * columns:2]):
                sums[c] += int(number)
    return sums


class Checker:
    def __init__(self, opfs, where):
        self.opfs, self.where, self.bad, self.paths = opfs, where, 0, 0

    def expect(self, right, why):
        if not right:
            self.bad += 1
            print(why)

    def check_spec(self, rng, session):
        first, *others = orders(rng, random_words(rng, session))
        beginnings = [first[:n] for n in range(len(first) + 1)]
        wants = [totals(words, session) for words in beginnings]
        there = [path_of(session, w) for w, want in zip(beginnings, wants) if want]
        more = [path_of(session, w) for w in others]
        texts, said = cat(self.opfs, self.where, there + (more if wants[-1] else []))
        self.paths += len(texts)
        self.expect(not said, said)
        before = None
        for path, want, text in zip(there, [w for w in wants if w], texts):
            got = read_totals(text, len(want))
            self.expect(got == want, "%s: %s instead of %s" % (path, got, want))
            self.expect(before is None or sum(got) <= before, "%s: enlarges" % path)
            before = sum(got)
        for path, text in zip(more if wants[-1] else [], texts[len(there):]):
            self.expect(text == texts[len(there) - 1],
                        path + ": another order, another text")
        gone = [path_of(session, w) for w, want in zip(beginnings, wants) if not want]
        if gone:
            texts, said = cat(self.opfs, self.where, gone + more)
            self.expect(not texts and said.count("\n") >= len(gone + more),
                        "%s: should not exist\n%s" % (gone, said))


def main():
    rng = random.Random(int(sys.argv[-2]))
    sessions = [random_session(rng, i) for i in range(int(sys.argv[-1]))]
    if sys.argv[1] == "make":
        return print(json.dumps([f for session in sessions for f in session]))
    checker = Checker(sys.argv[2], sys.argv[3])
    for session in sessions:
        for _ in range(SPECS):
            checker.check_spec(rng, session)
    print("%d paths, %d wrong" % (checker.paths, checker.bad))
    return checker.bad != 0 or checker.paths < 500


if __name__ == "__main__":
    sys.exit(main())
