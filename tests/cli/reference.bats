#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The reference session, slice by slice, against what OProfile 1.5 printed for it.
# doc/differences.md tells every deliberate difference; here each is an explicit edit of
# the transcript, and nothing else may differ.

bats_require_minimum_version 1.5.0
load ../lib/opdemo

setup()
{
	need_programs
	need_mount_namespace
}

demo=image:/opt/opdemo/bin/demo
cycles=event:CPU_CLK_UNHALTED

# What columns are of; OProfile does not say it here.
classes='s/^samples  %/CPU_CLK_UNHALT... LLC_MISSES:6000\n&/'

@test "01: summary of two events" {
	same 01-summary.txt current/summary
}

@test "02: summary of one event" {
	same 02-summary-1event.txt current/$cycles/summary
}

@test "10: symbols of one application" {
	same 10-symbols.txt current/$demo/$cycles/report
}

@test "10: tags in the other order give the same" {
	same 10-symbols.txt current/$cycles/$demo/report
}

@test "11: symbols of one application, two events" {
	same 11-symbols-2ev.txt current/$demo/report "$classes"
}

@test "12: symbols of all applications, two events" {
	# main has the fewest of both events together
	same 12-symbols-2ev-all.txt current/report \
		"$classes"'
		/^1  *0\.0450 .* main$/{h;d}
		${p;x}'
}

@test "17: without dependent images, as lib-image says it" {
	same 17-symbols-x.txt current/$demo/lib-image:/opt/opdemo/bin/demo/$cycles/report
}

@test "24: chosen symbols, percentages of what is kept" {
	same 24-symbols-include.txt current/$demo/$cycles/symbol:crunch,sift/report
}

@test "26: C++ names" {
	same 26-symbols-cxx.txt current/image:/opt/opdemo/bin/shapes/report "$classes"
}

@test "26: a C++ name is a value of symbol:, mangled or not" {
	local want='3        100.000  geo::Box<long>::grow(long)'
	for name in 'geo::Box<long>::grow(long)' _ZN3geo3BoxIlE4growEl; do
		run -0 opdemo "$OPFS_BIN/opfs" cat --session-dir s1 \
			"current/event:LLC_MISSES/symbol:$name/report"
		[ "${lines[-1]}" = "$want" ]
	done
}

@test "a3: a pattern of images" {
	same a3-glob.txt "current/$cycles/image:*demo*/summary"
}

@test "a5: one library in every application" {
	same a5-libimage.txt "current/$cycles/lib-image:*libmisc.so*/summary"
}

@test "a6: a library without a tag" {
	same a6-default-lib.txt \
		"current/$cycles/%2Fopt%2Fopdemo%2Fbin%2Flibmisc.so/summary"
}

@test "a7: an application without a tag" {
	same a7-default-app.txt "current/$cycles/%2Fopt%2Fopdemo%2Fbin%2Fdemo/summary"
}

@test "a8: an image left out" {
	same a8-exclude.txt "current/$cycles/image-exclude:*libmisc.so*/summary"
}

@test "b0: a count" {
	same b0-count.txt current/count:6000/summary
}

@test "b1, b2: a unit mask, decimal and hexadecimal" {
	same b1-um.txt current/unit-mask:65/summary
	same b2-um-hex.txt current/unit-mask:0x41/summary
}

@test "90, 93, 94, b3: what selects nothing does not exist" {
	for path in current/foo:bar/report nope/report current/event:NOPE/report \
		current/tid:12/report; do
		run -1 opdemo "$OPFS_BIN/opfs" cat --session-dir s1 "$path"
		[[ $output == opfs:* || $output == *" cat: "* ]]
	done
}

# sums FILE: "EVENT SAMPLES" of report.tsv
sums()
{
	awk -F'\t' 'NR > 1 { n[$1] += $5 } END { for (e in n) print e, n[e] }' "$1" | sort
}

@test "report.tsv, report and the sample files have the same totals" {
	local d=$BATS_TEST_TMPDIR
	opdemo "$OPFS_BIN/opfs" cat --session-dir s1 current/report.tsv >"$d/tsv"
	[ "$(sums "$d/tsv")" = "$(printf '%s\n' 'CPU_CLK_UNHALTED:100000 2223' \
		'LLC_MISSES:6000:0x41 150')" ]
	opdemo "$OPFS_BIN/opfs" cat --session-dir s1 current/$cycles/report >"$d/report"
	[ "$(awk 'NR > 3 { n += $1 } END { print n }' "$d/report")" = 2223 ]
}

@test "reports hold nothing but rows: reasons are in status" {
	opdemo "$OPFS_BIN/opfs" cat --session-dir s1 current/report \
		>"$BATS_TEST_TMPDIR/r" 2>"$BATS_TEST_TMPDIR/err"
	run ! grep -i warning "$BATS_TEST_TMPDIR/r"
	[ ! -s "$BATS_TEST_TMPDIR/err" ]
	run -0 opdemo "$OPFS_BIN/opfs" cat --session-dir s1 current/status
	[[ $output == *"unresolved: /no-vmlinux: 300 "* ]]
	[[ $output == *"unresolved: anon (tgid:4242 "* ]]
	[[ $output == *"unresolved: /opt/opdemo/bin/tool: 360 "*"stripped"* ]]
	[[ $output == *"cpu: Intel Architectural Perfmon, speed 2400 MHz (estimated)"* ]]
}

@test "a binary that was changed since is shown as itself, with the reason in status" {
	run opdemo sh -c 'touch bin/demo && "$1" cat --session-dir s1 \
			current/'$demo/$cycles'/report &&
		"$1" cat --session-dir s1 current/status' \
		sh "$OPFS_BIN/opfs"
	[ "$status" = 0 ]
	grep -qE '^614 +55.9708  demo {21}/opt/opdemo/bin/demo$' <<<"$output"
	[[ $output == *"unresolved: /opt/opdemo/bin/demo: 647 "* ]]
}

@test "a binary that is gone, and one that is no program" {
	run opdemo sh -c 'rm bin/demo && echo "#!/bin/sh" >bin/libmisc.so &&
		"$1" cat --session-dir s1 current/report current/status' \
		sh "$OPFS_BIN/opfs"
	[ "$status" = 0 ]
	[[ $output == *"unresolved: /opt/opdemo/bin/demo: "* ]]
	[[ $output == *"unresolved: /opt/opdemo/bin/libmisc.so: "* ]]
	[[ $output == *"lib_hash"* ]]
}

@test "one damaged sample file is named and the others are shown" {
	run opdemo sh -c '
		f="s1/samples/current/{root}/opt/opdemo/bin/shapes/{dep}"
		f="$f/{root}/opt/opdemo"
		f="$f/bin/shapes/LLC_MISSES.6000.65.all.all.all"
		[ -f "$f" ] && echo garbage >"$f" &&
		"$1" cat --session-dir s1 current/summary current/status' \
		sh "$OPFS_BIN/opfs"
	[ "$status" = 0 ]
	[[ $output == *"1097 49.3477"* ]]
	[[ $output == *"damaged: "*"bin/shapes/LLC_MISSES.6000.65.all.all.all: "* ]]
}
