#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# check-fresh makes a whole system and removes it again, as root: it removes nothing else.
# shellcheck disable=SC2016 # what is expanded later

bats_require_minimum_version 1.5.0

setup() {
	[ -f "$OPFS_TOP/tests/fresh.sh" ]
	cd "$BATS_TEST_TMPDIR" || return
	export TMPDIR=$PWD
	mkdir -p victim/machine
	echo precious >victim/machine/f
}

# fresh COMMAND...: one of the script's functions
fresh() {
	bash -euc 'source /dev/stdin "$@"; "$@"; declare -p dir' \
		"$OPFS_TOP/tests/fresh.sh" "$@" \
		< <(sed '/^case \${1-} in$/,$d' "$OPFS_TOP/tests/fresh.sh"
		echo "$before")
}

@test "its own directory goes with what is in it, and nothing that is linked from there" {
	before='make_dir; mkdir -p "$dir/machine/root" "$dir/share"
		ln -s "$base/victim" "$dir/machine/l"'
	run fresh discard
	echo "$output"
	[ "$status" = 0 ]
	[ "$(ls)" = victim ]
	[ -e victim/machine/f ]
}

@test "no directory that it did not make and mark is removed" {
	mkdir -p opfs-fresh.0123456789/machine
	touch opfs-fresh.0123456789/machine/f
	ln -s victim opfs-fresh.link456789
	for before in 'dir=""' 'dir=/ token=x' 'dir=$base token=x' \
		'dir=$base/victim token=""' \
		'make_dir; own=$dir; dir=""' 'make_dir; dir=/' \
		'make_dir; dir=$base/victim; echo "$token" >"$dir/mark"' \
		'make_dir; dir=$base/opfs-fresh.0123456789' \
		'make_dir; dir=$base/opfs-fresh.0123456789; echo other >"$dir/mark"' \
		'make_dir; echo "$token" >"$base/victim/mark"
			dir=$base/opfs-fresh.link456789' \
		'make_dir; dir=$dir/../victim' 'make_dir; base=""'; do
		run fresh discard
		echo "$before: $output"
		[ "$status" = 0 ]
		[ -e victim/machine/f ]
		[ -e opfs-fresh.0123456789/machine/f ]
		rm -f victim/mark opfs-fresh.0123456789/mark
	done
}

@test "a directory in which something is mounted is left" {
	load ../lib/need
	need_root
	need_mount_namespace
	before='make_dir; mkdir -p "$dir/machine"
		mount --bind "$base/victim" "$dir/machine"'
	run unshare -m bash -c "$(declare -f fresh)"'; before=$1; fresh discard' \
		sh "$before"
	echo "$output"
	[[ $output == *"is left where it is"* ]]
	[ -e victim/machine/f ]
}
