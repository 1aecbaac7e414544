#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks paths.txt.  usage: check.py OPFS SESSION_DIR TOP"""
import importlib.util
import os
import re
import subprocess
import sys

OPFS, DATA, TOP = sys.argv[1:4]
HERE = os.path.dirname(os.path.abspath(__file__))
sys.argv = ["session.py", TOP, "ls"]
spec = importlib.util.spec_from_file_location("session", HERE + "/session.py")
session = importlib.util.module_from_spec(spec)
sys.stdout.flush()
keep, sys.stdout = sys.stdout, open(os.devnull, "w")
spec.loader.exec_module(session)
sys.stdout = keep
KNOWN = {n: 1 << i for i, (n, _) in enumerate(session.NAMES)}
KNOWN["everything"] = (1 << len(KNOWN)) - 1
ERRNO = {"ENOENT": 2, "EINVAL": 22}
INVALID = ["not a number", "%00", "not a percentage", "unknown; there are",
           "needs a value", "isn't a directory", "an absolute path is needed"]
bad = 0
count = 0


def fail(path, why, got):
    global bad
    bad += 1
    print("%s: %s\n%s" % (path[:300], why, got[:1000]))


def why(path):
    done = subprocess.run([OPFS, "why", "--session-dir", DATA, path],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout.decode("utf-8", "surrogateescape")


def check(path, want):
    status, got = why(path)
    if want.startswith("REFUSED "):
        if status != 1 or "cannot be opened" not in got or want[8:] not in got:
            fail(path, "should be refused: " + want[8:], got)
        return
    if want.startswith("!"):
        _, errno, *text = want.split(" ", 2)
        if status != 1:
            fail(path, "should not exist", got)
        elif text and text[0] not in got:
            fail(path, "no word of: " + text[0], got)
        elif (errno == "EINVAL") != any(word in got for word in INVALID):
            fail(path, "should be " + errno, got)
        return
    if status:
        return fail(path, "should exist", got)
    if want.startswith("BASE "):
        got = got.partition("compared with\n")[2]
        if want[5:] not in " ".join(got.split()):
            fail(path, "is not compared with " + want[5:], got)
        return
    kinds = {"MORE": "the slow files", "ENTRIES": "a directory of a report",
             "PREFIX": "the beginning of a path", "VALUES": "the values of a tag",
             "LINK-OR-VALUES": "the values of a tag"}
    if want in kinds:
        if kinds[want] not in got:
            fail(path, "is no " + want, got)
        return
    if want.startswith("FILE"):
        if "file               " + want[5:] + ":" not in got:
            fail(path, "is no file " + want[5:], got)
        return
    mask = 0
    for word in want.split():
        mask = mask & ~KNOWN[word[1:]] if word[0] == "-" else mask | KNOWN[word]
    samples = int(re.search(r"samples +(\d+) of", got).group(1))
    if samples != mask:
        names = [n for n in KNOWN if n != "everything"]
        fail(path, "missing %s, too much %s" % (
            [n for n in names if KNOWN[n] & mask & ~samples],
            [n for n in names if KNOWN[n] & samples & ~mask]), got)


for line in open(HERE + "/paths.txt"):
    line = line.rstrip("\n")
    if not line or line.startswith("#"):
        continue
    path, want = line.split(" -> ")
    path = path.replace("@T@", TOP).replace("@N255@", "n" * 255)
    path = path.replace("@N4000@", session.LONG)
    count += 1
    check(path, want)
print("%d paths, %d of them wrong" % (count, bad))
sys.exit(bad != 0 or count < 60)
