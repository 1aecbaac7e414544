#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# headers.sh KERNELS: builds the driver for kernels that distributions ship, of which only
# what modules are built with is fetched, and reports them as TAP.  KERNELS is "all", or
# names of the first column below with commas between.
#
# What is fetched stays in $OPFS_KERNELS/headers, by default in the user's cache, and is
# replaced when a distribution has newer ones.  Kernels whose compiler and tools are those
# of Debian 12 are built for here.  The others want newer ones, and are built for in a
# root of Ubuntu 26.04, which is made once and needs root.
#
# A kernel that its distribution no longer has is skipped, by name; but those of Debian 12
# must be there.  Logs are in $O/headers.
# shellcheck disable=SC2317 # alone runs what it is given
set -euo pipefail
# What make was called with is not for the builds here.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL

# NAME of the row, SUITE of packages (see sources_of), PACKAGE (a regular expression: a
# metapackage, or the newest that it matches), where it is built: "here", or in "root".
#
# "NAME copy OF WHAT" changes a copy of another's headers, see change_copy.
kernels()
{
	cat <<-'END'
		bookworm          bookworm         linux-headers-amd64              here
		bookworm-rt       bookworm         linux-headers-rt-amd64           here
		bookworm-arm64    bookworm-arm64   linux-headers-arm64              here
		bookworm-6.12     bookworm         linux-headers-6\.12-amd64        here
		bookworm-6.12-rt  bookworm         linux-headers-6\.12-rt-amd64     here
		bookworm-bare     copy             bookworm                         bare
		jammy-6.2         jammy            linux-headers-6\.2\.0-.*-generic here
		jammy-6.5         jammy            linux-headers-6\.5\.0-.*-generic here
		jammy-6.5-ctime   copy             jammy-6.5                        ctime
		jammy-hwe         jammy            linux-headers-generic-hwe-22\.04 here
		trixie            trixie           linux-headers-amd64              root
		backports         trixie-backports linux-headers-amd64              root
		backports-bare    copy             backports                        bare
		noble             noble            linux-headers-generic            root
		noble-6.11        noble            linux-headers-generic-6\.11      root
		noble-6.14        noble            linux-headers-generic-6\.14      root
		noble-6.17        noble            linux-headers-generic-6\.17      root
		noble-hwe         noble            linux-headers-generic-hwe-24\.04 root
		resolute          resolute         linux-headers-generic            root
	END
}

wanted=$1
top=$(realpath "$(dirname "$0")/..")
cd "$top"
work=$(realpath -m "${O:-build}")/headers
jobs=${JOBS:-2}
cache=${OPFS_KERNELS:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/opfs/kernels}/headers
ubuntu=${OPFS_UBUNTU_MIRROR:-http://archive.ubuntu.com/ubuntu}
root=$cache/root root_suite=resolute
# What the root holds: compilers, and what the kernels' own tools are linked with.
root_packages=make,gcc-13,gcc-14,gcc-15,libelf1t64,libdw1t64,libssl3t64,pahole
SKIP=3 # exit status of a row that is skipped; why is its last line

# shellcheck source=tests/qemu/apt.sh
. tests/qemu/apt.sh

skip()
{
	echo "$*"
	exit $SKIP
}

# Does $2... while nobody else does what is called $1.
alone()
{
	local lock=$cache/$1.lock

	shift
	(
		flock 8
		"$@"
	) 8>"$lock"
}

signed_by_ubuntu()
{
	echo "[signed-by=$cache/ubuntu.gpg]"
}

sources_of()
{
	local signed="[signed-by=$keyring]" ubuntus

	ubuntus=$(signed_by_ubuntu)
	case $1 in
	bookworm*) bookworm_sources ;;
	trixie)
		echo "deb $signed $mirror trixie main"
		echo "deb $signed $security trixie-security main"
		;;
	trixie-*) echo "deb $signed $mirror $1 main" ;;
	*)
		echo "deb $ubuntus $ubuntu $1 main"
		echo "deb $ubuntus $ubuntu $1-updates main"
		;;
	esac
}

# Takes the apt of suite $1 for what follows.
use_suite()
{
	local arch=amd64

	case $1 in
	*-arm64) arch=arm64 ;;
	bookworm | trixie*) ;;
	*) alone keyring fetch_ubuntu_keyring ;;
	esac
	alone "apt-$1" update_suite "$1" "$arch"
	export APT_CONFIG=$cache/apt-$1/apt.conf
}

# Fetches the indexes of a suite once in a run.  Those of the last run do as well.
update_suite()
{
	local rc=0 dir=$cache/apt-$1

	[ ! -e "$work/updated-$1" ] || return 0
	private_apt "$1" "$2" < <(sources_of "$1") || rc=1
	! grep -q 'does not have a Release file' "$dir/log" ||
		skip "there is no $1 any more"
	[ "$rc" = 0 ] || compgen -G "$dir/lists/*_Packages*" || exit 1
	touch "$work/updated-$1"
}

# Debian tells which keys are Ubuntu's.
fetch_ubuntu_keyring()
{
	local dir=$cache/keyring

	[ ! -e "$cache/ubuntu.gpg" ] || return 0
	use_suite trixie
	rm -rf "$dir"
	mkdir "$dir"
	cd "$dir"
	download ubuntu-keyring
	dpkg-deb -x ubuntu-keyring_*.deb .
	mv usr/share/keyrings/ubuntu-archive-keyring.gpg "$cache/ubuntu.gpg"
	rm -rf "$dir"
}

need_root()
{
	[ "$(id -u)" = 0 ] || skip "needs root, to make a root with its compilers"
	command -v mmdebstrap >/dev/null || skip "mmdebstrap is missing: run 'make deps'"
	unshare --mount true 2>/dev/null || skip "mount namespaces are refused here"
}

# Makes the root, unless it is there, and copies the driver's sources into it.
make_root()
{
	local recipe="$root_suite $root_packages" unneeded=() f

	[ ! -e "$work/root-ready" ] || return 0
	alone keyring fetch_ubuntu_keyring
	for f in share/{doc,man,locale} 'bin/*lto-dump' 'libexec/*/lto1'; do
		unneeded+=("--dpkgopt=path-exclude=/usr/$f*")
	done
	if [ "$(cat "$root/ready" 2>/dev/null)" != "$recipe" ]; then
		rm -rf "$root"
		unset APT_CONFIG
		mmdebstrap --quiet --mode=root --variant=essential \
			--include="$root_packages" "${unneeded[@]}" \
			"$root_suite" "$root" \
			"deb $(signed_by_ubuntu) $ubuntu $root_suite main universe"
		mkdir "$root/headers" "$root/work"
		echo "$recipe" >"$root/ready"
	fi
	rm -rf "$root"/{opfs,work/*}
	mkdir "$root/opfs"
	cp -r Makefile kernel "$root/opfs/"
	touch "$work/root-ready"
}

# Runs a command in the root.  The tools of Linux 7 look at /proc.
in_root()
{
	# shellcheck disable=SC2016 # expanded there
	unshare --mount -- sh -c '
		root=$1
		shift
		mount -t proc proc "$root/proc" && exec chroot "$root" /usr/bin/env -i \
			PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C "$@"' sh "$root" "$@"
}

# The newest package that matches $1 and has a Module.symvers: a metapackage depends on
# it, and it on what all flavours share.
find_headers()
{
	local pkg next

	pkg=$(apt-cache search --names-only "^$1\$" | cut -d' ' -f1 | sort -V | tail -n 1)
	while [ "$pkg" ]; do
		next=$(depends "$pkg" 'linux-[a-z0-9.-]*headers-' | head -n 1)
		[ "$(depends "$next" 'linux-[a-z0-9.-]*headers-')" ] || break
		pkg=$next
	done
	echo "$pkg"
}

# Unpacks a package, without architectures that nothing is built for.
unpack()
{
	dpkg-deb --fsys-tarfile "$1" | tar -x --wildcards --exclude ./usr/share \
		--exclude './usr/src/*/arch/[b-wyz]*'
}

# Fetches package $3 of suite $2 into directory $1, with what it needs.
fetch()
{
	local dir=$1 suite=$2 pkg version common kbuild f

	use_suite "$suite"
	pkg=$(find_headers "$3")
	[ "$pkg" ] || skip "$suite has no ${3//\\/} any more"
	version=$(apt-cache show --no-all-versions "$pkg" | sed -n 's/^Version: //p')
	[ "$(cat "$dir/ready" 2>/dev/null)" != "$pkg $version" ] || return 0
	common=$(depends "$pkg" 'linux-[a-z0-9.-]*headers-')
	kbuild=$(depends "$pkg" linux-kbuild-)
	rm -rf "$dir"
	mkdir "$dir"
	cd "$dir"
	download "$pkg"
	# Tools are for this machine.
	[ "$suite" = "${suite%-arm64}" ] || use_suite "${suite%-arm64}"
	# shellcheck disable=SC2086 # none, for Ubuntu
	download "$common" $kbuild
	for f in *.deb; do
		unpack "$f"
		rm "$f"
	done
	ln -s "usr/src/$pkg" build
	settle ''
	echo "$pkg $version" >ready
}

# Debian's headers name each other by where they would have been installed.  $1 is where
# they believe to be, and the current directory where they are.
settle()
{
	local here=${PWD#"$root"}

	[ -L build/Makefile ] ||
		sed -i "s|\([= ]\)$1/usr/src/|\1$here/usr/src/|" build/Makefile
}

# Changes a copy of the headers in $2, at $1:
#
#   bare   a kernel that does not export task_work_add(), as Linux itself, nor what the
#          driver can do without
#   ctime  as Linux 6.6, of which nobody has packages: i_ctime has another name
change_copy()
{
	local to=$1 from=$2 f recipe

	# It is made anew when the headers or these changes are others.
	recipe="$(cat "$from/ready") $(declare -f change_copy | cksum)"
	[ "$(cat "$to/ready" 2>/dev/null)" != "$recipe" ] || return 0
	rm -rf "$to"
	cp -al "$from" "$to"
	cd "$to"
	rm ready
	# sed -i makes a new file, and so leaves the other copy alone.
	settle "${from#"$root"}"
	case $3 in
	bare)
		sed -i -e '/\ttask_work_add\t/d' -e '/\tsched_setattr_nocheck\t/d' \
			build/Module.symvers
		;;
	ctime)
		for f in usr/src/*/include/linux/fs.h; do
			sed -i 's/\bi_ctime\b/__i_ctime/' "$f"
		done
		;;
	esac
	echo "$recipe" >ready
}

# Fetches the headers of a row, of which the arguments are the columns.  Sets dir, and
# where to build for them.
get_headers()
{
	local name=$1 of from

	where=$4
	if [ "$2" = copy ]; then
		read -ra of < <(kernels | awk -v name="$3" '$1 == name')
		get_headers "${of[@]}"
		from=$dir
		dir=$(dirname "$from")/$name
		alone "$name" change_copy "$dir" "$from" "$4"
		return
	fi
	dir=$cache/$name
	if [ "$where" = root ]; then
		need_root
		alone root make_root
		dir=$root/headers/$name
	fi
	alone "$name" fetch "$dir" "$2" "$3"
}

# The option that chooses the compiler that the kernel was built by, or gcc if there is no
# such.  Debian's headers choose themselves.
compiler()
{
	local cc dir_of_root=''

	[ ! -e "$dir/build/.kernelvariables" ] || return 0
	[ "$where" != root ] || dir_of_root=$root
	cc=gcc-$(sed -n 's/^CONFIG_GCC_VERSION=\(.*\)....$/\1/p' "$dir/build/.config")
	[ -x "$dir_of_root/usr/bin/$cc" ] || cc=gcc
	echo "CC=$cc"
}

# Builds the driver for the headers in $dir.
build()
{
	local name=$1 options=() run=()

	mapfile -t options < <(compiler)
	case $name in
	*-arm64) options+=(ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-) ;;
	esac
	if [ "$where" = root ]; then
		run=(in_root make -C /opfs O="/work/$name" KDIR="${dir#"$root"}/build")
	else
		run=(make O="$work/$name" KDIR="$dir/build")
	fi
	"${run[@]}" driver "${options[@]}"
	[ "$where" != root ] || mv "$root/work/$name" "$work/$name"
}

# What is wrong with a build that came to its end.
complaints()
{
	grep -E 'warning:|WARNING:' "$work/$1.log" |
		grep -vE 'BTF|differs from the one used'
	case $1 in
	*-bare) grep 'OPK_HAS_SCHED_SETATTR_NOCHECK 1' "$work/$1/driver/probed.h" ;;
	esac
}

# Builds a row; its log is standard output.
run_row()
{
	local name=$1 started

	get_headers "$@"
	started=$SECONDS
	build "$name"
	echo "$(cut -d' ' -f1 "$dir/ready") $((SECONDS - started))" >"$work/$name.built"
}

# Runs a row in the background, where a command that fails ends it.
start_row()
{
	set +e
	(
		set -e
		run_row "$@"
	) >"$work/$1.log" 2>&1 </dev/null
	echo $? >"$work/$1.rc"
}

# Prints the result of row $1 as number $2.
tell_row()
{
	local name=$1 nr=$2 log=$work/$1.log rc bad='' pkg seconds

	rc=$(cat "$work/$name.rc")
	case $rc:$name in
	"$SKIP":bookworm*) ;;
	"$SKIP":*)
		echo "ok $nr $name # SKIP $(tail -n 1 "$log")"
		return
		;;
	esac
	if [ "$rc" != 0 ]; then
		echo "not ok $nr $name"
		tail -n 40 "$log" | sed 's/^/#   /'
		return
	fi
	read -r pkg seconds <"$work/$name.built"
	bad=$(complaints "$name" || :)
	[ ! "$bad" ] || echo -n "not "
	echo "ok $nr $name: ${pkg#linux-headers-} ($seconds s)"
	[ ! "$bad" ] || head -n 40 <<<"$bad" | sed 's/^/#   /'
}

# A probe that finds nothing anywhere is misspelt.  That of one thing finds it in kernels
# before 6.1 alone.
unanswered_probes()
{
	cat "$work"/*/driver/probed.h | awk '
	$1 == "#define" { found[$2] += $3 }
	END {
		for (name in found)
			if (!found[name] && name != "OPK_HAS_SWITCH_STATE_FIRST")
				print name
	}'
}

tell_probes()
{
	local unanswered

	unanswered=$(unanswered_probes)
	[ ! "$unanswered" ] || echo -n "not "
	echo "ok $1 every probe finds what it looks for in one of the kernels"
	# shellcheck disable=SC2086 # words on purpose
	[ ! "$unanswered" ] || printf '#   %s\n' $unanswered
}

# The rows that are wanted.
list_wanted()
{
	local row

	kernels | while read -r row; do
		case ,$wanted, in
		,all, | *,"${row%% *}",*) echo "$row" ;;
		esac
	done
}

# Waits for one of the rows that are being built, and tells of it.
end_row()
{
	local pid

	wait -n -p pid "${!building[@]}"
	nr=$((nr + 1))
	tell_row "${building[pid]}" $nr | tee -a "$work/tap"
	unset "building[$pid]"
}

main()
{
	local rows=() columns row building=() nr=0

	mapfile -t rows < <(list_wanted)
	if [ ${#rows[@]} = 0 ]; then
		echo "headers.sh: $wanted: not all or among:" \
			"$(kernels | awk '{ print $1 }' | xargs)" >&2
		exit 2
	fi
	rm -rf "$work"
	mkdir -p "$work" "$cache"
	exec 9>"$cache/lock"
	flock 9
	if [[ ${rows[*]} == *root* ]]; then
		# It takes longest, and what is built here does not wait for it.
		(need_root && alone root make_root) >"$work/root.log" 2>&1 &
	fi
	for row in "${rows[@]}"; do
		[ ${#building[@]} -lt "$jobs" ] || end_row
		read -ra columns <<<"$row"
		start_row "${columns[@]}" &
		building[$!]=${columns[0]}
	done
	while [ ${#building[@]} != 0 ]; do
		end_row
	done
	if [ "$wanted" = all ] && ! grep -q '# SKIP' "$work/tap"; then
		nr=$((nr + 1))
		tell_probes $nr | tee -a "$work/tap"
	fi
	echo "1..$nr"
	if grep -q '^not ok' "$work/tap"; then exit 1; fi
}

# All of this file has been read by now: it may be edited while this runs.
main; exit
