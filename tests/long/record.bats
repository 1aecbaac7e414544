#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# "opcollect record" against perf and the kernel's own accounts: short-lived children.

bats_require_minimum_version 1.5.0
load ../lib/record

setup_file() {
	build_programs
}

setup() {
	cd "$BATS_TEST_TMPDIR"
	export WORKED="$BATS_TEST_TMPDIR/worked"
	can_record_cpus
}

# Samples of children: of all processes but the one with the most, which is the parent.
ours() {
	ask children oprofile_data
}

# perf record -a sees the storms of other tests as well: by this name it is ours.
theirs() {
	python3 "$progs/perfdata.py" p.data comm "$1" |
		awk '{ s += $1; if ($1 > m) m = $1 } END { print s - m }'
}

@test "6,000 children of 0.4 ms are seen as much as their parent, for their time" {
	run -0 --separate-stderr record -F 999 --separate=thread \
		-- "$BATS_FILE_TMPDIR/storm" 6000 400
	read -r taken stored <<<"$(ask balance oprofile_data)"
	seen=$(ours)
	c_ns=$(worked children) p_ns=$(worked parent)
	echo "children: $seen of $stored samples, $c_ns of $((c_ns + p_ns)) ns"
	sampled "$stored" $((c_ns + p_ns)) 999 $((taken - stored))
	share "$seen" "$stored" $((c_ns * 1000 / (c_ns + p_ns)))
}

@test "no fewer than perf record -a sees in the same run" {
	need_command perf
	name=storm$BASHPID
	ln -s "$BATS_FILE_TMPDIR/storm" "$name"
	run perf record -B -N -a -e cpu-clock -F 999 -o p.data -- \
		"$OPFS_BIN/opcollect" record -e TIMER -F 999 --separate=thread -- \
		"./$name" 6000 400
	[ "$status" = 0 ] || skip "perf record -a fails here"
	us=$(ours)
	perf=$(theirs "$name")
	echo "opcollect: $us, perf record -a: $perf"
	sampled "$perf" "$(worked children)" 999
	# two samplers at one rate: within 4.5 deviations of chance
	awk -v a="$us" -v b="$perf" 'BEGIN { exit !(a >= b - 4.5 * sqrt(a + b)) }'
}
