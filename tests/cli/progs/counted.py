#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Has processes counted while they touch pages, all of it and nothing else.

usage: counted.py NR PROGRAM PAGES... -- WORD...

Starts NR processes "PROGRAM PAGES..." (pages.c) and runs the words, in which PIDS and
TIDS are all of their processes and threads, with a command behind them.  When that runs,
what counts has begun: the processes touch their pages.  When they have, and sleep, it
ends.  Prints "TID PAGES" for each thread; exits as the words do.
"""
import subprocess
import sys
import time

READY = ["--", "sh", "-c", "echo ready; cat"]


def sleeps(tid):
    with open("/proc/%s/stat" % tid) as f:
        return f.read().rpartition(")")[2].split()[0] == "S"


def wait_until_asleep(threads):
    while not all(sleeps(t[0]) for t in threads):
        time.sleep(0.01)


def main():
    at = sys.argv.index("--")
    nr, program, words = int(sys.argv[1]), sys.argv[2:at], sys.argv[at + 1:]
    pipe = subprocess.PIPE
    counted = [subprocess.Popen(program, stdin=pipe, stdout=pipe, text=True)
               for _ in range(nr)]
    threads = [p.stdout.readline().split() for p in counted for _ in program[1:]]
    # Whoever begins to count while they still go to sleep counts that.
    wait_until_asleep(threads)
    lists = {"PIDS": ",".join(str(p.pid) for p in counted),
             "TIDS": ",".join(t[0] for t in threads)}
    counter = subprocess.Popen([lists.get(w, w) for w in words] + READY, stdin=pipe,
                               stdout=pipe, text=True)
    if counter.stdout.readline() == "ready\n":
        for p in counted:
            p.stdin.write("\n")
            p.stdin.flush()
        for p in counted:
            assert p.stdout.readline() == "done\n"
        wait_until_asleep(threads)
    counter.stdin.close()
    status = counter.wait()
    for p in counted:
        p.stdin.close()
        p.wait()
    for t in threads:
        print(*t)
    sys.exit(status)


main()
