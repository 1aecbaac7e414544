#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares two outputs of opreport's XML element by element.

usage: same_xml.py WANTED GOT

Numbers of symbols are replaced by what they stand for, and tables are read by number, so
that neither matters: everything else must be the same, in the same order.  What
doc/differences.md tells of report.xml is not looked at: the title, the order of the words
of session=, and class="" of a detail.
"""
import sys
import xml.etree.ElementTree as ET


def table(root, name, child):
    found = root.find(name)
    if found is None:
        return None
    out = {}
    for e in found.findall(child):
        assert e.get("id") not in out, "%s %s twice" % (child, e.get("id"))
        out[e.get("id")] = e
    return out


def plain(e, names):
    """An element as nested tuples, symbols by name."""
    attrs = dict(e.attrib)
    if "idref" in attrs:
        attrs["idref"] = names[attrs["idref"]]
    if attrs.get("class") == "":
        del attrs["class"]
    if e.tag == "profile":
        attrs["title"] = ""
    if e.tag == "options":
        attrs["session"] = sorted(attrs.get("session", "").split(","))
    text = (e.text or "").strip()
    children = [plain(c, names) for c in e if not c.tag.endswith("table")]
    return (e.tag, sorted((k, str(v)) for k, v in attrs.items()), text, children)


def read(path):
    root = ET.parse(path).getroot()
    symbols = table(root, "symboltable", "symboldata")
    names = {i: (s.get("name"), s.get("startingaddr")) for i, s in symbols.items()}
    assert len(set(names.values())) == len(names), "a symbol twice"
    tables = {"symbols": {names[i]: {k: v for k, v in s.attrib.items() if k != "id"}
                          for i, s in symbols.items()}}
    for name, child in ("detailtable", "symboldetails"), ("bytestable", "bytes"):
        got = table(root, name, child)
        if got is not None:
            for e in got.values():
                assert e.get("id") in names, "%s of no symbol" % name
            tables[name] = {names[i]: plain(e, names)[2:] for i, e in got.items()}
    return plain(root, names), tables


def tell(what, a, b):
    print("%s differs:\n< %s\n> %s" % (what, a, b))
    return 1


def same(a, b, where):
    """Tells the first difference of two trees."""
    if a == b:
        return 0
    if a[:3] != b[:3] or len(a[3]) != len(b[3]):
        return tell(where, a, b)
    for i, (x, y) in enumerate(zip(a[3], b[3])):
        if same(x, y, "%s/%s[%d]" % (where, x[0], i)):
            return 1
    return 0


def main():
    (want, want_tables), (got, got_tables) = read(sys.argv[1]), read(sys.argv[2])
    bad = same(want, got, "profile")
    if want_tables.keys() != got_tables.keys():
        bad = tell("the list of tables", list(want_tables), list(got_tables))
    for name in want_tables.keys() & got_tables.keys():
        a, b = want_tables[name], got_tables[name]
        for key in sorted(a.keys() | b.keys()):
            if a.get(key) != b.get(key):
                bad = tell("%s of %s" % (name, key), a.get(key), b.get(key))
    return bad


sys.exit(main())
