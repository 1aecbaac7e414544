#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The daemon for longer, and dying: kills, faults, a full disk, load, hung file systems.

bats_require_minimum_version 1.5.0
load ../lib/record
load ../lib/daemon

setup() {
	cd "$BATS_TEST_TMPDIR"
	daemon_setup
	[[ "$BATS_TEST_DESCRIPTION" == *"engine:"* ]] || can_run_daemon
}

teardown() {
	rm -f "$BATS_TEST_TMPDIR/hang"
	daemon_teardown
	[ -z "${timeout-}" ] || kill -KILL "$timeout" "${spin-}" 2>/dev/null || true
	[ -z "${hangfs-}" ] || kill -KILL "$hangfs" || true
	! mountpoint -q "$BATS_TEST_TMPDIR/mnt" || umount -l "$BATS_TEST_TMPDIR/mnt"
	! mountpoint -q "$BATS_TEST_TMPDIR/disk" || umount "$BATS_TEST_TMPDIR/disk"
}

# The unit test of a module, built if it is not there.
unit() {
	local out=${OPFS_BIN%/bin}

	[ -x "$out/test/collector_test_$1" ] ||
		make -C "$OPFS_TOP" --no-print-directory O="$out" SAN="$OPFS_SAN" \
			"$out/test/collector_test_$1" 3>&- >&2
	"$out/test/collector_test_$1" --timeout 3000 2>&1
}

@test "engine: 1,000 kills lose nothing that was drained" {
	BATS_TEST_TIMEOUT=3000 OPFS_KILLS=1000 OPFS_SEED=${OPFS_SEED:-$RANDOM} unit kills
}

@test "engine: a fault of every seventh write loses nothing silently" {
	OPFS_STEP=7 unit faults
}

@test "the daemon killed 25 times under load, with rotation, keeps every sample" {
	load_on
	held=0
	for i in $(seq 25); do
		daemon --frequency=4999 --rotate=1s
		sleep "0.$((RANDOM % 100 + 10))"
		[ $((i % 5)) -ne 0 ] || sleep 1.3
		kill -KILL "$pid"
		wait "$pid" || true
		now=$(sessions -k "$dir" | awk '$1 == "all" { print $3 }')
		echo "$i: $now samples"
		[ "${now:-0}" -ge "$held" ]
		held=$now
	done
	load_off
	daemon --stopped
	wait_for all_sealed
	end_daemon
	sessions "$dir"
	[ "$(sessions "$dir" | awk '$1 == "all" { print $3 }')" = "$held" ]
	for s in $(rotated); do
		"$OPFS_BIN/opfs" check --session-dir "$dir" "$s"
	done
}

@test "rotation under load keeps totals exact" {
	daemon --frequency=9999 --rotate=1s
	load_on
	wait_for is rotations -ge 12
	ctl stop
	# what was taken last is rotated away as well; then figures stand still
	wait_for is total_samples -eq 0
	taken=$(fact past-samples)
	load_off
	end_daemon
	all_sealed
	sessions "$dir"
	[ "$(sessions "$dir" | awk '$1 == "all" { print $2 }')" = "$taken" ]
}

@test "a disk that is nearly full: old sessions go, then sampling stops and says so" {
	mkdir disk
	mount -t tmpfs -o size=24m tmpfs disk 2>/dev/null ||
		skip "cannot mount a tmpfs here"
	dir=$PWD/disk/sessions
	daemon --frequency=997 --rotate=1s --keep=100 --min-free=8M
	load_on
	wait_for rotated_at_least 3
	dd if=/dev/zero of=disk/fill bs=1M count=15 2>/dev/null
	wait_for is sessions-removed -ge 1
	dd if=/dev/zero of=disk/fill2 bs=1M count=7 2>/dev/null || true
	wait_for eval '[ "$(fact state)" = stopped ]'
	[[ "$(fact why)" == *"nearly full"* ]]
	grep -q "nearly full" "$log"
	rm disk/fill disk/fill2
	ctl start
	[ "$(fact state)" = sampling ]
	load_off
	end_daemon
	sessions "$dir"
}

@test "a disk that is full: what was stored is exact, the rest is a loss" {
	mkdir disk
	mount -t tmpfs -o size=3m tmpfs disk 2>/dev/null ||
		skip "cannot mount a tmpfs here"
	dir=$PWD/disk/sessions
	daemon --frequency=4999 --separate=all --min-free=0
	load_on
	dd if=/dev/zero of=disk/fill bs=64k 2>/dev/null || true
	wait_for is lost -gt 0
	ctl dump
	# what is lost is told while the disk is still full, also by the session itself
	lost=$(cat disk/sessions/samples/current/stats/lost_samplefile)
	[ "$lost" -gt 0 ]
	"$OPFS_BIN/opfs" cat --session-dir "$dir" current/status | grep -q lost_samplefile
	local file=disk/sessions/samples/current/stats/lost_samplefile
	wait_for eval "[ \"\$(cat $file)\" -gt $lost ]"
	rm -f disk/fill
	ctl dump || true
	load_off
	kill -TERM "$pid"
	wait "$pid" || true
	pid=
	sessions -k "$dir"
}

@test "a file system that does not answer does not stop the daemon" {
	need_mount
	cc -O1 -o hangfs "$OPFS_TOP/tests/long/progs/hangfs.c" -D_FILE_OFFSET_BITS=64 \
		$(pkg-config --cflags --libs fuse3)
	cc -O1 -o spin "$progs/weights.c"
	mkdir mnt
	./hangfs "$PWD/mnt" "$PWD/spin" "$PWD/hang" 3>&- &
	hangfs=$!
	wait_for mountpoint -q mnt
	timeout 1200 mnt/file 100000 >/dev/null 3>&- &
	timeout=$!
	runs() { spin=$(pgrep -P "$timeout" file); }
	wait_for runs
	wait_for grep -q mnt/file "/proc/$spin/maps"
	: >hang
	daemon --frequency=997
	wait_for grep -q "does not answer" "$log"
	before=$(fact total_samples)
	wait_for is total_samples -ge $((before + 300))
	[ "$(fact state)" = sampling ]
	[ "$(fact lost_records_by_kernel)" = null ]
	grep -q "mnt/file.*unreachable" "$dir/samples/current/images"
	end_daemon
	# it ended although what it asked never came
	[ -e hang ]
	"$OPFS_BIN/opcollect" config --config "$conf" >/dev/null
	(exec 9<"$dir/lock" && flock -n 9)
	! kill -0 "$spin" 2>/dev/null || rm hang
	kill "$timeout" "$spin" || true
	wait "$timeout" || true
	umount -l mnt
	wait "$hangfs" || true
	hangfs=
	sessions "$dir"
}
