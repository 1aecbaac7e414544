#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What stacks of code without frame pointers cost, beside perf's.

usage: bench/unwind.py BIN_DIR [WORKLOAD]...

Each workload does a fixed amount of work in programs as Debian ships them.  It is
recorded by "opcollect record --callgraph=dwarf" and by "perf record --call-graph dwarf",
with the same rate, the same 4 MiB of ring a CPU, and the same 32 KiB of each stack; then
each draws its flame graph, perf by "perf script" and its own stackcollapse.py, which
stands for the scripts of FlameGraph.  What takes more than LIMIT seconds is stopped.

Printed are samples and those lost, the share of stacks that are whole, bytes on the disk
a sample, CPU of the collector a sample (all but the workload's own), and the seconds
until the flame graph is there.  Of opcollect also what it costs without stacks.
"""
import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

RATE, PAGES, COPY, LIMIT = 997, 1024, 32768, 120

# Runs its arguments, and writes down what CPU time they took.
OWN = """
import json, resource, subprocess, sys
status = subprocess.call(sys.argv[2:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
json.dump(used.ru_utime + used.ru_stime, open(sys.argv[1], "w"))
sys.exit(status)
"""

CXX = """
#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <string>
#include <unordered_map>
#include <vector>
template <int N> struct work {
    std::map<std::string, std::vector<std::function<int(int)>>> m;
    std::unordered_map<int, std::regex> r;
    int go(int x) {
        m[std::to_string(x)].push_back(
            [x, this](int y) { return x + y + (int)r.size(); });
        r.emplace(x, std::regex("a*b+" + std::to_string(N)));
        std::sort(m["a"].begin(), m["a"].end(), [](auto &, auto &) { return false; });
        return work<N - 1>().go(x + 1) + m.begin()->second.front()(N);
    }
};
template <> struct work<0> { int go(int x) { return x; } };
int main() { return work<40>().go(1); }
"""

PYTHON = """
import json, re
class Node:
    def __init__(self, depth):
        self.kids = [Node(depth - 1) for _ in range(3)] if depth else []
    def walk(self, f):
        return f(self) + sum(k.walk(f) for k in self.kids)
    def text(self):
        return {"kids": [k.text() for k in self.kids]}
tree = Node(7)
for i in range(60):
    tree.walk(lambda n: len(n.kids))
    s = json.dumps(tree.text(), indent=1)
    json.loads(s)
    re.findall(r"(kids|\\[|\\])+", s)
"""

NODE = """
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
class Tree {
  constructor(d) { this.kids = d ? [0, 1, 2].map(() => new Tree(d - 1)) : []; }
  walk(f) { return f(this) + this.kids.map(k => k.walk(f)).reduce((a, b) => a + b, 0); }
}
const t = new Tree(8);
let n = fib(33);
for (let i = 0; i < 60; i++) {
  n += t.walk(x => x.kids.length);
  n += JSON.parse(JSON.stringify(t)).kids.length;
  n += "abcabc".repeat(9999).replace(/(a|b)+c/g, m => m + "x").length;
}
console.log(n);
"""

REDIS = """
redis-server --port 0 --unixsocket $PWD/redis.sock --save '' --appendonly no >redis.log &
until redis-cli -s $PWD/redis.sock ping >/dev/null 2>&1; do sleep 0.05; done
redis-benchmark -s $PWD/redis.sock -n 60000 -q -t set,get,lpush,lrange_100,zadd >bench.log
redis-cli -s $PWD/redis.sock shutdown nosave
wait
"""

POSTGRES = """
PATH=$(echo /usr/lib/postgresql/*/bin):$PATH
chown postgres . && cd . || exit 1
as() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }
rm -rf data
as initdb -D data >init.log
as pg_ctl -D data -w -l server.log -o "-k $PWD -h ''" start >start.log
as pgbench -h $PWD -i -s 5 -q postgres >fill.log 2>&1
as pgbench -h $PWD -c 4 -t 2500 postgres >bench.log 2>&1
as pg_ctl -D data -w stop >stop.log
"""


def workloads(tmp):
    files = {"big.cc": CXX, "work.py": PYTHON, "work.js": NODE, "redis.sh": REDIS,
             "postgres.sh": POSTGRES}
    for name, text in files.items():
        with open(os.path.join(tmp, name), "w") as f:
            f.write(text)
    return {
        "g++": ("g++", ["g++", "-O2", "-c", "-o", "/dev/null", "big.cc"]),
        "python3": ("/usr/bin/python3", ["/usr/bin/python3", "work.py"]),
        "node": ("node", ["node", "--perf-basic-prof", "work.js"]),
        "redis": ("redis-server", ["sh", "redis.sh"]),
        "postgres": ("pg_ctl", ["sh", "postgres.sh"]),
    }


def is_there(program):
    return shutil.which(program, path=os.environ["PATH"] + ":" + ":".join(
        os.path.join("/usr/lib/postgresql", v, "bin")
        for v in (os.listdir("/usr/lib/postgresql")
                  if os.path.isdir("/usr/lib/postgresql") else [])))


def bytes_on_disk(path):
    return sum(os.lstat(os.path.join(top, name)).st_blocks * 512
               for top, _, names in os.walk(path) for name in names)


def cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def record(cmd, work, tmp):
    """CPU seconds of all but the work, and what the recorder said."""
    own = os.path.join(tmp, "own")
    before = cpu()
    done = subprocess.run(cmd + ["--", sys.executable, "-c", OWN, own] + work, cwd=tmp,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit("unwind.py: %s: exit %d\n%s" % (cmd + work, done.returncode,
                                                 done.stdout))
    with open(own) as f:
        return cpu() - before - json.load(f), done.stdout


def seconds_of(cmd, out):
    """Wall-clock seconds of a shell command; None: it took too long."""
    begin = time.monotonic()
    with open(out, "w") as f:
        p = subprocess.Popen(["sh", "-c", cmd], stdout=f, stderr=subprocess.DEVNULL,
                             start_new_session=True)
    try:
        p.wait(LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, 9)
        p.wait()
        return None
    return time.monotonic() - begin


def ours(bins, tmp, work, flags):
    data = os.path.join(tmp, "s")
    shutil.rmtree(data, ignore_errors=True)
    used, text = record([bins + "/opcollect", "record", "-e", "TIMER", "-F", str(RATE),
                         "--symbols=0", "--session-dir", data] + flags, work, tmp)
    taken = int(re.search(r"(\d+) taken", text).group(1))
    lost = int(re.search(r"(\d+) lost", text).group(1))
    current = data + "/samples/current"

    def figure(name):
        try:
            with open(current + "/stats/" + name) as f:
                return int(f.read())
        except FileNotFoundError:
            return 0
    cut = sum(figure(n) for n in ("stacks_copy_short", "stacks_not_copied",
                                  "stacks_no_unwind", "stacks_damaged", "stacks_depth",
                                  "stacks_no_registers", "stacks_no_mapping",
                                  "stacks_full"))
    stacks = figure("total_stacks")
    return {"samples": taken, "lost": lost, "cpu": used / taken,
            "bytes": bytes_on_disk(current) / taken,
            "whole": (stacks - cut) / stacks if stacks else None,
            "data": data}


def perf(tmp, work):
    data = os.path.join(tmp, "perf.data")
    used, text = record(["perf", "record", "-B", "-e", "cpu-clock", "-F", str(RATE), "-m",
                         str(PAGES), "--call-graph", "dwarf,%d" % COPY, "-o", data],
                        work, tmp)
    stats = subprocess.run(["perf", "report", "-i", data, "--stats"], text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    taken = int(re.search(r"SAMPLE events:\s+(\d+)", stats).group(1))
    lost = sum(int(n) for n in re.findall(r"lost (\d+)", text))
    return {"samples": taken, "lost": lost, "cpu": used / taken,
            "bytes": os.stat(data).st_blocks * 512 / taken, "data": data}


# Outermost functions of a thread that is whole.
ROOTS = re.compile(r"_start|_dl_start|__?clone3?|start_thread|__libc_start|"
                   r"ret_from_fork|entry_SYSCALL|\[unknown\] \(\[")


def whole_of_perf(data, tmp):
    """The share of perf's stacks that begin where threads begin, of those it came to."""
    out = os.path.join(tmp, "script")
    seconds_of("perf script -i %s -F ip,sym,dso" % data, out)
    whole = all_of_them = 0
    last = ""
    with open(out, errors="replace") as f:
        for line in f:
            if line.strip():
                last = line
            elif last:
                all_of_them += 1
                whole += bool(ROOTS.search(last))
                last = ""
    return whole / all_of_them if all_of_them else None


def told(value, form="%.2f"):
    return form % value if value is not None else ">%d" % LIMIT


def measure(bins, tmp, name, work):
    print("%s (load %.1f)" % (name, os.getloadavg()[0]), flush=True)
    flat = ours(bins, tmp, work, [])
    mine = ours(bins, tmp, work, ["-m", str(PAGES), "--callgraph=dwarf,%d" % COPY])
    mine["graph"] = seconds_of("%s/opfs cat --session-dir %s current/flamegraph.svg" % (
        bins, mine["data"]), os.path.join(tmp, "flame.svg"))
    theirs = perf(tmp, work)
    collapse = "/usr/share/perf-core/scripts/python/stackcollapse.py"
    if not os.path.exists(collapse):
        collapse = subprocess.getoutput(
            "find /usr -name stackcollapse.py | head -n 1") or "stackcollapse"
    theirs["graph"] = seconds_of("perf script -i %s -s %s" % (theirs["data"], collapse),
                                 os.path.join(tmp, "folded"))
    theirs["whole"] = whole_of_perf(theirs["data"], tmp)
    for title, row in (("opcollect", mine), ("perf", theirs)):
        print("  %-10s %7d samples, %d lost, %s %% whole, %6.0f bytes and %4.0f us a "
              "sample, flame graph in %s s" % (
                  title, row["samples"], row["lost"],
                  told(row["whole"] and row["whole"] * 100), row["bytes"],
                  row["cpu"] * 1e6, told(row["graph"])), flush=True)
    print("  without stacks %.0f us a sample; bytes: a %.0fth of perf's" % (
        flat["cpu"] * 1e6, theirs["bytes"] / mine["bytes"]), flush=True)
    os.unlink(theirs["data"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("bins")
    parser.add_argument("workload", nargs="*")
    args = parser.parse_args()
    bins = os.path.abspath(args.bins)
    with tempfile.TemporaryDirectory(prefix="opfs-unwind.") as tmp:
        os.chmod(tmp, 0o755)
        for name, (program, work) in workloads(tmp).items():
            if args.workload and name not in args.workload:
                continue
            if not is_there(program):
                print("%s: not installed" % name)
                continue
            measure(bins, tmp, name, work)


if __name__ == "__main__":
    main()
