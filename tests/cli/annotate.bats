#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# annotate/ and source, against opannotate --source of OProfile 1.5 and against addr2line.

bats_require_minimum_version 1.5.0
load ../lib/opdemo

setup()
{
	need_programs
	cd "$BATS_TEST_TMPDIR"
	HERE=$PWD
}

reference()
{
	need_mount_namespace
	opdemo "$OPFS_BIN/opfs" cat --session-dir s1 "$1"
}

opfs()
{
	"$OPFS_BIN/opfs" "$@" --session-dir session
}

# The part of a transcript that is about a source file: its title (a comment), its lines.
transcript_file()
{
	opdemo_transcript "$1" |
		awk -v what="$3" -v title=" * Total samples for file : \"$2\"" '
		/^\/\* $/ { held = $0; comment = 1; on = 0; next }
		comment {
			if ($0 == title)
				on = 1
			if (on && what == "title")
				print held ? held "\n" $0 : $0
			held = ""
			if (/^ \*\/$/) {
				comment = 0
				skip = 2
			}
			next
		}
		skip { skip--; next }
		on && what == "lines" { print }'
}

# agrees TRANSCRIPT FILE PATH: the lines of the file and its total are OProfile's.
agrees()
{
	transcript_file "$1" "$2" lines >want
	transcript_file "$1" "$2" title >>want
	[ "$(wc -l <want)" -gt 5 ]
	reference "$3/annotate$2" >all
	sed '/^\/\* $/,$d' all >got
	sed -n '/^ \* Total samples/,/^ \*\/$/p' all | sed '1i /* ' >>got
	diff -u want got
}

demo=image:/opt/opdemo/bin/demo
cycles=event:CPU_CLK_UNHALTED
src=/opt/opdemo/src

@test "70: every source file of an application and its libraries" {
	for file in util.c libdemo.c main.c; do
		agrees 70-ann-source.txt $src/$file current/$demo/$cycles
	done
}

@test "71: without dependent images" {
	for file in util.c main.c; do
		agrees 71-ann-source-x.txt $src/$file \
			current/$demo/$cycles/with:exclude-dependent
	done
	run ! reference \
		current/$demo/$cycles/with:exclude-dependent/annotate$src/libdemo.c
}

@test "72: two events" {
	for file in util.c main.c; do
		agrees 72-ann-source-2ev.txt $src/$file \
			current/$demo/with:exclude-dependent
	done
}

@test "77: files below the threshold are not there" {
	local where=current/$demo/$cycles/with:exclude-dependent/threshold:40

	agrees 77-ann-threshold.txt $src/util.c $where
	grep -qx ' \* Output files where samples count reach 40% of the samples' all
	run ! reference $where/annotate$src/main.c
}

@test "78: chosen files, by parts of their paths" {
	local where=current/$demo/$cycles/with:exclude-dependent

	agrees 78-ann-include-file.txt $src/util.c "$where/include-file:util.*"
	run ! reference "$where/include-file:util.*/annotate$src/main.c"
	reference "$where/include-file:src/annotate$src/main.c" >all
	run ! reference "$where/include-file:src/exclude-file:main.?/annotate$src/main.c"
	reference "$where/exclude-file:main.?/annotate$src/util.c" >all
	run ! reference "$where/exclude-file:opdemo/annotate$src/util.c"
}

@test "76: the report is told at the end of a file, lines keep their numbers" {
	reference current/$demo/$cycles/annotate$src/util.c >all
	sed -n '6p' all | grep -q 'for (i = 0; i < n; i++)'
	tail -n 10 all >got
	local counted=" with a unit mask of 0x00 (No unit mask) count 100000"
	sed 's/@$//' >want <<-END
	/* @
	 * Path: current/$cycles/image:%2Fopt%2Fopdemo%2Fbin%2Fdemo/annotate
	 * @
	 * Interpretation of path:
	 * Output annotated source file with samples
	 * Output all files
	 * @
	 * CPU: Intel Architectural Perfmon, speed 2400 MHz (estimated)
	 * Counted CPU_CLK_UNHALTED events (Clock cycles when not halted)$counted
	 */
	END
	diff -u want got
}

@test "c0, c1: what makes no sense is refused with the reason" {
	run -1 reference current/$demo/syntax:intel/annotate$src/util.c
	[[ $output == *"does not take syntax:"* ]]
	run -1 reference current/$demo/base-dirs:%2Fx/annotate$src/util.c
	[[ $output == *"base-dirs: is useless unless search-dirs:"* ]]
}

@test "15, 21: the column of source lines, and rows in their order" {
	for t in 15-symbols-g.txt: 21-symbols-sort-debug.txt:/sort:debug; do
		opdemo_transcript "${t%%:*}" >want
		reference "current/$demo/$cycles/with:debug-info${t#*:}/report" >got
		diff -u want got
	done
}

@test "samples that no line has are told, with the reason" {
	reference current/$demo/$cycles/annotate/no-source >all
	grep -q '^    75  6.8368 :/opt/opdemo/bin/libmisc.so /\* .*no source lines' all
	grep -q '^    90  8.2042 :/no-vmlinux /\* ' all
}

@test "all lines of all files and what has no line are all samples" {
	need_mount_namespace
	opdemo sh -c '
		for f in '$src'/util.c '$src'/libdemo.c '$src'/main.c /no-source; do
			"$0" cat --session-dir s1 current/'$demo/$cycles'/annotate$f
		done' "$OPFS_BIN/opfs" >all
	[ "$(awk '/^ +[0-9]+ +[0-9.]+ :/ { sum += $1 } END { print sum }' all)" = 1097 ]
}

@test "source: the lines of one function alone" {
	reference current/$demo/$cycles/symbol:recurse/source >all
	sed '/^$/,$d' all >got
	sed 's/@$//' >want <<-END
	/* @
	 * $src/main.c, lines 10 to 15
	 */
	               :int recurse(int n)
	     7 17.5000 :{ /* recurse total:     40 100.000 */
	               :	if (n <= 0)
	               :		return helper(n);
	    33 82.5000 :	return recurse(n - 1) + 1;
	               :}
	END
	diff -u want got
	run ! reference current/$demo/$cycles/source
}

# compare FLAGS TOOL: a program with a sample on every instruction.
compare()
{
	cp "$OPFS_TOP"/tests/programs/inlined* . && mkdir -p sub
	# shellcheck disable=SC2086 # words on purpose
	g++ $1 -o prog inlined.cc inlined_other.cc
	for with in "" with:inlines; do
		rm -rf session
		"$OPFS_TOP/tests/cli/annotate/compare.py" "$OPFS_BIN/opfs" "$HERE/prog" \
			session "$OPFS_TOP/tests/lib/mksession.py" "$2" $with
	done
}

@test "lines and calls of inlined code are those of addr2line -i" {
	compare "-gdwarf-4 -O2" addr2line
}

@test "lines and calls are those of llvm-addr2line, DWARF 5" {
	compare "-gdwarf-5 -O2" llvm-addr2line
}

@test "lines are those of addr2line without optimisation, compressed" {
	compare "-gdwarf-4 -O1 -gz" addr2line
}

# one_sample PROGRAM FUNCTION...: a session with 10 samples at the start of functions.
one_sample()
{
	local prog=$1

	shift
	for f; do
		nm "$prog" | awk -v f="$f" '$3 == f { print $1 }'
	done | python3 -c '
import json, subprocess, sys
prog = sys.argv[1]
loads = [(int(w[2], 16), int(w[1], 16), int(w[5], 16)) for w in
         (l.split() for l in subprocess.check_output(["readelf", "-lW", prog], text=True)
          .splitlines()) if w and w[0] == "LOAD"]
at = [int(l, 16) for l in sys.stdin]
off = [next(a - v + o for v, o, n in loads if v <= a < v + n) for a in at]
print(json.dumps([{"app": prog, "samples": {hex(o): 10 for o in off}}]))' "$HERE/$prog" |
		"$OPFS_TOP/tests/lib/mksession.py" session
}

plain_program()
{
	mkdir -p src
	printf '%b' 'int work(int n)\n{\n\treturn n * 3;\n}\n' \
		'int main(int c, char **v)\n{\n\treturn work(c) + !v;\n}\n' >src/x.c
	gcc -O0 -g -o prog "$HERE/src/x.c"
	one_sample prog work main
}

@test "a source that is missing: its functions, its lines, why, and what to do" {
	plain_program
	rm src/x.c
	opfs cat "current/annotate$HERE/src/x.c" >all
	local why='No such file or directory; '
	[[ $(head -n 1 all) == "/* No source: $HERE/src/x.c: $why"*search-dirs:* ]]
	grep -qx ' /\* work total:     10 50.0000 \*/' all
	grep -qx ' /\* main total:     10 50.0000 \*/' all
	grep -qx '    10 50.0000 :(line 2)' all
	opfs cat "current/symbol:work/source" >all
	grep -qx '    10 100.000 :(line 2)' all
}

@test "a source found elsewhere is said to be read from there" {
	plain_program
	mkdir -p moved/src empty
	mv src/x.c moved/src/x.c
	local here=${HERE//\//%2F}
	local dirs="search-dirs:$here%2Fempty,$here%2Fmoved/base-dirs:%2Fnone,$here"
	opfs cat "current/$dirs/annotate$HERE/src/x.c" >all
	grep -qx '    10 50.0000 :{ /\* work total:     10 50.0000 \*/' all
	grep -qxF " * Read from : \"$HERE/moved/src/x.c\"" all
}

@test "a source that is newer than its binary is said to be" {
	plain_program
	opfs cat "current/annotate$HERE/src/x.c" >all
	run ! grep -q 'is newer than' all
	touch -d '+1 hour' src/x.c
	opfs cat "current/annotate$HERE/src/x.c" >all
	grep -q "^ \* This source file (.*) is newer than $HERE/prog (" all
}

@test "samples behind the end of a source that became shorter are not lost" {
	plain_program
	printf 'int work(int n)\n' >src/x.c
	opfs cat "current/annotate$HERE/src/x.c" >all
	grep -q '^    10 50.0000 :(line 2 is behind the end of the file) /\* work total' \
		all
	grep -q '^    10 50.0000 :(line 6 is behind the end of the file) /\* main total' \
		all
}

@test "control bytes of a source do not reach a terminal, other bytes do" {
	plain_program
	printf '%b' 'int work(int n) ' \
		'/* \033[31m \302\233 \233 \200 \303\244 \0 \r */\r\n{\tx\n}\n' >src/x.c
	opfs cat "current/annotate$HERE/src/x.c" >all
	sed -n 1p all >got
	printf '               :int work(int n) %b\n' \
		'/* ^[[31m <9b> <9b> <80> \303\244 ^@ ^M */' >want
	cmp want got
	run ! grep -q "$(printf '[\001-\010\013-\037]')" all
}

@test "names of source files from a hostile binary stay below annotate/" {
	local long

	long=$(printf 'x%.0s' {1..300})
	cat >src.c <<-END
	# 1 "../../../../etc/passwd"
	int a(int n) { return n; }
	# 1 "/etc/../etc/./shadow"
	int b(int n) { return n; }
	# 1 "/$long/y.c"
	int c(int n) { return n; }
	# 1 "/etc/passwd/z.c"
	int d(int n) { return n; }
	# 1 "x.c"
	int main(int c, char **v) { return c + !v; }
	END
	gcc -O0 -g -fpreprocessed -fdebug-prefix-map="$HERE"=. -o prog src.c
	one_sample prog a b c d main
	entries=$(walk current/annotate)
	[ "$(wc -l <<<"$entries")" = 5 ]
	while read -r e; do
		[[ $e != /* && /$e/ != */../* && /$e/ != */./* && $e != *//* ]]
		IFS=/ read -ra parts <<<"$e"
		for p in "${parts[@]}"; do
			[ -n "$p" ] && [ "${#p}" -le 255 ]
		done
		opfs cat "current/annotate/$e" >all
		grep -q '^    10 20.0000 :' all
	done <<<"$entries"
}

# All files below a directory of a report.
walk()
{
	local name

	opfs ls "$1" | while read -r name; do
		if opfs cat "$1/$name" >/dev/null 2>&1; then
			echo "${1#current/annotate}/$name" | sed 's,^/,,'
		else
			walk "$1/$name"
		fi
	done
}

@test "a source that is a directory, a device or too large is told, not read" {
	plain_program
	rm src/x.c && mkdir src/x.c
	opfs cat "current/annotate$HERE/src/x.c" >all
	head -n 1 all | grep -q 'No source: .*is not a regular file'
	rmdir src/x.c && mkfifo src/x.c
	timeout 1000 "$OPFS_BIN/opfs" cat --session-dir session \
		"current/annotate$HERE/src/x.c" >all
	head -n 1 all | grep -q 'No source: .*is not a regular file'
	rm src/x.c && truncate -s 100M src/x.c
	opfs cat "current/annotate$HERE/src/x.c" >all
	head -n 1 all | grep -q 'No source: .*is larger than'
}
