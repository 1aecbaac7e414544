#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Tags that select, in any order, against a second, slow implementation.

bats_require_minimum_version 1.5.0
load ../lib/opfs

SESSIONS=12
SEED=${OPFS_SELECT_SEED:-1}

@test "480 random specifications select what a second one says, in any order" {
	cd "$BATS_TEST_TMPDIR"
	python3 "$OPFS_TOP/tests/lib/select_paths.py" make "$SEED" "$SESSIONS" >made
	mksession made
	run python3 "$OPFS_TOP/tests/lib/select_paths.py" check "$OPFS_BIN/opfs" s \
		"$SEED" "$SESSIONS"
	echo "$output"
	[ "$status" = 0 ]
}
