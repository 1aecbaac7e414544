#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""entries.py SYMDUMP FILE...: entries of code that libsym tells against readelf.

Each must be an FDE of .eh_frame and each FDE must be told, but those that have no byte in
the file, or that another one covers.  Says how many of how many files agree.
"""
import re
import subprocess
import sys


def run(*argv):
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def told(symdump, path):
    return [tuple(int(word, 16) for word in line.split())
            for line in run(symdump, "-e", "--debug-dir", "/none", path).splitlines()]


def loads(path):
    found = []
    for line in run("readelf", "-lW", path).splitlines():
        words = line.split()
        if words and words[0] == "LOAD":
            found.append(tuple(int(words[i], 16) for i in (1, 2, 4)))
    return found


def expected(path):
    segments, ranges = loads(path), set()
    text = run("readelf", "-wN", "--debug-dump=frames", path)
    # .debug_frame, which comes after a headline of its own, is for debuggers
    text = re.sub(r"(?s)Contents of the \.debug_frame section.*?(?=\nContents|\Z)", "",
                  text)
    for m in re.finditer(r"FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)$", text, re.M):
        start, end = int(m[1], 16), int(m[2], 16)
        for off, vma, size in segments:
            if vma <= start < min(end, vma + size):
                ranges.add((off + start - vma, min(end, vma + size) - start, start))
                break
    rows, last = [], 0
    for off, size, vma in sorted(ranges, key=lambda r: (r[0], -r[1])):
        if off >= last:
            rows.append((off, size, vma))
            last = off + size
    return rows


def main():
    symdump, files, agree, total = sys.argv[1], sys.argv[2:], 0, 0
    for path in files:
        want, got = expected(path), told(symdump, path)
        total += len(got)
        agree += want == got
        if want != got:
            odd = sorted(set(want) ^ set(got))[:3]
            print(path, "%d told, %d expected:" % (len(got), len(want)),
                  ["%#x+%#x@%#x" % row for row in odd])
    print("%d of %d files agree, %d entries" % (agree, len(files), total))
    sys.exit(agree != len(files))


if __name__ == "__main__":
    main()
