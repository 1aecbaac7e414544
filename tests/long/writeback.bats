#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Disks that refuse what had been counted: the kernel takes a store into a mapping, and
# the disk says later that it cannot have it.

bats_require_minimum_version 1.5.0
load ../lib/record
load ../lib/daemon

setup_file() {
	build_programs
	cc -O1 -o "$BATS_FILE_TMPDIR/failfs" "$OPFS_TOP/tests/programs/failfs.c" \
		-D_FILE_OFFSET_BITS=64 $(pkg-config --cflags --libs fuse3)
}

setup() {
	cd "$BATS_TEST_TMPDIR"
	b="$BATS_FILE_TMPDIR"
	daemon_setup
	fs= loop=
	can_run_daemon
	[ "$(id -u)" = 0 ] || skip "only root can mount"
}

teardown() {
	[ -z "${load_pid-}" ] || kill "$load_pid" 2>/dev/null || true
	daemon_teardown
	[ -z "$fs" ] || kill -KILL "$fs" 2>/dev/null || true
	for m in mnt disk store; do
		# its server is gone: mountpoint(1) would not see one
		! grep -qF " $BATS_TEST_TMPDIR/$m " /proc/mounts ||
			umount -l "$BATS_TEST_TMPDIR/$m"
	done
	[ -z "$loop" ] || losetup -d "$loop" 2>/dev/null || true
}

# A file system of which $PWD/real has what was taken, and that refuses while there is
# "fail".
failing_fs() {
	[ -w /dev/fuse ] || skip "no /dev/fuse"
	mkdir mnt real
	"$b/failfs" "$PWD/mnt" "$PWD/real" "$PWD/fail" 3>&- &
	fs=$!
	wait_for mountpoint -q mnt
	dir=$PWD/mnt/sessions
}

end_fs() {
	umount mnt
	wait "$fs" || true
	fs=
}

stat_of() {
	cat "$1/stats/$2" 2>/dev/null || echo 0
}

# balanced DIR [SESSION]: taken is stored and lost, and the files hold what was stored, by
# the reader that shares no code with ours.
balanced() {
	python3 - "$OPFS_TOP" "$1" "${2:-current}" <<-'END'
	import os, sys
	top, where, session = sys.argv[1:]
	sys.path[:0] = [top + "/tests/lib", top + "/tests/cli/progs"]
	import opsamples, sessions
	held = sum(r["samples"] for r in opsamples.totals(where)
	           if r["session"] == session and "bad" not in r and not r["callee"])
	f = sessions.figures(where, session)
	stored = f.get("stored_samples", 0)
	lost = sum(v for k, v in f.items() if k not in sessions.NOT_LOSSES)
	print(f, "in files:", held)
	sys.exit(f["total_samples"] != stored + lost or stored > held)
	END
}

in_manifest() {
	awk -v key="$2" '$2 == "figure" && $3 == key { print $4 }' "$1/MANIFEST"
}

# Of all that is said at the end of "record".
told_of_loss() {
	[ "$status" = 1 ]
	[[ "$output" == *"NOT EVERYTHING WAS STORED"* ]]
	[[ "$output" == *lost_write_back* ]]
}

# Samples that the disk has, and others that it refuses: the file of storm is not written
# to any more once samples of what ran after it have been counted.
for_record() {
	cat >job <<-END
		$(declare -f stat_of)
		stored() { stat_of "$dir/samples/current" stored_samples; }
		until [ "\$(stored)" -gt 0 ] &&
			[ "\$(find "$dir/samples" -path '*storm*' -type f)" ]; do
			"$b/storm" 0 100000
		done
		for i in 1 2; do
			was=\$(stored)
			until [ "\$(stored)" -gt "\$was" ]; do
				"$b/weights" 0.1
			done
		done
		find "$PWD/mnt/sessions" -type f -exec sync {} +
		echo $1 >"$PWD/fail"
		"$b/weights" 0.3
	END
	run record --session-dir "$dir" -a -F 1999 "${@:2}" -- sh job
}

@test "record: a full disk behind the kernel's back" {
	failing_fs
	for_record ENOSPC
	told_of_loss
	[[ "$output" == *"No space left"* ]]
	[ "$(stat_of "$dir/samples/current" lost_write_back)" -gt 0 ]
	[ "$(stat_of "$dir/samples/current" stored_samples)" -gt 0 ]
	[[ "$output" == *"$(stat_of "$dir/samples/current" stored_samples) stored"* ]]
	"$OPFS_BIN/opfs" cat --session-dir "$dir" current/status | grep -q lost_write_back
	end_fs
	balanced "$PWD/real/sessions"
}

@test "record: a broken disk, with calls" {
	failing_fs
	for_record EIO -g
	told_of_loss
	[ "$(stat_of "$dir/samples/current" lost_stackfile)" -gt 0 ]
	end_fs
	balanced "$PWD/real/sessions"
	python3 - "$OPFS_TOP" "$PWD/real/sessions" <<-'END'
	import sys
	sys.path[:0] = [sys.argv[1] + "/tests/lib", sys.argv[1] + "/tests/cli/progs"]
	import opsamples, sessions
	held = sum(r["samples"] for r in opsamples.totals(sys.argv[2]) if r.get("callee"))
	told = sessions.figures(sys.argv[2], "current").get("total_arcs", 0)
	sys.exit("%d arcs, %d in files" % (told, held) if told > held else 0)
	END
}

@test "record --append: what an earlier run stored and is lost now is lost" {
	failing_fs
	run -0 record --session-dir "$dir" -F 1999 -- "$b/storm" 0 300000
	before=$(stat_of "$dir/samples/current" stored_samples)
	[ "$before" -gt 0 ]
	echo EIO >fail
	run record --session-dir "$dir" --append -F 1999 -- "$b/storm" 0 300000
	told_of_loss
	end_fs
	balanced "$PWD/real/sessions"
}

@test "the daemon: a broken disk is a loss at once, and it goes on" {
	failing_fs
	daemon --frequency=1999 --checkpoint=1s
	load_on
	wait_for is stored_samples -ge 500
	echo EIO >fail
	wait_for is lost_write_back -gt 0
	[ "$(fact state)" = sampling ]
	[ "$(fact lost)" -gt 0 ]
	[[ "$(fact not-stored)" == *"Input/output error"* ]]
	wait_for grep -q "not everything is stored" "$log"
	rm fail
	# files that were given up are tried again
	stored=$(fact stored_samples)
	wait_for is stored_samples -ge $((stored + 500))
	ctl save broken
	s=$dir/samples/broken
	wait_for test -e "$s/MANIFEST"
	[ "$(in_manifest "$s" lost_write_back)" -gt 0 ]
	[ "$(in_manifest "$s" lost_write_back)" = "$(stat_of "$s" lost_write_back)" ]
	[ "$(fact past-lost)" -ge "$(stat_of "$s" lost_write_back)" ]
	"$OPFS_BIN/opfs" check --session-dir "$dir" broken
	load_off
	end_daemon
	end_fs
	balanced "$PWD/real/sessions" broken
	balanced "$PWD/real/sessions" current
}

@test "the daemon: a disk that is full behind the kernel's back is a full disk" {
	failing_fs
	daemon --frequency=1999 --checkpoint=1s
	load_on
	wait_for is stored_samples -ge 500
	echo ENOSPC >fail
	wait_for eval '[ "$(fact state)" = stopped ]'
	[[ "$(fact why)" == *"nearly full"* ]]
	[ $(($(fact lost) + $(fact past-lost))) -gt 0 ]
	rm fail
	ctl start
	wait_for is stored_samples -ge 100
	load_off
	end_daemon
	for s in $(rotated) current; do
		balanced "$PWD/real/sessions" "$s"
	done
	[ "$(awk '{ n += $1 } END { print n }' \
		"$dir"/samples/*/stats/lost_write_back)" -gt 0 ]
	end_fs
}

@test "the daemon: what the disk refuses after a rotation stands in the MANIFEST" {
	failing_fs
	daemon --frequency=1999 --checkpoint=0
	load_on
	wait_for is stored_samples -ge 500
	echo EIO >fail
	ctl save late
	s=$dir/samples/late
	wait_for test -e "$s/MANIFEST"
	[ "$(in_manifest "$s" lost_write_back)" -gt 0 ]
	[ "$(fact past-lost)" -ge "$(in_manifest "$s" lost_write_back)" ]
	grep -q "session late: the disk refused" "$log"
	rm fail
	load_off
	end_daemon
	end_fs
	balanced "$PWD/real/sessions" late
}

@test "the daemon: what the disk refuses at the end is lost" {
	failing_fs
	daemon --frequency=1999 --checkpoint=0
	load_on
	wait_for is stored_samples -ge 500
	echo EIO >fail
	ctl stop
	load_off
	end_daemon
	[ "$(stat_of "$dir/samples/current" lost_write_back)" -gt 0 ]
	end_fs
	balanced "$PWD/real/sessions"
}

@test "the daemon: files that are cut under it cost their samples, and not the daemon" {
	daemon --frequency=1999 --checkpoint=0
	load_on
	wait_for is stored_samples -ge 500
	find "$dir/samples/current/"{root} -type f -exec truncate -s 0 {} +
	wait_for is lost_write_back -gt 0
	[ "$(fact state)" = sampling ]
	stored=$(fact stored_samples)
	wait_for is stored_samples -ge $((stored + 500))
	load_off
	end_daemon
	balanced "$dir"
}

# An ext4 whose store has no room for what is written back: its own tables are there, so
# that only contents of files are refused.
full_ext4() {
	local i

	mkdir store disk
	mount -t tmpfs -o size=64m tmpfs store || skip "cannot mount a tmpfs here"
	truncate -s 256m store/image
	need_command mkfs.ext4
	mkfs.ext4 -q -b 4096 -O ^has_journal -E lazy_itable_init=0 -N 8192 store/image
	loop=$(losetup -f --show store/image 2>/dev/null) || skip "no loop devices"
	mount "$loop" disk || skip "cannot mount an ext4 here"
	dir=$PWD/disk/sessions
}

fill_store() {
	dd if=/dev/zero of=store/fill bs=64k 2>/dev/null || true
	dd if=/dev/zero of=store/fill2 bs=4k 2>/dev/null || true
}

@test "record: an ext4 on a loop device whose store is full" {
	full_ext4
	cat >job <<-END
		until [ -s "$dir/samples/current/stats/stored_samples" ]; do
			"$b/storm" 0 100000
		done
		sync -f disk
		dd if=/dev/zero of=store/fill bs=64k 2>/dev/null
		dd if=/dev/zero of=store/fill2 bs=4k 2>/dev/null
		cp "$b/weights" new
		./new 0.3
		exit 0
	END
	run record --session-dir "$dir" -a -F 1999 -- sh job
	told_of_loss
	[ "$(stat_of "$dir/samples/current" lost_write_back)" -gt 0 ]
	balanced "$dir"
	# the figures are in memory alone, as the disk has no room for them either: that
	# is told
	[[ "$output" == *"figures of the session could not be written"* ]]
	stored=$(stat_of "$dir/samples/current" stored_samples)
	rm store/fill store/fill2
	sync -f disk || true
	echo 1 >/proc/sys/vm/drop_caches
	python3 "$OPFS_TOP/tests/lib/opsamples.py" totals "$dir" |
		jq -e --argjson stored "$stored" '[.[].samples // 0] | add >= $stored'
}

@test "the daemon: an ext4 on a loop device whose store is full" {
	full_ext4
	daemon --frequency=1999 --checkpoint=1s
	load_on
	wait_for is stored_samples -ge 500
	sync -f disk
	fill_store
	cp "$b/weights" new
	wait_for eval \
		'./new 0.05; [ $(($(fact lost_write_back) + $(fact past-lost))) -gt 0 ]'
	rm store/fill store/fill2
	# it may be about to stop, as on a full disk
	wait_for eval 'ctl start >/dev/null; is stored_samples -ge 200'
	load_off
	ctl save full
	wait_for test -e "$dir/samples/full/MANIFEST"
	end_daemon
	# what could not be closed while there was no room is closed by the next
	daemon --stopped
	wait_for all_sealed
	end_daemon
	sync -f disk || true
	echo 1 >/proc/sys/vm/drop_caches
	for s in $(rotated) full; do
		balanced "$dir" "$s"
	done
	[ "$(cat "$dir"/samples/*/MANIFEST |
		awk '$2 == "figure" && $3 == "lost_write_back" { n += $4 }
			END { print n + 0 }')" -gt 0 ]
}
