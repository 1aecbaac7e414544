#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Attacks by users on a mount by root that take long: what they store is damaged, or they
# open all that they can.

bats_require_minimum_version 1.5.0
load ../lib/opfs
load ../lib/mount
load ../lib/users

SESSIONS=${OPFS_SESSIONS:-60}
SEED=${OPFS_SEED:-1}

# A session directory $W/base with every table and figure, of a program with calls.
all_tables() {
	local s=$W/base/samples/current app=$W/weights

	gcc -g -O1 -o "$app" "$OPFS_TOP/tests/programs/weights.c"
	jq -n --arg app "$app" --arg now "$(date +%s)" \
		--arg at "$(offset_of "$app" main)" \
		'{machine: "little 64", files: ([
		{samples: {($at): 5}},
		{callee: $app, samples: {"0x1": 5}},
		{image: "anon:[heap]:7:1000:1fff", tid: 8, samples: {"0x10": 3}}] |
			map({app: $app, escape: true, tgid: 7, tid: 7} + .)),
		sessions: {current: {started: ($now | tonumber),
		stats: {total_samples: 8, stored_samples: 8, lost_kernel: 1},
		live: [1, (($now | tonumber) * 1000000000), "closed"],
		tasks: [[7, 7, 1, "main", "weights -x", "/a/b.slice"],
			[7, 8, 2, "thread", "-", "/a/b.slice"]],
		manifest: [["session", "current"],
			["event", "CPU_CLK_UNHALTED:100000:0:1:1"],
			["figure", "total_samples 8"]]}}}' >"$W/told.json"
	python3 "$MKSESSION" "$W/base" "$W/told.json"
	printf '# opfs images 1\n%s\t%s\t%s\t1\t1\t8:1\t5\t-\n' "$app" "$app" \
		"$(build_id "$app")" >"$s/images"
	printf '# opfs regions 1\n{anon:[heap]}/7.0x1000.0x1fff\t0x7f0000001000\n' \
		>"$s/regions"
	printf 'event CPU_CLK_UNHALTED:100000:0:1:1\nseparate thread\n' >"$s/settings"
	"$OPFS" keep --session-dir "$W/base" current
	[ -e "$W/base/symbols/$(build_id "$app")" ]
}

# Reads all of every session of $M, prints how many answers there were.
read_sessions() {
	as $bob timeout 1000 /usr/bin/python3 - "$M" <<-'END'
	import os, signal, sys
	top = sys.argv[1]
	nr = {"read": 0, "refused": 0}

	def late(*_):
	    sys.exit("it hangs")

	def ask(what, path):
	    signal.alarm(300)
	    try:
	        got = what(path)
	        nr["read"] += 1
	    except OSError:
	        got = []
	        nr["refused"] += 1
	    signal.alarm(0)
	    return got

	def read(path):
	    with open(path, "rb") as f:
	        return f.read()

	signal.signal(signal.SIGALRM, late)
	sessions = [s for s in os.listdir(top) if s not in ("README", "status", "events")]
	for s in sessions + ["session:*", "last:500w", "time:2000-01-01..now"]:
	    at = os.path.join(top, s)
	    for f in ("status", "summary", "report.tsv", "details", "callgraph", "asm",
	              "with:details,callgraph/report.json", "split:tgid/report",
	              "comm:*/summary", "diff:current/report"):
	        ask(read, os.path.join(at, f))
	    for tag in "comm:", "tgid:", "tid:", "cgroup:", "image:", "lib-image:":
	        for name in ask(os.listdir, os.path.join(at, tag))[:2]:
	            path = os.path.join(at, tag, name)
	            for x in ask(os.listxattr, path):
	                ask(lambda p, x=x: os.getxattr(p, x), path)
	ask(read, os.path.join(top, "status"))
	print(len(sessions), nr["read"], nr["refused"])
	END
}

@test "tables, figures, manifests and kept names that are damaged are only damaged" {
	local round pid nr read refused

	all_tables
	for round in 1 2 3 4; do
		rm -rf "$D"
		python3 "$OPFS_TOP/tests/lib/mutate_tables.py" "$SEED$round" "$W/base" \
			"$D" "$SESSIONS"
		chmod -R a+rX "$D"
		"$OPFS" mount -f --session-dir "$D" "$M" -o allow_other \
			3>&- 2>"$W/mount.err" &
		pid=$!
		wait_for mountpoint -q "$M"
		run -0 read_sessions
		echo "$output"
		read -r nr read refused <<<"$output"
		[ "$nr" = "$SESSIONS" ]
		[ "$read" -gt $((8 * SESSIONS)) ]
		cat "$M"/m*/status >"$W/told"
		[ "$(grep -c '^damaged: ' "$W/told")" -ge $((SESSIONS / 10)) ]
		unmount "$M"
		wait $pid
		[ ! -s "$W/mount.err" ] || { cat "$W/mount.err"; false; }
	done
}

# How many files 200 processes of bob's have opened, which stay until its input ends.
openers() {
	cat >"$W/openers.py" <<-'END'
	import errno, os, resource, sys
	top = sys.argv[1]
	most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
	resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
	files = "report", "status", "summary", "README", "details"
	told, telling = os.pipe()
	stay, stop = os.pipe()
	for i in range(200):
	    if os.fork():
	        continue
	    os.close(stop)
	    opened = []
	    for k in range(1000):
	        try:
	            path = "%s/s%d/%s" % (top, 1 + k % 20, files[k // 200])
	            opened.append(os.open(path, os.O_RDONLY))
	        except OSError as e:
	            assert e.errno == errno.ENFILE, e
	    os.write(telling, b"%10d" % len(opened))
	    os.read(stay, 1)
	    os._exit(0)
	print(sum(int(os.read(told, 10)) for i in range(200)), flush=True)
	sys.stdin.read()
	os.close(stop)
	for i in range(200):
	    os.wait()
	END
	as $bob /usr/bin/python3 "$W/openers.py" "$M"
}

descriptors() {
	ls "/proc/$1/fd" | wc -l
}

few_descriptors() {
	[ "$(descriptors "$1")" -lt 100 ]
}

@test "200 processes that open 1,000 files each leave others what they need" {
	local pid nr hog_pid

	[ "$(ulimit -Hn)" = unlimited ] || [ "$(ulimit -Hn)" -gt 16400 ] ||
		skip "no more than $(ulimit -Hn) files may be open here"
	cp /bin/true "$W/p"
	seq 20 | jq -s --arg p "$W/p" 'map({session: "s\(.)", app: $p,
		samples: {"0x1100": 7}})' >"$W/told.json"
	mksession "$W/told.json"
	"$OPFS" mount -f --session-dir "$D" "$M" -o allow_other 3>&- &
	pid=$!
	wait_for mountpoint -q "$M"
	coproc hog { openers; }
	hog_pid=$hog_PID
	for nr in 1 2 3; do
		as $alice grep -q 100 "$M/s$nr/details"
	done
	read -r nr <&"${hog[0]}"
	[ "$nr" = 16384 ]
	as $alice grep -q 100 "$M/s4/details"
	few_descriptors $pid
	exec {hog[1]}>&-
	wait "$hog_pid"
	as $bob grep -q 100 "$M/s5/details"
	few_descriptors $pid
	unmount "$M"
	wait $pid
}
