#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Memory without a file is one image for all processes, unless these are told apart.

bats_require_minimum_version 1.5.0
load ../lib/need
load ../lib/opfs

setup()
{
	need_programs
	cd "$BATS_TEST_TMPDIR"
}

several_processes()
{
	mksession <<-'END'
		{"files": [
		 {"app": "/bin/a", "tgid": 7, "tid": 7, "samples": {"0x10": 5}},
		 {"app": "/bin/a", "tgid": 7, "tid": 7,
		  "image": "anon:[vdso]:7:1000:1fff",
		  "stacks": [[["/bin/a@0x20", "anon:[vdso]:7:1000:1fff@0x10"], 3]]},
		 {"app": "/bin/a", "tgid": 8, "tid": 8,
		  "image": "anon:[vdso]:8:5000:5fff",
		  "stacks": [[["/bin/a@0x20", "anon:[vdso]:8:5000:5fff@0x10"], 4]]},
		 {"app": "/bin/b", "tgid": 9, "tid": 9,
		  "image": "anon:[vdso]:9:1000:1fff", "samples": {"0x20": 2}},
		 {"app": "/bin/a", "tgid": 7, "tid": 7,
		  "image": "anon:[heap]:7:8000:8fff", "samples": {"0x8": 1}},
		 {"app": "/bin/b", "tgid": 9, "tid": 9,
		  "image": "anon:anon:9:9000:9fff", "samples": {"0x8": 1}},
		 {"app": "/bin/b", "tgid": 9, "tid": 9,
		  "image": "anon:anon:9:b000:bfff", "samples": {"0x8": 6}}]}
	END
}

# shows PATH LINE...: these are all lines with memory, in that order; blanks are one
shows()
{
	local path=$1
	shift
	opfs cat "current/$path" >all
	grep -E '\[vdso\]|anon' all | tr -s ' \t' ' ' | sed 's/^ //; s/ $//' >got
	printf '%s\n' "$@" | diff -u - got
}

@test "regions of one label are one row of each application, in every file" {
	several_processes
	shows with:no-header/report '7 31.8182 [vdso] a [vdso]' '7 31.8182 anon b anon' \
		'2 9.0909 [vdso] b [vdso]'
	shows with:no-header/summary '7 53.8462 [vdso]' '7 77.7778 anon' \
		'2 22.2222 [vdso]'
	shows image:a/with:no-header/details '00000000 7 53.8462 [vdso] [vdso]'
	[ "$(sed -n '/vdso/{n;p}' all)" = '  00000010 7        100.000' ]
	shows image:a/stacks.folded '[a];[[vdso]] 7'
	shows image:a/with:no-header/calltree '7 53.8462 7 53.8462 [vdso] .[[vdso]]'
	opfs cat current/image:a/with:no-header/callgraph | tr -s ' ' >got
	grep -qxF ' 7 58.3333 [vdso] [vdso]' got
	[ "$(opfs cat current/report.tsv | cut -f3,5 | grep vdso)" = \
		"$(printf '[vdso]\t7\n[vdso]\t2')" ]
	opfs cat current/report.json | python3 -c '
import json, sys
r = json.load(sys.stdin)
names = [i["name"] for i in r["images"]]
assert names.count("[vdso]") == names.count("anon") == 1 and len(names) == 4, names
assert sum(row["samples"][0] for row in r["rows"]) == 22
'
	[ "$(opfs cat current/report.xml | grep -c 'module.*vdso')" = 2 ]
	[ "$(opfs cat current/status | grep -c 'unresolved: \[vdso\]: 9 ')" = 1 ]
	opfs cat current/flamegraph.svg | grep -q '\[\[vdso\]\]'
	opfs cat current/callgrind.out | grep -q 'vdso'
	opfs cat current/profile.pb.gz | gzip -dc | grep -qa vdso
}

@test "one region alone keeps its name" {
	several_processes
	opfs cat current/report | grep -qF ' [heap] (tgid:7 range:0x8000-0x8fff) a '
	opfs cat current/image:b/lib-image:*vdso*/report |
		grep -qF ' [vdso] (tgid:9 range:0x1000-0x1fff)'
}

@test "where processes are asked for the memory of each is a row of its own" {
	local of_7='[vdso] (tgid:7 range:0x1000-0x1fff)'
	local of_8='[vdso] (tgid:8 range:0x5000-0x5fff)'

	several_processes
	shows split:tgid/with:no-header/image:a/report \
		"0 0 4 100.000 $of_8 $of_8" "3 33.3333 0 0 $of_7 $of_7"
	[ "$(opfs cat current/split:tid/report | grep -c vdso)" = 3 ]
	[ "$(opfs cat current/tgid:9/report | grep -c 'anon (tgid:9')" = 2 ]
	[ "$(opfs cat current/tid:9/report | grep -c 'anon (tgid:9')" = 2 ]
}

@test "memory is joined in sums, and on both sides of a comparison" {
	several_processes
	cp -r s/samples/current s/samples/other
	[ "$(opfs cat session:current,other/with:no-header/report |
		awk '$3 == "[vdso]" { print $1 }' | xargs)" = '14 4' ]
	shows diff:other/with:no-header/report '7 31.8182 0 no [vdso] a [vdso]' \
		'7 31.8182 0 no anon b anon' '2 9.0909 0 no [vdso] b [vdso]'
}

# jit_session: two processes with functions at the same addresses, of other names.
jit_session()
{
	local tgid memory="s/samples/current/{root}/bin/java/{dep}/{anon:anon}"

	mksession <<-'END'
		{"files": [
		 {"app": "/bin/java", "tgid": 77, "tid": 77,
		  "image": "anon:anon:77:7f0000000000:7f0000000fff",
		  "samples": {"0x10": 30, "0x42": 5, "0x200": 1}},
		 {"app": "/bin/java", "tgid": 78, "tid": 78,
		  "image": "anon:anon:78:7f0000000000:7f0000000fff",
		  "stacks": [[["/bin/java@0x20",
		   "anon:anon:78:7f0000000000:7f0000000fff@0x43",
		   "anon:anon:78:7f0000000000:7f0000000fff@0x10"], 20],
		   [["anon:anon:78:7f0000000000:7f0000000fff@0x50"], 4],
		   [["anon:anon:78:7f0000000000:7f0000000fff@0x200"], 2]]},
		 {"app": "/bin/java", "tgid": 79, "tid": 79,
		  "image": "anon:anon:79:7f0000000000:7f0000000fff",
		  "samples": {"0x10": 8}},
		 {"app": "/bin/java", "tgid": 80, "tid": 80,
		  "image": "anon:anon:80:7f0000000000:7f0000000fff",
		  "samples": {"0x10": 9}}]}
	END
	for tgid in 77 78; do
		printf '%s\n' .text ".type one$tgid, @function" \
			"one$tgid: .fill 64, 1, 0x90" ".size one$tgid, 64" \
			'.type two, @function' 'two: .fill 64, 1, 0x90' \
			'.size two, 64' >jo.s
		"${CC:-gcc}" -c -o jo.o jo.s
		ld -Ttext=0x7f0000000000 -e 0 -o "$memory/$tgid.jo" jo.o
	done
}

@test "code that processes made is one image, whose functions keep their names" {
	jit_session
	opfs cat current/with:no-header/report | awk '{ print $1, $3, $NF }' >got
	printf '%s\n' '30 [jit] one77' '20 [jit] one78' '17 anon anon' '5 [jit] two' \
		'4 [jit] two' '3 [jit] symbol)' | diff - got
	[ "$(opfs cat current/summary | grep -c '\[jit\]')" = 1 ]
	opfs cat current/summary | grep -qE '^\s+62 .* \[jit\]$'
	# addresses are those of each process
	opfs cat current/details | sed -n '/one78/{n;p}' |
		grep -qE '^  00007f0000000010 20 '
	opfs cat current/details | sed -n '/(no symbol)/{n;p;n;p}' >got
	grep -qE '^  00007f0000000200 1 ' got
	grep -qE '^  00007f0000000200 2 ' got
	opfs cat current/stacks.folded >got
	grep -qx '\[java\];two_\[j\];one78_\[j\] 20' got
	opfs cat current/symbol:one78/stacks.folded >got
	grep -qx '\[java\];two_\[j\];one78_\[j\] 20' got
	[ "$(opfs cat current/symbol:two/with:no-header/report | awk '{ print $1 }' |
		xargs)" = '5 4' ]
	[ "$(opfs cat current/callers:one78/with:no-header/report |
		awk '{ print $1, $NF }')" = '20 one78' ]
	opfs cat current/callgraph >got
	grep -qE '^  20 +100.000 +\[jit\] .*two$' got
}
