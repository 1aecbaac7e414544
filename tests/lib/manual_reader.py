#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads report.tsv and report.json as opfs(5) and report.schema.json describe them, and
nothing else was looked at, and compares their sums with those of the texts.

usage: manual_reader.py DIRECTORY: of report.tsv, report.json, and, of with:long-filenames
of the same path, summary and report; samples of all of them by event, application, image
and symbol
"""
import collections
import json
import re
import sys

TITLES = ("event application image symbol samples share share_error mangled vma file "
          "line tgid tid cpu base_samples base_share difference sure").split()


def shown(name):
    """A name as texts have it: bytes of control characters are %XX."""
    return b"".join(b"%%%02X" % b if b < 32 or b == 127 else bytes([b])
                    for b in name).decode()


def tsv_name(field):
    """"each byte of a control character and % are %XX"."""
    return re.sub(rb"%([0-9A-F]{2})", lambda m: bytes([int(m[1], 16)]), field)


def json_name(name):
    """The expression of opfs(5)."""
    return b"".join(bytes([ord(c) - 0xef00]) if 0xef00 <= ord(c) <= 0xefff
                    else c.encode() for c in name)


def event_of(name, count, mask):
    """"name:count, and :0xMASK if there is a unit mask"."""
    return "%s:%d%s" % (name, count, ":%#x" % mask if mask else "")


def read_tsv(path):
    sums = collections.Counter()
    with open(path, "rb") as f:
        lines = f.read().split(b"\n")[:-1]
    assert lines[0].decode().split("\t")[:len(TITLES)] == TITLES, lines[0]
    for line in lines[1:]:
        row = dict(zip(TITLES, line.split(b"\t")))
        key = (row["event"].decode(),) + tuple(
            tsv_name(row[k]) for k in ("application", "image", "symbol"))
        assert int(row["samples"]) > 0, line  # "each of them and event with samples"
        sums[key] += int(row["samples"])
    return sums


def read_json(path):
    sums = collections.Counter()
    with open(path, encoding="utf-8") as f:
        doc = json.load(f)
    assert (doc["format"], doc["version"]) == ("opfs report", 1)
    events = [event_of(c["event"], c["count"], c["unit_mask"]) for c in doc["classes"]]
    for row in doc["rows"]:
        names = tuple(json_name(row[k]) for k in ("application", "image", "symbol"))
        for event, samples in zip(events, row["samples"]):
            if samples:
                sums[(event,) + names] += samples
    totals = {e: c["samples"] for e, c in zip(events, doc["classes"])}
    return events, totals, sums


def columns(line, nr):
    """Samples of a line of a text, and what is behind its figures."""
    words = line.split(None, 2 * nr)
    return [int(n) for n in words[:2 * nr:2]], words[2 * nr]


def read_summary(path, events):
    """Samples by event and application, and by event, application and image."""
    apps, images, app, alone = collections.Counter(), collections.Counter(), None, {}
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")
    rule = next(i for i, x in enumerate(lines) if re.match("-+$", x))
    for line in lines[rule + 1:]:
        if not re.match(r"\t?\s*\d", line):
            continue
        samples, name = columns(line, len(events))
        if not line.startswith("\t"):
            app = name
            alone[app] = samples
            apps.update(dict(zip(((e, app) for e in events), samples)))
        else:
            alone.pop(app, None)
            images.update(dict(zip(((e, app, name) for e in events), samples)))
    for app, samples in alone.items():  # "if the application has more than one image"
        images.update(dict(zip(((e, app, app) for e in events), samples)))
    return +apps, +images


def read_report(path, events, apps):
    sums = collections.Counter()
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")[:-1]
    title = next(i for i, x in enumerate(lines) if x.startswith("samples "))
    names = re.findall("(image|app|symbol) name", lines[title])
    for line in lines[title + 1:]:
        samples, rest = columns(line, len(events))
        row = dict(zip(names, rest.split(None, len(names) - 1)))
        symbol = row["symbol"]
        # columns that are not there: an application of its own, or the only one
        app = row.get("app") or row.get("image") if len(apps) > 1 else apps[0]
        image = row.get("image") or app
        sums.update(dict(zip(((e, app, image, symbol) for e in events), samples)))
    return +sums


def by(sums, nr):
    got = collections.Counter()
    for key, samples in sums.items():
        got[key[:nr]] += samples
    return got


def main():
    d = sys.argv[1]
    tsv = read_tsv(d + "/report.tsv")
    events, totals, js = read_json(d + "/report.json")
    assert tsv == js, (tsv - js, js - tsv)
    assert by(tsv, 1) == {(e,): n for e, n in totals.items()}, totals
    text = collections.Counter()
    for (event, *names), samples in tsv.items():
        text[(event, *(shown(n) for n in names))] += samples
    apps, images = read_summary(d + "/summary", events)
    report = read_report(d + "/report", events, sorted({app for _, app in apps}))
    assert text == report, (text - report, report - text)
    assert by(text, 2) == apps, (by(text, 2), apps)
    assert by(text, 3) == images, (by(text, 3), images)
    print("%d rows, %d events, %d samples" % (len(tsv), len(events), sum(tsv.values())))


if __name__ == "__main__":
    main()
