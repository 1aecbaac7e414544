#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# "opcollect record": what is counted, where, and that nothing is lost silently.

bats_require_minimum_version 1.5.0
load record

setup_file() {
	build_programs
}

setup() {
	b="$BATS_FILE_TMPDIR"
	cd "$BATS_TEST_TMPDIR"
	can_record
	export WORKED="$BATS_TEST_TMPDIR/worked"
}

teardown() {
	busy_end
	[ -z "${collector-}" ] || kill -KILL "$collector" 2>/dev/null || true
}

# background OPTION...: "record" beside the test, until it takes samples.
background() {
	"$OPFS_BIN/opcollect" record "$@" >out 2>&1 3>&- &
	collector=$!
	wait_for takes_samples
}

takes_samples() {
	grep -q live oprofile_data/samples/current/stats/live 2>/dev/null ||
		! kill -0 "$collector"
}

# Waits for it; sets status and output as "run" does.
background_ends() {
	status=0
	wait "$collector" || status=$?
	collector=
	output=$(cat out)
}

# The loss figures a run printed agree with the session, and its files with both.
assert_balance() {
	local both

	both=$(ask balance "${1:-oprofile_data}")
	taken=${both% *}
	stored=${both#* }
	[[ "$stderr$output" == *"samples: $taken taken, $stored stored"* ]]
}

# assert_sampled PROGRAM HZ [NAME]: it has the samples that its CPU time makes; NAME is what
# it is filed under, if that is another.
assert_sampled() {
	local both

	both=$(ask balance oprofile_data)
	sampled "$(ask sum oprofile_data "app=${3:-$1}" "image=${3:-$1}")" "$(worked "$1")" "$2" \
		$((${both% *} - ${both#* }))
}

@test "a program's functions are seen by their weights" {
	run --separate-stderr record -F 4999 -- "$b/weights" 1
	[ "$status" = 0 ]
	assert_balance
	read -r heavy middle light <<<"$(ask functions oprofile_data "$b/weights" heavy middle light)"
	all=$((heavy + middle + light))
	sampled "$all" "$(worked weights)" 4999 $((taken - stored))
	share "$heavy" "$all" 600
	share "$middle" "$all" 300
	share "$light" "$all" 100
	[ "$(ask sum oprofile_data app=weights)" -ge "$all" ]
}

@test "the shares agree with those of perf in the same run" {
	need_command perf
	run record -e TIMER:200000:0:0:1 -- \
		perf record -B -N -e cpu-clock:u -F 4999 -o p.data -- "$b/weights" 1
	[ "$status" = 0 ] || skip "perf fails here"
	read -r heavy middle light <<<"$(ask functions oprofile_data "$b/weights" heavy middle light)"
	read -r heavy2 middle2 light2 <<<"$(python3 "$progs/perfdata.py" p.data functions \
		"$b/weights" heavy middle light)"
	all=$((heavy + middle + light)) all2=$((heavy2 + middle2 + light2))
	# a busy machine gives fewer; the bounds follow
	echo "$all samples here, $all2 of perf"
	read -r taken stored <<<"$(ask balance oprofile_data)"
	sampled "$all" "$(worked weights)" 4999 $((taken - stored))
	sampled "$all2" "$(worked weights)" 4999 ||
		skip "perf itself took only $all2 samples here"
	share "$heavy" "$all" "$((heavy2 * 1000 / all2))" "$all2"
	share "$middle" "$all" "$((middle2 * 1000 / all2))" "$all2"
	share "$light" "$all" "$((light2 * 1000 / all2))" "$all2"
}

@test "the command's exit status is passed on" {
	run record -- sh -c 'exit 7'
	[ "$status" = 7 ]
	run record -- sh -c 'kill -KILL $$'
	[ "$status" = 137 ]
	run record -- true
	[ "$status" = 0 ]
}

@test "a command's own options stay the command's" {
	run --separate-stderr record sh -c 'echo "$0 $1"' -e --help
	[ "$status" = 0 ]
	[ "$output" = "-e --help" ]
}

@test "few samples are told with what to change" {
	# however slow the machine is
	run record -F 20 -- true
	[[ "$output" == *"too few"*"-F, now 20"*"longer run"* ]]
	run record -e TIMER:50000000 -- true
	[[ "$output" == *"too few"*"smaller count"* ]]
}

@test "a command that cannot be run leaves the session as it is" {
	record -- "$b/weights" 0.2
	run -127 record -- nosuchcommand
	[[ "$output" == *"nosuchcommand: command not found"* ]]
	run -127 record -- ./nosuchfile
	run record -- /etc/passwd
	[ "$status" = 126 ]
	[[ "$output" == *"/etc/passwd"*"ermission denied"* ]]
	run record --vmlinux=/nonexistent -- true
	[ "$status" = 1 ]
	[[ "$output" == *"--vmlinux=/nonexistent: No such file"* ]]
	[ "$(ls oprofile_data/samples)" = current ]
	ask balance oprofile_data
}

@test "wrong usage says what is wrong and exits with 2" {
	while IFS='|' read -r words what; do
		# shellcheck disable=SC2086
		run record $words
		[ "$status" = 2 ] || { echo "$words: $status"; return 1; }
		[[ "$output" == *"$what"* ]] || { echo "$words: $output"; return 1; }
	done <<-'END'
		|what shall be profiled
		-a -p 1|exclude each other
		-e cylces true|did you mean cycles
		-e TIMER:1:2:3 true|kernel: "3"
		-F 0 true|-F: "0"
		-F x true|-F: "x"
		-p 0|-p: "0"
		--separate=tread true|"tread"
		--nonsense|--nonsense
		--vmlinux=/x --no-vmlinux true|exclude each other
	END
}

@test "a hardware event without a PMU says so and names TIMER" {
	[ ! -e /sys/bus/event_source/devices/cpu ] || skip "this machine has counters"
	run record -e cycles -- true
	[ "$status" = 1 ]
	[[ "$output" == *"no performance counters"*"-e TIMER"* ]]
	[ ! -e oprofile_data/samples/current ]
}

@test "a process that is not there is an error" {
	sh -c 'exit 0' &
	gone=$!
	wait $gone
	run record -p $gone
	[ "$status" = 1 ]
	[[ "$output" == *"-p $gone: there is no such process"* ]]
}

@test "a rate above the kernel's is refused with the sysctl" {
	max=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
	[ "$max" -lt 1000000 ] || skip "no limit in reach"
	run record -F $((max + 1)) -- true
	[ "$status" = 1 ]
	[[ "$output" == *"sysctl kernel.perf_event_max_sample_rate="* ]]
}

@test "a directory that cannot be written is an error with a remedy" {
	run record --session-dir /proc/nosuch -- true
	[ "$status" = 1 ]
	[[ "$output" == *"/proc/nosuch"*"--session-dir"* ]]
	: >file
	run record --session-dir file/x -- true
	[ "$status" = 1 ]
}

@test "a session with samples is renamed by its time, or added to" {
	record -- "$b/weights" 0.2
	assert_sampled weights 997
	run record -- "$b/weights" 0.2
	[[ "$output" == *'the former session "current" is now "20'* ]]
	[ "$(ls oprofile_data/samples | wc -l)" = 2 ]
	ls oprofile_data/samples | grep -Eqx '[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}-[0-9]{2}-[0-9]{2}Z'
	run record --append -- "$b/weights" 0.2
	[ "$(ls oprofile_data/samples | wc -l)" = 2 ]
	python3 "$OPFS_TOP/tests/lib/opsamples.py" check oprofile_data >/dev/null
	# two runs of the three
	half=$(($(worked weights) * 2 / 3))
	read -r taken stored <<<"$(ask balance oprofile_data)"
	sampled "$(ask sum oprofile_data)" "$half" 997 $((taken - stored))
}

@test "a session without samples is not kept" {
	mkdir -p oprofile_data/samples/current/stats
	echo junk >oprofile_data/samples/current/images
	run record -- "$b/weights" 0.2
	[ "$status" = 0 ]
	[ "$(ls oprofile_data/samples)" = current ]
}

@test "a second collector in one place is refused" {
	background -- sleep 600
	run record -- true
	[ "$status" = 1 ]
	[[ "$output" == *"another collector (process $collector)"* ]]
	kill -TERM "$collector"
	background_ends
	ask balance oprofile_data
}

@test "children that execute other programs are filed under those" {
	ln "$b/weights" other 2>/dev/null || cp "$b/weights" other
	run record -F 1999 -- sh -c "'$b/weights' 0.3 & ./other 0.3; wait"
	assert_balance
	assert_sampled weights 1999
	assert_sampled other 1999
	[ "$(ask sum oprofile_data app=sh)" = 0 ]
}

@test "a chain of exec is filed under each program in turn" {
	cp "$b/weights" one
	cp "$b/weights" two
	run record -F 1999 -- sh -c './one 0.2; exec ./two 0.3'
	assert_balance
	assert_sampled one 1999
	assert_sampled two 1999
}

@test "libraries that take each other's place are told apart" {
	run record -F 4999 -e TIMER:200000:0:0:1 -- "$b/dl" 800 "$b/liba.so" "$b/libb.so"
	[ "$status" = 0 ]
	assert_balance
	a=$(ask sum oprofile_data app=dl image=liba.so)
	bb=$(ask sum oprofile_data app=dl image=libb.so)
	a_ns=$(worked liba.so) b_ns=$(worked libb.so)
	sampled "$a" "$a_ns" 4999 $((taken - stored))
	sampled "$bb" "$b_ns" 4999 $((taken - stored))
	# each has its share of their samples
	share "$a" $((a + bb)) $((a_ns * 1000 / (a_ns + b_ns)))
	# what is left of a library is its start and end
	[ "$(ask functions oprofile_data "$b/liba.so" spin)" -ge $((a * 95 / 100)) ]
	[ "$(ask functions oprofile_data "$b/libb.so" spin)" -ge $((bb * 95 / 100)) ]
}

@test "five hundred threads are all counted, and told apart if asked" {
	run record -F 1999 --separate=thread,cpu -- "$b/threads" 500 3000
	[ "$status" = 0 ]
	assert_balance
	sampled "$(ask sum oprofile_data image=threads)" "$(worked threads)" 1999 $((taken - stored))
	tids=$(find oprofile_data -name 'TIMER.*' | sed 's/.*\.\([0-9]*\)\.[0-9]*$/\1/' | sort -u | wc -l)
	# as many samples, thrown among 500, leave so many without one; those that are missing for a
	# loss that was told are missing in a row, and may be all that a thread had
	awk -v tids="$tids" -v n="$stored" -v lost=$((taken - stored)) -v ns="$(worked threads)" 'BEGIN {
		none = exp(-n / 500)
		want = ns * 1.999e-6
		gone = want - n < lost ? want - n : lost
		gone = gone > 0 ? gone / (want / 500) : 0
		print tids " threads of 500 in " n " samples of " want ", " lost " lost"
		exit tids < 500 * (1 - none) - 4.5 * sqrt(500 * none * (1 - none)) - gone
	}'
}

@test "children that live for less than a period are seen" {
	can_record_cpus
	run --separate-stderr record -F 999 --separate=thread -- "$b/storm" 1500 400
	[ "$status" = 0 ]
	assert_balance
	children=$(ask children oprofile_data)
	c_ns=$(worked children) p_ns=$(worked parent)
	echo "$children of $stored samples, $c_ns ns of $((c_ns + p_ns))"
	sampled "$stored" $((c_ns + p_ns)) 999 $((taken - stored))
	# who lives long takes no part of theirs
	share "$children" "$stored" $((c_ns * 1000 / (c_ns + p_ns)))
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
	run record --separate=kernel -F 1999 -- "$b/zeros" 300
	assert_balance
	sampled "$(ask sum oprofile_data app=zeros)" "$(worked zeros)" 1999 $((taken - stored))
	# all but what the kernel did before exec had replaced the program
	awk -v other=$(($(ask sum oprofile_data) - $(ask sum oprofile_data app=zeros))) \
		-v before="$(worked before)" 'BEGIN {
		n = before * 1999 / 1e9
		print other " samples of other programs, " n " before main()"
		exit other > n + 4.5 * sqrt(n) + 3
	}'
	rm "$WORKED"
	run record --no-vmlinux -F 1999 -- "$b/zeros" 300
	assert_balance
	sampled "$(ask sum oprofile_data app=no-vmlinux)" "$(worked zeros)" 1999 $((taken - stored))
	[ "$(ask sum oprofile_data app=no-vmlinux)" = "$(ask sum oprofile_data image=no-vmlinux)" ]
}

@test "--image takes a program with its libraries, and a library by itself" {
	run record -F 1999 --image="$b/dl" -- sh -c "'$b/weights' 0.2; '$b/dl' 200 '$b/liba.so'"
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
	run record -e TIMER:1000000,page-faults:1 -e context-switches -- \
		sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do ls / >/dev/null; done; "$1" 0.3' sh "$b/weights"
	[ "$status" = 0 ]
	assert_balance
	[ "$(ask sum oprofile_data event=page-faults)" -gt 500 ]
	sampled "$(ask sum oprofile_data event=TIMER count=1000000)" "$(worked weights)" 1000 \
		$((taken - stored))
}

# Something that runs until it is killed, by then.
runs_on() {
	busy_start "$b/weights" 100000
	wait_for pgrep -P "${busy_pids[-1]}" weights >/dev/null
	running=$(pgrep -P "${busy_pids[-1]}" weights)
}

@test "a running process is attached to, and the run ends with it" {
	runs_on
	background -F 1999 -p "$running"
	"$OPFS_TOP/tests/lib/until_used" "$running" 700
	busy_end
	background_ends
	[ "$status" = 0 ]
	assert_balance
	assert_sampled "$running" 1999 weights
}

@test "children that an attached process starts later are its" {
	busy_start sh -c "until [ -e go ]; do sleep 0.05; done; '$b/weights' 0.5; exit 0"
	shell=$(wait_for pgrep -P "${busy_pids[-1]}" sh)
	background -F 1999 -p "$shell"
	: >go
	background_ends
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

@test "SIGINT ends the run, and a second one does not wait" {
	can_record_cpus
	python3 - "$OPFS_BIN/opcollect" <<-'END'
		import os, signal, subprocess, sys, time
		PATIENCE = 150
		def run(*words):
		    # Python does not ignore SIGINT, unlike a shell's background
		    return subprocess.Popen([sys.argv[1], "record", *words], stderr=subprocess.PIPE,
		                            text=True, start_new_session=True)
		def until(p, what):
		    end = time.monotonic() + PATIENCE
		    while not what():
		        assert p.poll() is None, p.communicate()
		        assert time.monotonic() < end, what
		        time.sleep(0.02)
		def takes_samples(p):
		    def live():
		        try:
		            with open("oprofile_data/samples/current/stats/live") as f:
		                return "live" in f.read()
		        except FileNotFoundError:
		            return False
		    until(p, live)
		def status(pid, field):
		    with open("/proc/%d/status" % pid) as f:
		        return [int(l.split()[1], 16) for l in f if l.startswith(field)][0]
		def taken(pid, number):
		    """A signal that was sent has been taken note of."""
		    return not (status(pid, "SigPnd:") | status(pid, "ShdPnd:")) >> (number - 1) & 1
		p = run("-a")
		takes_samples(p)
		p.send_signal(signal.SIGINT)
		err = p.communicate(timeout=PATIENCE)[1]
		assert p.returncode == 0 and "session: " in err, (p.returncode, err)
		p = run("sleep", "600")
		takes_samples(p)
		p.send_signal(signal.SIGTERM)
		err = p.communicate(timeout=PATIENCE)[1]
		assert p.returncode == 128 + 15 and "session: " in err, (p.returncode, err)
		p = run("sh", "-c", "trap '' INT; exec 2>/dev/null; : >trapped; sleep 600")
		try:
		    takes_samples(p)
		    until(p, lambda: os.path.exists("trapped"))
		    p.send_signal(signal.SIGINT)
		    until(p, lambda: taken(p.pid, signal.SIGINT))
		    time.sleep(0.5) # to be wrong in; nothing happens
		    assert p.poll() is None
		    p.send_signal(signal.SIGINT)
		    err = p.communicate(timeout=PATIENCE)[1]
		    assert p.returncode == 130 and "session: " in err, (p.returncode, err)
		finally:
		    # the command that ignores it
		    os.killpg(p.pid, signal.SIGKILL)
	END
	ask balance oprofile_data
}

@test "a killed collector leaves a session that is sound and can be added to" {
	background -F 4999 -- timeout 1200 "$b/weights" 100000
	stored_many() {
		[ "$(cat oprofile_data/samples/current/stats/stored_samples)" -gt 1000 ] ||
			! kill -0 "$collector"
	}
	wait_for stored_many
	child=$(ps -o pid= --ppid "$collector")
	kill -KILL "$collector"
	background_ends
	kill -TERM $child
	python3 "$OPFS_TOP/tests/lib/opsamples.py" check oprofile_data >/dev/null
	left=$(ask sum oprofile_data)
	[ "$left" -gt 1000 ]
	# set aside it is closed, with the figures of its files
	cp -r oprofile_data other
	"$OPFS_BIN/opcollect" record --session-dir other true
	old=$(basename "$(echo other/samples/2*)")
	"$OPFS_BIN/opfs" cat --session-dir other "$old/status" >status
	grep -qx "taken: $left" status
	grep -qx "stored: $left" status
	grep -qx 'state: closed' status
	grep -q 'the collector was killed' status
	rm -f "$WORKED"
	run record --append -- "$b/weights" 0.3
	python3 "$OPFS_TOP/tests/lib/opsamples.py" check oprofile_data >/dev/null
	sampled $(($(ask sum oprofile_data) - left)) "$(worked weights)" 997
}

@test "a profiled program that is killed is still counted" {
	# killed after half a second of CPU time, however long that takes here
	run record -F 1999 -- sh -c "timeout 1200 '$b/weights' 100000 >/dev/null &
		child=
		until child=\$(pgrep -P \$! weights) || ! kill -0 \$!; do sleep 0.05; done
		'$OPFS_TOP/tests/lib/until_used' \$child 500
		echo seen \$(tail -n 1 '$WORKED' | cut -d' ' -f2) >>'$WORKED'
		kill -KILL \$child"
	assert_balance
	assert_sampled seen 1999 weights
}

@test "a program that is deleted and replaced while it runs stays itself" {
	cp "$b/weights" prog
	cp "$b/storm" prog2
	run record -F 1999 -- sh -c './prog 0.8 & "$1" $! 200; mv prog2 prog; ./prog 0 300000; wait' \
		sh "$OPFS_TOP/tests/lib/until_used"
	assert_balance
	assert_sampled prog 1999
	second=$(find oprofile_data/samples/current -type d -name 'prog#*' | head -n 1)
	[ -n "$second" ]
	sampled "$(ask sum oprofile_data "app=$(basename "$second")")" "$(worked storm)" 1999 \
		$((taken - stored))
	grep -q "$(printf '/prog\t.*deleted$')" oprofile_data/samples/current/images ||
		grep -q '/prog	' oprofile_data/samples/current/images
}

@test "two containers' binaries of one path are found and kept apart" {
	need_root
	can_record_cpus
	mkdir -p one/opt two/opt
	"${CC:-gcc}" -O1 -static -Wl,--build-id -o one/opt/inside "$progs/weights.c"
	"${CC:-gcc}" -O2 -static -Wl,--build-id -o two/opt/inside "$progs/weights.c"
	touch -d @1000000000 one/opt/inside
	WORKED=/worked run record -F 1999 -- sh -c \
		'chroot one /opt/inside 0.3; chroot two /opt/inside 0.3'
	assert_balance
	sampled "$(ask sum oprofile_data app=/opt/inside)" "$(worked inside one/worked)" 1999 \
		$((taken - stored))
	second=$(find oprofile_data/samples/current/{root}/opt -maxdepth 1 -name 'inside#*')
	sampled "$(ask sum oprofile_data "app=/opt/${second##*/}")" "$(worked inside two/worked)" \
		1999 $((taken - stored))
	images=oprofile_data/samples/current/images
	id() { readelf -n "$1" | sed -n 's/.*Build ID: //p'; }
	cat $images
	grep -q "^/opt/inside	/opt/inside	$(id one/opt/inside)	1000000000	.*container$" $images
	grep -q "^/opt/inside#[0-9a-f]*	/opt/inside	$(id two/opt/inside)	.*container$" $images
}

@test "a full disk keeps what was stored and is told" {
	need_root
	mkdir small
	mount -t tmpfs -o size=96k tmpfs small || skip "no tmpfs here"
	run record --session-dir small -F 4999 --separate=thread -- \
		"$b/threads" 200 3000
	cp -r small copy
	umount small
	[ "$status" = 1 ]
	[[ "$output" == *"NOT EVERYTHING WAS STORED"*"No space left"* ]]
	[[ "$output" == *"lost_samplefile"* ]]
	python3 "$OPFS_TOP/tests/lib/opsamples.py" check copy >/dev/null
	# the figures had room of their own: who reads the session later is told as well
	stats=copy/samples/current/stats
	[ "$(cat $stats/lost_samplefile)" -gt 0 ]
	[[ "$output" == *"$(cat $stats/total_samples) taken, $(cat $stats/stored_samples) stored"* ]]
	grep -q closed $stats/live
	[ -z "$(ls -A $stats | grep '^\.')" ]
	"$OPFS_BIN/opfs" cat --session-dir copy current/status | grep -q "lost_samplefile.*$(cat $stats/lost_samplefile)"
}

@test "rings that are too small lose samples and count them" {
	can_record_cpus
	run record -m 1 -g -F 20000 -- "$b/weights" 0.5
	[ "$status" = 0 ]
	assert_balance
	if [ "$taken" -gt "$stored" ]; then
		[[ "$output" == *"lost_records_by_kernel"*"-m"* ]]
	fi
}

@test "a user without rights records own programs and is told what is missing" {
	need_root
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" = 2 ] || skip "needs paranoid level 2"
	nobody=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
	need_others
	mkdir -m 777 theirs
	chmod 755 "$BATS_SUITE_TMPDIR" "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/.." 2>/dev/null || true
	"${nobody[@]}" test -w theirs || skip "no directory for everyone"
	cd theirs
	WORKED=$PWD/worked
	run "${nobody[@]}" "$OPFS_BIN/opcollect" record -- "$b/weights" 0.5
	[ "$status" = 0 ]
	assert_balance
	[[ "$output" == *"short-lived children are under-counted"*"sysctl kernel.perf_event_paranoid=0"* ]]
	[[ "$output" != *"% of the time"* ]] # the copy of each CPU is the thread's own event
	assert_sampled weights 997
	grep -q "under-counted" oprofile_data/samples/current/stats/notes
	run "${nobody[@]}" "$OPFS_BIN/opcollect" record -a -- true
	[ "$status" = 1 ]
	[[ "$output" == *"CAP_PERFMON"*"perf_event_paranoid=0 (now 2)"* ]]
	run "${nobody[@]}" "$OPFS_BIN/opcollect" record -p 1
	[ "$status" = 1 ]
	[[ "$output" == *"process 1 may not be looked at"* ]]
}

@test "only the last component of a session directory is made" {
	run record --session-dir typo/x -- true
	[ "$status" = 1 ]
	[[ "$output" == *"typo/x cannot be written"*"does not exist"*"mkdir -p"* ]]
	[ ! -e typo ]
	mkdir typo
	run record --session-dir typo/x -- true
	[ "$status" = 0 ]
	[ -d typo/x/samples/current ]
}

@test "--image that names nothing that ran says what ran" {
	run record -F 4999 --image=/bin/cat -- "$b/weights" 0.1
	[[ "$output" == *"no sample was taken in what --image names; samples were in: "*"$b/weights"* ]]
	[[ "$output" != *"too few"* ]]
}
