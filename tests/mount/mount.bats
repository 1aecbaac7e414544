#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Mounting, what a mount does while sessions change, and how it ends.

bats_require_minimum_version 1.5.0
load ../lib/mount

setup() {
	need_mount
	make_dirs
}

teardown() {
	remove_dirs
}

two_sessions() {
	mksession <<-'END'
	[{"app": "/bin/one", "samples": {"0x1000": 30, "0x1010": 5}},
	 {"app": "/bin/two", "samples": {"0x1000": 10}},
	 {"session": "saved", "app": "/bin/three", "samples": {"0x2000": 7}}]
	END
}

# live GENERATION SAMPLES
live() {
	mksession <<-END
	{"files": [{"app": "/bin/one", "samples": {"0x1000": $2}}],
	 "live": [$1, 1700000000000000000, "live"]}
	END
}

@test "a mount says nothing, is ready at once, and ends with umount" {
	two_sessions
	run -0 "$OPFS" mount --session-dir "$D" "$M"
	[ -z "$output" ]
	[ "$(ls "$M")" = "$(printf '%s\n' README current events saved status)" ]
	[ "$(stat -c %s "$M/current")" = 45 ]
	[ "$(stat -c %s "$M/saved")" = 7 ]
	cat "$M/current/report" | grep -q one
	"$OPFS" cat --session-dir "$D" current/report | cmp - "$M/current/report"
	unmount "$M"
	[ -z "$(ls "$M")" ]
	wait_for gone "$D"
}

@test "what would hide its own sessions is refused, and nothing hangs" {
	two_sessions
	mkdir "$D/mnt" "$M/through"
	mv "$D/samples" "$M/through/"
	ln -s "$M/through/samples" "$D/samples"
	for point in "$D" "$D/." "$D/.." / "$M" "$M/through/samples" \
		"$D/samples/current"; do
		run -1 timeout 60 "$OPFS" mount --session-dir "$D" "$point"
		echo "$point: $output"
		[[ "$output" == *"would hide"* ]]
	done
	cd "$D"
	run -1 timeout 60 "$OPFS" mount . .
	# beside the sessions there is nothing to hide
	run -0 "$OPFS" mount . mnt
	grep -q one mnt/current/report
	cd "$W"
	unmount "$D/mnt"
}

@test "a mount on /dev is ready, and shows what it has" {
	need_root
	two_sessions
	timeout 60 unshare -m sh -c '"$0" mount --session-dir "$1" /dev &&
		cat /dev/current/report && umount /dev' "$OPFS" "$D" | grep -q one
}

@test "the foreground mount ends with SIGTERM, SIGINT and umount, and unmounts" {
	two_sessions
	for how in TERM INT umount; do
		# a shell lets its background jobs ignore SIGINT
		env --default-signal=INT "$OPFS" mount -f --session-dir "$D" "$M" 3>&- &
		pid=$!
		wait_for test -e "$M/current"
		cat "$M/current/report" >/dev/null
		if [ $how = umount ]; then
			unmount "$M"
		else
			kill -$how $pid
		fi
		wait $pid
		[ ! -e "$M/current" ]
	done
	wait_for gone "$D"
}

@test "the mount is read-only, nosuid, nodev, noexec, of type fuse.opfs" {
	two_sessions
	"$OPFS" mount "$M" -o session="$D",rw,dev,suid,exec
	line=$(grep " $M " /proc/self/mounts)
	[[ $line == "$D $M fuse.opfs ro,nosuid,nodev,noexec"* ]]
	[[ $line == *default_permissions* ]]
	run touch "$M/x"
	[ "$status" != 0 ]
	[[ $output == *"Read-only file system"* ]]
	run rm "$M/README"
	[ "$status" != 0 ]
}

@test "mount(8) and fstab know the type fuse.opfs" {
	need_root
	need_command mount.fuse3
	two_sessions
	mkdir "$W/with space"
	mv "$D" "$W/with space/data"
	echo "$W/with\\040space/data $M fuse.opfs ro,nofail,x-mine,workers=3 0 0" \
		>"$W/fstab"
	# mount(8) looks for programs where they are installed
	need_mount_namespace
	run unshare -m sh -e -c '
		mount -t tmpfs tmpfs /usr/local/bin
		ln -s "$1" /usr/local/bin/opfs
		mount -t fuse.opfs "$2" "$3" -o cache=16M,noauto
		stat -c %s "$3/current"
		umount "$3"
		mount -T "$4" "$3"
		stat -c %s "$3/saved"
		umount "$3"' sh "$OPFS" "$W/with space/data" "$M" "$W/fstab"
	echo "$output"
	[ "$status" = 0 ]
	[ "$output" = "45
7" ]
}

@test "ls -l --color works and shows the hottest image first with -S" {
	two_sessions
	"$OPFS" mount --session-dir "$D" "$M"
	ls -l --color=always "$M/current" | grep -q report
	[ "$(ls -S "$M/current/image/" | head -n1)" = one ]
	[ "$(ls -lS "$M/current/image/" | awk 'NR > 1 { print $5, $9 }')" = "35 one
10 two" ]
}

@test "directories tell samples and share as extended attributes" {
	two_sessions
	"$OPFS" mount --session-dir "$D" "$M"
	python3 - "$M/current/image:/bin/one" <<-'END'
	import os, sys
	d = sys.argv[1]
	have = os.listxattr(d)
	assert have == ["user.opfs.samples", "user.opfs.percent", "user.opfs.path"], have
	assert os.getxattr(d, "user.opfs.path") == b"/bin/one"
	assert os.getxattr(d, "user.opfs.samples") == b"35"
	assert abs(float(os.getxattr(d, "user.opfs.percent")) - 100 * 35 / 45) < 0.001
	assert os.listxattr(d + "/report") == []
	END
}

@test "sessions that come, go and are renamed while mounted" {
	two_sessions
	"$OPFS" mount --session-dir "$D" "$M"
	cat "$M/saved/report" >/dev/null
	ls "$M/saved" >/dev/null
	mv "$D/samples/saved" "$D/samples/kept"
	wait_for test ! -e "$M/saved"
	[ "$(stat -c %s "$M/kept")" = 7 ]
	grep -q three "$M/kept/report"
	exec 5<"$M/kept/report"
	rm -rf "$D/samples/kept"
	wait_for test ! -e "$M/kept"
	[ ! -e "$M/kept/report" ]
	grep -q three <&5
	exec 5<&-
	mkdir "$W/new"
	D=$W/new mksession <<<'[{"session": "more", "app": "/bin/four"}]'
	mv "$W/new/samples/more" "$D/samples/kept"
	wait_for grep -q four "$M/kept/report"
	[ "$(ls "$M")" = "$(printf '%s\n' README current events kept status)" ]
}

@test "samples/ itself may come after the mount" {
	mkdir "$D"
	"$OPFS" mount --session-dir "$D" "$M"
	[ -e "$M/current" ]
	two_sessions
	wait_for test -e "$M/saved/report"
	wait_for grep -q one "$M/current/report"
}

@test "an open file of a live session keeps its generation, a new open sees the next" {
	live 1 30
	"$OPFS" mount --session-dir "$D" "$M"
	exec 5<"$M/current/report"
	cp "$M/current/report" "$W/first"
	dir=$(stat -c %i "$M/current")
	inode=$(stat -c %i "$M/current/report")
	live 2 123456
	wait_for grep -q 123456 "$M/current/report"
	cmp "$W/first" - <&5
	exec 5<&-
	wait_for eval '[ "$(stat -c %s "$M/current")" = 123456 ]'
	[ "$(stat -c %i "$M/current")" = "$dir" ]
	[ "$(stat -c %i "$M/current/report")" != "$inode" ]
	[ "$(wc -c <"$M/current/report")" = "$(stat -c %s "$M/current/report")" ]
}

@test "a reader that is interrupted in a large report is gone, and the mount goes on" {
	python3 - >"$W/big.json" <<-'END'
	import json
	print(json.dumps([{"app": "/bin/app%d" % i, "session": "saved",
		"samples": {hex(0x1000 + 16 * k): 1 + k % 7 for k in range(6000)}}
		for i in range(60)]))
	END
	mksession "$W/big.json"
	"$OPFS" mount --session-dir "$D" "$M"
	for pause in 0.005 0.02 0.05; do
		timeout -s INT "$pause" cat "$M/saved/report.tsv" >/dev/null ||
			[ $? = 124 ]
		[ -e "$M/README" ]
	done
	timeout 1000 cat "$M/saved/report.tsv" >"$W/out"
	[ "$(wc -c <"$W/out")" = "$(stat -c %s "$M/saved/report.tsv")" ]
}

@test "a killed mount leaves a path that says what to do, and can be mounted again" {
	two_sessions
	"$OPFS" mount -f --session-dir "$D" "$M" 3>&- &
	pid=$!
	wait_for test -e "$M/current"
	cat "$M/current/report" >/dev/null
	kill -9 $pid
	wait $pid || true
	run ls "$M"
	[ "$status" != 0 ]
	run "$OPFS" mount --session-dir "$D" "$M"
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *"$M"*"fusermount3 -u $M"* ]]
	[[ $output == *"umount -l $M"* ]]
	# the processes that read binaries for it have gone with it
	wait_for gone "$D"
	unmount "$M"
	"$OPFS" mount --session-dir "$D" "$M"
	[ -e "$M/current/report" ]
}

@test "who reads while a mount is killed gets an error, and the next mount is whole" {
	local round reader readers

	two_sessions
	all() {
		cat "$M"/{current,saved}/{report,archive.tar} "$M"/current/image/*/summary
	} >/dev/null
	for round in 1 2 3 4 5; do
		"$OPFS" mount -f --session-dir "$D" "$M" 3>&- &
		pid=$!
		wait_for test -e "$M/current"
		all
		readers=()
		for reader in 1 2 3 4 5 6 7 8; do
			(while all; do :; done) 2>/dev/null 3>&- &
			readers+=($!)
		done
		sleep "0.0$round"
		kill -9 $pid
		wait $pid || true
		for reader in "${readers[@]}"; do
			wait "$reader" # or the test's time is over
		done
		wait_for gone "$D"
		unmount "$M"
	done
	"$OPFS" mount --session-dir "$D" "$M"
	all
}

@test "nothing is left running after umount, nor after kill -9" {
	two_sessions
	"$OPFS" mount -f --session-dir "$D" "$M" 3>&- &
	pid=$!
	wait_for test -e "$M/current"
	cat "$M"/current/image/*/report >/dev/null
	children=$(cat /proc/$pid/task/*/children)
	unmount "$M"
	wait $pid
	for c in $children; do
		wait_for test ! -e "/proc/$c"
	done
	"$OPFS" mount -f --session-dir "$D" "$M" 3>&- &
	pid=$!
	wait_for test -e "$M/current"
	cat "$M"/current/image/*/report >/dev/null
	children=$(cat /proc/$pid/task/*/children)
	kill -9 $pid
	wait $pid || true
	for c in $children; do
		wait_for test ! -e "/proc/$c"
	done
}

@test "unprivileged users may mount what they can read" {
	need_others
	[ -u "$(command -v fusermount3)" ] || skip "fusermount3 is not setuid"
	two_sessions
	chgrp 61000 "$D/samples/saved"
	chmod 750 "$D/samples/saved"
	chmod 755 "$W"
	chown 65534:65534 "$M"
	# /dev/fuse as udev leaves it, for this test only
	need_mount_namespace
	run unshare -m sh -c 'mkdir "$1/dev" && mount -t tmpfs tmpfs "$1/dev" &&
		mknod -m 666 "$1/dev/fuse" c 10 229 &&
		mount --bind "$1/dev/fuse" /dev/fuse && shift &&
		as="setpriv --reuid=65534 --regid=65534 --groups=61000 --" &&
		$as "$1" mount --session-dir "$2" "$3" &&
		$as cat "$3/current/summary" "$3/session:current,saved/summary" &&
		$as fusermount3 -u "$3"' \
		sh "$W" "$OPFS" "$D" "$M"
	echo "$output"
	[ "$status" = 0 ]
	[[ $output == *one*three* ]]
}

@test "a mount is its owner's unless allow_other is given" {
	need_root
	two_sessions
	"$OPFS" mount --session-dir "$D" "$M"
	run as_nobody cat "$M/current/report"
	[ "$status" != 0 ]
	unmount "$M"
	"$OPFS" mount --session-dir "$D" "$M" -o allow_other
	run -0 as_nobody cat "$M/current/report"
	[[ $output == *one* ]]
}
