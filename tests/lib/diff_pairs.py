#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Pairs of sessions made at random, and what a comparison of each has to say.

usage: diff_pairs.py make DIR SEED N     builds binaries in DIR/b*, prints what
                                         mksession.py takes: old0, new0, old1 ...
       diff_pairs.py expect DIR SEED N   prints the rows of all comparisons, sorted: pair,
                                         application, image, mangled symbol, samples,
                                         those of the older side; tabs between them

The second compares slowly, by lists alone, from binaries as readelf shows them.  It
shares no code with opfs.  With demangle:none, report.tsv has the same rows.
"""
import json
import os
import random
import re
import subprocess
import sys

TWINS = ["helper", "init"]
PLAIN = ["work", "walk", "_ZN3BoxD0Ev", "_ZN3BoxD1Ev", "_ZN3BoxD2Ev", "_ZN3BoxC1Ev",
         "_ZN3BoxC2Ev", "_Z3addii", "_Z3addll"]
NAMES = ["prog", "tool", "libone.so", "libtwo.so"]
BUILDS = ["b1", "b2"]


def functions(rng):
    """Lists of functions, a list for each object file: names may repeat in others."""
    objects = [[], [], []]
    for name in PLAIN:
        if rng.random() < 0.8:
            objects[rng.randrange(3)].append(name)
    for name in TWINS:
        for obj in rng.sample(objects, rng.randint(1, 3)):
            obj.append(name)
    for obj in objects:
        obj.append("_ZN4main4twin17h%016xE" % rng.getrandbits(64))
        obj.append("part.llvm.%d" % rng.getrandbits(40))
        rng.shuffle(obj)
    return objects


def build(path, objects):
    sources = []
    for i, names in enumerate(objects):
        sources.append("%s.%d.s" % (path, i))
        with open(sources[-1], "w") as f:
            f.write("\t.text\n")
            for name in names:
                f.write("\t.type\t%s, @function\n%s:\n\t.skip\t32, 0x90\n"
                        "\t.size\t%s, 32\n" % (name, name, name))
            f.write('\t.section\t.note.GNU-stack,"",@progbits\n')
    subprocess.run([os.environ.get("CC", "gcc"), "-shared", "-nostdlib", "-o", path] +
                   sources, check=True)


def readelf(*args):
    return subprocess.run(["readelf", "-W"] + list(args), check=True,
                          stdout=subprocess.PIPE, text=True).stdout


def symbols(path):
    """[(file offset, name)] of its functions, by offset."""
    loads = [[int(n, 16) for n in m] for m in re.findall(
        r"LOAD +(0x[0-9a-f]+) (0x[0-9a-f]+) 0x[0-9a-f]+ (0x[0-9a-f]+)",
        readelf("-l", path))]
    table = []
    for value, name in re.findall(r": ([0-9a-f]+) +\d+ FUNC +\w+ +\w+ +\d+ (\S+)",
                                  readelf("-s", path)):
        for off, vma, size in loads:
            if vma <= int(value, 16) < vma + size:
                table.append((int(value, 16) - vma + off, name))
    return sorted(set(table))


def path_of(top, where, name):
    return os.path.join(top, where, name)


def make_builds(top, rng):
    for where in BUILDS:
        os.makedirs(os.path.join(top, where))
        for name in NAMES:
            build(path_of(top, where, name), functions(rng))


def random_session(rng, top, tables, where):
    """{(app, image): {key: value}}, and images whose file is another one by now."""
    files, changed = {}, set()
    apps = rng.sample(["prog", "tool", "away"], rng.choice([1, 1, 2, 3]))
    tgid = rng.randint(1, 9)
    for app in apps:
        app = path_of(top, where, app)
        images = [app, path_of(top, where, "libone.so"), path_of(top, "b1", "libtwo.so"),
                  "anon:[heap]:%d:1000:1fff" % (tgid + apps.index(os.path.basename(app))),
                  "/nowhere/lib.so"]
        for image in rng.sample(images, rng.randint(1, len(images))):
            if image in tables:
                keys = [off + rng.randrange(32) for off, _ in rng.sample(
                    tables[image], rng.randint(1, 6))]
                if rng.random() < 0.1:
                    changed.add(image)
            else:
                keys = [rng.randrange(0x1000)]
            files[app, image] = {k: rng.randint(1, 50) for k in keys}
    return files, changed


def random_pair(rng, top, tables):
    return [random_session(rng, top, tables, rng.choice(BUILDS)) for _ in ("old", "new")]


def describe(name, session):
    files, changed = session
    return [{"session": name, "app": app, "image": image,
             "mtime": 1000 if image in changed else 0,
             "samples": {str(k): v for k, v in keys.items()}}
            for (app, image), keys in files.items()]


# ---- the comparison

def shown(image):
    if not image.startswith("anon:"):
        return image
    label, tgid, low, high = image[5:].rsplit(":", 3)
    return "%s (tgid:%s range:0x%s-0x%s)" % (label, tgid, low, high)


def stem(name):
    name = re.sub(r"\.llvm\.[0-9]+$", "", name)
    return re.sub(r"^(_ZN.*)17h[0-9a-f]{16}E$", r"\1", name)


def in_use(session):
    return {i for pair in session[0] for i in pair if not i.startswith("anon:")}


def pair_images(old, new):
    """{image of the older side: that of the newer}."""
    olds, news, pairs = in_use(old), in_use(new), {}

    def add(a, b):
        if a not in pairs and b not in pairs.values():
            pairs[a] = b

    for image in olds & news:
        add(image, image)
    apps = [{app for app, _ in side[0]} for side in (old, new)]
    if len(apps[0]) == len(apps[1]) == 1:
        add(*[min(a) for a in apps])
    for image in olds:
        like = [[i for i in side if os.path.basename(i) == os.path.basename(image)]
                for side in (olds, news)]
        if len(like[0]) == len(like[1]) == 1:
            add(image, like[1][0])
    return pairs


def known(image, session, tables):
    return image in tables and image not in session[1]


def rows(session, tables, name_image, wholes):
    """{(app, image, kind, stem): [(rank, how many there are, name, samples)]}"""
    sums = {}
    for (app, image), keys in session[0].items():
        to = name_image(app), name_image(image)
        for key, value in keys.items():
            if not known(image, session, tables) or to[1] in wholes:
                at = to + ("image", "", 0, 0, "")
            else:
                off, name = [s for s in tables[image] if s[0] <= key][-1]
                twins = [o for o, n in tables[image] if stem(n) == stem(name)]
                at = to + ("symbol", stem(name), twins.index(off), len(twins), name)
            sums[at] = sums.get(at, 0) + value
    out = {}
    for at, value in sums.items():
        out.setdefault(at[:4], []).append((at[4], at[5], at[6], value))
    return {at: sorted(rest) for at, rest in out.items()}


def compare(old, new, tables):
    pairs = pair_images(old, new)
    labels = {}
    for side in (new, old):
        for _, image in side[0]:
            if image.startswith("anon:"):
                labels.setdefault(image[5:].rsplit(":", 3)[0], set()).add(image)

    def name_new(image):
        if not image.startswith("anon:"):
            return image
        label = image[5:].rsplit(":", 3)[0]
        return shown(image) if len(labels[label]) == 1 else label

    def name_old(image):
        return name_new(image) if image.startswith("anon:") else pairs.get(image, image)

    sampled = [{image for _, image in side[0]} for side in (old, new)]
    wholes = {pairs[i] for i in pairs if i in sampled[0] and pairs[i] in sampled[1] and
              known(i, old, tables) != known(pairs[i], new, tables)}
    was = rows(old, tables, name_old, wholes)
    now = rows(new, tables, name_new, wholes)
    for at in sorted(set(was) | set(now)):
        a, b = was.get(at, []), now.get(at, [])
        if a and b and a[0][1] == b[0][1]:
            ranks = sorted({r[0] for r in a + b})
            a = [next((x for x in a if x[0] == r), None) for r in ranks]
            b = [next((x for x in b if x[0] == r), None) for r in ranks]
        for i in range(max(len(a), len(b))):
            x = a[i] if i < len(a) else None
            y = b[i] if i < len(b) else None
            yield at[:2] + ((y or x)[2], y[3] if y else 0, x[3] if x else 0)


def main():
    what, top, seed, nr = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    rng = random.Random(seed)
    if what == "make":
        make_builds(top, rng)
    rng = random.Random(seed + 1)
    tables = {path_of(top, where, name): symbols(path_of(top, where, name))
              for where in BUILDS for name in NAMES}
    files, lines = [], []
    for i in range(nr):
        old, new = random_pair(rng, top, tables)
        files += describe("old%d" % i, old) + describe("new%d" % i, new)
        if what == "expect":
            lines += ["\t".join(map(str, (i,) + row))
                      for row in compare(old, new, tables)]
    print("\n".join(sorted(lines)) if what == "expect" else json.dumps(files))


if __name__ == "__main__":
    main()
