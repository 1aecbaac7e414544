#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# "opcollect record" as a command: its usage, its session, its end, and what it tells.

bats_require_minimum_version 1.5.0
load ../lib/record_tests

@test "the command's exit status is passed on" {
	run -7 record -- sh -c 'exit 7'
	run -137 record -- sh -c 'kill -KILL $$'
	run -0 record -- true
}

@test "a command's own options stay the command's" {
	run -0 --separate-stderr record sh -c 'echo "$0 $1"' -e --help
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
	run -126 record -- /etc/passwd
	[[ "$output" == *"/etc/passwd"*"ermission denied"* ]]
	run -1 record --vmlinux=/nonexistent -- true
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
	run -1 record -e cycles -- true
	[[ "$output" == *"no performance counters"*"-e TIMER"* ]]
	[ ! -e oprofile_data/samples/current ]
}

@test "a process that is not there is an error" {
	sh -c 'exit 0' &
	gone=$!
	wait $gone
	run -1 record -p $gone
	[[ "$output" == *"-p $gone: there is no such process"* ]]
}

@test "a rate above the kernel's is refused with the sysctl" {
	max=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
	[ "$max" -lt 1000000 ] || skip "no limit in reach"
	run -1 record -F $((max + 1)) -- true
	[[ "$output" == *"sysctl kernel.perf_event_max_sample_rate="* ]]
}

@test "a directory that cannot be written is an error with a remedy" {
	run -1 record --session-dir /proc/nosuch -- true
	[[ "$output" == *"/proc/nosuch"*"--session-dir"* ]]
	: >file
	run -1 record --session-dir file/x -- true
}

@test "a session with samples is renamed by its time, or added to" {
	record -- "$b/weights" 0.2
	assert_sampled weights 997
	run record -- "$b/weights" 0.2
	[[ "$output" == *'the former session "current" is now "20'* ]]
	[ "$(ls oprofile_data/samples | wc -l)" = 2 ]
	ls oprofile_data/samples |
		grep -Eqx '[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}-[0-9]{2}-[0-9]{2}Z'
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
	run -0 record -- "$b/weights" 0.2
	[ "$(ls oprofile_data/samples)" = current ]
}

@test "a second collector in one place is refused" {
	record_begins -- sleep 600
	run -1 record -- true
	[[ "$output" == *"another collector (process $collector)"* ]]
	kill -TERM "$collector"
	record_ends
	ask balance oprofile_data
}

@test "SIGINT ends the run, and a second one does not wait" {
	can_record_cpus
	python3 - "$OPFS_BIN/opcollect" "$OPFS_TOP/tests/lib/takes_samples" <<-'END'
		import os, signal, subprocess, sys, time
		PATIENCE = 150
		def run(*words):
		    # Python does not ignore SIGINT, unlike a shell's background
		    return subprocess.Popen([sys.argv[1], "record", *words],
		                            stderr=subprocess.PIPE, text=True,
		                            start_new_session=True)
		def until(p, what):
		    end = time.monotonic() + PATIENCE
		    while not what():
		        assert p.poll() is None, p.communicate()
		        assert time.monotonic() < end, what
		        time.sleep(0.02)
		def takes_samples(p):
		    until(p, lambda: not subprocess.call(sys.argv[2]))
		def status(pid, field):
		    with open("/proc/%d/status" % pid) as f:
		        return [int(l.split()[1], 16)
		                for l in f if l.startswith(field)][0]
		def taken(pid, number):
		    """A signal that was sent has been taken note of."""
		    pending = status(pid, "SigPnd:") | status(pid, "ShdPnd:")
		    return not pending >> (number - 1) & 1
		p = run("-a")
		takes_samples(p)
		p.send_signal(signal.SIGINT)
		err = p.communicate(timeout=PATIENCE)[1]
		assert p.returncode == 0 and "session: " in err, (p.returncode, err)
		p = run("sleep", "600")
		takes_samples(p)
		p.send_signal(signal.SIGTERM)
		err = p.communicate(timeout=PATIENCE)[1]
		assert p.returncode == 143 and "session: " in err, (p.returncode, err)
		p = run("sh", "-c",
		        "trap '' INT; exec 2>/dev/null; : >trapped; sleep 600")
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

@test "SIGINT ends a run that inherited it as ignored, and the command ignores it on" {
	# what is in the background of a script ignores it
	record_begins -- sh -c 'echo $$ >command; exec sleep 600'
	wait_for test -s command
	busy_pids+=("$(cat command)")
	kill -INT "$collector"
	record_ends
	[ "$status" = 130 ]
	[[ "$output" == *'session: '* ]]
	(("0x$(awk '/^SigIgn/ { print $2 }' "/proc/$(cat command)/status")" & 2))
	record_begins -p "$(cat command)"
	kill -INT "$collector"
	record_ends
	[ "$status" = 0 ]
	ask balance oprofile_data
}

@test "a killed collector leaves a session that is sound and can be added to" {
	record_begins -F 4999 -- timeout 1200 "$b/weights" 100000
	stored_many() {
		local stored=oprofile_data/samples/current/stats/stored_samples
		[ "$(cat $stored)" -gt 1000 ] || ! kill -0 "$collector"
	}
	wait_for stored_many
	child=$(ps -o pid= --ppid "$collector")
	kill -KILL "$collector"
	record_ends
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
	taken=$(cat $stats/total_samples) stored=$(cat $stats/stored_samples)
	[[ "$output" == *"$taken taken, $stored stored"* ]]
	grep -q closed $stats/live
	[ -z "$(ls -A $stats | grep '^\.')" ]
	"$OPFS_BIN/opfs" cat --session-dir copy current/status |
		grep -q "lost_samplefile.*$(cat $stats/lost_samplefile)"
}

@test "a user without rights records own programs and is told what is missing" {
	need_root
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" = 2 ] ||
		skip "needs paranoid level 2"
	nobody=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
	need_others
	mkdir -m 777 theirs
	chmod 755 "$BATS_SUITE_TMPDIR" "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/.." \
		2>/dev/null || true
	"${nobody[@]}" test -w theirs || skip "no directory for everyone"
	cd theirs
	WORKED=$PWD/worked
	run -0 "${nobody[@]}" "$OPFS_BIN/opcollect" record -- "$b/weights" 0.5
	assert_balance
	under='short-lived children are under-counted'
	[[ "$output" == *"$under"*"sysctl kernel.perf_event_paranoid=0"* ]]
	# the copy of each CPU is the thread's own event
	[[ "$output" != *"% of the time"* ]]
	assert_sampled weights 997
	grep -q "under-counted" oprofile_data/samples/current/stats/notes
	run -1 "${nobody[@]}" "$OPFS_BIN/opcollect" record -a -- true
	[[ "$output" == *"CAP_PERFMON"*"perf_event_paranoid=0 (now 2)"* ]]
	run -1 "${nobody[@]}" "$OPFS_BIN/opcollect" record -p 1
	[[ "$output" == *"process 1 may not be looked at"* ]]
}

@test "only the last component of a session directory is made" {
	run -1 record --session-dir typo/x -- true
	[[ "$output" == *"typo/x cannot be written"*"does not exist"*"mkdir -p"* ]]
	[ ! -e typo ]
	mkdir typo
	run -0 record --session-dir typo/x -- true
	[ -d typo/x/samples/current ]
}

@test "--image that names nothing that ran says what ran" {
	run record -F 4999 --image=/bin/cat -- "$b/weights" 0.1
	none='no sample was taken in what --image names; samples were in: '
	[[ "$output" == *"$none"*"$b/weights"* ]]
	[[ "$output" != *"too few"* ]]
}
