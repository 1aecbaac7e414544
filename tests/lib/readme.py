#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Does what README.md's tour tells, and compares what it prints.

usage: readme.py README DIR [--bless]

Lines with "$" or "#" in front, in indented blocks of "## A tour", are commands:
one shell runs them in order, in the current directory.  What each prints is in DIR/N,
and compared with what README shows below it.  Figures, dates and names in rows depend on
the machine: of these only the shape is compared.  The home directory is /root in README.
A line "..." is any number of lines.  --bless writes what was printed into README instead,
where no "..." stands.
"""
import os
import re
import subprocess
import sys

# ls and opfs as on a terminal of 80 columns
SHELL = """
ls() { [ -p /dev/stdout ] && command ls "$@" || command ls -C -T 0 -w 80 "$@"; }
exec </dev/null
"""
NUMBER = r"(?:0x[0-9a-f]+|[+-]?\d[\d.,:TZ-]*(?:e[+-]\d+)?|\+\+\+|---(?!-))"


class Command:
    """A command, the numbers of the lines that README shows below it, and these."""

    def __init__(self, text, line):
        self.text, self.line, self.shown = text, line, []

    def is_list(self):
        return re.match(r"ls( [^-|]*)?$", self.text)


def commands(lines):
    found, current, on = [], None, False
    for i, line in enumerate(lines):
        if line.startswith("## "):
            on = line == "## A tour"
        if not on:
            continue
        if re.match(r"    [$#] ", line):
            current = Command(line[6:], i)
            found.append(current)
        elif current and line.startswith("    "):
            current.shown.append(line[4:])
        elif current and line == "" and re.match("    (?![$#] )",
                                                 "".join(lines[i + 1:i + 2])):
            current.shown.append("")
        else:
            current = None
    return found


def shape(line):
    """What of a line is the same on every machine."""
    line = re.sub(r"^CPU: .*", "CPU: *", line)
    line = re.sub(r"^(Profiling through|Counted) .*", "Counted", line)
    line = re.sub(r"(there are:|package) .*", r"\1 *", line)
    line = re.sub(r"\b(TIMER|CPU_CLK_UNHALTED|cycles)\b", "EVENT", line)
    line = re.sub(r"^d\S+ .*", "d *", line)
    line = re.sub(r"(?<![\w.])" + NUMBER + r"(?:[smhdKMG]\b)?", "N", line)
    line = re.sub(r"\b\d+(?=\b|$)", "N", line)
    line = re.sub(r"-{4,}", "-", line)
    line = re.sub(r"^\s*(N N )?\s*:.*", ": *", re.sub(r"\s+", " ", line))
    row = re.match(r"\s*((?:N )+)\S", line)
    if row and "|" not in line:
        return row.group(1) + "*"
    line = re.sub(r"^[\w-]+( \(ns\))? (N N %)$", r"* \2", line.strip())
    return line


def shapes(command, lines):
    if command.is_list():
        words = " ".join(lines).split()
        words = {re.sub(r"^(event|image):.*", r"\1:*", w) for w in words}
        return [" ".join(sorted(words))]
    found = []
    for line in lines:
        s = "..." if line == "..." else shape(line)
        if not found or found[-1] != s:
            found.append(s)
    return found


def same(shown, printed):
    """Does what was printed match, with "..." for any lines?"""
    if not shown:
        return not printed
    if shown[0] == "...":
        return any(same(shown[1:], printed[i:]) for i in range(len(printed) + 1))
    return bool(printed) and shown[0] == printed[0] and same(shown[1:], printed[1:])


def run(found, out):
    script = [SHELL]
    for i, command in enumerate(found):
        script += ["exec >%s/%d 2>&1" % (out, i), command.text]
    subprocess.run(["bash", "-c", "\n".join(script)], stdout=subprocess.DEVNULL,
                   check=False)


def main():
    readme, out = sys.argv[1:3]
    with open(readme, encoding="utf-8") as f:
        lines = f.read().split("\n")
    found, wrong = commands(lines), 0
    run(found, out)
    blessed = list(lines)
    for i, command in reversed(list(enumerate(found))):
        with open("%s/%d" % (out, i), encoding="utf-8", errors="replace") as f:
            printed = f.read().replace(os.environ["HOME"] + "/", "/root/")
        printed = printed.split("\n")[:-1]
        if "..." not in command.shown:
            text = ["    " + x if x else "" for x in printed]
            blessed[command.line + 1:command.line + 1 + len(command.shown)] = text
        if not same(shapes(command, command.shown), shapes(command, printed)):
            wrong += 1
            print("$ %s\nREADME shows:\n%s\nprinted:\n%s\n" % (
                command.text, "\n".join(shapes(command, command.shown)),
                "\n".join(printed)))
            print("that is:\n%s\n" % "\n".join(shapes(command, printed)))
    if "--bless" in sys.argv:
        with open(readme, "w", encoding="utf-8") as f:
            f.write("\n".join(blessed))
        return 0
    print("%d commands, %d print something else" % (len(found), wrong))
    return 1 if wrong or not found else 0


if __name__ == "__main__":
    sys.exit(main())
