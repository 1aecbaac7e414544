#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a "current" of 100,000 sample files costs those who write it: drain into it, start
upon it, rotate, seal, dump, status, list.   usage: bench/daemon_files.py BIN_DIR [FILES]

Drain is "opcollect replay" of a stream of the driver's whose samples go round the files,
with as many open as the collector keeps: each file is made, and then opened again for one
more sample, which is the worst that can happen to it; and for a hundred at a time.

The daemon samples a busy CPU at 999 Hz meanwhile.  A status that is asked for every 20 ms
and answered late says that it did not look at its rings as long, so "longest" is what a
rotation or a manifest keeps samples waiting.  Samples lost are from the daemon's figures.
Times are wall clock.
"""
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import many_files  # noqa: E402  pylint: disable=wrong-import-position
import stream  # noqa: E402  pylint: disable=wrong-import-position

TASKS = 100


def tell(what, value, unit, more=""):
    print("%-56s %9.2f %s%s" % (what, value, unit, more), flush=True)


# ---- drain

def go_round(files, at_once):
    """Samples of every file, at_once in a row each."""
    out = []
    for n in range(files):
        out.append(stream.task(n % TASKS, 1 + n % TASKS))
        out.append(stream.note(stream.COOKIE, 1000 + n // TASKS))
        out += [stream.words((n * 64 + i * 8) & 0xfffff, 255) for i in range(at_once)]
    return b"".join(out)


def head(files):
    out = [stream.begin(), stream.note(stream.USER)]
    out += [stream.image(1 + n, "/bench/bin/prog%d" % n) for n in range(TASKS)]
    out += [stream.image(1000 + n, "/bench/lib/lib%d.so" % n)
            for n in range(files // TASKS)]
    return b"".join(out)


def drain(bins, top, files):
    turns = [("made, one sample each", 1, []),
             ("opened again, one sample each", 1, ["--append"]),
             ("opened again, 100 samples each", 100, ["--append"])]
    for what, at_once, args in turns:
        path = top + "/stream"
        with open(path, "wb") as f:
            f.write(head(files) + go_round(files, at_once) + stream.bye())
        begun = time.monotonic()
        subprocess.run([bins + "/opcollect", "replay", "-d", top + "/drained", *args,
                        path],
                       check=True, stderr=subprocess.DEVNULL)
        took = time.monotonic() - begun
        tell("drain: %d files %s" % (files, what), took * 1e6 / files, "us a file",
             ", %.2f us a sample" % (took * 1e6 / files / at_once))
        os.unlink(path)


# ---- the daemon

class Daemon:
    def __init__(self, bins, session, *args):
        self.opcollect = bins + "/opcollect"
        self.socket = session + ".sock"
        self.begun = time.monotonic()
        self.process = subprocess.Popen(
            [self.opcollect, "daemon", "--session-dir", session, "--socket", self.socket,
             "--event=TIMER", "--frequency=999", "--min-free=1M", "--log",
             session + ".log",
             *args])
        while self.call("status", quiet=True) is None:
            if self.process.poll() is not None:
                sys.exit("daemon_files.py: the daemon: exit %d" % self.process.returncode)
            time.sleep(0.005)
        self.took = time.monotonic() - self.begun

    def call(self, *args, quiet=False):
        p = subprocess.run([self.opcollect, *args, "--socket", self.socket], text=True,
                           stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL if quiet else None)
        return p.stdout if p.returncode == 0 else None

    def status(self):
        return json.loads(self.call("status", "--json"))

    def end(self):
        begun = time.monotonic()
        self.process.terminate()
        self.process.wait()
        return time.monotonic() - begun


class Asking:
    """Asks for the status all the time, and notes the longest answer."""

    def __init__(self, daemon):
        self.daemon, self.longest, self.quit = daemon, 0, False
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.quit:
            begun = time.monotonic()
            self.daemon.call("status")
            self.longest = max(self.longest, time.monotonic() - begun)
            time.sleep(0.02)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.quit = True
        self.thread.join()


def sealed(session):
    samples = session + "/samples"
    return all(os.path.exists("%s/%s/MANIFEST" % (samples, name))
               for name in os.listdir(samples) if name[0] != "." and name != "current")


def watch_sealing(what, daemon, session):
    begun = time.monotonic()
    with Asking(daemon) as asking:
        while not sealed(session):
            time.sleep(0.05)
    tell(what + ": until the manifest is there", time.monotonic() - begun, "s")
    tell(what + ": longest status meanwhile", asking.longest * 1000, "ms")


def fill(session, files):
    """Puts a hundred thousand files into the session that the daemon is writing."""
    made = session + ".made"
    many_files.make(made, files)
    os.makedirs(session + "/samples/current/{root}", exist_ok=True)
    os.rename(made + "/samples/current/{root}/opt",
              session + "/samples/current/{root}/opt")


def rotate(daemon, session, files):
    fill(session, files)
    with Asking(daemon) as asking:
        begun = time.monotonic()
        daemon.call("dump")
        tell("dump", (time.monotonic() - begun) * 1000, "ms")
        before = daemon.status()
        begun = time.monotonic()
        daemon.call("save", "whole")
        tell("rotate (save): answered after", (time.monotonic() - begun) * 1000, "ms")
        while not daemon.status()["total_samples"]:
            pass
        tell("rotate: until samples flow into the new session",
             (time.monotonic() - begun) * 1000, "ms")
    tell("rotate: longest status meanwhile", asking.longest * 1000, "ms")
    watch_sealing("seal %d files" % files, daemon, session)
    after = daemon.status()
    tell("samples lost, before and since", before["past-lost"] + before["lost"], "",
         " and %d; past %d, now %d taken" % (after["past-lost"] + after["lost"],
                                            after["past-samples"],
                                            after["total_samples"]))


def remove(daemon, session):
    with Asking(daemon) as asking:
        begun = time.monotonic()
        daemon.call("remove", "whole")
        tell("remove: answered after", (time.monotonic() - begun) * 1000, "ms")
        while any(n.startswith(".gone") for n in os.listdir(session + "/samples")):
            time.sleep(0.05)
        tell("remove: until its files are gone", time.monotonic() - begun, "s")
    tell("remove: longest status meanwhile", asking.longest * 1000, "ms")


def begin_upon(bins, session, what):
    """A daemon that finds a current of so many files, and sets it aside."""
    daemon = Daemon(bins, session)
    tell("start upon %s: until it answers" % what, daemon.took, "s")
    watch_sealing("start upon %s" % what, daemon, session)
    tell("end", daemon.end(), "s")


def left_by(session, files, state):
    """A current of so many files, as a daemon left it."""
    many_files.make(session, files)
    current = session + "/samples/current"
    with open(current + "/stats/live", "w") as f:
        f.write("1 %d %s\n" % (time.time_ns(), state))
    with open(current + "/settings", "w") as f:
        f.write("event TIMER:1000000:0:1:1\nseparate lib,thread\ncallgraph 0\n")


def main():
    bins = sys.argv[1]
    files = int(sys.argv[2]) if len(sys.argv) > 2 else 100000
    with tempfile.TemporaryDirectory(dir="/var/tmp") as top:
        drain(bins, top, files)
        load = subprocess.Popen(["sh", "-c", "while :; do :; done"])
        try:
            for state, what in (("closed", "%d files" % files),
                                ("live", "%d files of one that was killed" % files)):
                left_by(top + "/" + state, files, state)
                begin_upon(bins, top + "/" + state, what)
            daemon = Daemon(bins, top + "/s")
            with Asking(daemon) as asking:
                time.sleep(3)
            tell("nothing happens: longest status", asking.longest * 1000, "ms")
            rotate(daemon, top + "/s", files)
            begun = time.monotonic()
            subprocess.run([bins + "/opfs", "ls", "--session-dir", top + "/s", "/"],
                           check=True,
                           stdout=subprocess.DEVNULL)
            tell("opfs ls", (time.monotonic() - begun) * 1000, "ms")
            remove(daemon, top + "/s")
            tell("end", daemon.end(), "s")
        finally:
            load.kill()
            load.wait()


if __name__ == "__main__":
    main()
