#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Threads that are kept apart have their own names: comm:, comm/ and tasks.tsv.

bats_require_minimum_version 1.5.0
load ../lib/record_tests
load ../lib/opfs

D=oprofile_data

# samples PATH: how many a directory of the session has.
samples() {
	opfs cat "current/$1/report.tsv" |
		awk -F'\t' 'NR > 1 { n += $5 } END { print n + 0 }'
}

# assert_named TIDS NS: every thread that "named" told of has the name that it had when it
# was sampled last, and comm: means its samples, of so many ns at least, and no others.
assert_named() {
	local name tid pid had

	assert_balance
	pid=$(sed -n 's/ named$//p' "$1")
	opfs ls current/comm: >names
	opfs cat current/tasks.tsv >tasks
	while read -r tid had; do
		name=${had/early/late}
		grep -qxF "$name" names
		[ "$(awk -F'\t' -v tid="$tid" '$3 == tid { print $2, $5 }' tasks)" = \
			"$pid $name" ]
		[ "$(samples "comm:$name/tgid:$pid")" = "$(samples "tid:$tid")" ]
		sampled "$(samples "tid:$tid")" "$2" 997 $((taken - stored))
	done <"$1"
	[ "$(awk -F'\t' -v pid="$pid" '$2 == pid { print $6 }' tasks | sort -u |
		wc -l)" = 1 ]
	run ! grep -qx early names
}

# A "named" that runs already, and waits for the file "go".
named_runs() {
	setsid timeout -k 1 1200 "$b/named" 300 "$PWD/go" >tids 2>&1 3>&- &
	busy_pids+=($!)
	wait_for grep -q ' named$' tids
	running=$(sed -n 's/ named$//p' tids)
}

is_over() {
	! kill -0 "$running" 2>/dev/null
}

@test "threads of a command have the names they give themselves" {
	run -0 record -F 997 --separate=thread -- sh -c "'$b/named' 300 >tids"
	assert_named tids 300000000
}

@test "threads that had their names before they were attached to keep them" {
	named_runs
	record_begins -F 997 --separate=thread -p "$running"
	: >go
	wait_for is_over
	record_ends
	[ "$status" = 0 ]
	assert_named tids 300000000
}

@test "threads that had their names before the whole machine was recorded keep them" {
	can_record_cpus
	named_runs
	record_begins -a -F 997 --separate=thread -- tail -f --pid="$running" /dev/null
	: >go
	record_ends
	[ "$status" = 0 ]
	assert_named tids 300000000
}

@test "threads that are not kept apart leave the process its name" {
	run -0 record -F 997 -- "$b/named" 100 >tids
	opfs cat current/tasks.tsv >tasks
	[ "$(cut -f 5 tasks | tr '\n' ' ')" = "comm named " ]
}
