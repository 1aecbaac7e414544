# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Roots of Debian 12 made by mmdebstrap, as root: sourced by scripts.

# The sources of this machine that are Debian's own.
sources()
{
	# shellcheck disable=SC2016 # apt-get expands it
	local format='$(ORIGIN) $(CODENAME) deb $(REPO_URI) $(RELEASE) $(COMPONENT)'

	apt-get indextargets --format "$format" 'Created-By: Packages' |
		sed -n 's/^Debian bookworm[-a-z]* //p' | sort -u
}

# How apt gets at its mirror: proxies, dates, times to wait.
apt_settings()
{
	apt-config dump | grep -E '^Acquire::' | grep -v '^Acquire::IndexTargets' || :
}

# debian SHARE ROOT PACKAGES: makes a minimal Debian 12 with packages, commas between, in
# directory ROOT or, if that ends in .tar, in such a file.  Directory SHARE gets the
# settings it is made with.
debian()
{
	local share=$1

	sources >"$share/sources.list"
	[ -s "$share/sources.list" ] ||
		echo "deb http://deb.debian.org/debian bookworm main" \
			>"$share/sources.list"
	apt_settings >"$share/apt.conf"
	mmdebstrap --quiet --mode=root --variant=minbase --include="$3" \
		--aptopt="$share/apt.conf" --dpkgopt=force-unsafe-io bookworm "$2" \
		"$share/sources.list"
}

# cached_debian SHARE ROOT NAME PACKAGES: the same, from the user's cache, where it is
# made anew after a week or when the packages are others.
cached_debian()
{
	local share=$1 root=$2 name=$3 packages=$4
	local cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/opfs/roots

	mkdir -p "$cache" "$root"
	(
		flock 9
		if [ "$(cat "$cache/$name.recipe" 2>/dev/null)" != "$packages" ] ||
			[ ! "$(find "$cache/$name.tar" -mtime -7)" ]; then
			rm -f "$cache/$name".*
			debian "$share" "$cache/$name.new.tar" "$packages" || exit 1
			mv "$cache/$name.new.tar" "$cache/$name.tar"
			echo "$packages" >"$cache/$name.recipe"
		fi
		tar -C "$root" --numeric-owner -xf "$cache/$name.tar"
	) 9>"$cache/$name-lock"
}

# in_root ROOT COMMAND...: with what it mounts and starts gone afterwards.
in_root()
{
	# shellcheck disable=SC2016 # expanded there
	unshare --mount --pid --fork --kill-child -- sh -c '
		root=$1
		shift
		mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" &&
			exec chroot "$root" /usr/bin/env -i \
			PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root \
			DEBIAN_FRONTEND=noninteractive "$@"' sh "$@"
}
