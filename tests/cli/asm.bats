#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# asm, against opannotate --assembly of OProfile 1.5 and against objdump -d.

bats_require_minimum_version 1.5.0
load ../lib/opdemo
load ../lib/opfs

setup()
{
	need_programs
	cd "$BATS_TEST_TMPDIR"
}

reference()
{
	need_mount_namespace
	opdemo "$OPFS_BIN/opfs" cat --session-dir s1 "$1"
}

# The lines of one function, title included.
function_of()
{
	awk -v name="<$1>:" '/^[0-9a-f]+ </ { on = $2 == name } on' | grep -v '^ *:$'
}

# agrees TRANSCRIPT FUNCTION PATH: OProfile repeats functions; the first is enough.
agrees()
{
	opdemo_transcript "$1" | function_of "$2" | awk '/^0/ && n++ { exit } { print }' |
		grep -v '^ *:\(/opt\|Disassembly\)' >want
	[ -s want ]
	reference "$3" >all
	function_of "$2" <all >got
	diff -u want got
}

demo=image:/opt/opdemo/bin/demo
cycles=event:CPU_CLK_UNHALTED
own=with:exclude-dependent

@test "73: instructions and their samples" {
	agrees 73-ann-asm.txt crunch current/$demo/$cycles/$own/asm
}

@test "74: with source lines" {
	agrees 74-ann-asm-source.txt crunch \
		current/$demo/$cycles/with:exclude-dependent,source/asm
}

@test "75: two events, one symbol" {
	agrees 75-ann-asm-2ev.txt crunch \
		current/$demo/$own/include-symbols:crunch/asm
}

@test "75: a symbol: directory has it alone" {
	agrees 75-ann-asm-2ev.txt crunch \
		current/$demo/$own/symbol:crunch/asm
	[ "$(grep -c '^0' all)" = 1 ]
}

@test "79: options of the disassembler" {
	agrees 79-ann-objdump-params.txt sift \
		current/$demo/$cycles/$own/include-symbols:sift/syntax:intel/asm
}

@test "options that there are not: refused, with those that there are" {
	run reference current/$demo/syntax:bogus/asm
	[ "$status" -ne 0 ]
	[[ $output == *'"bogus"'*intel-mnemonic* ]]
}

@test "functions by descending samples, each once, every sample somewhere" {
	reference current/$cycles/asm >got
	awk '/^ *:\// { image = $0 } /^[0-9a-f]+ </ { print image, $1, $2 }' got | sort |
		uniq -d >twice
	[ ! -s twice ]
	sed -n 's/.*\/\* .* total: *\([0-9]*\) .*/\1/p' got >totals
	sort -rnc totals
	# lines of instructions add up to what functions have
	[ "$(awk '{ n += $1 } END { print n }' totals)" = \
		"$(grep -v total: got |
		awk '/^ *[0-9]+ +[0-9.e-]+ :/ { n += $1 } END { print n }')" ]
	[ "$(awk '{ n += $1 } END { print n }' totals)" = 2223 ]
}

@test "images without code say why" {
	reference current/asm >got
	grep -q 'no code: recorded without kernel symbols' got
	grep -q 'no code: anonymous memory' got
	grep -q 'outside every symbol' got # a stripped program
}

# A program, and a session with a sample in every third byte of its functions.
program()
{
	cat >p.c <<-'END'
		#include <stdio.h>
		static int table[64];
		__attribute__((noinline)) int mix(int a, int b)
		{
			return table[a & 63] ^ b * 7;
		}
		__attribute__((noinline)) int loop(int n)
		{
			int s = 0;
			for (int i = 0; i < n; i++)
				s = mix(s, i);
			return s;
		}
		int main(int argc, char **argv)
		{
			return printf("%s %d\n", argv[0], loop(argc));
		}
	END
	gcc -O2 "$@" -o p p.c
	python3 - "$PWD/p" >session.json <<-'END'
		import json, os, subprocess, sys
		path, samples = sys.argv[1], {}
		base = None
		def lines_of(*command):
		    return subprocess.check_output(command, text=True).splitlines()
		for line in lines_of("readelf", "-lW", path):
		    f = line.split()
		    if f and f[0] == "LOAD" and "E" in line[50:]:
		        base = int(f[1], 16) - int(f[2], 16)
		for line in lines_of("nm", "-S", path):
		    f = line.split()
		    if len(f) == 4 and f[3] in ("main", "mix", "loop"):
		        for at in range(int(f[0], 16), int(f[0], 16) + int(f[1], 16), 3):
		            samples[hex(at + base)] = 1 + at % 5
		json.dump([{"app": path, "samples": samples,
		            "mtime": int(os.stat(path).st_mtime)}], sys.stdout)
	END
	mksession session.json
}

# same_as_objdump PATH FLAG...: instructions, in the order of addresses.
same_as_objdump()
{
	opfs cat "$1" >got
	shift
	sed -n 's/^[^:]*:\( *[0-9a-f]*:\t.*\)/\1/p' got | sort >ours
	objdump -d --no-show-raw-insn "$@" p |
		awk '/^[0-9a-f]+ </ { on = $2 ~ /^<(main|mix|loop)>:$/ }
		     on && /^ +[0-9a-f]+:\t/' | sort >theirs
	[ -s theirs ]
	# padding behind a function is not the function's
	comm -23 ours theirs >more
	[ ! -s more ]
	comm -13 ours theirs | grep -v 'nop\|xchg *%ax,%ax\|xchg *ax,ax' >less || true
	[ ! -s less ]
}

@test "a program reads as objdump -d prints it" {
	program
	same_as_objdump current/asm
	same_as_objdump current/syntax:intel/asm -M intel
	same_as_objdump current/syntax:att,suffix/asm -M att,suffix
}

@test "a static PIE and a program at a fixed address as well" {
	program -static-pie
	same_as_objdump current/asm
	program -no-pie
	same_as_objdump current/asm
}

@test "samples inside an instruction are that instruction's" {
	program
	opfs cat current/asm >got
	opfs cat current/report.tsv |
		awk -F'\t' 'NR > 1 { n += $5 } END { print n }' >want
	[ "$(awk '/^ *[0-9]+ +[0-9.e-]+ :/ { n += $1 } END { print n }' got)" = \
		"$(cat want)" ]
	run grep -c 'no code' got
	[ "$output" = 0 ]
}

@test "a program that was changed since shows addresses and the reason" {
	program
	touch -d '2001-01-01' p
	opfs cat current/asm >got
	grep -q 'no code: .*is not what was sampled' got
	grep -q '(no code)' got
	run ! grep -q '	ret' got
}

@test "a program without any symbol shows the code around its samples" {
	program
	strip -s p
	touch -d "@$(sed -n 's/.*"mtime": \([0-9]*\).*/\1/p' session.json)" p
	opfs cat current/asm >got
	grep -q 'outside every symbol' got
	grep -q '	ret' got
	run grep -c 'no code' got
	[ "$output" = 0 ]
}

@test "a source that only somebody else could read is not shown" {
	need_others
	program -g
	chmod 755 . s
	chmod 600 p.c
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR" \
		2>/dev/null || true
	opfs cat current/with:source/asm >got
	grep -q 'return table' got
	setpriv --reuid 65534 --regid 65534 --clear-groups test -x . ||
		skip "the directory of tests is closed to others"
	setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$OPFS_BIN/opfs" cat --session-dir s current/with:source/asm >got
	grep -q '	ret' got
	run ! grep -q 'return table' got
}
