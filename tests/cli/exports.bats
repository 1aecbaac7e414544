#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Files made from whole stacks, for flamegraph.pl, pprof and callgrind_annotate: each is
# exactly the selection, whatever functions are called.

bats_require_minimum_version 1.5.0
load ../lib/opdemo
load ../lib/opfs

exports=$BATS_TEST_DIRNAME/../lib/exports.py

# Two programs that share names of functions, one of them with hostile ones; and sessions
# with stacks in both.
setup_file()
{
	need_command go protoc callgrind_annotate python3
	cd "$BATS_FILE_TMPDIR" || return
	printf 'int %s(int x) { return x; }\n' main parse run twice >p.c
	PYTHONPATH=$OPFS_TOP/tests/lib python3 - >q.c <<-'END'
	import exports
	names = [exports.placeholder(i).decode() for i in range(len(exports.HOSTILE))]
	for name in names + ["main", "parse", "lex"]:
	    print("int %s(int x) { return x; }" % name)
	END
	${CC:-gcc} -w -O0 -o p p.c
	${CC:-gcc} -w -O0 -o q q.c
	python3 "$exports" hostile q
	python3 "$exports" make 1 "$PWD/p" "$PWD/q" >made
	D=$PWD/made.d mksession made
	D=$PWD/demo mksession "$OPFS_TOP/tests/data/stacks.json"
}

setup()
{
	need_programs
	cd "$BATS_TEST_TMPDIR" || return
	D=$BATS_FILE_TMPDIR/demo
}

# demo COMMAND PATH: of the session of golden cases, beside its binaries
demo()
{
	opdemo "$OPFS_BIN/opfs" "$1" --session-dir "$D" "$2"
}

@test "50 random selections: all files agree with the session's own, and report.tsv" {
	run -0 python3 "$exports" check "$OPFS_BIN/opfs" "$BATS_FILE_TMPDIR/made.d" 1 50 \
		read
	[ "$output" = "50 slices" ]
}

@test "hostile names of functions, several events: the whole session" {
	run -0 python3 "$exports" check "$OPFS_BIN/opfs" "$BATS_FILE_TMPDIR/made.d" 1 0 \
		read
	[ "$output" = "1 slices" ]
}

@test "the reference session: the same" {
	need_mount_namespace
	run -0 opdemo python3 "$exports" check "$OPFS_BIN/opfs" "$D" 1 20
	[ "$output" = "20 slices" ]
}

@test "callgrind_annotate: a function that recurs counts once a stack" {
	need_mount_namespace
	demo cat current/event:CPU_CLK_UNHALTED/image:demo/callgrind.out >c
	callgrind_annotate --auto=no --threshold=100 --inclusive=yes c >whole
	# 9 + 4 below main, 2 below a stack that was cut off, 1 without callers
	grep -E '^ +16 .*:recurse ' whole
	grep -E '^ +13 .*:lib_fold ' whole
	grep -E '^ +90 .*:\[all\] ' whole
	callgrind_annotate --auto=no --threshold=100 c >own
	grep -E '^ +7 .*:recurse ' own
	callgrind_annotate --auto=no --threshold=100 --tree=calling c |
		grep -E '^ +13 .*>.*:lib_fold \(13x\)'
}

@test "pprof -top: own and cumulated samples" {
	need_mount_namespace
	demo cat current/image:demo/profile.pb.gz >p.gz
	go tool pprof -top -sample_index=CPU_CLK_UNHALTED -nodefraction=0 p.gz >top
	grep -E ' 7 .* 16 .* recurse$' top
	grep -E ' 40 .* 68 .* crunch$' top
	grep -x 'File: demo' top
	go tool pprof -top -sample_index=LLC_MISSES -nodefraction=0 p.gz >top
	grep -E ' 9 .* 9 .* lib_fold$' top
	go tool pprof -comments p.gz |
		grep -F 'Session current: 180 samples taken, 2 lost'
}

@test "pprof -disasm: addresses are those of the binary, which it does not move" {
	printf '%s\n' 'int leaf(int x) { return x; }' \
		'int call(int x) { return leaf(x) + 1; }' \
		'int main(int c, char **v) { (void)v; return call(c); }' >d.c
	${CC:-gcc} -O0 -o d d.c
	# where the call returns to
	at=0x$(objdump -d d | awk '/<call>:/ { inside = 1 }
		inside && /call .*<leaf>/ { getline; print $1; exit }' | tr -d :)
	echo "[{\"app\": \"$PWD/d\", \"stacks\": [[[\"$PWD/d@$at\",
	       \"$PWD/d@$(offset_of d leaf)\"], 5]]}]" >s.json
	D=s mksession s.json
	D=s opfs cat current/profile.pb.gz >p.gz
	go tool pprof -disasm=call p.gz | grep -E '^ *[.] +5 .*CALL leaf'
}

@test "profile.pb.gz: names as the source has them, mangled beside; no time in gzip" {
	need_mount_namespace
	demo cat current/image:shapes/profile.pb.gz >p.gz
	[ "$(xxd -s 4 -l 4 -p p.gz)" = 00000000 ]
	gzip -dc p.gz |
		protoc --decode=Profile -I "$OPFS_TOP/tests/lib" profile.proto >text
	grep -F '"geo::Box<long>::area() const"' text
	grep -F '"_ZNK3geo3BoxIlE4areaEv"' text
	demo cat current/image:shapes/stacks.folded | grep -Fx \
		'main;geo::Box<long>::area() const 8'
	demo cat current/image:shapes/demangle:none/stacks.folded | grep -Fx \
		'main;_ZNK3geo3BoxIlE4areaEv 8'
}

@test "split: makes types of samples, merge: takes labels away" {
	D=$BATS_FILE_TMPDIR/made.d
	local at=current/event:CPU_CLK_UNHALTED
	opfs cat $at/split:cpu/profile.pb.gz >p.gz
	go tool pprof -raw p.gz |
		grep -E '^CPU_CLK_UNHALTED,cpu:0/count.* .*,cpu:1/count$'
	go tool pprof -raw p.gz | grep 'cpu:\[0 cpu\] tgid:\[7 tgid\] tid:\[7 tid\]'
	opfs cat $at/merge:tid/profile.pb.gz >p.gz
	go tool pprof -raw p.gz >raw
	grep -E '^ *cpu:\[[01] cpu\] tgid:\[7 tgid\]$' raw
	run ! grep tid: raw
	opfs cat $at/merge:all/profile.pb.gz >p.gz
	go tool pprof -raw p.gz >raw
	run ! grep -E 'cpu:|tgid:' raw
	opfs cat $at/split:cpu/callgrind.out |
		grep -x 'events: CPU_CLK_UNHALTED_cpu_0 CPU_CLK_UNHALTED_cpu_1'
}

@test "stacks.folded has room for one event, and says how to choose it" {
	run -1 opfs cat current/stacks.folded
	[[ $output == *"room for one event, and this selects 2"*"event:"* ]]
	opfs ls current/more: | grep -x profile.pb.gz
	run ! grep -x stacks.folded <(opfs ls current/more:)
	opfs ls current/event:LLC_MISSES/more: | grep -x stacks.folded
}

@test "what these files cannot show is refused" {
	for file in stacks.folded profile.pb.gz callgrind.out; do
		for tag in threshold:5 diff:current with:children sort:symbol; do
			run -1 opfs cat "current/event:LLC_MISSES/$tag/$file"
			[[ $output == *"$file does not take"* ]]
		done
	done
	run -1 opfs cat current/event:LLC_MISSES/split:cpu/stacks.folded
}

@test "samples without a stack are shown as such; a selection of only these is refused" {
	cat >s.json <<-'END'
	[{"app": "/x/a", "stacks": [[["/x/a@0x10", "/x/a@0x20"], 3]],
	  "samples": {"0x20": 5}},
	 {"app": "/x/b", "samples": {"0x20": 4}},
	 {"session": "flat", "app": "/x/b", "samples": {"0x20": 4}}]
	END
	D=s mksession s.json
	D=s opfs cat current/stacks.folded >got
	printf '%s\n' '[a];[a] 3' '[truncated: recorded without a stack];[a] 2' \
		'[truncated: recorded without a stack];[b] 4' | diff - got
	for file in stacks.folded profile.pb.gz callgrind.out; do
		D=s run -1 opfs cat "current/image:b/$file"
		[[ $output == *"none of those selected was recorded with its stack"* ]]
		D=s run -1 opfs cat "flat/$file"
		[[ $output == *"no calls were recorded here"* ]]
	done
}

@test "symbols that leave nothing make empty files that the tools still read" {
	need_mount_namespace
	at=current/event:LLC_MISSES/include-symbols:nothing
	[ "$(demo cat $at/stacks.folded | wc -c)" = 0 ]
	demo cat $at/callgrind.out | grep -x 'totals: 0'
	demo cat $at/profile.pb.gz | gzip -dc |
		protoc --decode=Profile -I "$OPFS_TOP/tests/lib" profile.proto >text
	run ! grep '^sample {' text
}

@test "lines that would take any space are refused" {
	python3 - "$BATS_FILE_TMPDIR/q" >s.json <<-'END'
	import json, sys
	sys.path.insert(0, __import__("os").environ["OPFS_TOP"] + "/tests/lib")
	import stackread
	elf = stackread.Symbols(sys.argv[1])
	vma = next(v for v, _, name in elf.functions if len(name) == 5000)
	off = next(vma - v + o for o, v, n in elf.loads if v <= vma < v + n)
	frame = "%s@%#x!" % (sys.argv[1], off)
	print(json.dumps([{"app": sys.argv[1],
	                   "stacks": [[[frame] * n, 1] for n in range(1, 400)]}]))
	END
	D=s mksession s.json
	D=s run -1 opfs cat current/stacks.folded
	[[ $output == *"larger than 256 MiB"* ]]
	D=s opfs cat current/callgrind.out | grep -x 'totals: 399'
}
