#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of binaries with every kind of byte, through report.xml, .json and .tsv.

usage: hostile_names.py session          a description for mksession.py
       hostile_names.py check XML JSON TSV   all names come back as they were
"""
import json
import os
import sys
import urllib.parse
import xml.etree.ElementTree as ET

NAMES = [
    b"quotes\"'<&>]]>",
    b"low" + bytes(c for c in range(1, 128) if c != ord("/")),
    b"high" + bytes(range(128, 256)),
    b"white\t\n\r space  two ",
    b"cut \xe2\x82 alone \x80 long \xc0\xaf surrogate \xed\xa0\x80 high \xf4\x90\x80\x80",
    "plain é € 😀 \u0085 \ufffd %41 &#65; \\u0041".encode(),
    b"ours \xee\xbc\x80 \xee\xbd\x81 \xee\xbf\xbf next \xef\x80\x80 \xee\xbb\xbf",
    b"no characters \xef\xbf\xbe \xef\xbf\xbf",
    b"many" + b"\xff\x01" * 100,
]


def session():
    files = [{"app": os.fsdecode(b"/x/" + name), "samples": {"0x10": i + 1},
              "escape": True} for i, name in enumerate(NAMES)]
    json.dump({"files": files}, sys.stdout)


def original(text):
    """What opfs(5) says under "Names"."""
    return b"".join(bytes([ord(c) - 0xef00]) if 0xef00 <= ord(c) <= 0xefff
                    else c.encode() for c in text)


def check(xml, js, tsv):
    want = {b"/x/" + name: i + 1 for i, name in enumerate(NAMES)}
    root = ET.parse(xml).getroot()
    got = {original(b.get("name")): int(b.find("count").text)
           for b in root.findall("binary")}
    assert got == want, ("xml", got)
    with open(js, encoding="utf-8") as f:
        rows = json.load(f)["rows"]
    got = {original(r["application"]): r["samples"][0] for r in rows}
    assert got == want, ("json", got)
    with open(tsv, "rb") as f:
        rows = [line.split(b"\t") for line in f.read().split(b"\n")[1:-1]]
    got = {urllib.parse.unquote_to_bytes(r[1]): int(r[4]) for r in rows}
    assert got == want, ("tsv", got)


if sys.argv[1] == "session":
    session()
else:
    check(*sys.argv[2:])
