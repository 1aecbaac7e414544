# SPDX-License-Identifier: GPL-2.0-or-later
# What a test needs.  What "make deps" and "make" give must be there: without it the test
# fails.  What only the machine can give, or refuse, is a reason to skip.  Sourced by bats
# files, and by what they load.

# need_command COMMAND...: of packages in the Makefile's lists.
need_command() {
	local c

	for c; do
		command -v "$c" >/dev/null || {
			echo "$c is missing: run 'make deps'"
			return 1
		}
	done
}

# Preloading into programs that are built with sanitizers is refused by these.
can_preload() {
	[ -z "${OPFS_SAN-}" ] || skip "nothing can be preloaded with sanitizers"
}

need_programs() {
	local p

	for p in opfs opcollect; do
		[ -x "$OPFS_BIN/$p" ] || {
			echo "there is no $OPFS_BIN/$p: run 'make'"
			return 1
		}
	done
}

need_root() {
	[ "$(id -u)" = 0 ] || skip "needs root"
}

# Another user than root, who may run the programs: not in a checkout in /root.
need_others() {
	need_root
	setpriv --reuid=65534 --regid=65534 --clear-groups "$OPFS_BIN/opfs" --version \
		>/dev/null 2>&1 || skip "another user cannot run the programs here"
}

# A root may be refused them too: in a chroot, or in a container.
need_mount_namespace() {
	private_mounts true 2>/dev/null || skip "mount namespaces are refused here"
}

# private_mounts COMMAND...: in a mount namespace, as root of it.
private_mounts() {
	if [ "$(id -u)" = 0 ]; then
		unshare -m -- "$@"
	else
		unshare -rm -- "$@"
	fi
}

need_user_namespace() {
	unshare -U true 2>/dev/null || skip "user namespaces are refused here"
}

# Why nothing can be mounted here; nothing if it can.
mount_obstacle() {
	if [ ! -r /dev/fuse ] || [ ! -w /dev/fuse ]; then
		echo "/dev/fuse cannot be opened"
	elif [ "$(id -u)" != 0 ] && ! command -v fusermount3 >/dev/null; then
		echo "neither root nor fusermount3"
	fi
}

need_mount() {
	local why

	why=$(mount_obstacle)
	[ -z "$why" ] || skip "$why"
}

need_dev_full() {
	[ -w /dev/full ] || skip "there is no /dev/full"
}
