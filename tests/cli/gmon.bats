#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# gmon.out, read by gprof, says what `report` says.

bats_require_minimum_version 1.5.0
load ../lib/opdemo
load ../lib/opfs

progs=$BATS_TEST_DIRNAME/progs

setup()
{
	need_programs
	cd "$BATS_TEST_TMPDIR" || return
}

# session BINARY: samples all over it, in ./s
session()
{
	rm -rf s
	python3 "$progs/gmon_samples.py" "$1" |
		mksession
}

# What gprof finds: samples and name, sums of equal names.
flat()
{
	gprof -b -p --no-demangle "$1" "$2" | awk '
		/^ *[0-9.]+ +[0-9.]+ +[0-9.]+/ && $3 > 0 && $NF != "_fini" {
			sum[$NF] += $3
		}
		END { for (name in sum) printf "%d %s\n", sum[name], name }' | sort
}

# What `report` has of the symbols that gprof takes for functions; it loses the last one.
told()
{
	opfs cat current/demangle:none/report.tsv | awk -F'\t' '
		NR > 1 && $4 !~ /@plt$|^\(no symbol\)$|^_fini$/ &&
		$4 !~ /[.](cold|part|isra|localalias)/ {
			sum[$4] += $5
		}
		END { for (name in sum) printf "%d %s\n", sum[name], name }' | sort
}

# agree BINARY: the flat profiles are equal, and the whole is the same.
agree()
{
	session "$1"
	opfs cat current/gmon.out >gmon.out
	flat "$1" gmon.out >by_gprof
	told >by_opfs
	[ "$(wc -l <by_opfs)" -gt 5 ]
	diff -u by_opfs by_gprof
}

program='#include <stdio.h>
#include <stdlib.h>
static int one(int x) { return x * 3 + 1; }
int two(int x) { return one(x) + one(x + 1); }
__attribute__((noinline)) static int three(int *v) { return v[0] ? two(*v) : 0; }
__attribute__((noinline, cold)) int four(int x) { printf("%d\n", x); exit(x & 1); }
__attribute__((aligned(1))) int five(void) { return 5; }
__attribute__((aligned(1))) int six(void) { return 6; }
__attribute__((aligned(1))) int seven(int x)
{ if (x > 5) four(x); return five() + six(); }
int main(int argc, char **argv) { (void)argv; return three(&argc) + seven(argc); }'

@test "C: position independent and not, optimised and not, with unaligned functions" {
	printf '%s\n' "$program" >p.c
	for how in "-pie -fPIE -O0" "-no-pie -fno-pie -O0" "-pie -fPIE -O2" \
		"-no-pie -fno-pie -Os -fno-align-functions"; do
		# shellcheck disable=SC2086
		${CC:-gcc} -g $how -falign-functions=1 -o p p.c
		agree ./p
	done
}

@test "a 32-bit program" {
	cat >p.c <<-'END'
	int one(int x) { return x * 3 + 1; }
	int two(int x) { return one(x) + one(x + 1); }
	int three(int x) { return two(x) - one(x); }
	int four(int x) { return three(x) * two(x); }
	int five(int x) { return four(x) ^ three(x); }
	int six(int x) { return five(x) | 1; }
	void _start(void) { for (;;) six(1); }
	void _fini(void) { }
	END
	${CC:-gcc} -m32 -g -O0 -fno-pie -no-pie -nostdlib -static -ffreestanding -o p \
		p.c
	agree ./p
}

@test "C++ with templates" {
	need_command g++
	cat >p.cc <<-'END'
	#include <map>
	#include <string>
	#include <vector>
	template <class T> T sum(const std::vector<T> &v)
	{
		T s{};
		for (const auto &x : v)
			s += x;
		return s;
	}
	int main(int argc, char **argv)
	{
		std::map<std::string, std::vector<int>> m;
		for (int i = 0; i < argc; i++)
			m[argv[i]].push_back(i);
		return sum(m[argv[0]]) + (int)sum(std::vector<double>(3, 1.5));
	}
	END
	for how in "-pie -fPIE -O2" "-no-pie -fno-pie -O0"; do
		# shellcheck disable=SC2086
		g++ -g $how -o p p.cc
		agree ./p
	done
}

@test "a library, chosen by lib-image:" {
	printf '%s\n' "$program" | sed '$d' >p.c
	${CC:-gcc} -g -O1 -fPIC -shared -o libp.so p.c
	agree ./libp.so
	opfs cat "current/lib-image:libp.so/gmon.out" | cmp - gmon.out
}

@test "calls: gprof has those of callgraph inside the image" {
	printf '%s\n' "$program" >p.c
	${CC:-gcc} -g -O0 -o p p.c
	session ./p
	opfs cat current/gmon.out >gmon.out
	run -0 gprof -b -q ./p gmon.out
	[[ $output == *three*two* ]]
	gprof -b -c ./p gmon.out >/dev/null 2>err || [ ! -s err ]
}

@test "threshold: leaves functions out, whose samples stay in the total" {
	printf '%s\n' "$program" >p.c
	${CC:-gcc} -g -O0 -o p p.c
	cat >s.json <<-END
	[{"app": "$PWD/p", "samples": {"$(offset_of p two)": 5, "$(offset_of p one)": 900,
	  "$(offset_of p main)": 95}}]
	END
	mksession s.json
	opfs cat current/threshold:5/gmon.out >gmon.out
	flat ./p gmon.out >by_gprof
	printf '%s\n' '900 one' '95 main' | diff - by_gprof
	gprof -b -p ./p gmon.out | grep -E '^ 90\.0.* one$'
	opfs cat current/threshold:0.5/gmon.out >gmon.out
	flat ./p gmon.out | grep -x '5 two'
}

@test "80, 81, 82: what opgprof made of the reference session, byte by byte" {
	need_mount_namespace
	local at='current/image:/opt/opdemo/bin/demo/event:CPU_CLK_UNHALTED/gmon.out'
	opdemo "$OPFS_BIN/opfs" cat --session-dir s1 "$at" >g
	xxd -r "$OPFS_TOP/tests/data/transcripts/80-opgprof.xxd.txt" want
	cmp g want
	opdemo gprof -b -p bin/demo "$PWD/g" >flat || opdemo gprof -b -p bin/demo g >flat
	diff -u <(opdemo_transcript 81-gprof-flat.txt) flat
	opdemo gprof -b -q bin/demo "$PWD/g" >graph
	diff -u <(opdemo_transcript 82-gprof-cg.txt) graph
}

@test "83, 84: one event and one image; what else is said" {
	need_mount_namespace
	run -1 opdemo "$OPFS_BIN/opfs" cat --session-dir s1 \
		current/image:/opt/opdemo/bin/demo/gmon.out
	[[ $output == *"one event"*"selects 2"*"event:"* ]]
	run -1 opdemo "$OPFS_BIN/opfs" cat --session-dir s1 \
		current/event:CPU_CLK_UNHALTED/gmon.out
	[[ $output == *"one image"*"image:"* ]]
	opdemo "$OPFS_BIN/opfs" cat --session-dir s1 \
		current/event:CPU_CLK_UNHALTED/lib-image:libdemo.so/gmon.out >g
	[ "$(head -c 4 g)" = gmon ]
}

@test "the kernel and memory without a file: it is said why not" {
	cat >s.json <<-'END'
	[{"app": "kern:vmlinux", "image": "kern:vmlinux", "kernel": true,
	  "samples": {"0x10": 3}},
	 {"session": "anon", "app": "/bin/x", "image": "anon:anon:7:1000:1fff",
	  "samples": {"0x10": 3}}]
	END
	mksession s.json
	run -1 opfs cat current/gmon.out
	[[ $output == *"not the kernel"* ]]
	run -1 opfs cat anon/gmon.out
	[[ $output == *"memory without a file"* ]]
}

@test "it is listed where the functions chosen leave one image that gprof reads" {
	printf 'int f(int x) { return x; }\nint main(void) { return f(0); }\n' >t.c
	${CC:-gcc} -O0 -no-pie -o t t.c
	mksession <<-END
	[{"app": "$PWD/t", "mtime": $(stat -c %Y t), "stacks": [
	  [["$PWD/t@$(($(offset_of t main) + 5))", "$PWD/t@$(offset_of t f)"], 4]]},
	 {"app": "$PWD/t", "image": "kern:no-vmlinux", "kernel": true, "stacks": [
	  [["$PWD/t@$(($(offset_of t main) + 5))",
	    "kern:no-vmlinux@0xffffffff81000500"], 2]]}]
	END
	for path in symbol:f calls:main/f through:f; do
		opfs ls "current/$path/more:" | grep -x gmon.out
		opfs cat "current/$path/gmon.out" >g
		[ "$(head -c 4 g)" = gmon ]
	done
	opfs ls 'current/through:[no-vmlinux]/more:' >list
	run -1 grep gmon list
}
