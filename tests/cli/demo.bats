#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# "make demo": what it shows, and that it leaves nothing behind however it ends.

setup_file() {
	export O="$BATS_FILE_TMPDIR/o" TMPDIR="$BATS_FILE_TMPDIR/tmp"
	mkdir -p "$O" "$TMPDIR"
	ln -s "$OPFS_BIN" "$O/bin"
}

setup() {
	export OPFS_DEMO_MARK="$BATS_TEST_NAME.$$"
	demo="$OPFS_TOP/tests/demo/demo.sh"
}

teardown() {
	local pid

	for pid in $(marked); do
		kill -KILL "$pid" || true
	done
	awk -v d="$TMPDIR/" 'index($5, d) == 1 { print $5 }' /proc/self/mountinfo |
		xargs -r -n 1 umount -l
}

can_record() {
	"$OPFS_BIN/opcollect" record --session-dir "$BATS_FILE_TMPDIR" -- true \
		>/dev/null 2>&1 || skip "this user may not record here"
	rm -rf "$BATS_FILE_TMPDIR/samples"
}

can_mount() {
	[ -r /dev/fuse ] && [ -w /dev/fuse ] || skip "/dev/fuse may not be opened here"
}

# Processes that the demo of this test started, and what they started.
marked() {
	local f

	for f in /proc/[0-9]*/environ; do
		if grep -qzxF "DEMO_CHILD=$OPFS_DEMO_MARK" "$f" 2>/dev/null; then
			f=${f#/proc/}
			echo "${f%/environ}"
		fi
	done
}

# Nothing of the demo runs, is mounted or lies in the temporary directory.
assert_gone() {
	local left i

	for i in {1..30}; do
		left=$(marked)
		[ -n "$left" ] || break
		sleep 0.1
	done
	[ -z "$left" ] || { ps -fp $left; return 1; }
	! grep -F " $TMPDIR/" /proc/self/mountinfo
	[ -z "$(ls -A "$TMPDIR")" ]
}

# interrupt SIGNAL DELAY [group]: starts the demo and ends it after a while; with group,
# as a terminal does it: every process of the foreground group gets the signal.
interrupt() {
	local pid target

	env DEMO_CHILD="$OPFS_DEMO_MARK" --default-signal=INT setsid "$demo" "$O" \
		>"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
	pid=$!
	target=$pid
	[ "${3:-}" != group ] || target=-$pid
	sleep "$2"
	kill -"$1" -- "$target" 2>/dev/null || true
	wait "$pid" || true
	assert_gone
}

@test "the demo shows the four functions in the order of their shares" {
	can_record
	DEMO_CHILD="$OPFS_DEMO_MARK" run "$demo" "$O"
	echo "$output"
	[ "$status" = 0 ]
	shares=$(echo "$output" | awk '$NF ~ /^(parse_50|sort_30|hash_15|print_5)$/ &&
		NF <= 4 { print $NF }' | head -n 4 | xargs)
	[ "$shares" = "parse_50 sort_30 hash_15 print_5" ]
	assert_gone
}

@test "the demo reads the report through the mount" {
	can_record
	can_mount
	DEMO_CHILD="$OPFS_DEMO_MARK" run "$demo" "$O"
	[ "$status" = 0 ]
	[[ "$output" == *'$ cat '"$TMPDIR"/*/current/image:*/report* ]]
	assert_gone
}

@test "a user who may not mount reads the same report with opfs cat" {
	can_record
	[ "$(id -u)" = 0 ] || skip "needs root to hide /dev/fuse"
	DEMO_CHILD="$OPFS_DEMO_MARK" run unshare -m sh -c \
		'mount --bind /dev/null "$1" 2>/dev/null || exit 77
		mount -t tmpfs none /dev && exec "$2" "$3"' sh /dev/fuse "$demo" "$O"
	[ "$status" != 77 ] || skip "mount namespaces are not allowed here"
	echo "$output"
	[ "$status" = 0 ]
	[[ "$output" == *"No mount: "* ]]
	[[ "$output" == *"opfs cat"* ]]
	[[ "$output" == *parse_50* ]]
	assert_gone
}

@test "a demo that cannot record says why and exits 1" {
	[ "$(id -u)" = 0 ] || skip "needs root to become nobody"
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 2 ] ||
		skip "everybody may record here"
	mkdir -p "$O/demo"
	DEMO_CHILD="$OPFS_DEMO_MARK" run "$demo" "$BATS_TEST_TMPDIR/nothing"
	[ "$status" = 1 ]
	[[ "$output" == *"run 'make' first"* ]]
}

@test "SIGTERM at any moment leaves nothing mounted or running" {
	for delay in 0.02 0.3 1.2 2.2 2.5 2.8; do
		interrupt TERM "$delay"
	done
}

@test "Ctrl-C at any moment leaves nothing mounted or running" {
	for delay in 0.05 0.6 2.1 2.4 2.6 3; do
		interrupt INT "$delay" group
	done
}

@test "a terminal that goes away leaves nothing mounted or running" {
	for delay in 1 2.4; do
		interrupt HUP "$delay" group
	done
}

@test "a killed demo leaves nothing mounted or running" {
	interrupt_kill() {
		interrupt KILL "$1" || {
			rmdir "$TMPDIR"/*/mnt "$TMPDIR"/*
			assert_gone
		}
	}
	for delay in 1 2.4; do
		interrupt_kill "$delay"
	done
}
