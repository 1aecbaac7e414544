#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# "opcollect record" on a machine that has more to do than it can, and for longer what
# tests/cli/patience.bats tests.  Nothing here depends on how fast the machine is.

bats_require_minimum_version 1.5.0
load ../lib/record
load ../lib/daemon
load ../lib/patience

setup_file() {
	build_patience
}

setup() {
	patience_setup
	can_record_cpus
	rm -rf "$BATS_TEST_TMPDIR/can"
}

teardown() {
	patience_teardown
}

# Twenty programs of 0.2 s, ten at a time.
twenty() {
	seq 20 | xargs -P 10 -n 1 sh -c 'exec "many/prog$0" 0.2' >/dev/null
}

@test "helpers that begin some time from 0 to 1,500 ms late cost nothing" {
	can_preload
	different many prog 20
	export -f twenty
	OPFS_TEST_LATE_MS=0-1500 LD_PRELOAD="$b/late_child.so" watched record \
		--session-dir "$dir" -- bash -c twenty
	cat "$log"
	# shellcheck disable=SC2046
	tables images "$dir" $(seq -f prog%.0f 20)
	tables images "$dir"
	tables lost "$dir"
	ask balance "$dir"
	helpers_were_good
}

@test "helpers that are late and killed, 300 times, cost nothing and leave nothing" {
	can_preload
	different many prog 20
	export -f twenty
	for ms in 5 50 500; do
		rm -rf "$dir" kills
		OPFS_TEST_LATE_MS=0-20 OPFS_TEST_KILL_MS=$ms OPFS_TEST_KILLS=100 \
			OPFS_TEST_KILL_FILE="$PWD/kills" LD_PRELOAD="$b/late_child.so" \
			watched record --session-dir "$dir" -- bash -c twenty
		cat "$log"
		# nothing holds the lock
		record --session-dir "$dir" --append -- true
		[ "$(ls "$dir/samples")" = current ]
		# shellcheck disable=SC2046
		tables images "$dir" $(seq -f prog%.0f 20)
		tables images "$dir"
		tables lost "$dir"
		helpers_were_good
		[ -s kills ]
	done
}

identified() {
	tables images "$dir" "$1" >/dev/null 2>&1
}

@test "a file system that answers after 2 s is waited for" {
	different real late 1
	slow
	background mnt/late1 1000 >/dev/null
	late=$!
	wait_for grep -q mnt/late1 "/proc/$late/maps"
	answers 2000
	# names are not kept: that reads all of the file, each part of it 2 s late
	background "$OPFS_BIN/opcollect" record -e TIMER --symbols=0 \
		--session-dir "$dir" -p "$late" >"$log" 2>&1
	collector=$!
	wait_for identified late1 || wait_for identified late1
	kill "$late"
	wait "$collector"
	cat "$log"
	tables images "$dir" late1
	tables lost "$dir"
	run ! grep "does not answer" "$log"
	[ "$(ask sum "$dir" image="$PWD/mnt/late1")" -gt 100 ]
}

@test "while a file system never answers, others that are slow are waited for" {
	different real hung 2
	different many prog 20
	slow
	for i in 1 2; do
		background "mnt/hung$i" 1000 >/dev/null
		hung=$!
		wait_for grep -q "mnt/hung$i" "/proc/$hung/maps"
	done
	answers never
	spinners 10
	export -f twenty
	# it ends by itself
	timeout -k 1 1000 "$OPFS_BIN/opcollect" record -e TIMER -a --session-dir "$dir" \
		-- bash -c 'twenty; sleep 10' >"$log" 2>&1
	cat "$log"
	[ "$(cat "$ctl")" = never ]
	# shellcheck disable=SC2046
	tables images "$dir" $(seq -f prog%.0f 20)
	for i in 1 2; do
		[ "$(tables note "$dir" "hung$i")" = unreachable ]
		[ "$(ask sum "$dir" image="$PWD/mnt/hung$i")" -gt 100 ]
	done
}

@test "5,000 executable mappings beside ten spinners" {
	spinners 10
	attached "$b/many_maps" 5000 2000
	found "$b/many_maps" "$(cat out)"
	tables lost "$dir"
	tables images "$dir" many_maps
}

@test "a mapping that moves, beside ten spinners" {
	spinners 10
	attached "$b/moves" 1000
	read -r first second <out
	found "$b/moves" $((first + second))
	tables lost "$dir"
	tables images "$dir" moves
}

@test "threads that come and go are all seen, twenty times" {
	for i in $(seq 20); do
		how=
		[ $((i % 2)) = 1 ] || how=main-ends
		# shellcheck disable=SC2086
		attached "$b/churn" 500 $((i % 7 + 1)) $how
		read -r used all threads <out
		echo "$i: $threads threads $how"
		found "$b/churn" "$used"
		threads_seen "$threads"
		tables lost "$dir"
		tables images "$dir" churn
		rm -rf "$dir"
	done
}

@test "every short process has its command line and control group, of 300" {
	spinners 4
	record -F 1999 --session-dir "$dir" -- \
		sh -c 'for i in $(seq 300); do "$0" 0.02 >/dev/null; done' \
		"$b/weights"
	tables tasks "$dir"
}

@test "record -a beside 40 spinners knows every program" {
	different many prog 20
	spinners 40
	background "$OPFS_BIN/opcollect" record -e TIMER -a \
		--session-dir "$dir" >"$log" 2>&1
	collector=$!
	# at once: a machine on which this takes so long does nothing else either
	tables progress "$dir" 150
	twenty
	# Ctrl-C, which a shell's background does not hear
	kill -TERM "$collector"
	wait "$collector" || true
	spinners_end
	cat "$log"
	# shellcheck disable=SC2046
	tables images "$dir" $(seq -f prog%.0f 20)
	ask balance "$dir"
	for i in $(seq 20); do
		[ "$(ask sum "$dir" image="$PWD/many/prog$i")" -gt 50 ]
	done
	# of all that ran: no file was given up, no program seen as two
	run ! grep unreachable "$dir/samples/current/images"
	run ! grep "^$PWD/.*#" "$dir/samples/current/images"
}
