#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Validates report.json by its JSON Schema, and what no schema can say.

usage: check_json.py SCHEMA FILE...
"""
import json
import math
import sys

import jsonschema

LISTS = ("samples", "percent", "percent_error", "difference", "sure")


def figures(thing, nr, where):
    """Each list of figures has one item a class."""
    if isinstance(thing, list):
        for i, x in enumerate(thing):
            figures(x, nr, "%s[%d]" % (where, i))
    elif isinstance(thing, dict):
        for key, x in thing.items():
            if key in LISTS and isinstance(x, list):
                assert len(x) == nr, "%s.%s: %d figures" % (where, key, len(x))
            else:
                figures(x, nr, "%s.%s" % (where, key))


def shares(row, totals):
    for n, total, share, error in zip(row["samples"], totals, row["percent"],
                                      row["percent_error"]):
        p = n / total if total else 0
        assert math.isclose(share, 100 * p, rel_tol=1e-6, abs_tol=1e-9), row
        want = 100 * math.sqrt(p * (1 - p) / total) if total else 0
        assert math.isclose(error, want, rel_tol=1e-6, abs_tol=1e-9), row


def check(doc):
    totals = [c["samples"] for c in doc["classes"]]
    for key in "images", "rows", "arcs":
        figures(doc.get(key, []), len(totals), key)
    images = {i["name"] for i in doc["images"]}
    for row in doc["rows"]:
        assert row["image"] in images or row["application"] == row["image"], row
        assert (row["kind"] == "symbol") == (row["mangled"] is not None), row
        shares(row, totals)
        if "hits" in row and row["kind"] != "image":
            for c in range(len(totals)):
                assert sum(h["samples"][c] for h in row["hits"]) == row["samples"][c], row
            offsets = [h["offset"] for h in row["hits"]]
            assert offsets == sorted(set(offsets)), row
    for arc in doc.get("arcs", []):
        assert arc["caller"] < len(doc["rows"]) and arc["callee"] < len(doc["rows"]), arc
    for session in doc["sessions"]:
        assert session["lost"] == sum(session["losses"].values()), session
    if "threshold:" not in doc["path"] and "base_path" not in doc:
        for c, total in enumerate(totals):
            assert sum(r["samples"][c] for r in doc["rows"]) == total, (c, total)


def main():
    with open(sys.argv[1]) as f:
        schema = json.load(f)
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as f:
            doc = json.load(f)
        errors = [e.message for e in validator.iter_errors(doc)]
        assert not errors, "%s: %s" % (path, errors[:5])
        check(doc)


main()
