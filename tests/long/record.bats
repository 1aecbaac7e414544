#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# "opcollect record" against perf and the kernel's own accounts: short-lived children.

bats_require_minimum_version 1.5.0
load ../cli/record

setup_file() {
	build_programs
}

setup() {
	cd "$BATS_TEST_TMPDIR"
	can_record_cpus
}

# Samples of children: of all processes but the one with the most, which is the parent.
ours() {
	python3 "$OPFS_TOP/tests/lib/opsamples.py" totals oprofile_data | python3 -c '
import json, sys
from collections import Counter
c = Counter()
for row in json.load(sys.stdin):
    c[row["tgid"]] += row["samples"]
print(sum(c.values()) - max(c.values()))'
}

theirs() {
	python3 "$progs/perfdata.py" p.data comm storm |
		awk '{ s += $1; if ($1 > m) m = $1 } END { print s - m }'
}

@test "6,000 children of 0.4 ms are seen to nine tenths of their time" {
	run --separate-stderr record -F 999 --separate=thread -- "$BATS_FILE_TMPDIR/storm" 6000 400
	[ "$status" = 0 ]
	ask balance oprofile_data
	seen=$(ours)
	echo "children took $output ns, seen: $seen samples of 1001001 ns"
	[ "$seen" -ge $((output / 1001001 * 9 / 10)) ]
}

@test "no fewer than perf record -a sees in the same run" {
	need_command perf
	run perf record -B -N -a -e cpu-clock -F 999 -o p.data -- \
		"$OPFS_BIN/opcollect" record -F 999 --separate=thread -- \
		"$BATS_FILE_TMPDIR/storm" 6000 400
	[ "$status" = 0 ] || skip "perf record -a fails here"
	us=$(ours)
	perf=$(theirs)
	echo "opcollect: $us, perf record -a: $perf"
	[ "$perf" -gt 500 ]
	# two samplers at one rate: within 4.5 deviations of chance
	awk -v a="$us" -v b="$perf" 'BEGIN { exit !(a >= b - 4.5 * sqrt(a + b)) }'
}
