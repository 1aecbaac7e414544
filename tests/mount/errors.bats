#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What mounting says when it cannot: what, why, and what to do about it.

load ../lib/mount

setup() {
	make_dirs
	mksession <<<'[{"app": "/bin/one"}]'
}

teardown() {
	remove_dirs
}

# fails STATUS ARGUMENT...: every line of stdin is a text that the message must hold
fails() {
	local want=$1 text

	shift
	run "$OPFS" mount "$@"
	echo "$output"
	[ "$status" = "$want" ] || return 1
	while IFS= read -r text; do
		[[ $output == *"$text"* ]] || { echo "lacks: $text"; return 1; }
	done
	[ -z "$(grep " $W" /proc/self/mounts)" ]
}

@test "wrong usage" {
	fails 2 <<<"needs a mount point"
	fails 2 --nonsense "$M" <<<"--nonsense"
	fails 2 a b c <<<"too many"
	fails 2 --session-dir "$D" "$M" -o allow_others <<<"allow_others"
	fails 2 --session-dir "$D" "$M" -o cache=lots <<<"lots"
}

@test "no session directory" {
	fails 1 --session-dir "$W/none" "$M" <<-END
	opfs mount: $W/none: there is no such session directory
	opcollect record
	--session-dir
	END
	touch "$W/file"
	fails 1 --session-dir "$W/file" "$M" <<<"$W/file: not a directory"
}

@test "no mount point" {
	need_mount
	fails 1 --session-dir "$D" "$W/none" <<-END
	opfs mount: $W/none: there is no such directory
	mkdir -p $W/none
	END
	touch "$W/file"
	fails 1 --session-dir "$D" "$W/file" <<<"$W/file: not a directory"
}

@test "a mount point that is not empty is fine" {
	need_mount
	touch "$M/x"
	"$OPFS" mount --session-dir "$D" "$M"
	[ -e "$M/current" ]
	unmount "$M"
	[ -e "$M/x" ]
}

@test "an opfs is there already" {
	need_mount
	mkdir "$W/with blank"
	for point in "$M" "$W/with blank"; do
		"$OPFS" mount --session-dir "$D" "$point"
		run "$OPFS" mount --session-dir "$D" "$point"
		echo "$output"
		[ "$status" = 1 ]
		[[ $output == *"$point"*already* ]]
		[[ $output == *"fusermount3 -u"* ]]
		unmount "$point"
	done
}

@test "no /dev/fuse" {
	need_root
	need_mount_namespace
	run unshare -m sh -c 'mount -t tmpfs tmpfs /dev && exec "$@"' sh \
		"$OPFS" mount --session-dir "$D" "$M"
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *"/dev/fuse"* ]]
	[[ $output == *"modprobe fuse"* ]]
	[[ $output == *"--device /dev/fuse"* ]]
	[[ $output == *"opfs cat"* ]]
}

@test "/dev/fuse may not be opened" {
	need_others
	[ -e /dev/fuse ] || skip "no /dev/fuse"
	chown 65534 "$M"
	need_mount_namespace
	run unshare -m sh -c 'mkdir "$1/dev" && mount -t tmpfs tmpfs "$1/dev" &&
		mknod -m 600 "$1/dev/fuse" c 10 229 &&
		mount --bind "$1/dev/fuse" /dev/fuse && shift &&
		exec setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"' sh "$W" \
		"$OPFS" mount --session-dir "$D" "$M"
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *"/dev/fuse may not be opened by user 65534"* ]]
	[[ $output == *"chmod 666 /dev/fuse"* ]]
	[[ $output == *"Permission denied"* ]]
}

@test "a session directory that may not be read" {
	need_others
	chmod 700 "$D"
	run as_nobody "$OPFS" mount --session-dir "$D" "$M"
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *"$D: user 65534 may not read"* ]]
}

@test "allow_other for users where fuse.conf does not allow it" {
	need_others
	[ -u "$(command -v fusermount3)" ] || skip "fusermount3 is not setuid"
	grep -qs '^user_allow_other' /etc/fuse.conf && skip "fuse.conf allows it"
	chown 65534 "$M"
	need_mount_namespace
	run unshare -m sh -c 'mkdir "$1/dev" && mount -t tmpfs tmpfs "$1/dev" &&
		mknod -m 666 "$1/dev/fuse" c 10 229 &&
		mount --bind "$1/dev/fuse" /dev/fuse && shift &&
		exec setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"' sh "$W" \
		"$OPFS" mount --session-dir "$D" "$M" -o allow_other
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *"user_allow_other"* ]]
	[[ $output == *"opfs mount: $M: cannot mount here"* ]]
}

@test "a failure in the background has its message and exit status" {
	need_root
	need_user_namespace
	run unshare -U "$OPFS" mount --session-dir "$D" "$M"
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *"opfs mount:"* ]]
}
