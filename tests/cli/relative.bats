#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Images by paths that are seen from the current directory.

bats_require_minimum_version 1.5.0
load ../lib/opfs

setup() {
	cd "$BATS_TEST_TMPDIR"
	D=$PWD/s
	mkdir -p real/bin
	touch real/bin/prog 'real/bin/a b'
	ln -s real link
	mksession <<-END
	[{"app": "$PWD/real/bin/prog", "samples": {"1": 5}},
	 {"app": "$PWD/real/bin/a b", "samples": {"1": 3}},
	 {"app": "/bin/prog", "samples": {"1": 7}}]
	END
}

# samples PATH
samples() {
	opfs why "$1" | sed -n 's/^  samples *\([0-9]*\) of.*/\1/p'
}

@test "a path with dots in it is a file seen from here, in one component or several" {
	cd real/bin
	for value in ./prog .%2Fprog ../bin/prog ..%2Fbin/prog ../../link/bin/prog; do
		[ "$(samples "current/image:$value")" = 5 ]
		[ "$(samples "image:$value/event:CPU_CLK_UNHALTED")" = 5 ]
		opfs cat "current/image:$value/report" >got
		grep -E "^5 .*real/bin/prog$" got
		opfs ls "current/image:$value" | grep -x report
	done
	[ "$(samples "current/image-exclude:./prog")" = 10 ]
	[ "$(samples "current/image:./a b")" = 3 ]
	cd ../..
	[ "$(samples current/image:link/bin/../bin/prog/sort:vma)" = 5 ]
}

@test "a path without dots is one of the session, and no file changes that" {
	[ "$(samples current/image:bin/prog)" = 7 ]
	cd real
	[ "$(samples current/image:bin/prog)" = 7 ]
	[ "$(samples current/image:./bin/prog)" = 5 ]
}

@test "what is no file, or was not sampled, does not exist" {
	touch other
	run -1 opfs cat current/image:./nosuch/report
	run -1 opfs cat current/image:./real/report
	run -1 opfs cat current/image:./other/report
	[[ $output == *"no application"*other* ]]
	run -1 opfs why current/image:./real/bin/prog/nosuch
	[[ $output == *'has no file or tag "nosuch"'* ]]
}
