#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The commands that need no mount, used in one: they take its session directory and paths.

bats_require_minimum_version 1.5.0
load ../lib/mount

setup() {
	make_dirs
	need_mount
	cd "$W"
	unset OPFS_SESSION_DIR
	mksession <<-'END2'
	[{"app": "/bin/one", "samples": {"0x10": 7}},
	 {"app": "/bin/two", "samples": {"0x10": 3}},
	 {"session": "saved", "app": "/bin/one", "samples": {"0x10": 2}}]
	END2
	"$OPFS" mount "$D" "$M"
	want=$("$OPFS" cat --session-dir "$D" current/image:one/report)
}

teardown() {
	cd /
	remove_dirs
}

@test "in a mount a path is relative to the directory, as for other programs" {
	# a link to image:/one
	cd "$M/current/image:one"
	[ "$("$OPFS" cat report)" = "$want" ]
	[ "$("$OPFS" cat ./report)" = "$want" ]
	[ "$(cat ../one/report)" = "$want" ]
	[ "$("$OPFS" cat ../one/report)" = "$want" ]
	[ "$("$OPFS" cat ../../image:one/report)" = "$want" ]
	[ "$("$OPFS" cat ../../../current/image:one/report)" = "$want" ]
	run ! cat ../image:one/report
	run -1 "$OPFS" cat ../image:one/report
	[ "$("$OPFS" cat /current/image:one/report)" = "$want" ]
	[ "$("$OPFS" ls)" = "$("$OPFS" ls --session-dir "$D" current/image:/one)" ]
	[ "$("$OPFS" ls .)" = "$("$OPFS" ls)" ]
	run -0 "$OPFS" why .
	[[ $output = "current/image:/one: "*"7 of 10"* ]]
	cd "$M"
	[ "$("$OPFS" ls)" = "$("$OPFS" ls --session-dir "$D")" ]
	[ "$("$OPFS" cat current/image:one/report)" = "$want" ]
	[[ $("$OPFS" diff saved current) = *one* ]]
	old=$("$OPFS" diff --session-dir "$D" saved current)
	cd "$M/saved"
	[ "$("$OPFS" diff . ../current)" = "$old" ]
	run -0 "$OPFS" check saved
	[[ $output = "saved: whole: "* ]]
	run -1 "$OPFS" cat reprot
	[[ $output = *'saved/reprot: no file'*'did you mean "report"?'* ]]
}

@test "a path into a mount is one of its session directory, wherever it is typed" {
	[ "$("$OPFS" cat "$M/current/image:one/report")" = "$want" ]
	[ "$("$OPFS" cat mnt/current/image:one/report)" = "$want" ]
	ln -s mnt link
	[ "$("$OPFS" cat "$W/link/current/image:one/report")" = "$want" ]
	[ "$("$OPFS" ls "$M/")" = "$("$OPFS" ls --session-dir "$D")" ]
	run -0 "$OPFS" why "$M/current/image:one"
	[[ $output = "current/image:one: "* ]]
	run -0 "$OPFS" check "$M/current"
	[[ $output = "current: whole: "* ]]
	run -0 "$OPFS" check "$M/saved/image:one" # the session that it is in
	[[ $output = "saved: whole: "* ]]
	run "$OPFS" keep "$M/saved"
	[[ $output = *"saved: names of "* ]]
	[[ $("$OPFS" diff "$M/saved" "$M/current") = *one* ]]
	run -1 "$OPFS" cat "$M/current/imag:one/report"
	[[ $output = *'did you mean "image"?'* ]]
}

@test "a mount at a path with blanks, of a part of another mount, is found too" {
	mkdir 'a b\c' part
	"$OPFS" mount "$D" "$W/a b\\c"
	[ "$("$OPFS" cat "$W/a b\\c/current/image:one/report")" = "$want" ]
	if [ "$(id -u)" = 0 ]; then
		mount --bind "$M/current" part
		[ "$("$OPFS" cat part/image:one/report)" = "$want" ]
		cd part
		[ "$("$OPFS" cat image:one/report)" = "$want" ]
	fi
}

@test "--session-dir comes before the mount, and that before \$OPFS_SESSION_DIR" {
	mkdir other
	D=$W/other mksession <<<'[{"session": "third", "app": "/bin/x"}]'
	cd "$M"
	[[ $("$OPFS" ls --session-dir "$W/other") = *third* ]]
	export OPFS_SESSION_DIR=$W/other
	[[ $("$OPFS" ls) = *saved* ]]
	cd "$W"
	[[ $("$OPFS" ls) = *third* ]]
	[[ $("$OPFS" ls "$M") = *saved* ]]
	run -0 "$OPFS" check
	[[ $output = *third* ]]
	OPFS_SESSION_DIR=$W/none run -1 "$OPFS" ls
	[[ $output = "opfs ls: \$OPFS_SESSION_DIR: $W/none: no such session directory"* ]]
}

@test "-V tells which session directory was taken, and why" {
	run -0 "$OPFS" ls -V "$M/current/image"
	[[ $output = "opfs ls: using $D: of the mount at $M"$'\n'one* ]]
	OPFS_SESSION_DIR=$D run -0 "$OPFS" ls -V current/image
	[[ $output = "opfs ls: using $D: \$OPFS_SESSION_DIR names it"$'\n'one* ]]
	ln -s "$D" oprofile_data
	run -0 "$OPFS" ls -V current/image
	[[ $output = "opfs ls: using $W/oprofile_data: it is here"$'\n'one* ]]
	run -0 "$OPFS" ls -V --session-dir "$D" current/image
	[[ $output != *using* ]]
}

@test "two mounts in one command, and a mount that does not tell, are refused" {
	mkdir other two named
	D=$W/other mksession <<<'[{"app": "/bin/x"}]'
	"$OPFS" mount other two
	run -1 "$OPFS" cat "$M/current/report" "$W/two/current/report"
	[[ $output = *"$M and $W/two are mounts of two session directories"* ]]
	"$OPFS" mount "$D" named -o fsname=profiles
	run -1 "$OPFS" cat "$W/named/current/report"
	[[ $output = *"$W/named: this mount does not tell its session directory (its "*\
"device is called profiles): say it with --session-dir DIR" ]]
}

@test "the mount of another user is told where its sessions may not be read" {
	need_others
	chmod 700 "$D"
	run as_nobody "$OPFS" cat "$M/current/report"
	echo "$output"
	[ "$status" = 1 ]
	[[ $output = *"$M is a mount of user 0: "*"does not allow you to read it"* ]]
}

@test "a mount whose process was killed hinders no command" {
	kill -9 "$(mount_pids "$M" | head -n 1)"
	until ! stat "$M" >/dev/null 2>&1; do :; done
	[ "$("$OPFS" cat "$M/current/image:one/report")" = "$want" ]
}
