#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes OProfile sample files, independently of libspec, from a description in JSON.

usage: mksession.py SESSION_DIR [FILE.json]      (no file: standard input)

The description is a list of sample files, or {"files": [...], "stats": {name: number},
"live": [generation, drained_ns, "live" or "closed"], "throttled": [event]}.  A sample
file is an object; what it leaves out has the default given here:
  session "current"   app "/bin/demo"   image (as app)   callee (none: a flat file)
  event "CPU_CLK_UNHALTED"   count 100000   um 0   tgid tid cpu "all"
  samples {"0x1000": 1}: key -> value    mtime 0   kernel false   cpu_type 4   code 0
  mhz 0   machine (that of the whole)
An image is a path ("/bin/ls"), "kern:NAME", or "anon:LABEL:TGID:LO:HI" in hexadecimal.
"sessions": {NAME: {...}} tells of one session: "stats" {name: number}, "live" as above,
"started" seconds, "tasks" [[tgid, tid, start_ns, comm, command line, cgroup, uid?]], and
"manifest" [["KEY", "VALUE"]]: facts of a MANIFEST, which is written last.
"machine": "little 64", "big 64", "little 32" or "big 32" says on which kind of machine it
was recorded; if it is given, there is a file abi, unless "abi" is false.
"stacks": [[FRAMES, number], ...] of a sample file: its stacks, outermost frame first,
each "IMAGE@0xOFFSET", with "!" behind it if that is no return address (the last one
never is), or "#N" for a reason number N; "samples" are then those of the last frames
unless given.
Names are written as they stand, as OProfile does; a session with "escape": true in one
of its files gets a table "images" and names escaped as opcollect does.
"""
import hashlib
import json
import os
import struct
import sys


def components(path, escape):
    """The directories of a path, braces escaped where asked."""
    out = []
    for part in path.strip("/").split("/"):
        if escape:
            head = part
            while head.startswith("%25"):
                head = head[3:]
            if part.startswith("{"):
                part = "%7B" + part[1:]
            elif head.startswith("%7B"):
                part = "%25" + part
        out.append(part)
    return out


def image(spec, escape):
    if spec.startswith("kern:"):
        return ["{kern}", spec[5:]]
    if spec.startswith("anon:"):
        label, tgid, low, high = spec[5:].rsplit(":", 3)
        return ["{anon:%s}" % label, "%d.0x%x.0x%x" % (int(tgid), int(low, 16),
                                                      int(high, 16))]
    return ["{root}"] + components(spec, escape)


class Machine:
    """Byte order, and where sample files of a kind of machine have what."""
    TYPES = {"double": "d", "u64": "Q", "u8": "B", "u32": "I", "int": "i",
             "unsigned_int": "I", "odb_key_t": "Q", "odb_index_t": "I",
             "odb_value_t": "I", "odb_node_nr_t": "I"}
    HEADER = (("magic", "4s"), ("version", "I"), ("cpu_type", "I"), ("ctr_event", "I"),
              ("ctr_um", "I"), ("ctr_count", "I"), ("is_kernel", "I"), ("cpu_speed", "d"),
              ("mtime", "Q"), ("cg_to_is_kernel", "I"), ("anon_start", "Q"),
              ("cg_to_anon_start", "Q"))
    NODE = (("key", "Q"), ("value", "I"), ("next", "I"))
    DESCR = (("size", "I"), ("current_size", "I"))

    def __init__(self, text):
        endian, bits = text.split()
        self.endian = {"little": "<", "big": ">"}[endian]
        self.align = {"64": 8, "32": 4}[bits]

    def layout(self, fields):
        """The format of a struct, with the gaps that alignment makes, and offsets."""
        form, at, offsets = self.endian, 0, {}
        for name, code in fields:
            size = struct.calcsize("=" + code)
            gap = -at % min(size, self.align)
            form += "%dx" % gap + code if gap else code
            offsets[name] = at + gap
            at += gap + size
        return form, offsets

    def abi(self):
        """What operf writes of it."""
        header, node = self.layout(self.HEADER), self.layout(self.NODE)
        descr = self.layout(self.DESCR)
        rows = [("sizeof_" + n, struct.calcsize("=" + c)) for n, c in self.TYPES.items()]
        rows += [("sizeof_odb_descr_t", 32),
                 ("sizeof_odb_node_t", struct.calcsize(node[0])),
                 ("sizeof_struct_opd_header", struct.calcsize(header[0]))]
        for kind, (_, offsets) in (("node", node), ("descr", descr), ("header", header)):
            rows += [("offsetof_%s_%s" % (kind, n), at) for n, at in offsets.items()]
        rows.append(("little_endian", int(self.endian == "<")))
        return "".join("%s %d\n" % row for row in rows)


def database(samples, machine):
    """Descriptor, nodes and hash table, keys in the order given."""
    size = 128
    while size < len(samples) + 1:
        size *= 2
    table = [0] * size
    nodes = [(0, 0, 0)]
    for key, value in samples:
        folded = ((key >> 32) ^ key) & 0xffffffff
        slot = (folded ^ (folded >> 8)) & (size - 1)
        nodes.append((key, value, table[slot]))
        table[slot] = len(nodes) - 1
    used = len(nodes)
    nodes += [(0, 0, 0)] * (size - used)
    node = struct.Struct(machine.layout(machine.NODE)[0])
    return (struct.pack(machine.endian + "II24x", size, used) +
            b"".join(node.pack(*n) for n in nodes) +
            struct.pack(machine.endian + "%dI" % size, *table))


def sample_file(d, machine):
    samples = [(int(str(k), 0), v) for k, v in d.get("samples", {"0x1000": 1}).items()]
    anon = d.get("image", "")
    start = int(anon.rsplit(":", 2)[1], 16) if anon.startswith("anon:") else 0
    head = struct.pack(machine.layout(machine.HEADER)[0], b"DAE\n", 0x13,
                       d.get("cpu_type", 4), d.get("code", 0), d.get("um", 0),
                       d.get("count", 100000), 1 if d.get("kernel") else 0,
                       d.get("mhz", 0.0), d.get("mtime", 0), 0, start, 0)
    assert len(head) == (72 if machine.align == 8 else 64)
    return head + database(samples, machine)


class Stacks:
    """The stacks of one session: a table of frames, and one of their images."""
    EXACT = 1 << 63

    def __init__(self, escape, separate):
        self.escape, self.separate = escape, separate
        self.nodes, self.images = {(0, 0, 6): 1}, {}

    def number(self, name, kernel):
        if name not in self.images:
            self.images[name] = (len(self.images) + 1, kernel)
        return self.images[name][0]

    def add(self, frames):
        """The number of the last frame's node."""
        node = 0
        for i, frame in enumerate(frames):
            if frame.startswith("#"):
                key = (node, 0, int(frame[1:]))
            else:
                name, off = frame.rsplit("@", 1)
                exact = off.endswith("!") or i == len(frames) - 1
                key = (node, self.number(name, name.startswith("kern:")),
                       int(off.rstrip("!"), 0) | (self.EXACT if exact else 0))
            node = self.nodes.setdefault(key, len(self.nodes) + 1)
        return node

    def samples(self, stacks):
        """Of the file beside the table, and of the flat one."""
        counted, flat = {}, {}
        for frames, number in stacks:
            node = self.add(frames)
            counted[node] = counted.get(node, 0) + number
            off = frames[-1].rsplit("@", 1)[1].rstrip("!")
            flat[off] = flat.get(off, 0) + number
        return counted, flat

    def table(self):
        nodes = b"".join(struct.pack("<IIQ", *key) for key in self.nodes)
        return (struct.pack("<8sIIQI36x", b"OPFSSTK\n", 1, 16, len(self.nodes) + 1,
                            self.separate) + bytes(16) + nodes)

    def names(self):
        rows = ["# opfs stack-images 1\n"]
        for name, (number, kernel) in self.images.items():
            rows.append("%d\t%s\t%s\n" % (number, "kernel" if kernel else "user",
                                          "/".join(image(name, self.escape))
                                          .replace("%", "%25")))
        return "".join(rows).encode()


def write(fd, parts, data):
    """Makes directories one by one: a path may be longer than PATH_MAX."""
    fd = os.dup(fd)
    for part in parts[:-1]:
        try:
            os.mkdir(part, dir_fd=fd)
        except FileExistsError:
            pass
        below = os.open(part, os.O_RDONLY | os.O_DIRECTORY, dir_fd=fd)
        os.close(fd)
        fd = below
    out = os.open(parts[-1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW,
                  0o644, dir_fd=fd)
    with os.fdopen(out, "wb") as f:
        f.write(data)
    os.close(fd)


def manifest(top, facts):
    """The MANIFEST of a directory: facts, checksums as sha256sum's, and its own."""
    lines = ["# opfs manifest 1\n"] + ["# %s %s\n" % (k, v) for k, v in facts]
    for where, _, names in os.walk(top):
        for name in names:
            path = os.path.join(where, name)
            with open(path, "rb") as f:
                digest = hashlib.sha256(f.read()).hexdigest()
            if path != os.path.join(top, "MANIFEST"):
                lines.append("%s  %s\n" % (digest, os.path.relpath(path, top)))
    text = "".join(lines)
    return text + "# sum %s\n" % hashlib.sha256(text.encode()).hexdigest()


def tell(top, fd, name, more):
    """What "sessions" says of one."""
    def put(path, text):
        write(fd, ["samples", name] + path.split("/"), text.encode())

    for figure, number in more.get("stats", {}).items():
        put("stats/" + figure, str(number))
    if "live" in more:
        put("stats/live", "%d %d %s\n" % tuple(more["live"]))
    if "started" in more:
        put("stats/started", "%d\n" % more["started"])
    if "tasks" in more:
        put("tasks", "# opfs tasks 1\n" + "".join(
            "\t".join(str(f) for f in row) + "\n" for row in more["tasks"]))
    if "manifest" in more:
        put("MANIFEST", manifest(os.path.join(top, "samples", name), more["manifest"]))


def main():
    top = sys.argv[1]
    with open(sys.argv[2]) if len(sys.argv) > 2 else sys.stdin as f:
        told = json.load(f)
    if isinstance(told, list):
        told = {"files": told}
    os.makedirs(top, exist_ok=True)
    fd = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    escaped = {d.get("session", "current") for d in told["files"] if d.get("escape")}
    stacks = {}
    for d in told["files"]:
        session = d.get("session", "current")
        esc = session in escaped
        app = d.get("app", "/bin/demo")
        parts = ["samples", session] + image(app, esc) + ["{dep}"]
        parts += image(d.get("image", app), esc)
        if "callee" in d:
            parts += ["{cg}"] + image(d["callee"], esc)
        parts.append("%s.%d.%d.%s.%s.%s" % (
            d.get("event", "CPU_CLK_UNHALTED"), d.get("count", 100000), d.get("um", 0),
            d.get("tgid", "all"), d.get("tid", "all"), d.get("cpu", "all")))
        machine = Machine(d.get("machine", told.get("machine", "little 64")))
        if "stacks" in d:
            table = stacks.setdefault(session, Stacks(esc, told.get("separate", 3)))
            counted, flat = table.samples(d["stacks"])
            write(fd, parts[:2] + ["stacks"] + parts[2:],
                  sample_file(dict(d, samples=counted), machine))
            d = dict({"samples": flat}, **d)
        write(fd, parts, sample_file(d, machine))
    if "machine" in told and told.get("abi", True):
        write(fd, ["abi"], Machine(told["machine"]).abi().encode())
    for session, table in stacks.items():
        write(fd, ["samples", session, "stacks", "frames"], table.table())
        write(fd, ["samples", session, "stacks", "images"], table.names())
    for session in escaped:
        write(fd, ["samples", session, "images"], b"# opfs images 1\n")
    for name, number in told.get("stats", {}).items():
        write(fd, ["samples", "current", "stats", name], str(number).encode())
    for event in told.get("throttled", []):
        write(fd, ["samples", "current", "stats", "throttled", event], b"")
    if "live" in told:
        line = "%d %d %s\n" % tuple(told["live"])
        write(fd, ["samples", "current", "stats", "live"], line.encode())
    for session, more in told.get("sessions", {}).items():
        tell(top, fd, session, more)


if __name__ == "__main__":
    main()
