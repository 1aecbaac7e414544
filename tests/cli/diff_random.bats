#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# diff:BASE against a second, slow implementation, on sessions made at random.

bats_require_minimum_version 1.5.0
load ../lib/opfs

PAIRS=500
SEED=${OPFS_DIFF_SEED:-1}

# rows STYLE: of all comparisons, as diff_pairs.py has them; field 4 is the symbol
rows() {
	local i
	for ((i = 0; i < PAIRS; i++)); do
		echo "new$i/diff:old$i/demangle:$1/report.tsv"
	done | xargs "$OPFS_BIN/opfs" cat --session-dir s |
		awk -F '\t' -v OFS='\t' '
			$1 == "event" { pair = nr++; next }
			{ print pair, $2, $3, $8, $5, $15 }' |
		LC_ALL=C sort
}

setup_file() {
	cd "$BATS_FILE_TMPDIR"
	python3 "$OPFS_TOP/tests/lib/diff_pairs.py" make "$PWD" "$SEED" "$PAIRS" >made
	mksession made
	rows none >none
}

setup() {
	cd "$BATS_FILE_TMPDIR"
}

@test "500 comparisons of random sessions agree with a second implementation" {
	python3 "$OPFS_TOP/tests/lib/diff_pairs.py" expect "$PWD" "$SEED" "$PAIRS" >want
	[ "$(wc -l <want)" -gt 1000 ]
	LC_ALL=C sort want | diff - none
}

@test "no figure of them depends on demangle:" {
	for style in normal smart; do
		rows "$style" | cmp none -
	done
}
