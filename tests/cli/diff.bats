#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# diff:BASE and opfs diff: against OProfile's differential profiles, and for CI.

# shellcheck source=tests/lib/opdemo.bash
. "$OPFS_TOP/tests/lib/opdemo.bash"

bats_require_minimum_version 1.5.0
load ../lib/need
load ../lib/opfs

OPFS=$OPFS_BIN/opfs
DEMO=event:CPU_CLK_UNHALTED/image:%2Fopt%2Fopdemo%2Fbin%2Fdemo

setup() {
	D=data
	cd "$BATS_TEST_TMPDIR"
}

# A program with functions a and b, as mksession takes it, $PROG; where they are: $A, $B.
two_functions() {
	echo "void a(void) { } void b(void) { } int main(void) { a(); b(); }" |
		${CC:-gcc} -O0 -x c -o prog -
	PROG="\"app\": \"$PWD/prog\""
	A=$(offset_of prog a)
	B=$(offset_of prog b)
}

# Two builds of p.c in b1 and b2: function "gone" of the first became "kept" there.
two_builds() {
	mkdir b1 b2
	echo "int gone(void) { return 1; } int main(void) { return gone(); }" >p.c
	${CC:-gcc} -g -O0 -o b1/prog p.c
	sed -i s/gone/kept/g p.c
	${CC:-gcc} -g -O0 -o b2/prog p.c
}

# cat PATH: of the reference session
ref_cat() {
	opdemo "$OPFS" cat --session-dir s1 "$1"
}

# Without what opreport does not have: the line that names the sides, the column "sure".
as_opreport() {
	awk '/^Differences of / { next }
		!at { at = match($0, / sure /) }
		at && /sure|yes|no/ { sub(/ (sure|yes |no  ) /, " ") }
		{ sub(/ +$/, ""); print }'
}

same_as_transcript() {
	diff <(opdemo_transcript "$1" | sed 's/ *$//') <(ref_cat "$2" | as_opreport)
}

@test "differences read as opreport's { } { }" {
	need_mount_namespace
	same_as_transcript 60-diff.txt "current/$DEMO/diff:base/report"
	same_as_transcript 61-diff-x.txt \
		"current/$DEMO/with:exclude-dependent/diff:base/report"
	same_as_transcript 62-diff-rev.txt \
		"base/$DEMO/with:exclude-dependent/diff:current/report"
	same_as_transcript 63-diff-threshold.txt \
		"current/$DEMO/with:exclude-dependent/diff:base/threshold:20/report"
	local all=with:exclude-dependent,accumulated,show-address,debug-info
	same_as_transcript 64-diff-a-w-g.txt "current/$DEMO/$all/diff:base/report"
}

@test "both sides are named in the head, the older one last" {
	need_mount_namespace
	ref_cat "current/$DEMO/diff:base/report" |
		grep '^Differences of current/.* to base/.* (older)'
}

@test "the same session has no differences" {
	need_mount_namespace
	ref_cat "current/$DEMO/diff:current/report" | sed 1,4d >rows
	[ -s rows ]
	run ! grep -v ' 0  *no ' rows
}

@test "the summary compares applications and their images" {
	need_mount_namespace
	ref_cat "current/$DEMO/diff:base/summary" >text
	grep -E '^ +1097 100.000 +0 +no demo$' text
	grep -E '^	 +614 55.9708 +-44.0292 +yes demo$' text
	grep -E '^	 +300 27.3473 +\+\+\+ +yes libdemo.so$' text
}

@test "two builds of a program are compared by function, though they lie in two places" {
	mksession <<-'END'
	[{"session": "old", "app": "/b1/prog", "samples": {"1": 500}},
	 {"session": "new", "app": "/b2/prog", "samples": {"1": 700}}]
	END
	opfs cat new/diff:old/report.tsv >tsv
	[ "$(sed 1d tsv | wc -l)" = 1 ]
	opfs cat new/diff:old/report | grep -E '^700 +100.000 + 0 +no '
	opfs cat new/image:prog/diff:old/image:%2Fb1%2Fprog/report |
		grep -E '^700 +100.000 + 0 +no '
}

@test "two programs of one session are compared as well" {
	mksession <<-'END'
	[{"app": "/b1/prog", "samples": {"1": 500}},
	 {"app": "/b1/prog", "image": "/lib/l.so", "samples": {"1": 500}},
	 {"app": "/b2/other", "samples": {"1": 700}},
	 {"app": "/b2/other", "image": "/lib/l.so", "samples": {"1": 700}}]
	END
	opfs diff current/image:prog current/image:other >text
	grep -E '^700 +50.0000 + 0 +no +other ' text
	grep -E '^700 +50.0000 + 0 +no +l.so ' text
	run ! grep -E -e '---|\+\+\+' text
}

@test "a comparison does not depend on what was read before" {
	${CC:-gcc} -x c -o prog - <<<"int main(void) { return 0; }"
	mksession <<-END
	[{"session": "old", "app": "$PWD/prog", "samples": {"0x2000": 500}},
	 {"session": "new", "app": "$PWD/prog", "samples": {"0x2000": 700}}]
	END
	opfs cat new/report >both
	opfs cat new/diff:old/summary >>both
	opfs cat new/report new/diff:old/summary | diff both -
	opfs cat old/report >both
	opfs cat new/diff:old/summary >>both
	opfs cat old/report new/diff:old/summary | diff both -
}

@test "sort:diff has sure rows first, then what grew by most of all samples" {
	mksession <<-'END'
	[{"session": "old", "app": "/nowhere/same", "samples": {"1": 500}},
	 {"session": "old", "app": "/nowhere/less", "samples": {"1": 300}},
	 {"session": "old", "app": "/nowhere/gone", "samples": {"1": 200}},
	 {"session": "old", "app": "/nowhere/noise", "samples": {"1": 1}},
	 {"session": "new", "app": "/nowhere/same", "samples": {"1": 720}},
	 {"session": "new", "app": "/nowhere/less", "samples": {"1": 100}},
	 {"session": "new", "app": "/nowhere/added", "samples": {"1": 200}},
	 {"session": "new", "app": "/nowhere/noise", "samples": {"1": 6}},
	 {"session": "new", "app": "/nowhere/once", "samples": {"1": 1}}]
	END
	order=$(opfs cat new/diff:old/sort:diff/with:no-header/report |
		awk '{ sub(".*/", ""); print }' | tr '\n' ' ')
	[ "$order" = "same added gone less noise once " ]
	opfs cat new/diff:old/report | grep -E '^200 +--- +--- +yes .*gone'
}

@test "opfs diff prints what the file shows" {
	mksession <<-'END'
	[{"session": "old", "app": "/nowhere/a", "samples": {"1": 500}},
	 {"session": "new", "app": "/nowhere/a", "samples": {"1": 700}}]
	END
	opfs diff old new >said
	opfs cat new/diff:old/sort:diff/report >file
	cmp said file
}

@test "--fail-over fails for what grew by more than that, beyond chance" {
	two_functions
	mksession <<-END
	[{"session": "old", $PROG, "samples": {"$A": 50000, "$B": 50000}},
	 {"session": "new", $PROG, "samples": {"$A": 60000, "$B": 40000}},
	 {"session": "few", $PROG, "samples": {"$A": 12, "$B": 8}}]
	END
	run -1 --separate-stderr opfs diff --fail-over=5% old new
	[[ $output == *"a	$PWD/prog	50.0000	60.0000	+20.0000"* ]]
	[ "${#lines[@]}" = 2 ]
	[[ $stderr == *"1 row grew by more than 5 %"* ]]
	run -0 opfs diff --fail-over=25% old new
	[ -z "$output" ]
	# 20 samples cannot tell 60 % from 50 %
	run -0 opfs diff --fail-over=5% old few
}

@test "a slice of a few samples is not sure of single ones" {
	two_functions
	mksession <<-END
	[{"session": "old", $PROG, "samples": {"$A": 11}},
	 {"session": "one", $PROG, "samples": {"$B": 1}},
	 {"session": "five", $PROG, "samples": {"$A": 4, "$B": 1}},
	 {"session": "ten", $PROG, "samples": {"$A": 4, "$B": 6}},
	 {"session": "new", $PROG, "samples": {"$A": 4, "$B": 9}}]
	END
	# by chance with probability 0.083, 0.31, 0.0039, and at last 0.00055
	for few in one five ten; do
		run -0 opfs diff --fail-over=5% old $few
		[ -z "$output" ]
		run ! grep -w yes <(opfs cat $few/diff:old/report $few/diff:old/summary)
	done
	run -1 opfs diff --fail-over=5% old new
	[[ $output == *"b	$PWD/prog	0.0000	69.2308	+++"* ]]
}

@test "opfs diff --json prints report.json, and judges all the same" {
	two_functions
	mksession <<-END
	[{"session": "old", $PROG, "samples": {"$A": 50000, "$B": 50000}},
	 {"session": "new", $PROG, "samples": {"$A": 60000, "$B": 40000}}]
	END
	opfs diff --json old new >said
	opfs cat new/diff:old/sort:diff/report.json | cmp said -
	run -1 --separate-stderr opfs diff --json --fail-over=5% old new
	diff said - <<<"$output"
	[[ $stderr == *"1 row grew"* ]]
	run -0 opfs diff --json --fail-over=25% old new
}

@test "a program that is gone is no proof that nothing grew" {
	mksession <<-'END'
	[{"session": "old", "app": "/nowhere/a", "samples": {"1": 500}},
	 {"session": "old", "app": "/nowhere/rare", "samples": {"1": 2}},
	 {"session": "new", "app": "/nowhere/a", "samples": {"1": 500}},
	 {"session": "new", "app": "/nowhere/rare", "samples": {"1": 2}}]
	END
	run -3 opfs diff --fail-over=5% old new
	[[ $output == *"/nowhere/a: compared as a whole, not by function"* ]]
	[[ $output != */nowhere/rare* ]]
	run -0 opfs diff old new
}

@test "an application without samples of its own is the same on both sides" {
	mksession <<-'END'
	[{"session": "old", "app": "/nowhere/first", "samples": {"1": 500}},
	 {"session": "old", "app": "/nowhere/app", "image": "/lib/l.so",
	  "samples": {"1": 500}},
	 {"session": "new", "app": "/nowhere/first", "samples": {"1": 500}},
	 {"session": "new", "app": "/nowhere/app", "image": "/lib/l.so",
	  "samples": {"1": 500}}]
	END
	opfs cat new/diff:old/report new/diff:old/summary >text
	run ! grep -E -e ' --- |\+\+\+| yes ' text
	[ "$(grep -c ' 0 *no ' text)" = 5 ]
}

@test "a filter that leaves nothing of the newer side shows what is gone" {
	two_functions
	mksession <<-END
	[{"session": "old", $PROG, "samples": {"$A": 50, "$B": 50}},
	 {"session": "new", $PROG, "samples": {"$B": 40}}]
	END
	opfs cat new/include-symbols:a/diff:old/report >text
	grep -E '^50 +--- +--- +no +a$' text
	run ! grep 'taken' text
	# and of neither side
	opfs cat new/include-symbols:none/diff:old/report >text
	grep '^no samples: symbol:, include-symbols: .* leave none' text
}

@test "columns of different CPUs are named by the CPU" {
	mksession <<-'END'
	[{"session": "old", "app": "/nowhere/a", "cpu": 0, "samples": {"1": 5}},
	 {"session": "new", "app": "/nowhere/a", "cpu": 1, "samples": {"1": 7}}]
	END
	run -1 opfs cat new/split:cpu/diff:old/report
	local event=CPU_CLK_UNHALTED:100000
	[[ $output == *"$event on CPU 1 and $event on CPU 0"* ]]
}

@test "a function of the older build has no line of the newer one" {
	two_builds
	local one="\"app\": \"$PWD/b1/prog\"" two="\"app\": \"$PWD/b2/prog\""
	mksession <<-END
	[{"session": "old", $one, "samples": {"$(offset_of b1/prog gone)": 50}},
	 {"session": "new", $two, "samples": {"$(offset_of b2/prog kept)": 50}}]
	END
	opfs cat new/diff:old/with:debug-info/report >text
	grep -E '^50 +100.000 .* p.c:1 +kept$' text
	grep -E '^50 +--- .*\(no location information\) +gone$' text
}

@test "shares of the older side leave out the same images as those of the newer" {
	mksession <<-'END'
	[{"session": "old", "app": "/nowhere/a", "samples": {"1": 50}},
	 {"session": "old", "app": "/nowhere/a", "image": "/lib/l", "samples": {"1": 50}},
	 {"session": "new", "app": "/nowhere/a", "samples": {"1": 50}},
	 {"session": "new", "app": "/nowhere/a", "image": "/lib/l", "samples": {"1": 50}}]
	END
	opfs cat new/with:exclude-dependent/diff:old/report.tsv |
		awk -F '\t' '$3 == "/nowhere/a" { print $6, $16, $17, $18 }' >figures
	[ "$(cat figures)" = "100.0000 100.0000 0.0000 0" ]
}

@test "what cannot be compared says why" {
	mksession <<-'END'
	[{"session": "old", "app": "/nowhere/a", "event": "LLC", "samples": {"1": 5}},
	 {"session": "new", "app": "/nowhere/a", "event": "CYCLES", "samples": {"1": 7}}]
	END
	run -1 opfs cat new/diff:old/report
	[[ $output == *"count different things"*LLC* ]]
	run -3 opfs diff nothing new
	[[ $output == *nothing* ]]
	run -3 opfs diff old new
	[[ $output == *"count different things"* ]]
	run -3 opfs diff --json --fail-over=1 old new
	run -3 "$OPFS" diff --session-dir /nowhere old new
	run -2 opfs diff old
	run -2 opfs diff --fail-over=much old new
}

@test "a session directory elsewhere can be the older side" {
	mksession <<-'END'
	[{"session": "current", "app": "/nowhere/a", "samples": {"1": 700}}]
	END
	mv data other
	mksession <<-'END'
	[{"session": "current", "app": "/nowhere/a", "samples": {"1": 500}}]
	END
	opfs diff "$PWD/other" current | grep -E '^500 +100.000 + 0'
	opfs cat "current/diff:${PWD//\//%2F}%2Fother/summary" |
		grep -E ' 500 100.000 + 0'
}

@test "a program built anew in its place is compared as a whole, and that is said" {
	echo "int x; void f(void) { x++; } int main(void) { f(); }" >p.c
	${CC:-cc} -O0 -o prog p.c
	off=$(readelf -sW prog | awk '$8 == "f" { print "0x" $2 }')
	mksession <<-END
	[{"session": "old", "app": "$PWD/prog", "mtime": 1000, "samples": {"$off": 500}},
	 {"session": "new", "app": "$PWD/prog", "mtime": $(stat -c %Y prog),
	  "samples": {"$off": 700}}]
	END
	opfs cat new/report | grep -E '^700 .* f$'
	opfs cat new/diff:old/report >text
	grep '^As a whole, .*/prog$' text
	grep -E '^700 +100.000 + 0 +no .*/prog$' text
	run -3 opfs diff --fail-over=1% old new
	[[ $output == *"compared as a whole"*"known on one side only"* ]]
}
