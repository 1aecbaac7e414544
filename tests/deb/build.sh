#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# build.sh DIR: builds the Debian packages of this tree in a minimal Debian 12 that has
# what debian/control says and no more, puts them into DIR, and lets lintian look.  With
# NEXT=VERSION, DIR/next gets a second build, of this tree with another version.  Needs
# root, to make the Debian.
set -eu -o pipefail
# What make was called with is not for the builds here.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL

out=$(realpath -m "$1")
cd "$(dirname "$(realpath "$0")")/../.."
# shellcheck source=tests/lib/debian.bash
. tests/lib/debian.bash

fail()
{
	printf 'deb: %s\n' "$*" >&2
	exit 1
}

# What debian/control wants, without versions.
build_depends()
{
	echo dpkg-dev,build-essential
	sed -n '/^Build-Depends:/,/^[A-Z]*[a-z]*-Version/{
		s/^Build-Depends://
		s/ *([^)]*)//
		/^[A-Z]/d
		p
	}' debian/control | tr -d ' ,' | sed 's/^debhelper-compat$/debhelper/
		s/^dh-sequence-dkms$/dh-dkms/'
}

# build TO OPTION...: the packages, of what is in the root.
build()
{
	local to=$1

	shift
	in_root "$work/root" sh -c 'cd /build/opfs && dpkg-buildpackage -us -uc "$@"' \
		sh -j"${JOBS:-2}" "$@" >"$to.log" 2>&1 || {
		tail -n 40 "$to.log" >&2
		fail "the packages cannot be built; all of it is in $to.log"
	}
	mkdir -p "$to"
	find "$work/root/build" -maxdepth 1 -type f -exec mv -t "$to" {} +
}

main()
{
	local share

	[ "$(id -u)" = 0 ] || fail "needs root, to make a minimal Debian to build in"
	work=$(mktemp -d "$(realpath "${TMPDIR:-/var/tmp}")/opfs-deb.XXXXXXXXXX")
	# Nothing is ever mounted there but in namespaces that are gone by then.
	trap 'rm -rf --one-file-system -- "$work"' EXIT
	trap 'exit 130' INT TERM HUP
	share=$work/share
	mkdir "$share"
	cached_debian "$share" "$work/root" deb-build "$(build_depends | paste -sd,)" ||
		fail "mmdebstrap cannot make a Debian to build in"
	mkdir -p "$work/root/build/opfs"
	tar --exclude-vcs --exclude='./build*' --exclude=./oprofile_data -c . |
		tar -C "$work/root/build/opfs" --no-same-owner -x
	rm -rf "$out"
	mkdir -p "$(dirname "$out")"
	build "$out"
	lintian --allow-root --fail-on error,warning,info,pedantic --display-info \
		--pedantic "$out"/*.changes || fail "lintian finds what is above"
	[ -n "${NEXT-}" ] || return 0
	# Built on from there: only the version differs.
	sed -i "1s/(.*)/($NEXT)/" "$work/root/build/opfs/debian/changelog"
	rm "$work/root/build/opfs/debian/files"
	build "$out/next" -b -nc
}

# All of this file has been read by now: it may be edited while this runs.
main; exit
