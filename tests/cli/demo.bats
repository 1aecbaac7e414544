#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# "make demo": what it shows, and that it leaves nothing behind however it ends.

bats_require_minimum_version 1.5.0
load ../lib/busy
load ../lib/need

setup_file() {
	export O="$BATS_FILE_TMPDIR/o" TMPDIR="$BATS_FILE_TMPDIR/tmp"
	mkdir -p "$O" "$TMPDIR"
	ln -s "$OPFS_BIN" "$O/bin"
}

setup() {
	[ -x "$OPFS_BIN/opfs" ] && [ -x "$OPFS_BIN/opcollect" ]
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

# Processes that the demo of this test started, and what they started.
marked() {
	grep -lzxF "DEMO_CHILD=$OPFS_DEMO_MARK" /proc/[0-9]*/environ 2>/dev/null |
		sed 's|/proc/\(.*\)/environ|\1|'
}

# Nothing of the demo runs, is mounted or lies in the temporary directory.
assert_gone() {
	nothing_left() { [ -z "$(marked)" ]; }
	wait_for nothing_left || { ps -fp $(marked); return 1; }
	if grep -F " $TMPDIR/" /proc/self/mountinfo; then
		return 1
	fi
	[ -z "$(ls -A "$TMPDIR")" ]
}

is_mounted() {
	grep -qF " $TMPDIR/" /proc/self/mountinfo
}

# Waits until the demo has mounted; fails if it has ended meanwhile.
wait_for_mount() {
	mounted_or_ended() { is_mounted || [ -z "$(marked)" ]; }
	wait_for mounted_or_ended
	is_mounted
}

# interrupt SIGNAL WHEN [group]: starts the demo and ends it after so many seconds, or as
# soon as it has mounted; with group, as a terminal does it: every process of the
# foreground group gets the signal.
interrupt() {
	local pid target

	env DEMO_CHILD="$OPFS_DEMO_MARK" --default-signal=INT,HUP setsid "$demo" "$O" 1 \
		>"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
	pid=$!
	target=$pid
	[ "${3:-}" != group ] || target=-$pid
	# until then it is a copy of this shell, which answers signals in its own way
	begun() { ! [ -e "/proc/$pid" ] || grep -qx "${demo##*/}" "/proc/$pid/comm"; }
	wait_for begun
	if [ "$2" != mounted ]; then
		sleep "$2"
	elif ! wait_for_mount; then # it came and went between two looks: once more
		wait "$pid"
		interrupt "$@"
		return
	fi
	kill -"$1" -- "$target" 2>/dev/null || true
	wait "$pid" || true
	assert_gone
}

@test "the demo shows the four functions in the order of their shares" {
	can_record
	DEMO_CHILD="$OPFS_DEMO_MARK" run "$demo" "$O" 1
	echo "$output"
	[ "$status" = 0 ]
	shares=$(echo "$output" | awk '$NF ~ /^(parse_50|sort_30|hash_15|print_5)$/ &&
		NF <= 4 { print $NF }' | head -n 4 | xargs)
	[ "$shares" = "parse_50 sort_30 hash_15 print_5" ]
	assert_gone
}

@test "the demo reads the report through the mount" {
	can_record
	need_mount
	DEMO_CHILD="$OPFS_DEMO_MARK" run -0 "$demo" "$O" 1
	[[ "$output" == *'$ cat '"$TMPDIR"/*/current/image:*/report* ]]
	assert_gone
}

@test "a user who may not mount reads the same report with opfs cat" {
	can_record
	need_root
	need_mount_namespace
	DEMO_CHILD="$OPFS_DEMO_MARK" run unshare -m sh -c \
		'mount --bind /dev/null "$1" || exit
		mount -t tmpfs none /dev && exec "$2" "$3" 1' sh /dev/fuse "$demo" "$O"
	echo "$output"
	[ "$status" = 0 ]
	[[ "$output" == *"No mount: "* ]]
	[[ "$output" == *"opfs cat"* ]]
	[[ "$output" == *parse_50* ]]
	assert_gone
}

@test "a demo before the programs are built says what to do" {
	run -1 "$demo" "$BATS_TEST_TMPDIR/nothing"
	[[ "$output" == *"run 'make' first"* ]]
	assert_gone
}

# A seccomp filter that forbids perf_event_open, as containers have; root may not help.
@test "a demo that may not record says what helps, and exits 1" {
	cat >"$BATS_TEST_TMPDIR/noperf.py" <<-'PY'
	import ctypes, os, platform, struct, sys
	nr = {"x86_64": 298, "aarch64": 241}.get(platform.machine())
	if nr is None:
	    sys.exit(77)
	code = [(0x20, 0, 0, 0), (0x15, 0, 1, nr), (0x06, 0, 0, 0x00050001),
	        (0x06, 0, 0, 0x7fff0000)]
	filt = b"".join(struct.pack("HBBI", *c) for c in code)
	buf = ctypes.create_string_buffer(filt)
	prog = struct.pack("HxxxxxxQ", len(code), ctypes.addressof(buf))
	libc = ctypes.CDLL(None)
	if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, prog):
	    sys.exit(77)
	os.execv(sys.argv[1], sys.argv[1:])
	PY
	DEMO_CHILD="$OPFS_DEMO_MARK" run python3 "$BATS_TEST_TMPDIR/noperf.py" "$demo" \
		"$O" 1
	[ "$status" != 77 ] || skip "seccomp filters are not allowed here"
	echo "$output"
	[ "$status" = 1 ]
	[[ "$output" == *"recording failed"* ]]
	[[ "$output" == *seccomp* ]]
	assert_gone
}

@test "SIGTERM at any moment leaves nothing mounted or running" {
	for delay in 0.02 0.3 1.2 1.5; do
		interrupt TERM "$delay"
	done
}

@test "Ctrl-C at any moment leaves nothing mounted or running" {
	for delay in 0.05 0.6 1.1 1.4; do
		interrupt INT "$delay" group
	done
}

@test "a demo that is ended while it is mounted leaves nothing" {
	can_record
	need_mount
	interrupt TERM mounted
	interrupt INT mounted group
	interrupt HUP mounted group
}

# Only the directories stay, since nobody is left to remove them.
@test "a demo that is killed while it is mounted leaves nothing mounted or running" {
	can_record
	need_mount
	if interrupt KILL mounted; then
		return 1
	fi
	rmdir "$TMPDIR"/*/mnt "$TMPDIR"/*
	assert_gone
}
