# SPDX-License-Identifier: GPL-2.0-or-later
# What is around every test of record.bats and record_*.bats.  Sourced by bats files.

# shellcheck source=tests/lib/record.bash
. "$OPFS_TOP/tests/lib/record.bash"

setup_file() {
	build_programs
}

setup() {
	b="$BATS_FILE_TMPDIR"
	cd "$BATS_TEST_TMPDIR"
	can_record
	export WORKED="$BATS_TEST_TMPDIR/worked"
}

# Whatever happened, nothing runs afterwards.
teardown() {
	busy_end
	[ -z "${collector-}" ] || kill -KILL "$collector" 2>/dev/null || true
}
