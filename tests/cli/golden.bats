#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# tests/golden/REPORT/CASE/: "path" is what "opfs cat" is asked for in the reference
# session, "expected" what it prints.  "make bless" writes "expected" anew.

bats_require_minimum_version 1.5.0
load ../lib/opdemo

setup()
{
	need_programs
	need_mount_namespace
}

@test "every golden case prints what is expected" {
	local dir got=$BATS_TEST_TMPDIR/got bad=0 cases=0
	for dir in "$OPFS_TOP"/tests/golden/*/*/; do
		cases=$((cases + 1))
		opdemo "$OPFS_BIN/opfs" cat --session-dir s1 "$(cat "$dir/path")" >"$got" || {
			echo "$dir: opfs cat failed"
			bad=1
			continue
		}
		if [ -n "${BLESS-}" ]; then
			cp "$got" "$dir/expected"
		else
			diff -u "$dir/expected" "$got" || bad=1
		fi
	done
	[ $cases -gt 0 ]
	[ $bad = 0 ]
}

@test "every report has a golden case" {
	local name
	for name in README status summary report report.tsv details callgraph report.xml report.json annotate source; do
		[ -n "$(echo "$OPFS_TOP"/tests/golden/$name/*/path)" ]
		[ -f "$(echo "$OPFS_TOP"/tests/golden/$name/*/path | cut -d" " -f1)" ]
	done
}
