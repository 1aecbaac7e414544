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
}

# The loss figures a run printed agree with the session, and its files with both.
assert_balance() {
	local both

	both=$(ask balance "${1:-oprofile_data}")
	taken=${both% *}
	stored=${both#* }
	[[ "$stderr$output" == *"samples: $taken taken, $stored stored"* ]]
}

@test "a program's functions are seen by their weights" {
	run --separate-stderr record -F 4999 -- "$b/weights" 1
	[ "$status" = 0 ]
	assert_balance
	read -r heavy middle light <<<"$(ask functions oprofile_data "$b/weights" heavy middle light)"
	all=$((heavy + middle + light))
	[ "$all" -gt 500 ]
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
	[ "$all" -gt 500 ]
	[ "$all2" -gt 500 ] || skip "perf itself took only $all2 samples here"
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
	run record -- true
	[[ "$output" == *"too few"*"-F, now 997"*"longer run"* ]]
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
	first=$(ask sum oprofile_data)
	run record -- "$b/weights" 0.2
	[[ "$output" == *'the former session "current" is now "20'* ]]
	[ "$(ls oprofile_data/samples | wc -l)" = 2 ]
	ls oprofile_data/samples | grep -Eqx '[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}-[0-9]{2}-[0-9]{2}Z'
	second=$(ask sum oprofile_data)
	run record --append -- "$b/weights" 0.2
	[ "$(ls oprofile_data/samples | wc -l)" = 2 ]
	[ "$(ask sum oprofile_data)" -gt $((second + 50)) ]
	ask balance oprofile_data
	python3 "$OPFS_TOP/tests/lib/opsamples.py" check oprofile_data >/dev/null
	[ "$first" -gt 50 ]
}

@test "a session without samples is not kept" {
	mkdir -p oprofile_data/samples/current/stats
	echo junk >oprofile_data/samples/current/images
	run record -- "$b/weights" 0.2
	[ "$status" = 0 ]
	[ "$(ls oprofile_data/samples)" = current ]
}

@test "a second collector in one place is refused" {
	"$OPFS_BIN/opcollect" record -- "$b/weights" 2 >/dev/null 2>&1 &
	first=$!
	until grep -q live oprofile_data/samples/current/stats/live 2>/dev/null; do
		kill -0 $first
		sleep 0.05
	done
	run record -- true
	[ "$status" = 1 ]
	[[ "$output" == *"another collector (process $first)"* ]]
	wait $first
	ask balance oprofile_data
}

@test "children that execute other programs are filed under those" {
	ln "$b/weights" other 2>/dev/null || cp "$b/weights" other
	run record -F 1999 -- sh -c "'$b/weights' 0.3 & ./other 0.3; wait"
	assert_balance
	[ "$(ask sum oprofile_data app=weights image=weights)" -gt 100 ]
	[ "$(ask sum oprofile_data app=other image=other)" -gt 100 ]
	[ "$(ask sum oprofile_data app=sh)" = 0 ]
}

@test "a chain of exec is filed under each program in turn" {
	cp "$b/weights" one
	cp "$b/weights" two
	run record -F 1999 -- sh -c './one 0.2; exec ./two 0.3'
	assert_balance
	[ "$(ask sum oprofile_data app=one image=one)" -gt 100 ]
	[ "$(ask sum oprofile_data app=two image=two)" -gt 200 ]
}

@test "libraries that take each other's place are told apart" {
	run record -F 4999 -e TIMER:200000:0:0:1 -- "$b/dl" 600 "$b/liba.so" "$b/libb.so"
	[ "$status" = 0 ]
	assert_balance
	a=$(ask sum oprofile_data app=dl image=liba.so)
	bb=$(ask sum oprofile_data app=dl image=libb.so)
	[ $((a + bb)) -gt 500 ]
	# liba works twice as long; 4.5 deviations at 500 samples are 14 percent of it
	near $((a * 1000 / (a + bb))) 667 14
	# what is left of a library is its start and end
	[ "$(ask functions oprofile_data "$b/liba.so" spin)" -ge $((a * 95 / 100)) ]
	[ "$(ask functions oprofile_data "$b/libb.so" spin)" -ge $((bb * 95 / 100)) ]
}

@test "five hundred threads are all counted, and told apart if asked" {
	run record -F 1999 --separate=thread,cpu -- "$b/threads" 500 3000
	[ "$status" = 0 ]
	assert_balance
	tids=$(find oprofile_data -name 'TIMER.*' | sed 's/.*\.\([0-9]*\)\.[0-9]*$/\1/' | sort -u | wc -l)
	[ "$tids" -gt 400 ]
	[ "$(ask sum oprofile_data image=threads)" -gt 1500 ]
}

@test "children that live for less than a period are seen" {
	can_record_cpus
	run --separate-stderr record -F 999 -- "$b/storm" 1500 400
	[ "$status" = 0 ]
	assert_balance
	# what the children took, in nanoseconds, and what was seen of it and the parent
	[ "$stored" -gt $((output / 1001001 * 9 / 10)) ]
}

@test "call chains become arcs" {
	run record -g -F 999 -- "$b/chain"
	assert_balance
	[ "$(ask arcs oprofile_data app=chain image=chain callee=chain)" -gt \
		"$(ask sum oprofile_data app=chain image=chain)" ]
}

@test "--separate files images as it says" {
	run record --separate=none -F 1999 -- dd if=/dev/zero of=/dev/null bs=1M count=3000
	assert_balance
	[ "$(ask sum oprofile_data app=dd)" = "$(ask sum oprofile_data image=dd)" ]
	can_record_cpus
	run record --separate=kernel -F 1999 -- dd if=/dev/zero of=/dev/null bs=1M count=3000
	assert_balance
	# all but what the kernel did before exec had replaced the program
	[ "$(ask sum oprofile_data app=dd)" -ge $(($(ask sum oprofile_data) - 3)) ]
	run record --no-vmlinux -F 1999 -- dd if=/dev/zero of=/dev/null bs=1M count=3000
	assert_balance
	[ "$(ask sum oprofile_data app=no-vmlinux)" -gt 50 ]
	[ "$(ask sum oprofile_data app=no-vmlinux)" = "$(ask sum oprofile_data image=no-vmlinux)" ]
}

@test "--image takes a program with its libraries, and a library by itself" {
	run record -F 1999 --image="$b/dl" -- sh -c "'$b/weights' 0.2; '$b/dl' 200 '$b/liba.so'"
	assert_balance
	[ "$(ask sum oprofile_data app=dl image=liba.so)" -gt 20 ]
	[ "$(ask sum oprofile_data app=weights)" = 0 ]
	[[ "$output" == *"left out by --image"* ]]
	run record -F 1999 --image="$b/liba.so" -- "$b/dl" 200 "$b/liba.so" "$b/libb.so"
	assert_balance
	[ "$(ask sum oprofile_data)" = "$(ask sum oprofile_data image=liba.so)" ]
	[ "$(ask sum oprofile_data)" -gt 20 ]
}

@test "several events are counted apart" {
	run record -e TIMER:1000000,page-faults:1 -e context-switches -- \
		sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do ls / >/dev/null; done'
	[ "$status" = 0 ]
	assert_balance
	[ "$(ask sum oprofile_data event=page-faults)" -gt 500 ]
	[ "$(ask sum oprofile_data event=TIMER count=1000000)" -gt 1 ]
}

@test "a running process is attached to, and the run ends with it" {
	"$b/weights" 1.5 >/dev/null &
	run record -F 1999 -p $!
	[ "$status" = 0 ]
	assert_balance
	[ "$(ask sum oprofile_data app=weights image=weights)" -gt 500 ]
}

@test "children that an attached process starts later are its" {
	sh -c "sleep 0.5; '$b/weights' 0.5; exit 0" >/dev/null &
	run record -F 1999 -p $!
	assert_balance
	[ "$(ask sum oprofile_data app=weights image=weights)" -gt 200 ]
}

@test "the whole machine is sampled, processes of before included" {
	can_record_cpus
	"$b/weights" 1.5 >/dev/null &
	before=$!
	run record -a -F 1999 -- sleep 0.7
	wait $before
	assert_balance
	[ "$(ask sum oprofile_data app=weights image=weights)" -gt 100 ]
}

@test "SIGINT ends the run, and a second one does not wait" {
	can_record_cpus
	python3 - "$OPFS_BIN/opcollect" <<-'END'
		import signal, subprocess, sys, time
		def run(*words):
		    # Python does not ignore SIGINT, unlike a shell's background
		    return subprocess.Popen([sys.argv[1], "record", *words],
		                            stderr=subprocess.PIPE, text=True)
		def ready(p):
		    time.sleep(0.8)
		    assert p.poll() is None
		p = run("-a")
		ready(p)
		p.send_signal(signal.SIGINT)
		err = p.communicate(timeout=30)[1]
		assert p.returncode == 0 and "session: " in err, (p.returncode, err)
		p = run("sleep", "60")
		ready(p)
		p.send_signal(signal.SIGTERM)
		err = p.communicate(timeout=30)[1]
		assert p.returncode == 128 + 15 and "session: " in err, (p.returncode, err)
		p = run("sh", "-c", "trap '' INT; exec 2>/dev/null; sleep 7")
		ready(p)
		p.send_signal(signal.SIGINT)
		time.sleep(0.5)
		assert p.poll() is None
		p.send_signal(signal.SIGINT)
		err = p.communicate(timeout=5)[1]
		assert p.returncode == 130 and "session: " in err, (p.returncode, err)
	END
	ask balance oprofile_data
}

@test "a killed collector leaves a session that is sound and can be added to" {
	"$OPFS_BIN/opcollect" record -F 4999 -- "$b/weights" 20 >/dev/null 2>&1 &
	collector=$!
	until [ "$(cat oprofile_data/samples/current/stats/stored_samples 2>/dev/null || echo 0)" -gt 1000 ]; do
		kill -0 $collector
		sleep 0.05
	done
	child=$(ps -o pid= --ppid $collector)
	kill -KILL $collector
	wait $collector || true
	kill -KILL $child
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
	record --append -- "$b/weights" 0.3
	python3 "$OPFS_TOP/tests/lib/opsamples.py" check oprofile_data >/dev/null
	[ "$(ask sum oprofile_data)" -gt $((left + 100)) ]
}

@test "a profiled program that is killed is still counted" {
	# killed after half a second of CPU time, however long that takes here
	run record -F 1999 -- sh -c "'$b/weights' 30 >/dev/null &
		until [ \$(cut -d' ' -f14 /proc/\$!/stat) -ge $(($(getconf CLK_TCK) / 2)) ]; do
			sleep 0.05
		done
		kill -KILL \$!"
	assert_balance
	[ "$(ask sum oprofile_data app=weights)" -gt 200 ]
}

@test "a program that is deleted and replaced while it runs stays itself" {
	cp "$b/weights" prog
	cp "$b/storm" prog2
	run record -F 1999 -- sh -c './prog 0.6 & sleep 0.2; mv prog2 prog; ./prog 0 300000; wait'
	assert_balance
	[ "$(ask sum oprofile_data app=prog image=prog)" -gt 100 ]
	second=$(find oprofile_data/samples/current -type d -name 'prog#*' | head -n 1)
	[ -n "$second" ]
	[ "$(ask sum oprofile_data "app=$(basename "$second")")" -gt 100 ]
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
	run record -F 1999 -- sh -c 'chroot one /opt/inside 0.3; chroot two /opt/inside 0.3'
	assert_balance
	[ "$(ask sum oprofile_data app=/opt/inside)" -gt 100 ]
	second=$(find oprofile_data/samples/current/{root}/opt -maxdepth 1 -name 'inside#*')
	[ "$(ask sum oprofile_data "app=/opt/${second##*/}")" -gt 100 ]
	images=oprofile_data/samples/current/images
	id() { readelf -n "$1" | sed -n 's/.*Build ID: //p'; }
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
	run "${nobody[@]}" "$OPFS_BIN/opcollect" record -- "$b/weights" 0.5
	[ "$status" = 0 ]
	assert_balance
	[[ "$output" == *"short-lived children are under-counted"*"sysctl kernel.perf_event_paranoid=0"* ]]
	[ "$(ask sum oprofile_data app=weights image=weights)" -gt 100 ]
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
