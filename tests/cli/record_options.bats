#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# "opcollect record": what its options choose, separate and add.

bats_require_minimum_version 1.5.0
load ../lib/record_tests

@test "five hundred threads are all counted, and told apart if asked" {
	run -0 record -e TIMER -F 1999 --separate=thread,cpu -- "$b/threads" 500 3000
	assert_balance
	sampled "$(ask sum oprofile_data image=threads)" "$(worked threads)" 1999 \
		$((taken - stored))
	tids=$(find oprofile_data -name 'TIMER.*' | sed 's/.*\.\([0-9]*\)\.[0-9]*$/\1/' |
		sort -u | wc -l)
	# as many samples, thrown among 500, leave so many without one; those that are
	# missing for a loss that was told are missing in a row, and may be all that a
	# thread had
	awk -v tids="$tids" -v n="$stored" -v lost=$((taken - stored)) \
		-v ns="$(worked threads)" 'BEGIN {
		none = exp(-n / 500)
		want = ns * 1.999e-6
		gone = want - n < lost ? want - n : lost
		gone = gone > 0 ? gone / (want / 500) : 0
		print tids " threads of 500 in " n " samples of " want ", " lost " lost"
		exit tids < 500 * (1 - none) - 4.5 * sqrt(500 * none * (1 - none)) - gone
	}'
}

@test "call chains become arcs" {
	run record -g -F 999 -- "$b/chain"
	assert_balance
	[ "$(ask arcs oprofile_data app=chain image=chain callee=chain)" -gt \
		"$(ask sum oprofile_data app=chain image=chain)" ]
}

@test "--separate files images as it says" {
	run record --separate=none -F 1999 -- "$b/zeros" 300
	assert_balance
	# all but what no file is behind, as [vdso], is filed under itself
	[ "$(ask sum oprofile_data app=zeros image=kallsyms)" = 0 ]
	[ "$(ask sum oprofile_data app=zeros image=libc.so.6)" = 0 ]
	sampled "$(ask sum oprofile_data)" "$(worked zeros)" 1999 $((taken - stored))
	can_record_cpus
	rm "$WORKED"
	run record -F 1999 -- "$b/zeros" 300 # as with --separate=kernel
	assert_balance
	sampled "$(ask sum oprofile_data app=zeros)" "$(worked zeros)" 1999 \
		$((taken - stored))
	# all but what the kernel did before exec had replaced the program
	awk -v other=$(($(ask sum oprofile_data) - $(ask sum oprofile_data app=zeros))) \
		-v before="$(worked before)" 'BEGIN {
		n = before * 1999 / 1e9
		print other " samples of other programs, " n " before main()"
		exit other > n + 4.5 * sqrt(n) + 3
	}'
	rm "$WORKED"
	run record --no-vmlinux --separate=lib -F 1999 -- "$b/zeros" 300
	assert_balance
	sampled "$(ask sum oprofile_data app=no-vmlinux)" "$(worked zeros)" 1999 \
		$((taken - stored))
	[ "$(ask sum oprofile_data app=no-vmlinux)" = \
		"$(ask sum oprofile_data image=no-vmlinux)" ]
}

@test "--image takes a program with its libraries, and a library by itself" {
	run record -F 1999 --image="$b/dl" \
		-- sh -c "'$b/weights' 0.2; '$b/dl' 200 '$b/liba.so'"
	assert_balance
	sampled "$(ask sum oprofile_data app=dl image=liba.so)" "$(worked liba.so)" 1999
	[ "$(ask sum oprofile_data app=weights)" = 0 ]
	[[ "$output" == *"left out by --image"* ]]
	rm "$WORKED"
	run record -F 1999 --image="$b/liba.so" -- "$b/dl" 300 "$b/liba.so" "$b/libb.so"
	assert_balance
	[ "$(ask sum oprofile_data)" = "$(ask sum oprofile_data image=liba.so)" ]
	sampled "$(ask sum oprofile_data)" "$(worked liba.so)" 1999
}

@test "several events are counted apart" {
	run -0 record -e TIMER:1000000,page-faults:1 -e context-switches -- \
		sh -c 'for i in $(seq 10); do ls / >/dev/null; done; "$1" 0.3' \
		sh "$b/weights"
	assert_balance
	[ "$(ask sum oprofile_data event=page-faults)" -gt 500 ]
	sampled "$(ask sum oprofile_data event=TIMER count=1000000)" "$(worked weights)" \
		1000 $((taken - stored))
}

@test "a running process is attached to, and the run ends with it" {
	runs_on
	record_begins -F 1999 -p "$running"
	"$OPFS_TOP/tests/lib/until_used" "$running" 700
	busy_end
	record_ends
	[ "$status" = 0 ]
	assert_balance
	assert_sampled "$running" 1999 weights
}

@test "children that an attached process starts later are its" {
	busy_start sh -c "until [ -e go ]; do sleep 0.05; done; '$b/weights' 0.5; exit 0"
	shell=$(wait_for pgrep -P "${busy_pids[-1]}" sh)
	record_begins -F 1999 -p "$shell"
	: >go
	record_ends
	assert_balance
	assert_sampled weights 1999
}

@test "the whole machine is sampled, processes of before included" {
	can_record_cpus
	runs_on
	run record -a -F 1999 -- "$OPFS_TOP/tests/lib/until_used" "$running" 300
	busy_end
	assert_balance
	assert_sampled "$running" 1999 weights
}

@test "rings that are too small lose samples and count them" {
	can_record_cpus
	run -0 record -m 1 -g -F 20000 -- "$b/weights" 0.5
	assert_balance
	if [ "$taken" -gt "$stored" ]; then
		[[ "$output" == *"lost_records_by_kernel"*"-m"* ]]
	fi
}

# What is said about a list of topics goes to "err".
verbose() {
	rm -rf oprofile_data
	record -e TIMER -g --verbose="$1" -F 999 -- "$b/chain" >out 2>err
}

@test "--verbose shows messages about what it is told to, and no others" {
	verbose sfile
	grep -q '^opcollect record: sample file {root}.*/chain/TIMER\.' err
	run ! grep -E '\{cg\}|a sample every|looked at' err
	verbose arcs
	grep -q '^opcollect record: sample file {root}.*/chain/{cg}/.*/TIMER\.' err
	run ! grep -E 'a sample every|looked at' err
	[ "$(grep -c '{root}' err)" = "$(grep -c '{cg}' err)" ]
	verbose record
	grep -q 'TIMER: a sample every ' err
	run ! grep -E '\{root\}|looked at' err
	verbose convert
	grep -q '/chain: looked at$' err
	run ! grep -E '\{root\}|a sample every' err
	for both in record,convert all debug; do
		verbose "$both"
		grep -q 'TIMER: a sample every ' err
		grep -q '/chain: looked at$' err
	done
}

@test "--verbose tells what it knows, if told something else" {
	run -2 record --verbose=bfd -- true
	[[ $output = *'no messages about "bfd", but: all, debug, misc, record, '* ]]
	run -2 "$OPFS_BIN/opcollect" daemon --verbose=sfile,
	[[ $output = *'no messages about ""'* ]]
	run -2 "$OPFS_BIN/opcollect" --verbose=x events
}

@test "-l of operf changes nothing" {
	run -0 record -l -F 999 -- "$b/chain"
	assert_balance
	rm -rf oprofile_data
	run -0 record --lazy-conversion -F 999 -- "$b/chain"
	assert_balance
}

# ---- what perf's users write

@test "-V tells of each event how often a sample is taken" {
	run -0 record -V -e TIMER:2000000,page-faults:7 -- true
	[[ "$output" == *"TIMER: a sample every 2000000 ns"* ]]
	[[ "$output" == *"page-faults: a sample every 7"$'\n'* ]]
	run -0 record -V -F 99 -e page-faults -- true
	[[ "$output" == *"page-faults: 99 samples a second"* ]]
}

@test "--session records into a session of its name, once, and again with --append" {
	opcollect() { "$OPFS_BIN/opcollect" "$@"; }
	cd "$BATS_TEST_TMPDIR"
	run -0 opcollect record --session first -o data -e TIMER -- true
	[[ "$output" == *"session: data, first"* ]]
	[ -d data/samples/first ]
	[ ! -e data/samples/current ]
	run -1 opcollect record --session first -o data -e TIMER -- touch ran
	[[ "$output" == *"session first"*"already"*--append* ]]
	[ ! -e ran ]
	opcollect record --session first --append -d data -e TIMER -- true
	[ "$(ls -A data/samples)" = first ]
	"$OPFS_BIN/opfs" cat --session-dir data first/status >status
	for name in .x a/b 2026-11-21T09-00-00Z "$(printf 'a\nb')" ''; do
		run -2 opcollect record --session "$name" -o data -- true
		[[ "$output" == *--session* ]]
	done
}

@test "-F max is what the kernel allows, and is told" {
	max=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
	cd "$BATS_TEST_TMPDIR"
	run -0 "$OPFS_BIN/opcollect" record -F max -o max -e TIMER -- true
	[[ "$output" =~ "-F max: "([0-9]+)" samples a second" ]]
	# which it may lower at any time
	[ "${BASH_REMATCH[1]}" -le "$max" ]
	grep -q -- '-F max' max/samples/current/stats/notes
}

@test "perf's --call-graph takes its argument as a word of its own, too" {
	cd "$BATS_TEST_TMPDIR"
	for how in '--call-graph=fp' '--call-graph fp' '--call-graph dwarf' \
		'--call-graph dwarf,8192' '--call-graph=dwarf,8192'; do
		run -0 "$OPFS_BIN/opcollect" record $how -e TIMER -- true
		echo "$how: $output"
	done
	run -2 "$OPFS_BIN/opcollect" record --call-graph lbr -- true
	[[ "$output" == *'"lbr"'*'dwarf'* ]]
	run -2 "$OPFS_BIN/opcollect" record --call-graph -- true
	[[ "$output" == *'--callgraph'*'fp'* ]]
}

@test "events are taken with the modifiers u and k, and others are explained" {
	cd "$BATS_TEST_TMPDIR"
	run -0 "$OPFS_BIN/opcollect" record -e page-faults:u -- true
	run -2 "$OPFS_BIN/opcollect" record -e cycles:pp -- true
	[[ "$output" == *'modifier "p"'* ]]
	run -2 "$OPFS_BIN/opcollect" record -e cpu/event=0x3c,umask=1/ -- true
	[[ "$output" == *"rNNN"*"r13c"* ]]
}

# ---- signals

@test "SIGINT and SIGTERM are kept from before options are read, also where ignored" {
	cd "$BATS_TEST_TMPDIR"
	# it complains of an option, and a pipe that is full holds it there
	timeout 1000 python3 - "$OPFS_BIN/opcollect" <<-'END'
	import fcntl, os, signal, subprocess, sys, time
	WANTED = 1 << signal.SIGINT - 1 | 1 << signal.SIGTERM - 1
	def status(pid, field):
	    with open("/proc/%d/status" % pid) as f:
	        return [l.split()[1] for l in f if l.startswith(field)][0]
	out, full = os.pipe()
	os.set_blocking(full, False)
	try:
	    while True:
	        os.write(full, b"x" * 65536)
	except BlockingIOError:
	    pass
	try:
	    while True:
	        os.write(full, b"x")
	except BlockingIOError:
	    pass
	os.set_blocking(full, True)
	def ignore():
	    signal.signal(signal.SIGINT, signal.SIG_IGN)
	p = subprocess.Popen([sys.argv[1], "record", "--no-such-option"], stderr=full,
	                     preexec_fn=ignore)
	def writes():
	    with open("/proc/%d/syscall" % p.pid) as f:
	        return f.read().split()[1:2] == ["0x2"] # its first argument
	while not writes():
	    assert p.poll() is None
	    time.sleep(0.01)
	blocked = int(status(p.pid, "SigBlk:"), 16)
	p.kill()
	p.wait()
	assert blocked & WANTED == WANTED, hex(blocked)
	END
}

# Whether a process is opcollect by now, and ignores neither SIGINT nor SIGTERM.
handles() {
	[ "$(cat "/proc/$1/comm")" = opcollect ] &&
		! (("0x$(awk '/^SigIgn/ { print $2 }' "/proc/$1/status")" & 0x4002))
}

@test "SIGINT and SIGTERM end replay, also one that inherited them as ignored" {
	cd "$BATS_TEST_TMPDIR"
	mkfifo stream
	for sig in INT TERM; do
		(trap '' INT TERM; exec "$OPFS_BIN/opcollect" replay stream) 3>&- &
		pid=$!
		wait_for handles "$pid"
		kill -"$sig" "$pid"
		rc=0
		wait "$pid" || rc=$?
		[ "$rc" -gt 128 ]
	done
}
