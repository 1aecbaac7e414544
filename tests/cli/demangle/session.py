#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Describes for mksession.py samples and calls of all functions of libraries.

usage: session.py SESSION=LIBRARY...
"""
import json
import re
import subprocess
import sys


def functions(lib):
    """Addresses, which are offsets too, of the code with mangled names."""
    out = subprocess.run(["nm", lib], capture_output=True, text=True, check=True).stdout
    return [int(a, 16) for a in sorted(set(re.findall(r"^(\w+) [tTW] _Z", out, re.M)))]


def main():
    files = []
    for n, (session, lib) in enumerate(arg.split("=") for arg in sys.argv[1:]):
        at = functions(lib)
        flat = {hex(a): 1000 + 37 * i * (2 - n) for i, a in enumerate(at)}
        calls = {hex(a << 32 | b): 10 + 3 * i
                 for i, (a, b) in enumerate(zip(at, at[1:] + at[:1]))}
        file = {"session": session, "app": lib}
        files.append({**file, "samples": flat})
        files.append({**file, "callee": lib, "samples": calls})
    print(json.dumps(files))


main()
