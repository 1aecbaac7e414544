#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Whoever may read a session cannot keep others from writing it.

bats_require_minimum_version 1.5.0
load ../lib/record
load ../lib/daemon

setup_file()
{
	build_programs
}

setup()
{
	need_programs
	need_others
	can_record_cpus
	cd "$BATS_TEST_TMPDIR"
	daemon_setup
	b="$BATS_FILE_TMPDIR" holder=
	mkdir -m 777 theirs
}

teardown()
{
	[ -z "$holder" ] || { kill -KILL "$holder"; wait "$holder" || true; }
	daemon_teardown
}

# hold PATH...: another user locks all that he can open there.
hold()
{
	rm -f theirs/ready
	python3 "$OPFS_TOP/tests/lib/hold_locks.py" 65534 theirs/ready "$@" 3>&- &
	holder=$!
	wait_for test -s theirs/ready
}

# assert_all_stored DIR NR: more than so many.
assert_all_stored()
{
	local stats="$1/samples/current/stats"

	[ ! -e "$stats/lost_samplefile" ] || [ "$(cat "$stats/lost_samplefile")" = 0 ]
	[ "$(cat "$stats/stored_samples")" -gt "$2" ]
}

@test "record stores everything in a session whose files another user has locked" {
	record -- "$b/weights" 0.2
	before=$(cat oprofile_data/samples/current/stats/stored_samples)
	[ "$(stat -c %a oprofile_data/lock)" = 600 ]
	chmod 644 oprofile_data/lock # as collectors once made it
	hold oprofile_data
	[ "$(cat theirs/ready)" -gt 10 ]
	record --append -- "$b/weights" 0.2
	assert_all_stored oprofile_data "$before"
	[ "$(stat -c %a oprofile_data/lock)" = 600 ]
}

@test "the daemon starts, and names are kept, where another user has locked all" {
	cp "$b/weights" mine
	"$OPFS_BIN/opcollect" record --symbols=64M --session-dir "$dir" -- ./mine 0.2
	[ -e "$dir/symbols/.lock" ]
	: >"$sock.lock"
	chmod 644 "$dir/lock" "$dir/symbols/.lock" "$sock.lock"
	hold "$dir" "$sock.lock"
	[ "$(cat theirs/ready)" -gt 10 ]
	daemon --frequency=997
	fact state | grep -qx sampling
	# it fails if programs of others have gone meanwhile
	timeout 100 "$OPFS_BIN/opfs" keep --session-dir "$dir" current >kept 2>&1 || true
	grep "^current: names of [0-9]* images are kept" kept
	end_daemon
	[ "$(stat -c %a "$dir/lock" "$dir/symbols/.lock" "$sock.lock" | sort -u)" = 600 ]
	assert_all_stored "$dir" 0
}
