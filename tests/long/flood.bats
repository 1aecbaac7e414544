#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# One user makes mappings, names and processes as fast as he can, and another is sampled.

bats_require_minimum_version 1.5.0
load ../lib/record
load ../lib/daemon

setup()
{
	need_programs
	need_others
	can_run_daemon
	cd "$BATS_TEST_TMPDIR"
	daemon_setup
	build_programs
	b="$BATS_FILE_TMPDIR" flood=
	"${CC:-gcc}" -O1 -o "$b/flood" "$OPFS_TOP/tests/long/progs/flood.c"
	chmod 755 "$BATS_TEST_TMPDIR" ..
	mkdir -m 777 theirs
	cpu=$(taskset -cp $$ | sed 's/.*[ ,-]//')
}

teardown()
{
	[ -z "$flood" ] || kill -TERM "$flood" 2>/dev/null || true
	daemon_teardown
}

is_flooded()
{
	[ "$(fact task_records_passed)" != null ] ||
		[ "$(fact task_records_lost)" != null ]
}

@test "a user who floods the machine with mappings costs another no samples" {
	daemon --frequency=997
	taskset -c "$cpu" timeout -k 1 700 setpriv --reuid=65534 --regid=65534 \
		--clear-groups "$b/flood" 600 "$b/weights" 3>&- &
	flood=$!
	wait_for is_flooded
	# it begins meanwhile: what it maps may be among what is passed over
	(cd theirs && WORKED=$PWD/worked setpriv --reuid=1234 --regid=1234 \
		--clear-groups "$b/weights" 2)
	kill -0 $flood
	is_flooded
	kill -TERM $flood
	ctl dump
	[ "$(fact lost_records_by_kernel)" = null ]
	nr=$(ask sum "$dir" app=weights image=weights)
	sampled "$nr" "$(worked weights theirs/worked)" 997
	# whoever they were of: nine of ten of his are in his program
	[ "$(fact lost)" -le $((nr / 10)) ]
	end_daemon
	ask balance "$dir"
}
