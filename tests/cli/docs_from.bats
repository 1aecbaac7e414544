#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The commands of doc/from-perf.md do what it says.

bats_require_minimum_version 1.5.0
load ../lib/need
load ../lib/record

@test "every opfs cat that from-perf.md names prints something of a real session" {
	cd "$BATS_TEST_TMPDIR"
	can_record
	build_programs
	record -g -d s -- "$BATS_FILE_TMPDIR/chain"
	name=chain
	func=$("$OPFS_BIN/opfs" cat --session-dir s current/lib-image:chain/report.tsv |
		awk -F'\t' -v OFS='\t' 'NR == 1 { for (i = 1; i <= NF; i++)
			if ($i == "symbol") at = i } NR == 2 && at { print $at }')
	[ -n "$func" ]
	grep -oE '`opfs cat [^`]*`' "$OPFS_TOP/doc/from-perf.md" | tr -d '`' |
		sed "s/FUNCTION/$func/; s/PROG/$name/" >commands
	[ "$(wc -l <commands)" -ge 10 ]
	while read -r _ _ path; do
		echo "$path"
		"$OPFS_BIN/opfs" cat --session-dir s "$path" >out
		[ -s out ]
	done <commands
}
