#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads OProfile 1.x sessions, from the description of the format alone.

It shares no code with libspec, so that the two can check each other.

    opsamples.py check DIR    DIR is a session directory: is every file sound?
    opsamples.py totals DIR   what each file says, as JSON
    opsamples.py stacks DIR   the stacks of each file of stacks, as JSON
    opsamples.py arcs DIR     are the files of arcs what the stacks make, and does each
                              file of stacks have as many samples as the file of its name?

check prints {"files": N, "nodes": N, "total": N, "bad": [[PATH, REASON]...]} and exits 1
if anything is bad.  totals prints a list of objects: session, path, app, image, callee,
event, count, unit_mask, tgid, tid, cpu, nodes, samples.  A session is taken for one whose
names are escaped if it has a file "images".  stacks prints a list of objects: session,
path, samples, and stack, the outermost frame first, each [IMAGE, OFFSET, EXACT] or,
without an image, [null, REASON, false].  arcs prints a line for each difference, and
exits 1 if there is one.
"""

import json
import os
import re
import struct
import sys

# What the file abi of a session directory has, for those without it.
NATIVE = {"sizeof_struct_opd_header": 72, "sizeof_odb_descr_t": 32,
          "sizeof_odb_node_t": 16, "offsetof_descr_size": 0,
          "offsetof_descr_current_size": 4, "offsetof_node_key": 0,
          "offsetof_node_value": 8, "offsetof_node_next": 12, "offsetof_header_magic": 0,
          "offsetof_header_version": 4, "little_endian": 1}


class Bad(Exception):
    pass


def unescape(text):
    return re.sub(rb"%([0-9A-Fa-f]{2})", lambda m: bytes([int(m.group(1), 16)]), text)


def component(text, escaped):
    if escaped and re.match(rb"(%25)*%7B", text):
        return b"{" + text[3:] if text.startswith(b"%7B") else text[3:]
    return text


def parse_image(parts, stop, escaped):
    """Takes one image off the front of parts; returns it and what is left."""
    kind, rest = parts[0], parts[1:]
    anon = re.fullmatch(rb"\{anon:(.*)\}", kind, re.S)
    if anon:
        if not rest:
            raise Bad("no region behind {anon:}")
        region = re.fullmatch(rb"(\d+)\.(0x[0-9a-f]+)\.(0x[0-9a-f]+)", rest[0])
        if not region:
            raise Bad("bad region")
        label = unescape(anon.group(1)) if escaped else anon.group(1)
        tgid, low, high = region.groups()
        return label + b" (tgid:%s range:%s-%s)" % (tgid, low, high), rest[1:]
    if kind not in (b"{root}", b"{kern}"):
        raise Bad("neither {root}, {kern} nor {anon:}")
    end = rest.index(stop) if stop in rest else len(rest)
    if not end:
        raise Bad("empty image")
    return b"".join(b"/" + component(c, escaped) for c in rest[:end]), rest[end:]


def parse_name(path, escaped):
    """path: bytes, relative to the session, beginning with {root} or {kern}."""
    parts = [p for p in path.split(b"/") if p]
    spec = parts.pop().split(b".")
    if len(spec) != 6 or not all(spec):
        raise Bad("not six fields")
    app, parts = parse_image(parts, b"{dep}", escaped)
    if parts[:1] != [b"{dep}"] or len(parts) < 2:
        raise Bad("no {dep}")
    image, parts = parse_image(parts[1:], b"{cg}", escaped)
    callee = None
    if parts[:1] == [b"{cg}"] and len(parts) > 1:
        callee, parts = parse_image(parts[1:], None, escaped)
    if parts:
        raise Bad("too many components")
    if not all(n == b"all" or n.isdigit() for n in spec[3:]):
        raise Bad("bad tgid, tid or cpu")
    number = lambda n: None if n == b"all" else int(n)
    return {"app": app, "image": image, "callee": callee,
            "event": unescape(spec[0]) if escaped else spec[0],
            "count": int(spec[1]), "unit_mask": int(spec[2]),
            "tgid": number(spec[3]), "tid": number(spec[4]), "cpu": number(spec[5])}


def read_abi(session_dir):
    try:
        with open(os.path.join(session_dir, "abi")) as f:
            return {k: int(v) for k, v in map(str.split, f)}
    except FileNotFoundError:
        return NATIVE


class File:
    def __init__(self, path, abi):
        with open(path, "rb") as f:
            self.data = data = f.read()
        endian = "<" if abi["little_endian"] else ">"
        get = lambda code, at: struct.unpack_from(endian + code, data, at)[0]
        descr = abi["sizeof_struct_opd_header"]
        start, step = descr + abi["sizeof_odb_descr_t"], abi["sizeof_odb_node_t"]
        if len(data) < start:
            raise Bad("shorter than a header")
        if get("4s", abi["offsetof_header_magic"]) != b"DAE\n":
            raise Bad("bad magic number")
        version = get("I", abi["offsetof_header_version"])
        if version != 0x13:
            raise Bad("version %#x" % version)
        self.size = get("I", descr + abi["offsetof_descr_size"])
        self.used = get("I", descr + abi["offsetof_descr_current_size"])
        if (len(data) - start) // (step + 4) != self.size:
            raise Bad("length %d does not fit size %d" % (len(data), self.size))
        if not 1 <= self.used <= self.size:
            raise Bad("%d of %d slots used" % (self.used, self.size))
        fields = [(code, abi["offsetof_node_" + name])
                  for name, code in (("key", "Q"), ("value", "I"), ("next", "I"))]
        self.nodes = [tuple(get(code, start + step * i + off) for code, off in fields)
                      for i in range(self.used)]
        self.table = struct.unpack_from(endian + "%dI" % self.size, data,
                                        start + step * self.size)

    def total(self):
        return sum(value for _, value, _ in self.nodes[1:])

    def slot(self, key):
        t = (key >> 32) ^ (key & 0xffffffff)
        return (t ^ (t >> 8)) & (self.size - 1)

    def check(self):
        """Every node in use is reached once, from the slot its key hashes to."""
        if self.size & (self.size - 1):
            raise Bad("size %d is no power of two" % self.size)
        seen = set()
        for slot, node in enumerate(self.table):
            while node:
                if node >= self.used:
                    raise Bad("slot %d leads to unused node %d" % (slot, node))
                if node in seen:
                    raise Bad("node %d is reached twice" % node)
                seen.add(node)
                key, _, following = self.nodes[node]
                if self.slot(key) != slot:
                    raise Bad("node %d is in slot %d's chain" % (node, slot))
                node = following
        if len(seen) != self.used - 1:
            raise Bad("%d nodes are not reached" % (self.used - 1 - len(seen)))


def sessions(session_dir):
    samples = os.path.join(os.fsencode(session_dir), b"samples")
    for name in sorted(os.listdir(samples)):
        if os.path.isdir(os.path.join(samples, name)):
            yield name, os.path.join(samples, name)


def sample_files(session):
    """Paths relative to the session, sorted."""
    found = []
    for top in (b"{root}", b"{kern}"):
        for folder, _, names in os.walk(os.path.join(session, top)):
            found += [os.path.relpath(os.path.join(folder, n), session)
                      for n in names if not n.endswith(b".jo")]
    return sorted(found)


def walk(session_dir):
    """Yields (session name, path, parsed name, File); raises nothing, but yields
    (session name, path, None, Bad) for what is damaged."""
    abi = read_abi(session_dir)
    for name, session in sessions(session_dir):
        escaped = os.path.exists(os.path.join(session, b"images"))
        for path in sample_files(session):
            try:
                yield (name, path, parse_name(path, escaped),
                       File(os.path.join(session, path), abi))
            except Bad as why:
                yield name, path, None, why


class Stacks:
    """The table of a session, and the names of its images."""

    EXACT = 1 << 63
    LIB, KERNEL = 1, 2

    def __init__(self, session):
        self.path = os.path.join(session, b"stacks")
        with open(os.path.join(self.path, b"frames"), "rb") as f:
            data = f.read()
        magic, version, size, nr, self.separate = struct.unpack_from("<8sIIQI", data)
        if magic != b"OPFSSTK\n" or version != 1 or size != 16:
            raise Bad("no table of stacks")
        if nr < 2 or 64 + 16 * nr > len(data):
            raise Bad("%d nodes in %d bytes" % (nr, len(data)))
        self.nodes = [struct.unpack_from("<IIQ", data, 64 + 16 * i) for i in range(nr)]
        self.images = {}
        self.kernel = {}
        with open(os.path.join(self.path, b"images"), "rb") as f:
            first, *lines = f.read().splitlines()
        if first != b"# opfs stack-images 1":
            raise Bad("no table of images")
        for line in lines:
            number, kind, name = line.split(b"\t")[:3]
            image = parse_image([p for p in unescape(name).split(b"/") if p], None, False)
            self.images[int(number)] = image[0]
            self.kernel[image[0]] = kind == b"kernel"
        for i, (parent, image, off) in enumerate(self.nodes[1:], 1):
            if parent >= i or (not image and not off) or \
               (image and image not in self.images):
                raise Bad("node %d: %d, %d, %#x" % (i, parent, image, off))

    def stack(self, node):
        """[(image or None, offset, exact)], the outermost first."""
        found = []
        while node:
            node, image, off = self.nodes[node]
            found.append((self.images.get(image), off & ~self.EXACT,
                          bool(off & self.EXACT)))
        return found[::-1]

    def files(self, session_dir):
        """(path, parsed name, File) of each."""
        abi = read_abi(session_dir)
        for path in sample_files(self.path):
            file = File(os.path.join(self.path, path), abi)
            file.check()
            yield path, parse_name(path, True), file


def tables(session_dir):
    for name, session in sessions(session_dir):
        if os.path.exists(os.path.join(session, b"stacks/frames")):
            yield name, session, Stacks(session)


def stacks(session_dir):
    return [{"session": text(name), "path": text(path), "samples": value,
             "stack": [[text(image) if image else None, off, exact]
                       for image, off, exact in table.stack(node)]}
            for name, _, table in tables(session_dir)
            for path, _, file in table.files(session_dir)
            for node, value, _ in file.nodes[1:]]


def region(image):
    return b" (tgid:" in image


def caller_app(table, name, kernel, caller):
    """What arcs of a caller are filed under; None: it cannot be told."""
    alone = kernel and name["app"] == name["image"]
    flag = table.KERNEL if table.kernel[caller] else table.LIB
    if not region(caller) and (alone or not table.separate & flag):
        return caller
    return None if alone else name["app"]


def derived(session_dir, table):
    """{(what a file is, from << 32 | to): samples}, one stack after another."""
    arcs = {}
    for _, name, file in table.files(session_dir):
        kernel, = struct.unpack_from("<I", file.data, 24)
        for node, value, _ in file.nodes[1:]:
            frames = [f for f in table.stack(node) if f[0]]
            for (caller, at, _), (callee, to, _) in zip(frames, frames[1:]):
                app = caller_app(table, name, kernel, caller)
                if app is None:
                    continue
                what = dict(name, app=app, image=caller, callee=callee)
                key = (tuple(sorted(what.items(), key=lambda i: i[0])),
                       (at << 32 | to & 0xffffffff) & (1 << 64) - 1)
                arcs[key] = arcs.get(key, 0) + value
    return arcs


def arcs(session_dir):
    wrong = []
    for session, where, table in tables(session_dir):
        want, have, flat = derived(session_dir, table), {}, {}
        for path in sample_files(where):
            name = parse_name(path, True)
            file = File(os.path.join(where, path), read_abi(session_dir))
            if name["callee"] is None:
                flat[path] = file.total()
                continue
            for key, value, _ in file.nodes[1:]:
                key = (tuple(sorted(name.items(), key=lambda i: i[0])), key)
                have[key] = have.get(key, 0) + value
        own = {path: file.total() for path, _, file in table.files(session_dir)}
        wrong += ["%s: %r: %s in stacks, %s in files of arcs" %
                  (text(session), key, want.get(key), have.get(key))
                  for key in want.keys() | have.keys()
                  if want.get(key) != have.get(key)]
        wrong += ["%s: %r: %s samples, %s stacks" %
                  (text(session), path, flat.get(path), own.get(path))
                  for path in flat.keys() | own.keys()
                  if flat.get(path) != own.get(path)]
    return wrong


def text(value):
    return os.fsdecode(value) if isinstance(value, bytes) else value


def check(session_dir):
    result = {"files": 0, "nodes": 0, "total": 0, "bad": []}
    for session, path, name, file in walk(session_dir):
        result["files"] += 1
        try:
            if name is None:
                raise file
            file.check()
        except Bad as why:
            result["bad"].append([text(session + b"/" + path), str(why)])
            continue
        result["nodes"] += file.used - 1
        result["total"] += file.total()
    return result


def totals(session_dir):
    rows = []
    for session, path, name, file in walk(session_dir):
        row = {"session": text(session), "path": text(path)}
        if name is None:
            row["bad"] = str(file)
        else:
            row.update((key, text(value)) for key, value in name.items())
            row.update(nodes=file.used - 1, samples=file.total())
        rows.append(row)
    return rows


def main(argv):
    known = {"check": check, "totals": totals, "stacks": stacks, "arcs": arcs}
    if len(argv) != 3 or argv[1] not in known:
        print(__doc__, file=sys.stderr)
        return 2
    result = known[argv[1]](argv[2])
    if argv[1] == "arcs":
        print(*result[:20], sep="\n", end="\n" if result else "")
        return 1 if result else 0
    json.dump(result, sys.stdout, indent=1)
    print()
    return 1 if argv[1] == "check" and result["bad"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
