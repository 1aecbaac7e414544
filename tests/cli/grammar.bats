#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What paths mean: a table of awkward ones (grammar/paths.txt), and what is listed.

bats_require_minimum_version 1.5.0
load ../lib/opfs

setup_file() {
	export T="$BATS_FILE_TMPDIR/t" D="$BATS_FILE_TMPDIR/data"
	export G="$OPFS_TOP/tests/cli/grammar"
	mkdir -p "$T/real"
	ln -s real "$T/link"
	python3 "$G/session.py" "$T" | mksession
}

samples() {
	opfs why "$1" | sed -n 's/^  samples *\([0-9]*\) of.*/\1/p'
}

@test "every path of the table means what the table says" {
	run python3 "$G/check.py" "$OPFS_BIN/opfs" "$D" "$T"
	echo "$output"
	[ "$status" = 0 ]
}

@test "whatever is listed exists, holds samples, and nothing is listed twice" {
	run python3 "$G/walk.py" "$OPFS_BIN/opfs" "$D"
	echo "$output"
	[ "$status" = 0 ]
}

@test "sessions whose names are taken are listed escaped and reached so" {
	run opfs ls
	[[ $output == *%65vents* ]]
	[[ $output == *%52EADME* ]]
	[ "$(opfs ls | grep -c '^README$')" = 1 ]
	[ "$(samples %65vents)" = 8 ]
	[ "$(samples session:events)" = 8 ]
	[ "$(samples %52EADME)" = 16 ]
	run opfs cat README
	[[ $output == *"opfs why"* ]]
	run -0 opfs ls events
	[[ $output == *TIMER* ]]
}

@test "a session called a,b is itself, not a and b" {
	[ "$(samples a,b)" = 1 ]
	[ "$(samples a%2Cb)" = 1 ]
	[ "$(samples session:a,b)" = 1 ]
	[ "$(samples session:b,a)" = 6 ]
	[ "$(samples 'session:a\,b,b')" = 5 ]
}

@test "sessions called all, image and report are sessions" {
	[ "$(samples all)" = 32 ]
	[ "$(samples session:all)" = 32 ]
	[ "$(samples image)" = 64 ]
	[ "$(samples report)" = 128 ]
	[ "$(samples report/image:s)" = 128 ]
}

@test "globs sum sessions, exclusions take some away" {
	[ "$(samples 'session:re*')" = 128 ]
	[ "$(samples 'session:a*')" = 35 ]
	[ "$(samples 'session:a*/session-exclude:all')" = 3 ]
	[ "$(samples 'session:r[1]')" = 512 ]
	[ "$(samples 'session:r[eu]*')" = 384 ]
}

@test "a session with a name of 255 bytes is listed short and reached both ways" {
	listed=$(opfs ls | grep '^sss')
	[ "${#listed}" -le 200 ]
	[ "$(samples "$listed")" = 1024 ]
	[ "$(samples "$(printf 's%.0s' {1..255})")" = 1024 ]
}

@test "images called {dep} and {kern} are reached by name" {
	[ "$(samples 'braces/image:{dep}')" = 1 ]
	[ "$(samples 'braces/image:/opt/{dep}')" = 1 ]
	[ "$(samples 'braces/image:/opt/{root}/x')" = 2 ]
	[ "$(samples 'braces/image:{kern}')" = 4 ]
	[ "$(samples 'braces/lib-image:ext4')" = 8 ]
	[ "$(samples 'braces/image:%257Bdep}')" = 16 ]
}

@test "kernel is the whole kernel, listed so, unless an image is called kernel" {
	opfs ls current/lib-image: | grep -qx kernel
	[ "$(opfs ls braces/lib-image: | grep -cx kernel)" = 1 ]
	[ "$(samples braces/lib-image:kernel)" = 32 ]
	[ "$(samples 'braces/lib-image:[kernel]')" = 8 ]
	run -1 opfs ls s/lib-image:
	run -1 opfs ls session:a/lib-image:kernel
	[[ $output == *'no library, kernel image or memory "kernel" here'* ]]
}

@test "current exists before anything was recorded, and is empty" {
	mkdir "$BATS_TEST_TMPDIR/none"
	run -0 "$OPFS_BIN/opfs" ls --session-dir "$BATS_TEST_TMPDIR/none"
	[ "$output" = $'README\nstatus\nevents\ncurrent' ]
	run -0 "$OPFS_BIN/opfs" cat --session-dir "$BATS_TEST_TMPDIR/none" current/report
	[[ $output == *"no samples"* ]]
	run -1 "$OPFS_BIN/opfs" cat --session-dir "$BATS_TEST_TMPDIR/none" \
		current/image:ls/report
	[[ $output == *"no samples here yet"* ]]
}

@test "a path and its texts do not depend on the order of tags" {
	a=$(opfs cat current/event:LLC_MISSES/image:ls/count:6000/report.tsv)
	b=$(opfs cat current/count:6000/image:ls/event:LLC_MISSES/report.tsv)
	[ "$a" = "$b" ]
	[ -n "$a" ]
}
