#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Validates "opcollect events --json" by its schema, and what no schema can say.

usage: check_events.py SCHEMA FILE...
"""
import json
import sys

import jsonschema


def check(validator, doc):
    errors = [e.message for e in validator.iter_errors(doc)]
    assert not errors, errors[:5]
    seen = set()
    for event in doc["events"]:
        key = event["cpu_type"], event["name"]
        assert key not in seen, key
        seen.add(key)
        perf = event["perf"]
        assert (perf["type"] is None) == (perf["pmu"] is not None), event
        masks = event["unit_masks"]
        if masks:
            numbers = [m["mask"] for m in masks["masks"]]
            assert len(set(numbers)) == len(numbers), event
            everything = 0
            for n in numbers:
                everything |= n
            assert masks["default"] in numbers or (
                masks["type"] == "bitmask" and not masks["default"] & ~everything), event


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        schema = json.load(f)
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    for name in sys.argv[2:]:
        with open(name, encoding="utf-8") as f:
            doc = json.load(f)
        check(validator, doc)
        print(name, len(doc["events"]))


main()
