#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Validates "opcollect events --json" by its schema, and what no schema can say; and
compares it with "opcollect events --xml" in the file of the same name, .xml.

usage: check_events.py SCHEMA FILE...
"""
import json
import sys
import xml.etree.ElementTree as ET

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


def compare(doc, root):
    """root: of the XML."""
    elements = root.findall("event")
    assert len(elements) == len(doc["events"]) > 0
    for event, x in zip(doc["events"], elements):
        assert dict(x.attrib, ext=x.get("ext")) == {
            "event_name": event["name"], "desc": event["description"],
            "counter_mask": str(sum(1 << c for c in event["counters"] or [])),
            "ext": event["ext"], "min_count": str(event["minimum"])}, event
        masks, of_xml = event["unit_masks"], x.find("unit_masks")
        assert (masks is None) == (of_xml is None), event
        if masks:
            assert of_xml.attrib == {"default": str(masks["default"]),
                                     "category": masks["type"]}, event
            assert [(m.get("name"), m.get("mask"), m.get("desc")) for m in of_xml] == [
                (m["name"], str(m["mask"]), m["description"])
                for m in masks["masks"]], event


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        schema = json.load(f)
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    for name in sys.argv[2:]:
        with open(name, encoding="utf-8") as f:
            doc = json.load(f)
        check(validator, doc)
        compare(doc, ET.parse(name.removesuffix(".json") + ".xml").getroot())
        print(name, len(doc["events"]))


main()
