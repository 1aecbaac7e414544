#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Are the stacks that were recorded of deep.c those that it wrote down?

    same_stacks.py DIR PROGRAM PLACES [unwound]

Unwound ones must be the same up to where threads begin.  Looks at the samples in burn():
what called it.  Prints "PLACE SAMPLES" lines, and "other" for stacks that are at none of
the places, where burn() has no frame yet or no more.
"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../lib"))
import opsamples  # noqa: E402
from ask import ranges  # noqa: E402

DEPTH = 5


def written(path):
    """[(place, callers)]: a signal comes by another instruction each time."""
    places = []
    with open(path) as f:
        for line in f:
            place, *frames = line.split()
            frames = [f.rsplit("+", 1) for f in frames]
            way = place, [(image, int(off, 16)) for image, off in frames]
            if way not in places:
                places.append(way)
    return places


def main(session_dir, program, path, unwound=None):
    places = written(path)
    program = os.path.realpath(program)
    first, behind = ranges(program)["burn"]
    counts = dict.fromkeys((place for place, _ in places), 0)
    counts["other"] = 0
    for row in opsamples.stacks(session_dir):
        *frames, (image, off, exact) = row["stack"]
        if image != program or not first <= off < behind:
            continue
        if not exact:
            sys.exit("the sampled address is not exact: %s" % row)
        cut = frames[:1] == [[None, DEPTH, False]]
        callers = [(i, o) for i, o, _ in frames[cut:][::-1]]
        if not unwound and any(e for _, _, e in frames):
            sys.exit("a caller that was interrupted: %s" % row)
        found = [p for p, want in places
                 if (callers == want[:len(callers)] and len(callers) > 100 if cut
                     else callers[:None if unwound else len(want)] == want)]
        if cut and found not in (["too-deep"], []):
            sys.exit("cut off: %s" % found)
        counts[found[0] if found else "other"] += row["samples"]
    for place, samples in counts.items():
        print(place, samples)


if __name__ == "__main__":
    main(*sys.argv[1:])
