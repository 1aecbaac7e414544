# SPDX-License-Identifier: GPL-2.0-or-later
# What the tests of the mount share.  A test has a directory $W that every user may
# enter, a session directory $D and a mount point $M in it.

# shellcheck source=tests/lib/busy.bash
. "$OPFS_TOP/tests/lib/busy.bash"
. "$OPFS_TOP/tests/lib/need.bash"

MKSESSION=$OPFS_TOP/tests/lib/mksession.py
# shellcheck disable=SC2034 # used by the tests
OPFS=$OPFS_BIN/opfs

make_dirs() {
	W=$(mktemp -d /tmp/opfs-mount.XXXXXX)
	chmod 755 "$W"
	D=$W/data
	M=$W/mnt
	mkdir "$M"
	export W D M
}

# Takes away whatever a test left, however it ended.
remove_dirs() {
	local point mounts

	[ -n "${W-}" ] || return 0
	mounts=$(cat /proc/self/mounts) # whole: it changes under who reads on
	while read -r _ point _; do
		point=$(printf '%b' "$point")
		case $point in
		"$W"/*) umount -l "$point" 2>/dev/null || fusermount3 -uz "$point" ;;
		esac
	done <<<"$mounts"
	chmod -R u+rwx "$W"
	rm -rf "$W"
}

# The mount's process; nothing once it has ended.
mount_pids() {
	local p

	for p in /proc/[0-9]*; do
		tr '\0' ' ' 2>/dev/null <"$p/cmdline" | grep -qF -- "$1" &&
			echo "${p#/proc/}"
	done
	return 0
}

unmount() {
	if [ "$(id -u)" = 0 ]; then
		umount "$1"
	else
		fusermount3 -u "$1"
	fi
}

# Have all of mount_pids ended?
gone() {
	[ -z "$(mount_pids "$1")" ]
}

# as UID COMMAND...
as() {
	setpriv --reuid="$1" --regid="$1" --clear-groups -- "${@:2}"
}

as_nobody() {
	as 65534 "$@"
}

# A session directory that others may read.
mksession() {
	python3 "$MKSESSION" "$D" "$@"
	chmod -R a+rX "$D"
}
