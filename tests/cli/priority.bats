#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The priority of the thread that takes samples, and of what it starts.

bats_require_minimum_version 1.5.0
load ../lib/record
load ../lib/daemon

setup()
{
	need_others
	can_run_daemon
	chrt -f 1 true 2>/dev/null || skip "real time is refused here"
	cd "$BATS_TEST_TMPDIR"
	daemon_setup
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR" ..
	mkdir -m 777 theirs
}

teardown()
{
	daemon_teardown
}

# priority TASK: "POLICY LEVEL"
priority()
{
	python3 -c 'import os, sys
task = int(sys.argv[1])
policy = os.sched_getscheduler(task) & ~os.SCHED_RESET_ON_FORK
print(policy, os.sched_getparam(task).sched_priority)' "$1"
}

nice_of()
{
	python3 -c 'import os, sys; print(os.getpriority(0, int(sys.argv[1])))' "$1"
}

# The priority of "record OPTION...", which the command sees, and its own one.
priorities()
{
	local own

	own=$(priority $$)
	export -f priority
	"${as[@]}" "$OPFS_BIN/opcollect" record --symbols=0 --session-dir theirs/s "$@" \
		-- bash -c 'priority $PPID; priority $$' 2>messages >seen
	[ "$(sed -n 2p seen)" = "$own" ]
	sed -n 1p seen
}
as=()

has_helper()
{
	helper=$(pgrep -P "$pid" -f -- --box=questions)
}

@test "the daemon takes samples with real time, and what it starts has none" {
	daemon
	[ "$(priority "$pid")" = "1 1" ]
	[ "$(fact realtime)" = 1 ]
	for task in /proc/"$pid"/task/*; do
		task=${task##*/}
		[ "$task" = "$pid" ] || [ "$(priority "$task")" = "0 0" ]
	done
	load_on
	wait_for has_helper
	[ "$(priority "$helper")" = "0 0" ]
	# nobody waits for its answers longer than for the daemon
	wait_for eval '[ "$(fact nice)" = "$(nice_of "$helper")" ]'
	end_daemon
}

@test "--realtime chooses the priority, or none" {
	daemon --realtime=0
	[ "$(priority "$pid")" = "0 0" ]
	[ "$(fact realtime)" = 0 ]
	end_daemon
	echo 'realtime = 3' >"$conf"
	daemon
	[ "$(priority "$pid")" = "1 3" ]
	end_daemon
	run -2 "$OPFS_BIN/opcollect" daemon --config "$conf" --realtime=100
	[[ "$output" == *'--realtime: "100" is not a number from 0 to 99'* ]]
}

@test "record has it, and its command has not" {
	[ "$(priorities)" = "1 1" ]
	[ "$(priorities --realtime=0)" = "0 0" ]
}

@test "who may not have it goes without, and says nothing" {
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	"${as[@]}" "$OPFS_BIN/opcollect" record --symbols=0 --session-dir theirs/can \
		-- true || skip "another user may not record here"
	[ "$(priorities)" = "0 0" ]
	run ! grep -qi 'priority\|real' messages
	[ "$(priorities --realtime=5)" = "0 0" ]
	as+=(--inh-caps=+sys_nice --ambient-caps=+sys_nice)
	[ "$(priorities)" = "1 1" ]
}
