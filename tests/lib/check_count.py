#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Validates "opcollect count --json" by its schema, and what no schema can say.

usage: check_count.py SCHEMA FILE

Prints rows: the event, the place or "all", and the sum of all intervals.
"""
import json
import sys

import jsonschema

FIGURES = "raw", "enabled_ns", "running_ns"


def check(doc):
    labels = [e["label"] for e in doc["events"]]
    assert len(set(labels)) == len(labels), labels
    by, last = doc["separate"], 0
    for interval in doc["intervals"]:
        # they follow each other without gaps
        assert interval["begin_ns"] == last < interval["end_ns"], interval
        last = interval["end_ns"]
        assert [r["event"] for r in interval["counts"] if by not in r] == labels
        for label in labels:
            rows = [r for r in interval["counts"] if r["event"] == label]
            total = rows.pop()
            assert by not in total and all(by in r for r in rows), rows
            for key in FIGURES + ("count",):
                assert not by or total[key] == sum(r[key] or 0 for r in rows), (key, rows)
            for r in rows:
                assert r["running_ns"] <= r["enabled_ns"], r
    assert doc["elapsed_ns"] == last, last


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        schema = json.load(f)
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    with open(sys.argv[2], encoding="utf-8") as f:
        doc = json.load(f)
    errors = [e.message for e in validator.iter_errors(doc)]
    assert not errors, errors[:5]
    check(doc)
    sums = {}
    for interval in doc["intervals"]:
        for r in interval["counts"]:
            row = r["event"], r.get(doc["separate"], "all")
            sums[row] = sums.get(row, 0) + (r["count"] or 0)
    for row, n in sums.items():
        print(*row, n)


main()
