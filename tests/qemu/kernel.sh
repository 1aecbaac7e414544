#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kernel.sh KERNEL: fetches a Debian kernel and what modules for it are built with, once,
# and prints the directory that holds
#
#   vmlinuz  the kernel
#   build    what KDIR= wants
#   *.ko     modules the guest needs beside ours
#   busybox  statically linked, for the guest's architecture
#
# KERNEL is 6.1, 6.12, arm64 (6.1 for arm64) or debug (built here, see debug_kernel.sh).
# Nothing is installed and no root is needed: packages are unpacked below $OPFS_KERNELS,
# by default the user's cache, and kept.  apt works on a private state with two sources of
# its own ($OPFS_MIRROR, $OPFS_SECURITY_MIRROR), so that the host's are not touched.
set -euo pipefail

kernel=$1
cache=${OPFS_KERNELS:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/opfs/kernels}
top=$(dirname "$(realpath "$0")")
dir=$cache/$kernel
# shellcheck source=tests/qemu/apt.sh
. "$top/apt.sh"

case $kernel in
6.1) arch=amd64 headers=linux-headers-amd64 image=linux-image-amd64 ;;
6.12) arch=amd64 headers=linux-headers-6.12-amd64 image=linux-image-6.12-amd64 ;;
arm64) arch=arm64 headers=linux-headers-arm64 image=linux-image-arm64 ;;
debug) arch=amd64 ;;
*)
	echo "kernel.sh: $kernel: not 6.1, 6.12, arm64 or debug" >&2
	exit 2
	;;
esac

mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9
# What is unpacked or built is made anew when these change.
recipe="fuse overlay"
[ "$kernel" != debug ] || recipe=$(cksum <"$top/debug.config")
if [ "$(cat "$dir/ready" 2>/dev/null)" = "$recipe" ]; then
	echo "$dir"
	exit 0
fi

# Unpacks those members of deb $1 that match the patterns.
unpack_some()
{
	local deb=$1

	shift
	dpkg-deb --fsys-tarfile "$deb" | tar -x --wildcards "$@"
}

fetch()
{
	local headers_pkg image_pkg common kbuild f

	headers_pkg=$(depends "$headers" linux-headers-)
	image_pkg=$(depends "$image" linux-image-)
	common=$(depends "$headers_pkg" linux-headers-)
	kbuild=$(depends "$headers_pkg" linux-kbuild-)
	download "$headers_pkg" "$image_pkg" busybox-static
	[ "$arch" = amd64 ] || private_apt amd64 amd64 < <(bookworm_sources)
	download "$common" "$kbuild"

	for f in linux-headers-*.deb linux-kbuild-*.deb; do
		dpkg-deb -x "$f" .
	done
	unpack_some linux-image-*.deb './boot/vmlinuz-*'
	# Some kernels have FUSE built in.
	for f in $recipe; do
		unpack_some linux-image-*.deb "./lib/modules/*/$f.ko*" 2>/dev/null || :
	done
	unpack_some busybox-static_*.deb './bin/busybox'
	rm -f ./*.deb
	mv boot/vmlinuz-* vmlinuz
	mv bin/busybox busybox
	find lib/modules -name '*.ko*' -exec mv {} . \;
	find . -maxdepth 1 -name '*.ko.xz' -exec unxz -f {} \;
	ln -s "usr/src/$headers_pkg" build
	# The headers name each other by where they would have been installed.
	sed -i "s|/usr/src/linux-headers|$dir/usr/src/linux-headers|" build/Makefile
}

fetch_debug()
{
	download linux-source-6.1 busybox-static
	unpack_some busybox-static_*.deb './bin/busybox'
	mv bin/busybox busybox
	"$top/debug_kernel.sh"
}

rm -rf "$dir"
mkdir -p "$dir"
cd "$dir"
private_apt "$arch" "$arch" < <(bookworm_sources)
if [ "$kernel" = debug ]; then fetch_debug; else fetch; fi
echo "$recipe" >ready
echo "$dir"
