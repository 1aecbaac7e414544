# SPDX-License-Identifier: GPL-2.0-or-later
# What the tests of "opcollect record" share.  Sourced by bats files.

# shellcheck source=tests/lib/busy.bash
. "$OPFS_TOP/tests/lib/busy.bash"
. "$OPFS_TOP/tests/lib/need.bash"

progs="$OPFS_TOP/tests/cli/progs"
export PYTHONDONTWRITEBYTECODE=1

# Builds the programs that are profiled, once a file.
build_programs() {
	local cc=${CC:-gcc} p

	for p in weights storm threads named dl chain zeros; do
		"$cc" -O1 -g -fno-omit-frame-pointer -pthread -o "$BATS_FILE_TMPDIR/$p" \
			"$progs/$p.c"
	done
	"$cc" -O1 -g -shared -fPIC -DTURNS=200000 -o "$BATS_FILE_TMPDIR/liba.so" \
		"$progs/dllib.c"
	"$cc" -O1 -g -shared -fPIC -DTURNS=100000 -o "$BATS_FILE_TMPDIR/libb.so" \
		"$progs/dllib.c"
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" 2>/dev/null || true
}

# Without keeping names, which would cost each test a second: keep.bats does that.
#
# Samples are taken by time unless a test asks for an event: hardware counters of virtual
# machines stop for seconds where the host needs them.
record() {
	[[ " $*" =~ \ (-e|--event|--source) ]] || set -- -e TIMER "$@"
	"$OPFS_BIN/opcollect" record --symbols=0 "$@"
}

ask() {
	python3 "$progs/ask.py" "$@"
}

# Where this user may not record at all, there is nothing to test.
can_record() {
	record --session-dir "$BATS_TEST_TMPDIR/can" -- true >/dev/null 2>&1 ||
		skip "this user may not record here"
}

# Whole CPUs: the tree of processes is followed exactly.
can_record_cpus() {
	can_record
	[ ! -e "$BATS_TEST_TMPDIR/can/samples/current/stats/notes" ] ||
		! grep -q "whole CPUs" \
			"$BATS_TEST_TMPDIR/can/samples/current/stats/notes" ||
		skip "this user may not sample whole CPUs"
}

# share A ALL PERMILLE [ALL2]: is A of ALL samples that share, as far as chance allows
# (4.5 standard deviations; with ALL2 the share is itself one of so many samples)?
share() {
	awk -v a="$1" -v n="$2" -v p="$3" -v m="${4:-0}" 'BEGIN {
		p /= 1000
		d = a / n - p
		bound = 4.5 * sqrt(p * (1 - p) * (1 / n + (m ? 1 / m : 0))) + 0.002
		if (d > bound || -d > bound) { print a " of " n " is not " p; exit 1 }
	}'
}

# figure NAME: of the session "current" here.
figure() {
	cat "oprofile_data/samples/current/stats/$1" 2>/dev/null || echo 0
}

# record_begins OPTION...: "record" beside the test, until it takes samples.
record_begins() {
	"$OPFS_BIN/opcollect" record -e TIMER "$@" >out 2>&1 3>&- &
	collector=$!
	wait_for takes_samples
}

takes_samples() {
	"$OPFS_TOP/tests/lib/takes_samples" || ! kill -0 "$collector"
}

# Waits for it; sets status and output as "run" does.
record_ends() {
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

# assert_sampled PROGRAM HZ [NAME]: it has the samples that its CPU time makes; NAME is
# what it is filed under, if that is another.
assert_sampled() {
	local both

	both=$(ask balance oprofile_data)
	sampled "$(ask sum oprofile_data "app=${3:-$1}" "image=${3:-$1}")" \
		"$(worked "$1")" "$2" $((${both% *} - ${both#* }))
}

# Something that runs until it is killed, by then.
runs_on() {
	busy_start "$b/weights" 100000
	wait_for pgrep -P "${busy_pids[-1]}" weights >/dev/null
	running=$(pgrep -P "${busy_pids[-1]}" weights)
}
