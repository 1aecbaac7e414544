#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# "opcollect record -g" keeps the stacks that there were.

bats_require_minimum_version 1.5.0
load ../lib/record_tests

setup_file()
{
	local cc=${CC:-gcc} b=$BATS_FILE_TMPDIR

	"$cc" -O1 -g -fno-omit-frame-pointer -pthread -o "$b/deep" "$progs/deep.c"
	"$cc" -O1 -g -fno-omit-frame-pointer -shared -fPIC -DLIBRARY -o "$b/libdeep.so" \
		"$progs/deep.c"
	chmod 755 "$BATS_RUN_TMPDIR" "$b" 2>/dev/null || true
}

@test "stacks are those that a program wrote down of itself" {
	export PLACES=$PWD/places
	run -0 --separate-stderr record -g -F 1999 -- "$b/deep" "$b/libdeep.so" 200
	assert_balance
	python3 "$progs/same_stacks.py" oprofile_data "$b/deep" places >counts
	cat counts
	all=0
	while read -r place samples; do
		all=$((all + samples))
		[ "$place" = other ] || sampled "$samples" "$(worked "$place")" 1999 \
			$((taken - stored))
	done <counts
	[ "$(wc -l <counts)" = 9 ]
	# at most some on the way in and out
	[ $(($(awk '$1 == "other" { print $2 }' counts) * 50)) -le "$all" ]
}

@test "each sample has its stack, however samples are filed" {
	export PLACES=$PWD/places
	for separate in none lib kernel thread cpu; do
		run -0 --separate-stderr record -g --separate=$separate -F 999 -- \
			"$b/deep" "$b/libdeep.so" 30
		assert_balance
		[ "$(cat oprofile_data/samples/current/stats/total_stacks)" = "$stored" ]
	done
}

@test "what is added to a session adds to its stacks, and its arcs are made anew" {
	export PLACES=$PWD/places
	for _ in 1 2 3; do
		run -0 --separate-stderr record --append -g -F 999 -- \
			"$b/deep" "$b/libdeep.so" 30
		ask balance oprofile_data
		before=$(stat -c %s oprofile_data/samples/current/stacks/frames)
	done
	# samples without stacks leave them alone
	run -0 --separate-stderr record --append -F 999 -- "$b/deep" "$b/libdeep.so" 30
	[ "$(stat -c %s oprofile_data/samples/current/stacks/frames)" = "$before" ]
	[ "$(cat oprofile_data/samples/current/stats/total_stacks)" -lt \
		"$(cat oprofile_data/samples/current/stats/stored_samples)" ]
}

@test "why stacks are not whole is told where many are not" {
	printf 'int main(void) { for (volatile long i = 0; i < 300000000; i++); }' >p.c
	${CC:-gcc} -O1 -fomit-frame-pointer -o p p.c
	record -g -F 999 -- ./p 2>told
	grep -E '^  bt_no_caller: [0-9]+ of [0-9]+: .*-fno-omit-frame-pointer$' told
	export PLACES=$PWD/places
	record -g -F 999 -- "$b/deep" "$b/libdeep.so" 30 2>told
	run -1 grep bt_no_caller told
}

# The number of frames of each stack in oprofile_data, a line each, and "cut" if it begins
# at "depth limit".
depths() {
	PYTHONPATH=$OPFS_TOP/tests/lib python3 -c '
import opsamples
for row in opsamples.stacks("oprofile_data"):
    cut = row["stack"][0] == [None, 5, False]
    print(len(row["stack"]) - cut, "cut" if cut else "whole")'
}

@test "--callgraph=DEPTH takes stacks of so many frames, and counts deeper ones" {
	export PLACES=$PWD/places
	for depth in 1 5 20; do
		rm -rf oprofile_data
		run -0 --separate-stderr record --callgraph=$depth -F 1999 -- \
			"$b/deep" "$b/libdeep.so" 30
		assert_balance
		depths | sort -u >got
		cat got
		grep -qx "$depth cut" got
		awk -v most=$depth '$1 > most || ($1 < most && $2 == "cut") { bad = 1 }
			END { exit bad }' got
		[ "$(cat oprofile_data/samples/current/stats/stacks_depth)" -gt 0 ]
	done
	[[ $stderr = *'  stacks_depth: '*'; --callgraph=FRAMES says how many, '* ]]
}

@test "-g behind --callgraph=DEPTH leaves the depth, and a depth of 0 takes no stacks" {
	export PLACES=$PWD/places
	run -0 record --callgraph=5 -g -F 1999 -- "$b/deep" "$b/libdeep.so" 30
	depths >got
	grep -qx '5 cut' got
	awk '$1 > 5 { bad = 1 } END { exit bad }' got
	run -0 record -g --callgraph=0 -F 999 -- "$b/deep" "$b/libdeep.so" 10
	[ ! -e oprofile_data/samples/current/stacks ]
}

@test "a depth that the kernel does not take is told, with the sysctl" {
	local most

	most=$(cat /proc/sys/kernel/perf_event_max_stack)
	[ "$most" -lt 1024 ] || skip "this kernel takes stacks of any depth"
	for how in 1024 fp,1024; do
		run -0 record --callgraph=$how -F 999 -- true
		said="--callgraph=fp,1024: stacks of up to $most frames only: sysctl"
		[[ $output = *"$said kernel.perf_event_max_stack "* ]]
		grep -rF -- "$said" oprofile_data/samples/current/stats
	done
	run -0 record --callgraph="$most" -F 999 -- true
	[[ $output != *'frames only'* ]]
}

@test "a wrong depth is refused" {
	run -2 record --callgraph=1025 -- true
	said='--callgraph, frames of a stack: "1025" is not a number from 0 to 1024'
	[[ $output = *"$said"* ]]
	for how in -1 many ''; do
		run -2 record --callgraph=$how -- true
		[[ $output = *"--callgraph: \"$how\" is none of fp[,FRAMES], dwarf["* ]]
	done
}

@test "a number behind -g is no depth, and the way to give one is told" {
	run -127 record -g 5 true
	[[ $output = *'5: no such command; '* ]]
	[[ $output = *'-g takes no argument, --callgraph=5 does'* ]]
	run -127 record --callgraph 12 true
	[[ $output = *'12: no such command; '*'--callgraph=12 does'* ]]
	run -2 record -g5 true
	[[ $output = *'-g: takes no argument; --callgraph=5 does'* ]]
	run -127 record 5 true
	[[ $output = *'5: command not found in PATH'* ]]
	# a program of that name is a program
	printf '#!/bin/sh\nexit 3\n' >7
	chmod 755 7
	PATH=$PWD:$PATH run -3 record -g 7
}

@test "--stack-limit takes a size" {
	record -g --stack-limit=8K -F 999 -- true
	for size in 0 many 7 5m; do
		run -2 record -g --stack-limit=$size -- true
		[[ $output == *"--stack-limit: \"$size\" is no size"* ]]
	done
}

@test "directories of sample files are made once, and nobody tries again" {
	need_command strace
	# other calls do not wait for strace; nobody can look for leaks beneath it
	export PLACES=$PWD/places ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
	strace -f --seccomp-bpf -qq -o trace -e trace=mkdirat \
		"$OPFS_BIN/opcollect" record -e TIMER -g -F 999 --symbols=0 -- \
		"$b/deep" "$b/libdeep.so" 30
	cd oprofile_data/samples/current
	# those that are there by now, in place of the deepest one
	tried=$(grep -c '"[^"]*{[a-z]*}.*EEXIST' ../../../trace) || true
	files=$(find . -path '*{dep}*' -type f | wc -l)
	echo "$tried tries for $files files"
	[ "$files" -gt 4 ]
	[ "$tried" -le "$files" ]
	made=$(grep -c '"[^"]*{[a-z]*}.*= 0$' ../../../trace)
	[ "$made" = "$(find . -path '*{*}*' -type d | wc -l)" ]
}
