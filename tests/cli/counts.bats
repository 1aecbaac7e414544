#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What large sessions cost, counted in system calls.

bats_require_minimum_version 1.5.0
load ../lib/need
load ../lib/opfs

setup() {
	cd "$BATS_TEST_TMPDIR"
}

# files NUMBER: a session of this name, with so many sample files in two directories.
files() {
	python3 - "$1" <<-'END' | mksession
	import json, sys
	name = sys.argv[1]
	print(json.dumps([{"session": name, "image": "/lib/x%d" % (i % 2),
	                   "tgid": 10 + i // 2, "tid": 10 + i // 2}
	                  for i in range(int(name))]))
	END
}

# calls WORD...: how many system calls opfs makes.  Nobody can look for leaks beneath
# strace.
calls() {
	ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 strace -f -qq -c -U calls,name \
		-o calls "$OPFS_BIN/opfs" "$1" --session-dir s "${@:2}" >out
	awk '$2 == "total" { print $1 }' calls
}

@test "a sample file takes five system calls to be found and summed" {
	need_command strace
	files 100
	files 1100
	few=$(calls ls 100)
	many=$(calls ls 1100)
	# and some for memory, and for long directories
	echo "$few $many"
	[ $((many - few)) -ge 5000 ]
	[ $((many - few)) -lt 6000 ]
}
