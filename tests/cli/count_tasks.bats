#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# "opcollect count" of processes, threads and CPUs, beside what perf stat counts.

bats_require_minimum_version 1.5.0
load ../lib/count

@test "perf stat counts the same of the same process, exactly" {
	need_command perf
	counted 1 2000 300 -- -e page-faults,context-switches,cpu-migrations -p PIDS -t \
		--json -f out -- perf stat -p PIDS -x, -o perf \
		-e page-faults,context-switches,cpu-migrations
	rows
	for e in page-faults context-switches cpu-migrations; do
		perf=$(awk -F, -v e=$e '$3 == e { print $1 }' perf)
		echo "$e: perf $perf, opcollect $(sum $e)"
		[ "$perf" = "$(sum $e)" ]
	done
	near "$(sum page-faults)" 2300
}

@test "threads are told apart, and add up" {
	for who in "-p PIDS" "-r TIDS"; do
		# shellcheck disable=SC2086
		counted 1 700 500 400 -- -e page-faults $who -t --json -f out
		rows
		while read -r tid size; do
			echo "$who: $tid touched $size pages"
			near "$(sum page-faults "$tid")" "$size"
		done <threads
		[ "$(wc -l <rows)" = 4 ]
	done
	# and together are the same
	counted 1 700 500 400 -- -e page-faults -r TIDS --json -f out
	rows
	near "$(sum page-faults)" 1600
}

@test "a thread list leaves out the children, a process list takes them along" {
	cat >parent.py <<-'END'
		import subprocess, sys
		print("ready", flush=True)
		sys.stdin.readline()
		subprocess.run([sys.argv[1], "4000"], stdin=subprocess.DEVNULL,
		               stdout=subprocess.DEVNULL)
		print("done", flush=True)
		sys.stdin.readline()
	END
	cat >drive.py <<-'END'
		import subprocess, sys
		pipe = subprocess.PIPE
		p = subprocess.Popen([sys.executable, "parent.py", sys.argv[1]],
		                     stdin=pipe, stdout=pipe, text=True)
		p.stdout.readline()
		words = [str(p.pid), "--", "sh", "-c", "echo ready; cat"]
		c = subprocess.Popen(sys.argv[2:] + words, stdin=pipe, stdout=pipe,
		                     text=True)
		c.stdout.readline()
		p.stdin.write("\n")
		p.stdin.flush()
		p.stdout.readline()
		c.stdin.close()
		assert c.wait() == 0
		p.stdin.close()
		p.wait()
	END
	python3 drive.py "$pages" "$opcollect" count -e page-faults --json -f all -p
	python3 drive.py "$pages" "$opcollect" count -e page-faults --json -f one -r
	rows all
	[ "$(sum page-faults)" -ge 4000 ]
	rows one
	[ "$(sum page-faults)" -lt 4000 ]
}

@test "a hundred processes are counted, with few descriptors to begin with" {
	ulimit -Sn 1000 || skip "too few descriptors are allowed"
	printf '#!/bin/sh\nulimit -Sn 64\nexec "%s" "$@"\n' "$opcollect" >few
	chmod +x few
	opcollect=./few
	counted 100 50 -- -e page-faults -p PIDS -t --json -f out
	[ "$(wc -l <threads)" = 100 ]
	rows
	[ "$(grep -vc all rows)" = 100 ]
	while read -r _ tid n; do
		[ "$tid" = all ] || near "$n" 50
	done <rows
}

@test "whole CPUs are told apart, and add up" {
	whole_cpus
	count -a -c -e page-faults,task-clock --json -f out -- "$pages" 3000 </dev/null \
		>list
	rows
	[ "$(sum page-faults)" -ge 3000 ]
	[ "$(grep -c '^page-faults [0-9]' rows)" = "$(getconf _NPROCESSORS_ONLN)" ]
	first=$(taskset -pc $$ | grep -oE '[0-9]+' | sed -n 2p)
	count -C "$first" -c -e page-faults --json -f out -- \
		taskset -c "$first" "$pages" 2000 </dev/null >list
	rows
	[ "$(sum page-faults "$first")" -ge 2000 ]
	[ "$(wc -l <rows)" = 2 ]
}

@test "signals end it with what was counted" {
	cat >signals.py <<-'END'
		import os, signal, subprocess, sys, time
		# what a shell runs in the background ignores it
		signal.signal(signal.SIGINT, signal.default_int_handler)
		def begin(*words):
		    return subprocess.Popen([sys.argv[1], "count", "-e", "page-faults",
		                             *words], stdout=subprocess.PIPE, text=True,
		                            start_new_session=True)
		def runs(pid, name):
		    try:
		        with open("/proc/%d/comm" % pid) as f:
		            return f.read() == name + "\n"
		    except FileNotFoundError:
		        return False
		def children(pid):
		    with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
		        return [int(c) for c in f.read().split()]
		def until(what):
		    end = time.monotonic() + 600
		    while not what():
		        assert time.monotonic() < end
		        time.sleep(0.02)
		def ends(p, status):
		    out = p.communicate()[0]
		    assert "page-faults" in out and "elapsed" in out, out
		    assert p.returncode == status, (p.returncode, status)
		for sig in signal.SIGINT, signal.SIGTERM:
		    p = begin("--", "sleep", "1000")
		    until(lambda: any(runs(c, "sleep") for c in children(p.pid)))
		    command = children(p.pid)[0]
		    os.kill(p.pid, sig)
		    ends(p, 128 + sig)
		    assert not os.path.exists("/proc/%d" % command)
		# as a terminal does it: both get it, and a command may take its time
		p = begin("--", "sh", "-c", "trap 'exit 5' INT; sleep 1000; exit 6")
		# a child that is about to be sleep would swallow it
		until(lambda: any(runs(c, "sleep") for s in children(p.pid)
		                  for c in children(s)))
		os.killpg(p.pid, signal.SIGINT)
		ends(p, 5)
		# nothing but a process that goes on
		other = subprocess.Popen(["sleep", "1000"])
		p = begin("-p", str(other.pid), "-i", "0.1")
		p.stdout.readline()
		p.stdout.readline()
		os.kill(p.pid, signal.SIGINT)
		assert "page-faults" in p.communicate()[0] and p.returncode == 0
		assert other.poll() is None
		other.kill()
		other.wait()
	END
	python3 signals.py "$opcollect" </dev/null
}

@test "it ends when all processes have ended, or all threads" {
	cat >ends.py <<-'END'
		import subprocess, sys
		pipe = subprocess.PIPE
		for letter in "-p", "-r":
		    ps = [subprocess.Popen([sys.argv[1], "300"], stdin=pipe, stdout=pipe,
		                           text=True) for _ in range(2)]
		    for p in ps:
		        p.stdout.readline()
		    words = ["count", "-e", "page-faults", "-b", "-i", "0.1", letter,
		             ",".join(str(p.pid) for p in ps)]
		    c = subprocess.Popen([sys.argv[2]] + words, stdout=pipe, text=True)
		    c.stdout.readline() # it counts
		    counts = [c.stdout.readline()]
		    for p in ps:
		        assert c.poll() is None
		        p.communicate() # closes its input: it touches its pages, and ends
		        counts.append(c.stdout.readline())
		    counts += c.communicate()[0].split()
		    assert c.returncode == 0
		    n = sum(int(l.split(",")[1]) for l in counts if l[0] == "p")
		    assert 600 <= n <= 1000, counts
	END
	python3 ends.py "$pages" "$opcollect"
}
