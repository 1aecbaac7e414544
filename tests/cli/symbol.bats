#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The tag symbol: functions with awkward names, mangled, demangled and as listed.

bats_require_minimum_version 1.5.0
load ../lib/opfs

setup_file() {
	export D="$BATS_FILE_TMPDIR/data" G="$OPFS_TOP/tests/cli/grammar"
	local long

	long=$(printf 'l%.0s' {1..300})
	sed "s/LONG/$long/" "$G/libodd.s" >"$BATS_FILE_TMPDIR/odd.s"
	${CC:-gcc} -shared -nostdlib -o "$BATS_FILE_TMPDIR/libodd.so" \
		"$BATS_FILE_TMPDIR/odd.s"
	python3 "$G/symbols.py" "$BATS_FILE_TMPDIR/libodd.so" |
		mksession
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
	run -0 opfs cat current/symbol/report/report
	[[ $output == *report* ]]
	[[ $output != *plain* ]]
}

@test "percentages of a symbol's report are of what is kept" {
	run opfs cat current/event:CPU_CLK_UNHALTED/symbol:plain/report
	[[ $output == *"1        100.000"*plain* ]]
}

@test "what no function is called does not exist, and why lists some" {
	run -1 opfs why current/symbol:plaim
	[[ $output == *'no symbol "plaim"'*plain* ]]
	run -1 opfs why 'current/symbol:plain/symbol:all'
	[[ $output == *'given before'* ]]
}

@test "symbol: may stand before and behind other tags" {
	a=$(opfs cat current/symbol:plain/event:OTHER/report.tsv)
	b=$(opfs cat current/event:OTHER/symbol:plain/report.tsv)
	[ "$a" = "$b" ]
	[[ $a == *plain* ]]
	run -1 opfs ls current/event:OTHER/symbol:report
}

# A library with two static functions "twin", in two source files, and overloads of f.
twins() {
	local dir="$BATS_TEST_TMPDIR" lib="$BATS_TEST_TMPDIR/libtwins.so" addr

	for i in 1 2; do
		cat >"$dir/$i.cc" <<-EOF
			static __attribute__((noinline)) int twin(int x)
			{ asm volatile(""); return x + $i; }
			extern "C" int use$i(int x) { return twin(x) * $i; }
			int f(int x) { return x + $i; }
		EOF
	done
	sed -i 's/int f(int x)/int f(long x)/' "$dir/2.cc"
	${CC:-gcc} -x c++ -O1 -shared -fPIC -nostdlib -o "$lib" "$dir/1.cc" "$dir/2.cc"
	nm "$lib" | awk '/ [tT] _Z/ { printf "%s %s\n", $1, $3 }' | sort >"$dir/functions"
	[ "$(wc -l <"$dir/functions")" = 4 ]
	D="$dir/session"
	python3 - "$lib" "$dir/functions" <<-'EOF' | \
		mksession
		import json, os, sys
		at = [int(l.split()[0], 16) for l in open(sys.argv[2])]
		json.dump([{"app": "/opt/app", "image": sys.argv[1],
		            "event": "CPU_CLK_UNHALTED",
		            "mtime": int(os.stat(sys.argv[1]).st_mtime),
		            "samples": {hex(a): 1 << i for i, a in enumerate(at)}}],
		              sys.stdout)
	EOF
}

@test "equal static names of different source files stay apart, and so do overloads" {
	twins
	run opfs ls current/symbol:
	echo "$output"
	[ "$(echo "$output" | grep -c '^twin(int)~[0-9a-f]\{8\}$')" = 2 ]
	[[ $output == *"f(int)"* ]]
	[[ $output == *"f(long)"* ]]
	[ "$(echo "$output" | wc -l)" = 4 ]
	sum=0
	for s in $(echo "$output" | tr ' ' '?'); do
		n=$(samples "$s")
		[[ " 1 2 4 8 " == *" $n "* ]]
		sum=$((sum + n))
	done
	[ "$sum" = 15 ]
	one=$(echo "$output" | grep '^twin' | head -n 1)
	run opfs cat "current/symbol:$one/report"
	[ "$(echo "$output" | grep -c 'twin(int)')" = 1 ]
	[ "$(samples 'twin(int)')" = "$(samples _ZL4twini)" ]
}

@test "names resolve whatever demangle: says, before and behind it" {
	twins
	a=$(samples 'f(int)')
	[ -n "$a" ]
	for d in none normal smart; do
		[ "$(opfs why "current/demangle:$d/symbol:f(int)" |
			sed -n 's/^  samples *\([0-9]*\) of.*/\1/p')" = "$a" ]
		run opfs cat "current/symbol:f(int)/demangle:$d/report"
		[[ $output == *100.000* ]]
		opfs ls "current/demangle:$d/symbol:" >"$BATS_TEST_TMPDIR/names"
		[ "$(wc -l <"$BATS_TEST_TMPDIR/names")" = 4 ]
		while IFS= read -r s; do
			echo "$d: $s"
			opfs cat "current/demangle:$d/symbol:$s/report.tsv" |
				grep -q 100.0000
		done <"$BATS_TEST_TMPDIR/names"
	done
}

# rows TAGS: names of the functions in a report below current/TAGS
rows() {
	opfs cat "current/event:CPU_CLK_UNHALTED/$1/with:no-header/report" |
		sed 's/.* libodd.so *//' | sort | tr '\n' ';'
}

@test "a report whose symbols are all left out says so" {
	for r in report details; do
		run opfs cat "current/include-symbols:nowhere/$r"
		[[ $output == "no samples: symbol:, include-symbols:"* ]]
	done
}

@test "include-symbols takes mangled names first, demangled ones if none is called so" {
	[ "$(rows include-symbols:plain,starry)" = 'plain;starry;' ]
	[ "$(rows include-symbols:_ZN1AC1Ev)" = 'A::A();' ]
	[ "$(rows 'include-symbols:A::A()')" = 'A::A();A::A();' ]
	[ "$(rows 'include-symbols:A*')" = 'A::A();A::A();' ]
	[ "$(rows 'include-symbols:_ZN1A*')" = 'A::A();A::A();' ]
	# "star*" is a function; the wildcard means it and the other one
	[ "$(rows 'include-symbols:star*')" = 'star*;starry;' ]
	[ "$(rows 'include-symbols:star\*')" = 'star*;' ]
	[ "$(rows 'include-symbols:nosuch,plain')" = 'plain;' ]
	[ "$(rows 'demangle:none/include-symbols:A::A()')" = '_ZN1AC1Ev;_ZN1AC2Ev;' ]
}

@test "exclude-symbols wins, and what is left out leaves the totals" {
	[ "$(rows 'include-symbols:plain,starry/exclude-symbols:plain')" = 'starry;' ]
	run opfs cat 'current/event:CPU_CLK_UNHALTED/include-symbols:plain/report.tsv'
	[ "$(echo "$output" | awk -F '\t' 'NR == 2 { print $5, $6 }')" = '1 100.0000' ]
	n=$(opfs cat 'current/event:CPU_CLK_UNHALTED/exclude-symbols:starry/report.tsv' |
		awk -F '\t' 'NR > 1 { n += $5 } END { print n }')
	[ "$n" = $((2047 - 1024)) ]
	n=$(opfs cat 'current/event:CPU_CLK_UNHALTED/exclude-symbols:A::A()/report.tsv' |
		awk -F '\t' 'NR > 1 { n += $5 } END { print n }')
	[ "$n" = $((2047 - 12)) ]
}

@test "a part of a function's name hints at the pattern that finds it" {
	local d=$BATS_TEST_TMPDIR

	cat >"$d/a.cc" <<-'END'
	namespace geo { struct Box { void stepA(int); void stepB(long); }; }
	void geo::Box::stepA(int) {}
	void geo::Box::stepB(long) {}
	END
	"${CXX:-g++}" -shared -fPIC -nostdlib -o "$d/a.so" "$d/a.cc"
	D=$d/s mksession <<-END
	[{"app": "$d/a.so", "samples": {
		"$(offset_of "$d/a.so" _ZN3geo3Box5stepAEi)": 3,
		"$(offset_of "$d/a.so" _ZN3geo3Box5stepBEl)": 4}}]
	END
	for command in why cat; do
		D=$d/s run -1 opfs $command current/symbol:stepA/report
		[[ $output == *'no symbol "stepA" here (names that hold it: '* ]]
		[[ $output == *' symbol:*stepA*)'* ]]
		D=$d/s run -1 opfs $command current/symbol:stepC/report
		[[ $output != *'names that hold it'* ]]
	done
	D=$d/s opfs cat 'current/symbol:*stepA*/report.tsv' >"$d/tsv"
	[ "$(sed 1d "$d/tsv" | cut -f5)" = 3 ]
}
