#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads every report of profile directories of a mount, two directories at a time.

    read_all.py [--base SAMPLES] SAMPLES DIR...

Every read must end within LIMIT seconds and give as many bytes as the file's size says,
XML and JSON must be valid, and the rows of report.tsv and report.json must add up to
SAMPLES in each DIR.  With --base each DIR has a tag diff:, and the rows' older side must
add up, too.  Prints what was read, and exits 1 if anything was wrong.
"""
import argparse
import collections
import concurrent.futures
import csv
import json
import os
import signal
import subprocess
import sys

LIMIT = 600
TOLD = 20
FILES = ("status", "summary", "report", "report.tsv", "details", "callgraph",
         "with:callgraph,details,debug-info/report.xml",
         "with:callgraph,details,debug-info/report.json", "with:source/asm", "asm",
         "with:debug-info/report", "with:inlines/annotate/no-source",
         "with:inlines/report", "with:inlines/report.tsv")
HERE = os.path.dirname(os.path.realpath(__file__))
DOC = os.path.join(HERE, "../../doc")
VALID = {".xml": ("xmllint", "--noout", "--huge", "--schema", DOC + "/report.xsd", "-"),
         ".json": ("python3", HERE + "/check_json.py", DOC + "/report.schema.json",
                   "/dev/stdin")}
COMPARED = ("report", "report.tsv", "report.xml", "report.json", "summary")


def late(signum, frame):
    raise TimeoutError("took longer than %d s" % LIMIT)


class Reader:
    def __init__(self, top):
        self.top = top
        self.wrong = []
        self.read = collections.Counter()
        self.texts = {}

    def file(self, name, may_fail=False):
        path = os.path.join(self.top, name)
        signal.signal(signal.SIGALRM, late)
        signal.alarm(LIMIT)
        try:
            with open(path, "rb") as f:
                size = os.fstat(f.fileno()).st_size
                data = f.read()
            if size != len(data):
                self.wrong.append("%s: %d bytes of %d" % (path, len(data), size))
            self.read["files"] += 1
            self.read["bytes"] += len(data)
            self.texts[name] = data
            return data
        except OSError as e:
            if isinstance(e, TimeoutError) or not may_fail:
                self.wrong.append("%s: %s" % (path, e))
            self.read["refused"] += 1
            return b""
        finally:
            signal.alarm(0)

    def tree(self, name):
        signal.signal(signal.SIGALRM, late)
        signal.alarm(2 * LIMIT)
        try:
            files = [os.path.join(folder, f) for folder, _, names in
                     os.walk(os.path.join(self.top, name), onerror=self.complain)
                     for f in names]
        except OSError as e:
            self.complain(e)
            files = []
        finally:
            signal.alarm(0)
        for f in files:
            self.file(os.path.relpath(f, self.top))
        return files

    def complain(self, e):
        self.wrong.append("%s: %s" % (e.filename, e))

    def symbols(self):
        """Lists symbol: and reads one function in twenty of it."""
        signal.signal(signal.SIGALRM, late)
        signal.alarm(LIMIT)
        try:
            names = sorted(os.listdir(os.path.join(self.top, "symbol:")))
        except OSError as e:
            self.complain(e)
            names = []
        finally:
            signal.alarm(0)
        for name in names[::20]:
            for f in ("report", "source", "asm"):
                self.file("symbol:%s/%s" % (name, f), f == "source")
        self.read["symbols"] += len(names)

    def totals(self, want, base):
        # tabs and newlines in names are escaped: no field has quotes that mean anything
        rows = list(csv.DictReader(self.texts["report.tsv"].decode("utf-8", "replace")
                                   .splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
        self.sum("report.tsv", want, sum(int(r["samples"] or 0) for r in rows))
        if base is not None:
            self.sum("report.tsv, base", base,
                     sum(int(r["base_samples"] or 0) for r in rows))
        name = "report.json" if base is not None else FILES[7]
        told = json.loads(self.texts[name])
        self.sum(name, want, sum(sum(r["samples"]) for r in told["rows"]))

    def sum(self, what, want, got):
        if want != got:
            self.wrong.append("%s/%s: %d samples, not %d" % (self.top, what, got, want))


def read(top, want, base):
    r = Reader(top)
    if base is not None:
        for name in COMPARED:
            r.file(name)
    else:
        for name in FILES:
            r.file(name, "annotate" in name)
        r.tree("annotate")
        r.symbols()
        r.file("gmon.out", True)
    for name, text in r.texts.items():
        valid = next((v for end, v in VALID.items() if name.endswith(end)), None)
        if valid:
            told = subprocess.run(valid, input=text, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
            if told.returncode:
                r.wrong.append("%s/%s: %r" % (top, name, told.stdout[-600:]))
    try:
        r.totals(want, base)
    except (ValueError, KeyError) as e:
        r.wrong.append("%s: %r" % (top, e))
    return r.wrong, r.read


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--base", type=int)
    args.add_argument("samples", type=int)
    args.add_argument("dirs", nargs="+")
    args = args.parse_args()
    wrong, total = [], collections.Counter()
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        jobs = [pool.submit(read, d, args.samples, args.base) for d in args.dirs]
        for job in jobs:
            bad, read_here = job.result()
            wrong += bad
            total += read_here
    print(" ".join("%s %d" % kv for kv in sorted(total.items())))
    print("\n".join(wrong[:TOLD]))
    if len(wrong) > TOLD:
        print("and %d more" % (len(wrong) - TOLD))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
