#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Asks a session that opcollect wrote, through the independent reader.

    ask.py balance DIR            is "current" sound, and taken = stored + losses, and is
                                  stored the sum of its flat files?  If there are stacks:
                                  has every sample one, and are the arcs of them?  Prints
                                  both
    ask.py sum DIR [FIELD=VALUE]...  samples of flat files that agree (app, image, event,
                                  tgid, ...; a basename is enough for app and image)
    ask.py arcs DIR [FIELD=VALUE]... the same of arcs
    ask.py threads DIR [FIELD=VALUE]... how many threads have samples in such flat files
    ask.py children DIR           samples of all processes but the one with the most
    ask.py functions DIR BINARY NAME... samples of each function of the binary
"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../lib"))
import opsamples  # noqa: E402

NOT_LOSSES = {"total_samples", "stored_samples", "total_arcs", "throttle_events",
              "lost_bt_no_mapping", "lost_bt_samplefile", "live", "notes", "started",
              "throttled", "bt_no_caller", "task_records_lost", "task_records_passed",
              "total_stacks", "lost_stackfile", "stacks_full", "stacks_depth",
              "stacks_no_mapping", "stacks_copy_short", "stacks_not_copied",
              "stacks_no_unwind", "stacks_damaged", "stacks_no_registers",
              "folded"}


def files(session_dir):
    for session, path, name, file in opsamples.walk(session_dir):
        if session != b"current":
            continue
        if name is None:
            sys.exit("%r: %s" % (path, file))
        file.check()
        yield name, file


def balance(session_dir):
    stats = os.path.join(session_dir, "samples/current/stats")
    figures = {}
    for name in os.listdir(stats):
        if name in ("live", "notes", "started", "throttled"):
            continue
        with open(os.path.join(stats, name)) as f:
            figures[name] = int(f.read())
    taken, stored = figures.get("total_samples", 0), figures.get("stored_samples", 0)
    losses = sum(v for k, v in figures.items() if k not in NOT_LOSSES)
    flat = sum(f.total() for n, f in files(session_dir) if n["callee"] is None)
    arcs = sum(f.total() for n, f in files(session_dir) if n["callee"] is not None)
    if taken != stored + losses or stored != flat or arcs != figures.get("total_arcs", 0):
        sys.exit("taken %d, stored %d, losses %d, in flat files %d, arcs %d of %d" %
                 (taken, stored, losses, flat, arcs, figures.get("total_arcs", 0)))
    if "total_stacks" in figures or "lost_stackfile" in figures:
        wrong = opsamples.arcs(session_dir)
        if wrong and not figures.get("lost_stackfile"):
            sys.exit("\n".join(wrong[:20]))
        both = figures.get("total_stacks", 0) + figures.get("lost_stackfile", 0)
        if both != stored:
            sys.exit("stored %d, with and without stacks %d" % (stored, both))
    print(taken, stored)


def agrees(name, wanted):
    for field, value in wanted:
        have = opsamples.text(name[field])
        if field in ("app", "image", "callee") and "/" not in value:
            have = os.path.basename(have) if have else have
        if str(have) != value:
            return False
    return True


def chosen(session_dir, arcs, wanted):
    wanted = [w.split("=", 1) for w in wanted]
    return ((n, f) for n, f in files(session_dir)
            if (n["callee"] is not None) == arcs and agrees(n, wanted))


def total(session_dir, arcs, wanted):
    return sum(f.total() for _, f in chosen(session_dir, arcs, wanted))


def threads(session_dir, wanted):
    return len({n["tid"] for n, f in chosen(session_dir, False, wanted) if f.total()})


def children(session_dir):
    counts = {}
    for name, file in files(session_dir):
        if name["callee"] is None:
            counts[name["tgid"]] = counts.get(name["tgid"], 0) + file.total()
    return sum(counts.values()) - max(counts.values())


def ranges(binary):
    """name -> (first file offset, behind the last) of a binary's functions."""
    env = dict(os.environ, LC_ALL="C")
    run = lambda *a: subprocess.run(a, env=env, check=True, capture_output=True,
                                    text=True).stdout
    loads = [[int(w, 16) for w in line.split()[1:6]]
             for line in run("readelf", "-lW", binary).splitlines()
             if line.split()[:1] == ["LOAD"]]
    found = {}
    for line in run("readelf", "-sW", binary).splitlines():
        words = line.split()
        if len(words) < 8 or words[3] != "FUNC":
            continue
        addr, size = int(words[1], 16), int(words[2], 0)
        for off, vaddr, _, filesz, _ in loads:
            if vaddr <= addr < vaddr + filesz:
                found[words[7]] = (addr - vaddr + off, addr - vaddr + off + size)
    return found


def functions(session_dir, binary, names):
    where = ranges(binary)
    counts = dict.fromkeys(names, 0)
    for name, file in files(session_dir):
        if name["callee"] is not None or \
           opsamples.text(name["image"]) != os.path.realpath(binary):
            continue
        for key, value, _ in file.nodes[1:]:
            for n in names:
                if where[n][0] <= key < where[n][1]:
                    counts[n] += value
    print(*(counts[n] for n in names))


def main(argv):
    if argv[1] == "balance":
        balance(argv[2])
    elif argv[1] in ("sum", "arcs"):
        print(total(argv[2], argv[1] == "arcs", argv[3:]))
    elif argv[1] == "threads":
        print(threads(argv[2], argv[3:]))
    elif argv[1] == "children":
        print(children(argv[2]))
    elif argv[1] == "functions":
        functions(argv[2], argv[3], argv[4:])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv)
