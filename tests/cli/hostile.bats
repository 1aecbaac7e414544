#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Session directories of somebody who means harm to those who write or read there.

bats_require_minimum_version 1.5.0

load ../lib/record

setup() {
	can_record
	cd "$BATS_TEST_TMPDIR" || return
	mkdir -p victim/current/data theirs
	echo precious >victim/current/data/f
}

# What a run that was led astray would have changed.
victim_is_whole() {
	[ "$(find victim | sort | tr '\n' ' ')" = \
		"victim victim/current victim/current/data victim/current/data/f " ]
}

@test "another user's link for samples/ is not followed: nothing is removed or written" {
	need_root
	ln -s ../victim theirs/samples
	chown -h 65534 theirs/samples
	run -1 record --session-dir theirs -- true
	[[ $output == *"symbolic link of user 65534"* ]]
	victim_is_whole
}

@test "another user's link for the session directory is not followed" {
	need_root
	ln -s victim link
	chown -h 65534 link
	run -1 record --session-dir link -- true
	victim_is_whole
}

@test "a link of one's own for samples/ is followed" {
	mkdir elsewhere
	ln -s ../elsewhere theirs/samples
	record --session-dir theirs -- true
	[ -e elsewhere/current/stats/live ]
}

@test "root does not add to another user's session, where links may lead anywhere" {
	need_root
	mkdir -p theirs/samples/current
	ln -s "$PWD/victim" theirs/samples/current/stats
	ln -s "$PWD/victim" "theirs/samples/current/{root}"
	chown -hR 65534 theirs
	run -1 record --append --session-dir theirs -- true
	[[ $output == *"belongs to user 65534"* ]]
	victim_is_whole
	# but makes one of its own there
	record --session-dir theirs -- true
	victim_is_whole
}

@test "a lock file that is another file's second name is not cut off" {
	echo content >file
	ln file theirs/lock
	run -1 record --session-dir theirs -- true
	[[ $output == *"theirs/lock"* ]]
	[ "$(cat file)" = content ]
}

@test "a session that says it began at no time of this world is set aside all the same" {
	mkdir -p "theirs/samples/current/stats" "theirs/samples/current/{root}"
	echo 9223372036854775807 >theirs/samples/current/stats/started
	record --session-dir theirs -- true
	[ "$(find theirs/samples -mindepth 1 -maxdepth 1 | wc -l)" = 2 ]
	find theirs/samples -mindepth 1 -maxdepth 1 -name "$(date -u +%Y)-*Z" | grep -q .
}

@test "notes and figures of a session are not read through links" {
	record --session-dir theirs -- true
	rm -f theirs/samples/current/stats/notes
	echo "top:secret:line" >shadow
	ln -s "$PWD/shadow" theirs/samples/current/stats/notes
	run "$OPFS_BIN/opfs" cat --session-dir theirs current/status
	[[ $output == *"session: "* ]]
	[[ $output != *secret* ]]
	# nor with the whole directory elsewhere
	mkdir other other/throttled
	mv shadow other/notes
	: >other/throttled/secret
	rm -r theirs/samples/current/stats
	ln -s "$PWD/other" theirs/samples/current/stats
	run "$OPFS_BIN/opfs" cat --session-dir theirs current/status
	[[ $output != *secret* ]]
}

@test "a sample file of gigabytes of nothing is shown without a copy of them" {
	need_root
	record --session-dir theirs -- true
	python3 - theirs/samples/current <<-'PY'
	import os, struct, sys
	dir = sys.argv[1] + "/{root}/bin/a/{dep}/{root}/bin/a"
	os.makedirs(dir)
	slots = 1 << 24
	head = b"DAE\n" + struct.pack("<I", 0x13)
	with open(dir + "/TIMER.1003009.0.all.all.all", "wb") as f:
	    f.write(head.ljust(72, b"\0") + struct.pack("<II", slots, slots))
	    f.truncate(104 + slots * 20)
	with open(sys.argv[1] + "/stats/live", "w") as f:
	    f.write("1 1 live\n")
	PY
	# 256 MiB of nodes, and 4 MiB for the copy
	mkdir small
	need_mount_namespace
	# shellcheck disable=SC2016
	run unshare -m bash -c 'mount -t tmpfs -o size=4m none small &&
		TMPDIR=$PWD/small "$OPFS_BIN/opfs" cat --session-dir theirs \
			current/status'
	[ "$status" = 0 ]
	[[ $output == *samples:* && $output != *damaged* ]]
}

@test "a program that cannot be executed leaves a session that is closed" {
	printf '#!/nonexistent/interpreter\n' >program
	chmod +x program
	run -127 record --session-dir theirs -- ./program
	[ "$status" = 127 ]
	grep -q ' closed$' theirs/samples/current/stats/live
}
