#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Walks everything listed, as find does: does it exist, is it finite, does a value that
is listed stand for itself alone?  usage: walk.py OPFS SESSION_DIR"""
import re
import subprocess
import sys

OPFS, DATA = sys.argv[1:3]
bad = 0


def ls(path):
    done = subprocess.run([OPFS, "ls", "-l", "--session-dir", DATA, path],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        return fail(path, done.stderr.decode(errors="replace")) or []
    out = []
    for line in done.stdout.decode("utf-8", "surrogateescape").splitlines():
        kind, size, rest = line.split(None, 2)
        rest = rest[17:] if rest[0] != "-" else rest[17:]
        out.append((kind, int(size), rest.split(" -> ")[0]))
    return out


def fail(path, why):
    global bad
    bad += 1
    print("%s: %s" % (path, why))


def names_of(path, entries):
    names = [n for _, _, n in entries]
    if len(set(names)) != len(names):
        fail(path, "a name is listed twice")
    for n in names:
        n = re.sub("^(event|image):", "", n)
        if len(n.encode("utf-8", "surrogateescape")) > 200 or n.startswith("-"):
            fail(path, "lists " + n)


def walk(path, depth, nested):
    entries = ls(path)
    names_of(path, entries)
    own = [n for _, _, n in entries if not re.match("(event|image):", n)]
    if not nested and len(own) > 24:
        fail(path, "has %d entries" % len(own))
    if depth > 6:
        return fail(path, "too deep")
    total = 0
    for kind, size, name in entries:
        below = path + "/" + name
        if kind == "d":
            total += size
            if not size:
                fail(below, "holds no samples")
            walk(below, depth + 1, name in ("event", "image"))
        elif kind == "l":
            values = ls(below)
            names_of(below, values)
            if name in ("tgid", "tid", "cpu", "lib-image", "image", "count", "unit-mask"):
                check_parts(path, below, values, name)
    return total


KERNEL = ("no-vmlinux", "ext4", "vmlinux")


def check_parts(path, below, values, tag):
    """The parts add up to what has the field at all."""
    kernel = [s for _, s, n in values if n in KERNEL]
    # what all kernel images are called together, where no image is called so
    sizes = [s for _, s, n in values
             if (tag, n) != ("lib-image", "kernel") or path.startswith("/braces")]
    if len(sizes) < len(values) and sum(sizes) + sum(kernel) != sum(
            s for _, s, _ in values):
        fail(below, "kernel is not %s" % kernel)
    if len(sizes) < 1 or 0 in sizes:
        fail(below, "has empty values")
    above, name = path.rsplit("/", 1)
    whole = sum(s for k, s, n in ls(above) if n == name)
    if tag in ("lib-image", "image", "count", "unit-mask") and sum(sizes) != whole:
        fail(below, "adds up to %d, not %d" % (sum(sizes), whole))


for root in ("/current", "/braces"):
    walk(root, 0, False)
    for tag in ("event", "image"):
        if any(k == "d" and n == tag for k, _, n in ls(root)):
            whole = sum(s for k, s, n in ls("/") if n == root[1:])
            parts = sum(s for _, s, _ in ls(root + "/" + tag))
            if whole != parts:
                fail(root + "/" + tag, "adds up to %d, not %d" % (parts, whole))
sys.exit(bad != 0)
