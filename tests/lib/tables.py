#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tables of a session say that opcollect wrote: "images", "tasks", "stats/".

    tables.py images DIR [NAME...]   each image, or those with these basenames, which must
                                     be there, was identified: found as itself, under its
                                     path alone, with its build-id as readelf tells it
    tables.py note DIR NAME          the note of the image with this basename
    tables.py lost DIR               nothing was lost but what the kernel says it dropped
    tables.py tasks DIR              every task has a command line, a cgroup and a user
    tables.py progress DIR SECONDS   waits until there is a sample file with samples;
                                     prints after how many seconds

Tell what is wrong and exit with 1.  They share no code with libspec.
"""

import os
import re
import subprocess
import sys
import time

FIGURES = {"total_samples", "stored_samples", "total_arcs", "throttle_events",
           "lost_bt_no_mapping", "lost_bt_samplefile", "bt_aborted", "bt_no_caller",
           "total_stacks", "lost_stackfile", "stacks_full", "stacks_depth",
           "stacks_no_mapping", "stacks_copy_short", "stacks_not_copied",
           "stacks_no_unwind", "stacks_damaged", "stacks_no_registers", "resolved_late",
           "ext_events", "folded", "live", "notes", "started",
           "throttled", "ignored_by_image", "ignored_self", "task_records_lost",
           "task_records_passed"}


def current(session_dir):
    return os.path.join(session_dir, "samples/current")


def unescape(text):
    return re.sub(rb"%([0-9A-Fa-f]{2})", lambda m: bytes([int(m.group(1), 16)]), text)


def rows(session_dir, table, fields):
    with open(os.path.join(current(session_dir), table), "rb") as f:
        lines = f.read().splitlines()
    assert lines and lines[0].startswith(b"# opfs " + table.encode()), lines[:1]
    for line in lines[1:]:
        words = line.split(b"\t")
        assert len(words) == fields, line
        yield [os.fsdecode(unescape(w)) for w in words]


def all_images(session_dir):
    """stored name -> (real path, build-id, note): the last row of a name counts."""
    return {r[0]: (r[1], r[2], r[7]) for r in rows(session_dir, "images", 8)}


def build_id(path):
    done = subprocess.run(["readelf", "-n", path], capture_output=True, text=True,
                          env=dict(os.environ, LC_ALL="C"))
    found = re.search(r"Build ID: ([0-9a-f]+)", done.stdout)
    return found.group(1) if found else None


def run_of(path):
    """The run of the tests that it belongs to: what others run is changed, or goes."""
    found = re.match(r".*/bats-run-[^/]+/", path)
    return found and found.group()


def images(session_dir, names):
    bad, seen, run = [], set(), run_of(os.path.realpath(session_dir))
    for stored, (real, ident, note) in all_images(session_dir).items():
        name = os.path.basename(stored)
        if not stored.startswith("/") or stored.startswith("/proc/") or \
           names and name.split("#")[0] not in names or \
           run_of(stored) not in ([run] if names else [run, None]):
            continue
        seen.add(name)
        if "#" in stored:
            bad.append("%s: a second image" % stored)
        if note != "-":
            bad.append("%s: note %s" % (stored, note))
        elif ident != (build_id(real) or "-"):
            bad.append("%s: build-id %s" % (stored, ident))
    bad += ["%s: not there" % n for n in names if n not in seen]
    if not seen:
        bad.append("no images")
    return bad


def note_of(session_dir, name):
    run = run_of(os.path.realpath(session_dir))
    for stored, row in all_images(session_dir).items():
        if os.path.basename(stored) == name and run_of(stored) == run:
            print(row[2])
            return []
    return ["%s: not there" % name]


def lost(session_dir):
    bad, stats = [], os.path.join(current(session_dir), "stats")
    for name in os.listdir(stats):
        if name not in FIGURES and name != "lost_records_by_kernel":
            with open(os.path.join(stats, name)) as f:
                text = f.read().strip()
            if text != "0":
                bad.append("%s: %s" % (name, text))
    return bad


def tasks(session_dir):
    last = {}
    for tgid, tid, start, comm, line, cgroup, uid in rows(session_dir, "tasks", 7):
        # a cgroup that a later row does not know stays
        if cgroup == "-" and (tgid, tid, start) in last:
            cgroup = last[tgid, tid, start][2]
        last[tgid, tid, start] = comm, line, cgroup, uid
    print("%d tasks" % len(last))
    bad = ["%s (%s): command line %s, cgroup %s, user %s" % (key[0], *row)
           for key, row in last.items() if "-" in row[1:]]
    return (["%d of %d:" % (len(bad), len(last))] if bad else []) + bad[:20] + \
        ([] if last else ["no tasks"])


def sampled(session_dir):
    for folder, _, names in os.walk(current(session_dir)):
        for name in names:
            if re.fullmatch(r"[^.]+(\.[^.]+){5}", name) and "{" in folder:
                try:
                    with open(os.path.join(folder, name), "rb") as f:
                        # nodes in use, behind the header; the first is none
                        if int.from_bytes(f.read(80)[76:], "little") > 1:
                            return True
                except OSError:
                    pass
    return False


def progress(session_dir, seconds):
    begun = time.monotonic()
    while not sampled(session_dir):
        if time.monotonic() > begun + seconds:
            return ["no samples after %d seconds" % seconds]
        time.sleep(0.02)
    print("%.2f" % (time.monotonic() - begun))
    return []


def main(argv):
    what, rest = argv[1], argv[2:]
    do = {"images": lambda d, *n: images(d, n), "note": note_of, "lost": lost,
          "tasks": tasks, "progress": lambda d, s: progress(d, float(s))}
    if what not in do:
        sys.exit(__doc__)
    bad = do[what](*rest)
    print("".join(line + "\n" for line in bad), end="")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
