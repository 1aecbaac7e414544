#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# "opcollect record" where what it asks is answered late or never, and its helpers die.
# What takes longer is in tests/long/busy.bats.

bats_require_minimum_version 1.5.0
load ../lib/record
load ../lib/daemon
load ../lib/patience

setup_file() {
	build_patience
}

setup() {
	patience_setup
	can_record
	rm -rf "$BATS_TEST_TMPDIR/can"
}

teardown() {
	patience_teardown
}

@test "the programs of these tests do what they say" {
	can_preload
	read -r used <<<"$("$b/many_maps" - 200 50)"
	[ "$used" -ge 50 ]
	read -r first second <<<"$("$b/moves" - 30)"
	[ "$first" -ge 30 ] && [ "$second" -ge 30 ]
	read -r used all threads <<<"$("$b/churn" - 50 2 main-ends)"
	[ "$used" -ge 50 ] && [ "$all" -ge "$used" ] && [ "$threads" -ge 5 ]
	# one is killed, or two if the shell's child came first; then no more
	for i in 1 2 3 4; do
		OPFS_TEST_KILL_MS=10 OPFS_TEST_KILLS=2 OPFS_TEST_KILL_FILE=kills \
			LD_PRELOAD="$b/late_child.so" \
			sh -c 'sleep 0.5; exit 7' --box=test 2>/dev/null && rc=0 || rc=$?
		echo "$i: $rc"
		[ $i != 1 ] || [ $rc = 137 ]
		[ $i -lt 3 ] || [ $rc = 7 ]
	done
	begun=$(date +%s%N)
	OPFS_TEST_LATE_MS=300 LD_PRELOAD="$b/late_child.so" sh -c '(:); :' --box=test
	[ $((($(date +%s%N) - begun) / 1000000)) -ge 600 ]
}

# late MS: nothing that is told of five programs is less for it.
late() {
	different many prog 5
	rm -rf "$dir"
	OPFS_TEST_LATE_MS=$1 LD_PRELOAD="$b/late_child.so" watched record \
		--session-dir "$dir" \
		-- sh -c 'for i in 1 2 3 4 5; do many/prog$i 0.1; done'
	cat "$log"
	tables images "$dir" prog1 prog2 prog3 prog4 prog5
	tables images "$dir"
	tables lost "$dir"
	ask balance "$dir"
	helpers_were_good
}

@test "helpers that begin 50 ms late cost nothing" {
	can_preload
	late 50
}

@test "helpers that begin 300 ms late cost nothing" {
	can_preload
	late 300
}

@test "helpers that begin 1,500 ms late cost nothing" {
	can_preload
	late 1500
}

@test "helpers that are killed cost nothing, and leave nothing" {
	can_preload
	different many prog 5
	OPFS_TEST_KILL_MS=60 OPFS_TEST_KILLS=40 OPFS_TEST_KILL_FILE="$PWD/kills" \
		LD_PRELOAD="$b/late_child.so" watched record --session-dir "$dir" \
		-- sh -c 'for i in 1 2 3 4 5; do many/prog$i 0.1; done'
	cat "$log"
	# nothing holds the lock
	record --session-dir "$dir" --append -- true
	[ "$(ls "$dir/samples")" = current ]
	tables images "$dir" prog1 prog2 prog3 prog4 prog5
	tables images "$dir"
	tables lost "$dir"
	helpers_were_good
	[ -s kills ]
}

@test "a file system that answers after 40 ms is waited for" {
	different real late 2
	slow
	answers 40
	record --session-dir "$dir" -- sh -c 'mnt/late1 0.3; mnt/late2 0.3'
	answers 0
	tables images "$dir" late1 late2
	tables lost "$dir"
}

@test "a file system that never answers is given up, alone" {
	can_record_cpus
	rm -rf "$BATS_TEST_TMPDIR/can"
	different real hung 1
	different many prog 5
	slow
	background mnt/hung1 100 >/dev/null
	hung=$!
	wait_for grep -q mnt/hung1 "/proc/$hung/maps"
	answers never
	# more than the patience with what hangs
	timeout -k 1 1000 "$OPFS_BIN/opcollect" record -e TIMER -a --session-dir "$dir" \
		-- sh -c 'for i in 1 2 3 4 5; do many/prog$i 0.1; done; sleep 7' \
		>"$log" 2>&1
	cat "$log"
	[ "$(cat "$ctl")" = never ]
	kill -0 "$hung"
	tables images "$dir" prog1 prog2 prog3 prog4 prog5
	[ "$(tables note "$dir" hung1)" = unreachable ]
	[ "$(ask sum "$dir" image="$PWD/mnt/hung1")" -gt 100 ]
	# and the same file system, when it answers again
	answers 0
	record --session-dir "$dir" -a -- mnt/hung1 0.2
	tables images "$dir" hung1
}

@test "what waits for a file system when the collector is killed is told as lost" {
	can_record_cpus
	rm -rf "$BATS_TEST_TMPDIR/can"
	different real hung 1
	slow
	background mnt/hung1 100 >/dev/null
	hung=$!
	wait_for grep -q mnt/hung1 "/proc/$hung/maps"
	answers 3000 # it is not given up, and takes long enough
	"$OPFS_BIN/opcollect" record -e TIMER --session-dir "$dir" -a >"$log" 2>&1 &
	pids+=($!)
	stats=$dir/samples/current/stats
	figure() { cat "$stats/$1" 2>/dev/null || echo 0; }
	waiting() {
		[ $(($(figure total_samples) - $(figure stored_samples) -
			$(figure ignored_self))) -gt 40 ]
	}
	wait_for waiting
	kill -KILL "${pids[-1]}"
	wait "${pids[-1]}" || true
	answers 0
	record --append --session-dir "$dir" -- true
	ls "$stats"
	[ "$(figure lost_killed)" -gt 20 ]
	lost=0
	for f in "$stats"/lost_*; do
		case ${f##*/} in
		lost_bt_* | lost_stackfile) ;; # not of samples
		*) lost=$((lost + $(cat "$f"))) ;;
		esac
	done
	ignored=$(figure ignored_self)
	echo "$(figure total_samples) taken, $(figure stored_samples) stored, $lost lost"
	[ "$(figure total_samples)" = $(($(figure stored_samples) + lost + ignored)) ]
}

@test "5,000 executable mappings: samples are found in each" {
	attached "$b/many_maps" 5000 500
	found "$b/many_maps" "$(cat out)"
	tables lost "$dir"
	tables images "$dir" many_maps
}

@test "a mapping that moves takes its samples along" {
	attached "$b/moves" 400
	read -r first second <out
	found "$b/moves" $((first + second))
	tables lost "$dir"
	tables images "$dir" moves
}

@test "threads that come and go are all seen, until the process ends" {
	for how in "" main-ends; do
		# shellcheck disable=SC2086
		attached "$b/churn" 500 3 $how
		read -r used all threads <out
		found "$b/churn" "$used"
		threads_seen "$threads"
		tables lost "$dir"
		rm -rf "$dir"
	done
}

@test "every short process has its command line and control group" {
	record -F 1999 --session-dir "$dir" -- \
		sh -c 'for i in $(seq 60); do "$0" 0.02 >/dev/null; done' \
		"$b/weights"
	tables tasks "$dir"
}

@test "an unprivileged run does not complain of counters" {
	[ "$(id -u)" = 0 ] || skip "only root can become somebody else"
	nobody=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
	"${nobody[@]}" test -x "$OPFS_BIN/opcollect" ||
		skip "programs are not for everyone"
	chmod 755 "$BATS_SUITE_TMPDIR" "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/.." \
		2>/dev/null || true
	mkdir -m 777 theirs
	"${nobody[@]}" test -w theirs || skip "no directory for everyone"
	run "${nobody[@]}" "$OPFS_BIN/opcollect" record --session-dir theirs/s \
		-- "$b/weights" 0.5
	echo "$output"
	[[ "$output" != *"nothing can be counted"* ]]
	[ "$status" = 0 ] || skip "an unprivileged user may not record here"
	[[ "$output" != *"counters did not"*"suffice"* ]]
	run ! grep -q suffice theirs/s/samples/current/stats/notes 2>/dev/null
	tables images theirs/s weights
}
