#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The tag symbol: functions with awkward names, mangled, demangled and as listed.

setup_file() {
	export D="$BATS_FILE_TMPDIR/data" G="$OPFS_TOP/tests/cli/grammar"
	local long

	long=$(printf 'l%.0s' {1..300})
	sed "s/LONG/$long/" "$G/libodd.s" >"$BATS_FILE_TMPDIR/odd.s"
	"${CC:-gcc}" -shared -nostdlib -o "$BATS_FILE_TMPDIR/libodd.so" "$BATS_FILE_TMPDIR/odd.s"
	python3 "$G/symbols.py" "$BATS_FILE_TMPDIR/libodd.so" |
		python3 "$OPFS_TOP/tests/lib/mksession.py" "$D"
}

opfs() {
	local sub=$1

	shift
	"$OPFS_BIN/opfs" "$sub" --session-dir "$D" "$@"
}

# samples VALUE: of current/event:CPU_CLK_UNHALTED/symbol:VALUE
samples() {
	opfs why "current/event:CPU_CLK_UNHALTED/symbol:$1" |
		sed -n 's/^  samples *\([0-9]*\) of.*/\1/p'
}

@test "a function is reached by its plain, mangled and demangled name" {
	[ "$(samples plain)" = 1 ]
	[ "$(samples _Zdv1XS_)" = 2 ]
	[ "$(samples 'operator%2F(X\, X)')" = 2 ]
	[ "$(samples 'operator%2F(X, X)')" = 2 ]
	[ "$(samples 'f(int, X)')" = 256 ]
}

@test "functions that read the same are told apart, and meant together by that name" {
	[ "$(samples 'A::A()')" = 12 ]
	[ "$(samples _ZN1AC1Ev)" = 4 ]
	[ "$(opfs ls current/symbol | grep -c '^A::A()~[0-9a-f]\{8\}$')" = 2 ]
	for s in $(opfs ls current/symbol | grep '^A::A()~'); do
		samples "$s"
	done | sort >"$BATS_TEST_TMPDIR/each"
	[ "$(cat "$BATS_TEST_TMPDIR/each")" = $'4\n8' ]
}

@test "names that mean something else in a path are escaped in the listing" {
	run opfs ls current/symbol
	echo "$output"
	[ "$status" = 0 ]
	[[ $output == *'operator%2F(X%2C X)'* ]]
	[[ $output == *'%61ll'* ]]
	[[ $output == *'star%2A'* ]]
	[[ $output == *'percent%2541'* ]]
	[ "$(echo "$output" | wc -l)" = 11 ]
}

@test "every listed symbol resolves, and together they are everything" {
	opfs ls -l current/event:CPU_CLK_UNHALTED/symbol: >"$BATS_TEST_TMPDIR/all"
	[ "$(awk '{ n += $2 } END { print n }' "$BATS_TEST_TMPDIR/all")" = 2047 ]
	[ "$(awk '{ print $2 }' "$BATS_TEST_TMPDIR/all" | sort -u | wc -l)" = 11 ]
}

@test "a name of 300 bytes is listed with at most 200 and reached both ways" {
	listed=$(opfs ls current/symbol | grep '^lll')
	[ "${#listed}" = 200 ]
	[ "$(samples "$listed")" = 128 ]
	[ "$(samples "$(printf 'l%.0s' {1..300})")" = 128 ]
}

@test "an exact name comes before all, wildcards and lists" {
	[ "$(samples all)" = 16 ]
	[ "$(samples 'star*')" = 32 ]
	[ "$(samples 'star?y')" = 1024 ]
	[ "$(samples 'sta*')" = 1056 ]
	[ "$(samples 'plain,report')" = 65 ]
	[ "$(samples '_ZN1A*')" = 12 ]
}

@test "a function called report is reached, and its report" {
	[ "$(samples report)" = 64 ]
	run opfs cat current/symbol/report/report
	[ "$status" = 0 ]
	[[ $output == *report* ]]
	[[ $output != *plain* ]]
}

@test "percentages of a symbol's report are of what is kept" {
	run opfs cat current/event:CPU_CLK_UNHALTED/symbol:plain/report
	[[ $output == *"1        100.000"*plain* ]]
}

@test "what no function is called does not exist, and why lists some" {
	run opfs why current/symbol:plaim
	[ "$status" = 1 ]
	[[ $output == *'no symbol "plaim"'*plain* ]]
	run opfs why 'current/symbol:plain/symbol:all'
	[ "$status" = 1 ]
	[[ $output == *'given before'* ]]
}

@test "symbol: may stand before and behind other tags" {
	a=$(opfs cat current/symbol:plain/event:OTHER/report.tsv)
	b=$(opfs cat current/event:OTHER/symbol:plain/report.tsv)
	[ "$a" = "$b" ]
	[[ $a == *plain* ]]
	run opfs ls current/event:OTHER/symbol:report
	[ "$status" = 1 ]
}
