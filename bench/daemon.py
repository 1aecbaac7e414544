#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What profiling a whole machine all the time costs, beside perf record -a.

A mixed load (short processes, compilers, threads) runs all the time.  In turn, for so
many seconds each, nothing, perf record -a and opcollect daemon (rotating every minute)
sample it.  Printed are the collector's CPU time as a share of the machine, its largest
resident size, bytes on the disk, samples taken and lost, and turns of the load.
usage: bench/daemon.py BIN_DIR [SECONDS [RATE...]]      (600 seconds; 99 and 999 Hz)
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

THREADS = """
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
static void *work(void *arg)
{
	unsigned x = (unsigned)(unsigned long)arg;
	struct timespec nap = { 0, 500000 };
	for (int i = 0; i < 40; i++) {
		for (int k = 0; k < 100000; k++) x = x * 1664525u + 1013904223u;
		nanosleep(&nap, 0);
	}
	return (void *)(unsigned long)x;
}
int main(void)
{
	pthread_t t[16];
	for (long i = 0; i < 16; i++) pthread_create(&t[i], 0, work, (void *)i);
	for (int i = 0; i < 16; i++) pthread_join(t[i], 0);
	return 0;
}
"""
LOAD = """
n=0
while :; do
	i=0
	while [ $i -lt 20 ]; do /bin/true; i=$((i+1)); done
	gcc -O2 -pthread -o $1/out.$2 $1/threads.c
	$1/out.$2
	n=$((n+1)); echo $n >$1/turns.$2
done
"""


def turns(tmp):
    total = 0
    for name in os.listdir(tmp):
        if name.startswith("turns."):
            with open(os.path.join(tmp, name)) as f:
                total += int(f.read() or 0)
    return total


def cpu_and_memory(pid):
    """Of a process and its children."""
    cpu, peak = cpu_and_memory_of(pid)
    with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
        for child in f.read().split():
            more = cpu_and_memory_of(int(child))
            cpu, peak = cpu + more[0], peak + more[1]
    return cpu, peak


def cpu_and_memory_of(pid):
    with open("/proc/%d/stat" % pid) as f:
        fields = f.read().rsplit(")", 1)[1].split()
    with open("/proc/%d/status" % pid) as f:
        peak = int(re.search(r"VmHWM:\s+(\d+)", f.read()).group(1))
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), peak / 1024


def disk(path):
    return sum(os.lstat(os.path.join(d, f)).st_blocks * 512
               for d, _, files in os.walk(path) for f in files)


def start(what, bins, tmp, rate):
    if what == "perf":
        return subprocess.Popen(["perf", "record", "-B", "-a", "-e", "cpu-clock", "-F",
                                 str(rate),
                                 "-o", tmp + "/perf.data"], stderr=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL)
    said = open(tmp + "/said", "w")
    p = subprocess.Popen([bins + "/opcollect", "daemon", "--session-dir", tmp + "/s",
                          "--socket",
                          tmp + "/sock", "--event=TIMER", "--frequency=%d" % rate,
                          "--rotate=1m", "--log", tmp + "/log"],
                         stderr=said)
    said.close()
    for _ in range(600):
        if os.path.exists(tmp + "/sock"):
            break
        if p.poll() is not None:
            with open(tmp + "/said") as f:
                sys.exit("daemon.py: the daemon ended: " + f.read())
        time.sleep(0.1)
    return p


def figures(what, bins, tmp):
    if what == "perf":
        text = subprocess.run(["perf", "report", "-i", tmp + "/perf.data", "--stats"],
                              text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        found = [re.search(r"%s events:\s+(\d+)" % n, text) for n in ("SAMPLE", "LOST")]
        return [int(m.group(1)) if m else 0 for m in found]
    status = json.loads(subprocess.check_output(
        [bins + "/opcollect", "status", "--json", "--socket", tmp + "/sock"]))
    return [status["total_samples"] + status["past-samples"],
            status["lost"] + status["past-lost"]]


def measure(what, bins, tmp, rate, seconds):
    before = turns(tmp)
    if what == "nothing":
        time.sleep(seconds)
        print("%-6s %-10s %38s %30d" % ("", what, "", turns(tmp) - before), flush=True)
        return
    p = start(what, bins, tmp, rate)
    begun = time.time()
    time.sleep(seconds)
    cpu, peak = cpu_and_memory(p.pid)
    took = time.time() - begun
    done = turns(tmp) - before
    taken = figures(what, bins, tmp) if what != "perf" else None
    p.send_signal(signal.SIGTERM if what != "perf" else signal.SIGINT)
    p.wait()
    if what == "perf":
        taken = figures(what, bins, tmp)
    size = disk(tmp + "/s") if what != "perf" else os.path.getsize(tmp + "/perf.data")
    print("%-6d %-10s %9.3f %% %9.1f MiB %9.1f MiB %10d %8d %8d" % (
        rate, what, 100 * cpu / took / os.cpu_count(), peak, size / 2**20, *taken, done),
        flush=True)
    shutil.rmtree(tmp + "/s", ignore_errors=True)


def main():
    bins = sys.argv[1]
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 600
    rates = [int(r) for r in sys.argv[3:]] or [99, 999]
    tmp = tempfile.mkdtemp(prefix="opfs-bench.")
    loads = []
    try:
        with open(tmp + "/threads.c", "w") as f:
            f.write(THREADS)
        loads = [subprocess.Popen(["sh", "-c", LOAD, "load", tmp, str(i)],
                                  start_new_session=True) for i in range(os.cpu_count())]
        print("%-6s %-10s %11s %13s %13s %10s %8s %8s" % (
            "rate", "collector", "CPU", "memory", "disk", "samples", "lost", "turns"))
        measure("nothing", bins, tmp, 0, seconds)
        for rate in rates:
            for what in ("perf", "opcollect"):
                measure(what, bins, tmp, rate, seconds)
    finally:
        for load in loads:
            os.killpg(load.pid, signal.SIGKILL)
            load.wait()
        shutil.rmtree(tmp, ignore_errors=True)


if __name__ == "__main__":
    main()
