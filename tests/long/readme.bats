#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# README's tour, word by word, as root of a machine where nothing was recorded yet.

bats_require_minimum_version 1.5.0
load ../lib/need

setup() {
	need_programs
	need_root
	need_mount
	need_mount_namespace
	need_command gcc make gprof
	cd "$BATS_TEST_TMPDIR"
	mkdir home out clone dpkg
	tar -C "$OPFS_TOP" --exclude=./build --exclude=./.git -c . | tar -x -C clone
}

# tour README OUT [--bless]: in a mount namespace, which takes along what stays mounted;
# with no compiler that only remembers.
tour() {
	# shellcheck disable=SC2016 # expanded there
	HOME=$PWD/home PATH=$OPFS_BIN:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
		private_mounts bash -c '
		mount --bind /var/lib/dpkg dpkg || exit
		for dir in /var/lib /run /mnt; do
			mount -t tmpfs -o mode=755 none $dir || exit
		done
		unset OPFS_SESSION_DIR DEBUGINFOD_URLS MAKEFLAGS MAKELEVEL
		trap "opcollect shutdown >/dev/null 2>&1
			umount -l /mnt/opfs ~/opfs 2>&-" EXIT
		mkdir /var/lib/oprofile /var/lib/dpkg
		mount --bind dpkg /var/lib/dpkg || exit
		cd clone
		python3 "$0/tests/lib/readme.py" "$@"' "$OPFS_TOP" "$@" 3>&-
}

@test "README's tour does what it shows" {
	tour "${README:-$OPFS_TOP/README.md}" "$PWD/out" ${BLESS:+--bless}
}

@test "a tour that shows something else is found" {
	cat >README.md <<-'END'
		## A tour

		    $ echo samples: 12
		    samples: 13
		    $ echo one; echo 1.5 two
		    ...
		    2.5 three
	END
	tour "$PWD/README.md" "$PWD/out"
	sed -i 's|samples: 13|lost: 13|' README.md
	run -1 tour "$PWD/README.md" "$PWD/out"
	[[ $output = *"2 commands, 1 print something else"* ]]
	printf '## A tour\n\n    $ ls nothing\n' >README.md
	run -1 tour "$PWD/README.md" "$PWD/out"
}
