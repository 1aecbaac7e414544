#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# details and callgraph: against what OProfile printed, and of a program that was
# recorded.

bats_require_minimum_version 1.5.0
load ../lib/opdemo
load ../lib/record
load ../lib/opfs

setup_file()
{
	local cc=${CC:-gcc} dir=$BATS_FILE_TMPDIR
	"$cc" -O1 -g -fno-omit-frame-pointer -shared -fPIC -DLIBRARY \
		-o "$dir/libcalls.so" "$progs/calls.c"
	"$cc" -O1 -g -fno-omit-frame-pointer -o "$dir/calls" "$progs/calls.c" -L"$dir" \
		-lcalls \
		-Wl,-rpath,"$dir"
	chmod 755 "$BATS_RUN_TMPDIR" "$dir" 2>/dev/null || true
}

setup()
{
	need_programs
	D="$BATS_TEST_TMPDIR/s"
}

demo=image:/opt/opdemo/bin/demo
cycles=event:CPU_CLK_UNHALTED
alone=with:exclude-dependent

# The reference session's transcripts: see doc/differences.md for the edits.
reference()
{
	need_mount_namespace
	same "$@"
}

# The line that callgraph has and OProfile has not.
said='/^\(vma  *\)\{0,1\}samples  /i\
Callers above a symbol and callees below it count samples '
said+='that were taken during calls, not calls'

@test "30: places of symbols" {
	reference 30-details.txt current/$demo/$alone/$cycles/details
}

@test "31: with source lines" {
	reference 31-details-g.txt current/$demo/$alone,debug-info/$cycles/details
}

@test "32: with cumulated samples, which begin anew with each symbol" {
	reference 32-details-a.txt current/$demo/$alone,accumulated/$cycles/details
}

@test "33: of two events" {
	reference 33-details-2ev.txt current/$demo/$alone/details \
		's/^vma /         CPU_CLK_UNHALT... LLC_MISSES:6000\n&/'
}

@test "34: in percent of the whole, with images shown as themselves" {
	reference 34-details-global.txt current/$demo/$cycles/with:global-percent/details
}

@test "40: callers and callees" {
	reference 40-cg.txt current/$demo/$cycles/callgraph "$said"
}

@test "41: without dependent images" {
	reference 41-cg-x.txt current/$demo/$cycles/$alone/callgraph "$said"
}

@test "42: with addresses and source lines" {
	reference 42-cg-w-g.txt \
		current/$demo/$cycles/with:show-address,debug-info/callgraph "$said"
}

@test "43: in percent of the whole" {
	reference 43-cg-global.txt current/$demo/$cycles/with:global-percent/callgraph \
		"$said"
}

@test "44: a threshold, for symbols and for their callers and callees" {
	reference 44-cg-threshold.txt current/$demo/$cycles/threshold:10/callgraph "$said"
}

@test "45: with cumulated samples, which begin anew with each group" {
	reference 45-cg-a.txt current/$demo/$cycles/with:accumulated/callgraph "$said"
}

# OProfile loses the arcs between images then; here they are those of 40.
@test "46: merged libraries keep the arcs that lead into them" {
	reference 40-cg.txt current/$demo/$cycles/merge:lib/callgraph \
		"$said
		s/^\(samples .*\)image name  /\1app name    /"
}

@test "47: of two events" {
	reference 47-cg-2ev.txt current/$demo/callgraph "$said
		s/^samples  %/CPU_CLK_UNHALT... LLC_MISSES:6000\n&/"
}

@test "48: of all applications" {
	reference 48-cg-all.txt current/$cycles/callgraph "$said"
}

@test "49: blocks in another order" {
	reference 49-cg-sort-symbol.txt current/$demo/$cycles/sort:symbol/callgraph \
		"$said"
}

@test "99: details does not take what callgraph takes, nor the other way round" {
	need_mount_namespace
	for path in with:inlines/details diff:base/callgraph sort:diff/details \
		with:exclude-dependent/merge:lib/callgraph; do
		run -1 opdemo "$OPFS_BIN/opfs" cat --session-dir s1 "current/$path"
		[[ $output == "opfs cat: current/$path: "* ]]
	done
}

@test "one symbol's block has callers and callees, which have no block of their own" {
	need_mount_namespace
	opdemo "$OPFS_BIN/opfs" cat --session-dir s1 \
		current/$demo/$cycles/symbol:lib_hash/with:no-header/callgraph \
		>"$BATS_TEST_TMPDIR/got"
	diff -u - "$BATS_TEST_TMPDIR/got" <<-EOF
	$(printf '%079d' 0 | tr 0 -)
	  190      100.000  demo                     main
	200      100.000  libdemo.so               lib_hash
	  200      71.4286  libdemo.so               lib_hash [self]
	  80       28.5714  libdemo.so               step
	$(printf '%079d' 0 | tr 0 -)
	EOF
}

@test "a symbol that only calls others has a call graph, and no samples" {
	local prog=$BATS_FILE_TMPDIR/calls at main

	at=0x$(nm "$prog" | sed -n 's/ [tT] _start$//p')
	main=0x$(nm "$prog" | sed -n 's/ T main$//p')
	mksession <<-EOF
	[{"app": "$prog", "samples": {"$at": 5}},
	 {"app": "$prog", "callee": "$prog",
	  "samples": {"$(printf '0x%x%08x' $main $at)": 5}}]
	EOF
	for demangle in '' /demangle:none; do
		opfs cat "current/symbol:main$demangle/with:no-header/callgraph" \
			>"$BATS_TEST_TMPDIR/got"
		[ "$(callees "$BATS_TEST_TMPDIR/got" main)" = $'5 _start\n0 self' ]
	done
	opfs why current/symbol:main
	run -0 opfs cat current/symbol:main/report
	[[ $output == "no samples: symbol:"*"callgraph"* ]]
	run -1 opfs cat current/symbol:nosuch/callgraph
	# nor does it make another symbol's part of a report larger
	[ "$(opfs cat current/symbol:_start/report.tsv |
		awk -F'\t' 'NR > 1 { n += $5 } END { print n }')" = 5 ]
}

@test "exclude-dependent lists no functions that call only what it leaves out" {
	local prog=$BATS_FILE_TMPDIR/calls lib=$BATS_FILE_TMPDIR/libcalls.so at main

	at=0x$(nm "$prog" | sed -n 's/ [tT] _start$//p')
	main=0x$(nm "$prog" | sed -n 's/ T main$//p')
	arcs() {
		mksession <<-EOF
		[{"app": "$prog", "samples": {"$at": 5}},
		 {"app": "$prog", "callee": "$1",
		  "samples": {"$(printf '0x%x%08x' $main "$2")": 5}}]
		EOF
		opfs cat "current/$alone,no-header/callgraph"
		opfs cat "current/$alone,callgraph/report.xml"
	}
	arcs "$lib" 0x10 >"$BATS_TEST_TMPDIR/got"
	grep -q _start "$BATS_TEST_TMPDIR/got"
	run ! grep -w main "$BATS_TEST_TMPDIR/got"
	D=$BATS_TEST_TMPDIR/own
	arcs "$prog" $at >"$BATS_TEST_TMPDIR/got"
	[ "$(callees "$BATS_TEST_TMPDIR/got" main)" = $'5 _start\n0 self' ]
	grep -q 'name="main"' "$BATS_TEST_TMPDIR/got"
}

@test "details add up to the rows of report" {
	need_mount_namespace
	opdemo "$OPFS_BIN/opfs" cat --session-dir s1 \
		current/$cycles/with:no-header/details |
		awk '/^  / { below += $2; next } { above += $2 }
		END { print above, below; exit above != below || above != 2223 }'
}

@test "the kernel's first function and anonymous memory are callers too" {
	mksession <<-'EOF'
	[{"app": "/nonexistent/demo", "samples": {"0x10": 5}},
	 {"app": "/nonexistent/demo", "image": "anon:anon:7:1000:1fff",
	  "callee": "/nonexistent/demo", "samples": {"0x2000000010": 3}},
	 {"app": "/nonexistent/demo", "image": "kern:ext4", "kernel": true,
	  "callee": "kern:ext4", "samples": {"0x0000000000000010": 4}}]
	EOF
	run -0 opfs cat current/with:no-header/callgraph
	[[ $output == \
		*$'\n  3        100.000  anon (tgid:7 range:0x1000-0x1fff) '*$'\n5 '* ]]
	[[ $output == *$'\n  4 '*'/ext4'* ]]
}

# callers FILE SYMBOL, callees FILE SYMBOL: "SAMPLES NAME" of one side of a block.
callers()
{
	awk -v want="$2" '/^---/ { n = 0; next } /^  / { side[++n] = $1 " " $NF; next }
		$NF == want { for (i = 1; i <= n; i++) print side[i] }' "$1"
}
callees()
{
	awk -v want="$2" '/^---/ { on = 0; next } !/^  / { on = $NF == want; next }
		on { print $1, $NF == "[self]" ? "self" : $NF }' "$1"
}

# called_by CALLERS: what callers() says names these, the heaviest first, and besides
# others with at most a hundredth of the samples: where a function's frame is not there
# yet, or is gone, frame pointers lead past its caller.
called_by()
{
	sort -rn | awk -v want="$1" '
		BEGIN { n = split(want, name) }
		{ print; all += $1 }
		NR <= n { wrong += $2 != name[NR] }
		NR > n { others += $1 }
		END { exit wrong || NR < n || others * 100 > all }'
}

@test "the call graph of a program that was recorded" {
	local got=$BATS_TEST_TMPDIR/got all often
	cd "$BATS_TEST_TMPDIR"
	can_record
	export WORKED=$PWD/worked
	record -g -F 1999 -- "$BATS_FILE_TMPDIR/calls"
	"$OPFS_BIN/opfs" cat --session-dir oprofile_data \
		current/image:calls/with:no-header/callgraph >"$got"

	# leaf: called by two, by their weights
	callers "$got" leaf >leaf
	called_by "often rarely" <leaf
	often=$(awk '$2 == "often" { print $1 }' leaf)
	all=$(awk '{ n += $1 } END { print n }' leaf)
	sampled "$all" "$(worked leaf)" 1999
	share "$often" "$all" 750

	# into a library and out of it again
	callers "$got" in_library | called_by main
	[[ $(callees "$got" in_library) == *called_back* ]]
	callers "$got" called_back | called_by in_library main

	# a recursion calls itself and is called by itself
	[[ $(callees "$got" deeper) == *" deeper"* ]]
	[[ $(callers "$got" deeper) == *" deeper"* ]]
	[[ $(callers "$got" deeper) == *" main"* ]]
	[[ $(callees "$got" main) == *" often"* ]]
}

# ---- binaries that are not where they were

@test "image-path: finds moved binaries by name, root: prefixes paths" {
	need_mount_namespace
	opdemo sh -c '
		mkdir -p /opt/other/deep/er /opt/root/opt/opdemo &&
		cp -p bin/libdemo.so /opt/other/deep &&
		mv bin/demo /opt/other/deep/er && cp -rp bin /opt/root/opt/opdemo &&
		cp -p /opt/other/deep/er/demo /opt/root/opt/opdemo/bin &&
		"$1" cat --session-dir s1 current/$2/image-path:%2Fopt%2Fother/report \
			>found &&
		mv bin elsewhere &&
		"$1" cat --session-dir s1 current/$2/root:%2Fopt%2Froot/report >below &&
		diff /dev/stdin found && diff found below
	' sh "$OPFS_BIN/opfs" "$demo/$cycles" < <(opdemo_transcript 10-symbols.txt)
}

@test "image-path: a module is shown by the name of its file there" {
	cd "$BATS_TEST_TMPDIR"
	mkdir mods
	echo 'int work(int x) { return x + 1; }' >m.c
	${CC:-gcc} -c -o m.o m.c
	ld -r --build-id -o mods/foo-bar.ko m.o
	mksession <<-'END'
		[{"app": "kern:foo_bar", "kernel": true, "samples": {"0x1": 5}},
		 {"app": "kern:other", "kernel": true, "samples": {"0x1": 3}}]
	END
	at=current/image-path:${PWD//\//%2F}%2Fmods
	opfs cat "$at/report" >got
	grep -E '^5 +62\.5000 +foo-bar\.ko +work$' got
	grep -E '^3 +37\.5000 +other +/other$' got
	opfs cat "$at/with:long-filenames/report" >got
	grep -E " $PWD/mods/foo-bar\.ko +work$" got
	# it is asked for by the name that was sampled
	opfs cat "$at/image:foo_bar/report" | grep -E '^5 +100\.000 +work$'
	opfs cat current/report | grep -E '^5 +62\.5000 +foo_bar +/foo_bar$'
}

@test "image-path: two files of a name are none, and status tells why" {
	need_mount_namespace
	run opdemo sh -c '
		mkdir -p /opt/other/a /opt/other/b && cp -p bin/demo /opt/other/a &&
		cp -p bin/demo /opt/other/b && rm bin/demo &&
			ln -s a/demo /opt/other/demo &&
		"$1" cat --session-dir s1 current/$2/image-path:%2Fopt%2Fother/report \
			current/image-path:%2Fopt%2Fother/status &&
		rm -r /opt/other/b &&
		"$1" cat --session-dir s1 current/$2/image-path:%2Fopt%2Fother/report
	' sh "$OPFS_BIN/opfs" "$demo/$cycles"
	[ "$status" = 0 ]
	grep -qE '^614 +55.9708  demo {21}/opt/opdemo/bin/demo$' <<<"$output"
	grep -q '^unresolved: /opt/opdemo/bin/demo: .*more than one file is called so, ' \
		<<<"$output"
	[[ $output == *$'\n353      32.1787  demo                     crunch\n'* ]]
}

@test "image-path: another binary of the name is not taken for it" {
	need_mount_namespace
	run opdemo sh -c '
		mkdir /opt/other && cp bin/tool /opt/other/demo && rm bin/demo &&
		"$1" cat --session-dir s1 current/$2/image-path:%2Fopt%2Fother/report
	' sh "$OPFS_BIN/opfs" "$demo/$cycles"
	[ "$status" = 0 ]
	grep -qE '^614 +55.9708  demo {21}/opt/opdemo/bin/demo$' <<<"$output"
}

# ---- columns

@test "split: makes columns of CPUs, threads and processes" {
	cd "$BATS_TEST_TMPDIR"
	mksession <<-'EOF'
	[{"app": "/n/a", "samples": {"0x10": 5}, "cpu": 10, "tgid": 7, "tid": 7},
	 {"app": "/n/a", "samples": {"0x10": 3}, "cpu": 2, "tgid": 7, "tid": 8},
	 {"app": "/n/b", "samples": {"0x10": 2}, "cpu": 2, "tgid": 9, "tid": 9}]
	EOF
	opfs cat current/split:cpu/summary >got
	diff -u - got <<-EOF
	CPU: CPU with timer interrupt
	Profiling through timer interrupt
	Samples on CPU 2
	Samples on CPU 10
	            cpu:2|           cpu:10|
	  samples|      %|  samples|      %|
	------------------------------------
	        3 60.0000         5 100.000 a
	        2 40.0000         0       0 b
	EOF
	run opfs cat current/split:tgid/summary
	local ids='Processes with a thread group ID of'
	[[ $output == *$'\n'"$ids 7"$'\n'"$ids 9"$'\n'* ]]
	[[ $output == *$'\n           tgid:7|           tgid:9|\n'* ]]
	run opfs cat current/split:tid/details
	[[ $output == *$'\nProcesses with a thread ID of 7\n'* ]]
	run -1 opfs cat current/split:cpu,tid/summary
	[[ $output == *"columns differ in tid (8,9,7) and in cpu as well"* ]]
	run -0 opfs cat current/image:a/split:cpu,tid/tid:8/summary
	run opfs cat current/image:b/split:cpu/summary
	[[ $output != *NOT* ]]
}

@test "split: says so where nothing was kept apart" {
	cd "$BATS_TEST_TMPDIR"
	mksession <<-'EOF'
	[{"app": "/n/a", "samples": {"0x10": 5}, "tgid": 7, "tid": 7}]
	EOF
	for f in summary report details; do
		run -0 opfs cat current/split:cpu/$f
		why='not kept apart by CPU (opcollect --separate=cpu does)'
		grep -qxF "NOT split:cpu: these samples were $why" <<<"$output"
		run opfs cat current/split:tgid/$f
		[[ $output != *NOT* ]]
		run opfs cat current/split:cpu/with:no-header/$f
		[[ $output != *NOT* ]]
	done
}

@test "threshold: keeps what one event has enough of, in every file" {
	cd "$BATS_TEST_TMPDIR"
	mksession <<-'EOF'
	[{"app": "/n/a", "event": "A", "samples": {"0x10": 99}},
	 {"app": "/n/b", "event": "A", "samples": {"0x10": 1}},
	 {"app": "/n/b", "event": "B", "samples": {"0x10": 1}},
	 {"app": "/n/a", "event": "A", "callee": "/n/b",
	  "samples": {"0x1000000010": 1}},
	 {"app": "/n/a", "event": "B", "callee": "/n/b",
	  "samples": {"0x1000000010": 1}}]
	EOF
	for f in summary report callgraph; do
		opfs cat "current/threshold:50/with:no-header/$f" >got
		grep -w b got || { echo "$f:"; cat got; false; }
	done
	# a caller, of which most samples are of the other event, in the block of b
	grep -E '^ +1 .* a ' got
	opfs cat current/event:A/threshold:50/with:no-header/summary >got
	run -1 grep -w b got
}

@test "merge:unitmask joins events and shows all bits" {
	cd "$BATS_TEST_TMPDIR"
	mksession <<-'EOF'
	[{"app": "/n/a", "event": "E", "um": 1, "cpu_type": 41, "samples": {"0x10": 5}},
	 {"app": "/n/a", "event": "E", "um": 64, "cpu_type": 41, "samples": {"0x10": 3}}]
	EOF
	run opfs cat current/summary
	[ "${#lines[@]}" = 7 ]
	run opfs cat current/merge:unitmask/summary
	[[ $output == *"Counted E events with a unit mask of 0x41 "* ]]
	[[ $output == *$'\n        8 100.000 a' ]]
}

@test "merge:unitmask orders columns by event and count" {
	cd "$BATS_TEST_TMPDIR"
	mksession <<-'EOF'
	[{"app": "/n/a", "event": "A", "um": 6, "cpu_type": 41, "samples": {"0x10": 5}},
	 {"app": "/n/a", "event": "A", "um": 8, "cpu_type": 41, "samples": {"0x10": 4}},
	 {"app": "/n/a", "event": "B", "um": 1, "cpu_type": 41, "samples": {"0x10": 3}}]
	EOF
	opfs cat current/merge:unitmask,cpu/with:no-header/report >got
	grep -E '^9 +100.000  3 +100.000 +/n/a$' got
}

@test "the application is shown where a filter leaves several, each with its event" {
	cd "$BATS_TEST_TMPDIR"
	mksession <<-'EOF'
	[{"app": "/n/a", "event": "A", "image": "/n/l", "samples": {"0x10": 5}},
	 {"app": "/n/b", "event": "B", "image": "/n/l", "samples": {"0x10": 4}},
	 {"app": "/n/b", "event": "A", "image": "/n/m", "samples": {"0x10": 3}}]
	EOF
	for tag in symbol:%2Fn%2Fl include-symbols:%2Fn%2Fl exclude-symbols:%2Fn%2Fm; do
		opfs cat "current/$tag/report" >got
		grep -E '^5 +100.000  0 +0 +l +a +/n/l$' got
		grep -E '^0 +0 +4 +100.000 +l +b +/n/l$' got
	done
	# one that is left needs no column
	opfs cat current/event:A/symbol:%2Fn%2Fm/report | grep -E '^3 +100.000 +m +/n/m$'
}

@test "where no calls were recorded there is no callgraph, and why says how to get it" {
	cd "$BATS_TEST_TMPDIR"
	mksession \
		<<<'[{"app": "/n/a", "samples": {"0x10": 5}}]'
	for path in current image:%2Fn%2Fa; do
		run -0 opfs ls $path
		[[ $output == *report* ]]
		[[ $output != *callgraph* ]]
		run ! opfs cat $path/callgraph
		[[ $output == *"no calls were recorded here: opcollect record -g "* ]]
		run opfs why $path/callgraph
		[[ $output == *"no calls were recorded here: opcollect record -g "* ]]
	done
	mksession <<<'[{"app": "/n/a", "callee": "/n/a", "samples": {"0x1000000010": 5}}]'
	opfs ls current | grep -x callgraph
}
