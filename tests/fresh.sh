#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fresh.sh LOGDIR: does on a new machine what README tells to do.  The machine is a
# minimal Debian 12 with make and git, in a directory of its own; in it what is committed
# here is cloned, and "make demo" and "make check" are run, or what FRESH says, commands
# with ";" between them.  LOGDIR gets the logs of its tests.
#
# It is entered by pivot_root in a mount and a pid namespace, so that mount namespaces
# work in it, and so that nothing of it stays mounted or running however this ends.  From
# outside it has /dev, /sys, what apt needs to find its mirror, and, if they have been
# fetched here before, the kernels for tests/qemu.
#
# Whatever is removed here lies in a directory that this script made and marked: see
# discard.
set -eu -o pipefail

top=$(realpath "$(dirname "$0")/..")
base=$(realpath "${TMPDIR:-/var/tmp}")
logs='' dir='' token='' guest=''
# shellcheck source=tests/lib/debian.bash
. "$top/tests/lib/debian.bash"

say()
{
	printf 'fresh: %s\n' "$*"
}

fail()
{
	printf 'fresh: %s\n' "$*" >&2
	exit 1
}

# A directory that nobody else has, with a mark that nobody else knows.
make_dir()
{
	dir=$(mktemp -d "$base/opfs-fresh.XXXXXXXXXX")
	token=$(cat /proc/sys/kernel/random/uuid)
	printf '%s\n' "$token" >"$dir/mark"
	chmod 755 "$dir"
}

# Is $dir what make_dir made, with nothing mounted in it?
is_ours()
{
	[ -n "$base" ] && [ -n "$dir" ] && [ -n "$token" ] || return 1
	[[ $dir =~ ^"${base%/}"/opfs-fresh\.[A-Za-z0-9]{10}$ ]] || return 1
	[ -d "$dir" ] && [ ! -L "$dir" ] && [ -f "$dir/mark" ] || return 1
	[ "$(cat "$dir/mark")" = "$token" ] || return 1
	! grep -qF -- " $dir/" /proc/self/mountinfo
}

discard()
{
	[ -n "$dir" ] || return 0
	if ! is_ours; then
		say "$dir is left where it is: it is not as it was made" >&2
		return 0
	fi
	# The mark goes last: what an interrupted rm leaves is still marked.
	rm -rf --one-file-system --preserve-root=all -- "$dir/machine" "$dir/share"
	rm -f -- "$dir/mark"
	rmdir -- "$dir" || :
	dir=''
}

# Ends the guest, and all in it with its first process, before its files go.
end()
{
	trap '' INT TERM HUP
	if [ -n "$guest" ]; then
		kill -KILL "$guest" 2>/dev/null || :
		wait "$guest" 2>/dev/null || :
	fi
	discard
}

make_machine()
{
	local share=$dir/share

	mkdir "$share"
	git -C "$top" bundle create -q "$share/opfs.bundle" HEAD
	debian "$share" "$dir/machine" make,git ||
		fail "mmdebstrap cannot make a Debian"
	# Where every user may look, as in most checkouts.
	cp "$share/opfs.bundle" "$dir/machine/srv/"
	cat /etc/resolv.conf >"$dir/machine/etc/resolv.conf"
}

# Runs as the first process of the machine's pid namespace, still in this root.
enter()
{
	local machine=$1 kernels=$2

	mount --make-rprivate /
	mount --bind "$machine" "$machine"
	cd "$machine"
	mount --rbind /dev dev
	mount --rbind /sys sys
	mount -t proc proc proc
	mount -t tmpfs -o mode=755 run run
	mkdir -p run/lock run/before
	chmod 1777 run/lock
	if [ -n "$kernels" ]; then
		mkdir -p "./$kernels"
		mount --bind "$kernels" "./$kernels"
	fi
	pivot_root . run/before
	cd /
	umount -l /run/before
	rmdir /run/before
	# shellcheck disable=SC2016 # expanded in the machine
	exec /bin/bash -c '
		cd /srv
		git -c advice.detachedHead=false clone -q opfs.bundle opfs &&
			cd opfs || exit 1
		rc=0
		IFS=";"
		for command in $FRESH; do
			echo "fresh: \$ $command"
			SECONDS=0
			bash -c "$command" || rc=1
			echo "fresh: $command took $SECONDS s"
		done
		exit $rc'
}

run_machine()
{
	local env=(HOME=/root USER=root LOGNAME=root "TERM=${TERM:-dumb}" LANG=C.UTF-8
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
		"MAKEFLAGS=-j${JOBS:-2}" "FRESH=${FRESH:-make demo;make check}")
	local name kernels rc=0

	for name in http_proxy https_proxy no_proxy OPFS_SKIPS OPFS_MIRROR \
		OPFS_SECURITY_MIRROR WERROR; do
		[ -z "${!name-}" ] || env+=("$name=${!name}")
	done
	kernels=${OPFS_KERNELS:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/opfs/kernels}
	# Their headers know where they lie.
	if [ -d "$kernels" ]; then
		kernels=$(realpath "$kernels")
		env+=("OPFS_KERNELS=$kernels")
	else
		kernels=''
	fi
	unshare --mount --pid --fork --kill-child -- env -i "${env[@]}" \
		"$(realpath "$0")" --enter "$dir/machine" "$kernels" </dev/null &
	guest=$!
	wait "$guest" || rc=$?
	guest=''
	return $rc
}

keep_logs()
{
	local from=$dir/machine/srv/opfs/build/check

	mkdir -p "$logs"
	[ ! -d "$from" ] || cp -r "$from/." "$logs/"
}

main()
{
	local rc=0

	logs=$(realpath -m "$1")
	[[ $base =~ ^/[A-Za-z0-9._/-]+$ ]] || fail "$base: not a plain name: set TMPDIR"
	[ "$(id -u)" = 0 ] || fail "needs root, to make a machine and to enter it"
	unshare --mount --pid --fork true 2>/dev/null ||
		fail "mount and pid namespaces are refused here"
	trap end EXIT
	trap 'exit 130' INT TERM HUP
	make_dir
	say "makes a minimal Debian 12 in $dir"
	make_machine
	[ -z "$(git -C "$top" status --porcelain --untracked-files=no)" ] ||
		say "what is not committed is not tested"
	run_machine || rc=$?
	keep_logs
	[ $rc = 0 ] || say "failed; logs are in $logs"
	return $rc
}

case ${1-} in
--enter) enter "$2" "$3" ;;
'' | -*) fail "tell a directory for logs" ;;
*)
	main "$1"
	exit
	;;
esac
