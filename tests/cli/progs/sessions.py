#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What all sessions of a directory hold together, through the independent reader.

    sessions.py DIR       checks that each is sound, and that in each taken = stored +
                          losses and stored is the sum of its files; prints a line for
                          each: NAME TAKEN STORED, then "all TAKEN STORED"
    sessions.py -k DIR    of sessions that may have been cut short by a kill: files may
                          hold more than the figures say, never less, and more may have
                          been taken
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../lib"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import opsamples  # noqa: E402
from ask import NOT_LOSSES  # noqa: E402


def figures(session_dir, session):
    stats = os.path.join(session_dir, "samples", session, "stats")
    out = {}
    for name in os.listdir(stats):
        path = os.path.join(stats, name)
        if name[0] != "." and name not in ("live", "notes", "started") and \
                os.path.isfile(path):
            with open(path) as f:
                out[name] = int(f.read())
    return out


def main():
    killed = sys.argv[1] == "-k"
    session_dir = sys.argv[-1]
    flat = {}
    for session, path, name, file in opsamples.walk(session_dir):
        if name is None:
            sys.exit("%r: %s" % (path, file))
        file.check()
        if name["callee"] is None:
            session = session.decode()
            flat[session] = flat.get(session, 0) + file.total()
    all_taken = all_stored = 0
    for session in sorted(os.listdir(os.path.join(session_dir, "samples"))):
        # killed between the exchange and the name: samples that the next one finds
        if session.startswith(".") and not (killed and session in (".next", ".last")):
            continue
        f = figures(session_dir, session)
        taken, stored = f.get("total_samples", 0), f.get("stored_samples", 0)
        losses = sum(v for k, v in f.items() if k not in NOT_LOSSES)
        in_files = flat.get(session, 0)
        if killed and in_files > stored:
            taken += in_files - stored
            stored = in_files
        # what waited for an answer when it was killed is taken, and nothing else yet
        waited = taken - stored - losses
        if stored != in_files or waited < 0 or (waited and not killed):
            sys.exit("%s: taken %d, stored %d, losses %d, in files %d" %
                     (session, taken, stored, losses, in_files))
        print(session, taken, stored)
        all_taken += taken
        all_stored += stored
    print("all", all_taken, all_stored)


if __name__ == "__main__":
    main()
