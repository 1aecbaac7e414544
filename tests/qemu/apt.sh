# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Packages of distributions, without installing them and without touching the host's apt.
# Sourced by scripts that set $cache, the directory in which all is kept.
: "${cache:?}"

mirror=${OPFS_MIRROR:-http://deb.debian.org/debian}
security=${OPFS_SECURITY_MIRROR:-http://deb.debian.org/debian-security}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# Makes an apt called $1 for architecture $2, whose sources are read from standard input,
# and takes it for what follows ($APT_CONFIG).
private_apt()
{
	local root=$cache/apt-$1

	mkdir -p "$root"/{lists/partial,cache/archives/partial,parts,trusted}
	: >"$root/status"
	cat >"$root/sources.list"
	cat >"$root/apt.conf" <<-END
		APT::Architecture "$2";
		APT::Architectures "$2";
		APT::Sandbox::User "";
		Acquire::Languages "none";
		Acquire::Retries "3";
		Acquire::http::Timeout "30";
		Dir::State "$root";
		Dir::State::status "$root/status";
		Dir::Cache "$root/cache";
		Dir::Etc::sourcelist "$root/sources.list";
		Dir::Etc::sourceparts "$root/parts";
	END
	export APT_CONFIG=$root/apt.conf
	apt-get update --error-on=any >"$root/log" 2>&1 || {
		cat "$root/log" >&2
		return 1
	}
}

# Debian 12.
bookworm_sources()
{
	cat <<-END
		deb [signed-by=$keyring] $mirror bookworm main
		deb [signed-by=$keyring] $security bookworm-security main
	END
}

# The packages that $1 depends on whose names begin with $2.
depends()
{
	apt-cache depends "$1" | sed -n "s/^ *|\\{0,1\\}Depends: \\($2.*\\)/\\1/p"
}

# Downloads packages into the directory that is current.
download()
{
	apt-get download "$@" >apt.log 2>&1 || {
		cat apt.log >&2
		return 1
	}
}
