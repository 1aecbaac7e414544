#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# with:inlines: functions that are inlined are functions of their own, in every file that
# shows functions; and nothing else changes.

bats_require_minimum_version 1.5.0
load ../lib/need
load ../lib/opfs

programs=$BATS_TEST_DIRNAME/../programs
files="report report.tsv calltree callertree hot-paths flamegraph.svg stacks.folded
	profile.pb.gz callgrind.out status"

# build NAME FLAG...: nested_inlines.cc
build()
{
	local name=$1

	shift
	"${CXX:-g++}" -g -O2 -no-pie "$@" -o "$name" "$programs/nested_inlines.cc"
}

# stacks PROGRAM: ten times the number of each mark as samples there, below a call in
# recurse; and 7 in recurse below a call in code that is inlined
stacks()
{
	objcopy -O binary --only-section=marks "$1" marks
	python3 - "$PWD/$1" "$(readelf -lW "$1" | awk '$1 == "LOAD" { print $2, $3; }' |
		tr '\n' ' ')" <<-'END'
	import json, struct, sys
	program, loads = sys.argv[1], [int(w, 16) for w in sys.argv[2].split()]
	def frame(at, call=0):
	    off, vma = [p for p in zip(*[iter(loads)] * 2) if p[1] <= at][-1]
	    return "%s@%#x" % (program, at - vma + off + call)
	data = open("marks", "rb").read()
	marks = [(n, at) for at, n in struct.iter_unpack("<QQ", data)]
	of = dict(marks)
	made = [[[frame(of[5], 1), frame(at)], 10 * n] for n, at in marks]
	made.append([[frame(of[2], 1), frame(of[5])], 7])
	print(json.dumps([{"app": program, "stacks": made}]))
	END
}

# A program in $T/nested and its session $D; what opfs was built from is real code.
setup_file()
{
	need_command go protoc xmllint llvm-addr2line python3 objcopy
	export T=$BATS_FILE_TMPDIR
	cd "$T" || return
	build nested
	stacks nested >nested.json
	D=$T/s mksession nested.json
	D=$T/real
	python3 "$OPFS_TOP/tests/lib/inlines.py" make 1 2000 "$OPFS_BIN/opfs" >"$D.json"
	mksession "$D.json"
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return
	D=$T/s
}

# folded PATH: without a header, as it is
folded()
{
	opfs cat "current/$1/stacks.folded"
}

@test "inlined functions are in the stacks, three deep, in a loop, of a header" {
	folded with:inlines >got
	cat >want <<-'END'
	recurse;outer_[i];middle_[i];recurse 7
	recurse;recurse 50
	recurse;recurse;from_header_[i] 40
	recurse;recurse;outer_[i] 10
	recurse;recurse;outer_[i];middle_[i] 20
	recurse;recurse;outer_[i];middle_[i];from_header_[i] 40
	recurse;recurse;outer_[i];middle_[i];scaled<unsigned int>_[i] 30
	END
	diff want got
	folded demangle:normal >plain
	diff plain - <<<'recurse;recurse 197'
}

@test "report: a row for each, whose samples add up to those of the function around" {
	opfs cat current/with:inlines,no-header/report | awk '{ $2 = ""; print }' >got
	cat >want <<-'END'
	80  from_header (inlined)
	57  recurse
	30  scaled<unsigned int> (inlined)
	20  middle (inlined)
	10  outer (inlined)
	END
	diff want got
	opfs cat current/with:inlines,no-header,children/report |
		awk '{ print $1, $3, $5 }' >got
	cat >want <<-'END'
	197 57 recurse
	107 10 outer
	97 20 middle
	80 80 from_header
	30 30 scaled<unsigned
	END
	diff want got
}

@test "with:debug-info tells where in the function; others show its name, too" {
	opfs cat current/with:inlines/with:debug-info/report >got
	grep -E 'nested_inlines.h:1[0-9] .* from_header \(inlined\)$' got
	grep -E 'nested_inlines.cc:[0-9]+ .* scaled<unsigned int> \(inlined\)$' got
	opfs cat current/with:inlines/calltree >got
	grep -E '^90 .* \.\.\.middle \(inlined\)$' got
	grep -E '^30 .* \.\.\.\.scaled<unsigned int> \(inlined\)$' got
	opfs cat current/with:inlines/callertree >got
	grep -E '^80 .* from_header \(inlined\)$' got
	opfs cat current/with:inlines/hot-paths >got
	grep -F 'from_header (inlined)  (nested)' got
}

@test "the picture is XML, with a colour and a legend of inlined code" {
	opfs cat current/with:inlines/flamegraph.svg >got.svg
	xmllint --noout got.svg
	[ "$(grep -c '<rect class="i[0-6]".*; inlined</title>' got.svg)" = 7 ]
	grep -F '>inlined</text>' got.svg
	opfs cat current/flamegraph.svg >plain.svg
	run ! grep -E '; inlined|>inlined<' plain.svg
	opfs cat current/with:inlines/with:inverted/flamegraph.svg | xmllint --noout -
}

@test "go tool pprof knows the functions, and that they are inlined" {
	opfs cat current/with:inlines/profile.pb.gz >p.gz
	go tool pprof -top p.gz 2>/dev/null >top
	grep -E ' 80 .* from_header \(inline\)$' top
	grep -E ' 197 .* recurse$' top
	# a location a place, however many functions are there
	go tool pprof -raw p.gz 2>/dev/null | sed -n '/^Locations/,/^Mappings/p' >raw
	[ "$(grep -cE '^ +[0-9]+: 0x' raw)" = 6 ]
	grep -A4 -E ' scaled .*nested_inlines.cc:1[0-9]' raw >chain
	[ "$(sed -n '1,4s: /.*::; 1,4s:.* ::p' chain | paste -sd' ')" = \
		"scaled middle outer recurse" ]
}

# check PROGRAM SEED [SAME]: against what llvm-addr2line says of each address, there
check()
{
	run -0 python3 "$OPFS_TOP/tests/lib/inlines.py" check "$OPFS_BIN/opfs" "$D" "$1" \
		llvm-addr2line "${@:2}"
	[[ $output =~ ^([0-9]+)\ addresses,\ ([0-9]+)\ stacks\ with.*,\ ([0-9]+)\ deep$ ]]
}

@test "thousands of addresses of opfs: all files are as llvm-addr2line -i tells" {
	D=$T/real
	check "$OPFS_BIN/opfs" 1
	[ "${BASH_REMATCH[1]}" -gt 5000 ]
	[ "${BASH_REMATCH[2]}" -gt 500 ]
	[ "${BASH_REMATCH[3]}" -ge 4 ]
}

@test "the same of C++, with DWARF 4 and 5, packed, and with a part that dwz moved" {
	need_command dwz
	mkdir -p sub && cp "$programs"/inlined* .
	local flags n=0
	for flags in -gdwarf-4 -gdwarf-5 "-gdwarf-5 -gz" "-g -ffunction-sections"; do
		n=$((n + 1))
		# shellcheck disable=SC2086 # words on purpose
		g++ $flags -O2 -o "p$n" inlined.cc inlined_other.cc
	done
	# llvm-addr2line does not read what dwz moves
	cp p1 p5
	cp p1 other
	dwz -m shared.dwz p5 other
	for n in 1 2 3 4 5; do
		D=$PWD/s$n
		python3 "$OPFS_TOP/tests/lib/inlines.py" make $n 150 "$PWD/p$n" >"$D.json"
		mksession "$D.json"
		check "$PWD/p$n" $n "$PWD/p${n/5/1}"
		[ "${BASH_REMATCH[2]}" -gt 50 ]
	done
}

@test "a function in a function that has no samples has its inlined ones" {
	D=s
	gcc -g -O2 -no-pie -o p "$programs/function_in_function.c"
	# past what it does first
	at=$(python3 - "$OPFS_TOP" "$PWD/p" <<-'END'
	import os, sys
	sys.path.insert(0, sys.argv[1] + "/tests/lib")
	import stackread
	elf = stackread.Symbols(sys.argv[2])
	[(vma, size)] = [f[:2] for f in elf.functions if f[2].startswith(b"in_it")]
	[(o, v)] = [(o, v) for o, v, n in elf.loads if v <= vma < v + n]
	print(*["%#x" % (a - v + o) for a in range(vma, vma + size)])
	END
	)
	jq -n --arg p "$PWD/p" --arg at "$at" '[{app: $p,
		stacks: ($at | split(" ") | map([[$p + "@" + .], 1]))}]' | mksession
	folded with:inlines >got
	grep -E '^in_it[.0-9]*;twice_\[i\] [0-9]+$' got
}

@test "tags choose the same samples wherever with:inlines stands" {
	for tag in {symbol,through,callers}:recurse calls:recurse/recurse; do
		folded "$tag" | awk '{ n += $NF } END { print n }' >plain
		for path in "$tag/with:inlines" "with:inlines/$tag"; do
			folded "$path" | awk '{ n += $NF } END { print n }' | diff plain -
		done
	done
	run -1 opfs cat current/with:inlines/symbol:from_header/report
	[[ $output == *'no symbol "from_header" here'* ]]
	# the rows of what symbol: chooses
	opfs cat current/symbol:recurse/with:inlines/with:no-header/report >got
	[ "$(awk '{ n += $1 } END { print n }' got)" = 197 ]
}

@test "demangle: names inlined functions, too" {
	mkdir -p sub && cp "$programs"/inlined* .
	g++ -g -O2 -o p inlined.cc inlined_other.cc
	D=$PWD/s
	python3 "$OPFS_TOP/tests/lib/inlines.py" make 1 100 "$PWD/p" >s.json
	mksession s.json
	opfs cat current/with:inlines/report >got
	grep -E 'int shapes::power<int>\(.*\(inlined\)$' got
	opfs cat current/with:inlines/demangle:none/report |
		grep -E '_ZN6shapes5powerI.*\(inlined\)$'
	opfs cat current/with:inlines/demangle:none/report.tsv |
		awk -F'\t' '$4 ~ /inlined/ && $4 != $8 " (inlined)" { exit 1 }'
}

@test "diff: pairs inlined functions with inlined ones" {
	jq '[.[0], (.[0] + {"session": "base"} | .stacks |= map([.[0], .[1] * 2]))]' \
		"$T/nested.json" >both.json
	D=s mksession both.json
	D=s opfs cat current/diff:base/with:inlines/report.tsv >got
	awk -F'\t' 'NR > 1 && ($15 != 2 * $5 || $17 != 0) { exit 1 }' got
	[ "$(grep -c '(inlined)' got)" = 4 ]
	D=s opfs cat current/diff:base/with:inlines/flamegraph.svg >got.svg
	xmllint --noout got.svg
	grep -E 'from_header .*; inlined; before [0-9]+, ' got.svg
	run ! grep -F '; new' got.svg
	D=s run -0 opfs cat current/diff:base/with:inlines/report
	[[ $output == *"from_header (inlined)"* ]]
}

@test "without stacks, report and report.tsv have the functions, too" {
	jq '[.[0] | .samples = (reduce .stacks[] as $s ({};
		($s[0][-1] | sub(".*@"; "")) as $at | .[$at] += $s[1])) | del(.stacks)]' \
		"$T/nested.json" >flat.json
	D=s mksession flat.json
	D=$T/s opfs cat current/with:inlines/with:no-header/report >want
	D=s opfs cat current/with:inlines/with:no-header/report | diff want -
	D=s run -1 opfs cat current/with:inlines/with:children/report
	[[ $output == *"made from whole stacks"* ]]
}

@test "names that were kept tell inlined functions when the program is gone" {
	build nested
	D=s mksession <(stacks nested)
	printf '%s\t%s\t%s\t%s\t-\t0\t-\n' "$PWD/nested" "$PWD/nested" \
		"$(build_id nested)" "$(stat -c '%Y	%s' nested)" \
		>images
	{ echo '# opfs images 1'; cat images; } >s/samples/current/images
	for file in report stacks.folded calltree; do
		D=s opfs cat current/with:inlines/$file
	done >before
	grep -F 'scaled<unsigned int>_[i] 30' before
	D=s opfs cat current/with:inlines/status >status
	run ! grep no-inlines status
	D=s opfs keep current
	find s/symbols -type f ! -name '.*' | grep .
	rm nested
	for file in report stacks.folded calltree; do
		D=s opfs cat current/with:inlines/$file
	done | diff before -
}

@test "an image without DWARF stays as it is, and status says why" {
	build bare -s
	build nested
	objcopy -O binary --only-section=marks nested marks
	stacks nested | sed "s:$PWD/nested:$PWD/bare:g" >bare.json
	D=s mksession bare.json
	D=s opfs cat current/stacks.folded >want
	D=s opfs cat current/with:inlines/stacks.folded | diff want -
	cp nested stripped && strip -g stripped
	stacks nested | sed "s:$PWD/nested:$PWD/stripped:g" >stripped.json
	D=t mksession stripped.json
	D=t opfs cat current/with:inlines/stacks.folded >got
	diff got - <<<'recurse;recurse 197'
	D=t opfs cat current/with:inlines/status >got
	grep -E '^no-inlines: .*/stripped: 197 \(100 %\): no source lines: .*-g' got
	D=t opfs cat current/status >plain
	run ! grep no-inlines plain
}

@test "DWARF of arbitrary bytes costs what is inlined in its own image" {
	build nested
	cp nested damaged
	python3 - damaged "$(readelf -SW damaged | sed -n \
		's/.* .debug_info *PROGBITS *[0-9a-f]* \([0-9a-f]* [0-9a-f]*\).*/\1/p')" \
		<<-'END'
	import random, sys
	at, size = [int(w, 16) for w in sys.argv[2].split()]
	with open(sys.argv[1], "r+b") as f:
	    f.seek(at + 11)
	    f.write(random.Random(1).randbytes(size - 11))
	END
	{ stacks nested; stacks nested | sed "s:$PWD/nested:$PWD/damaged:g"; } |
		jq -s '[.[0][0], .[1][0]]' >both.json
	D=s mksession both.json
	for file in $files; do
		D=s opfs cat "current/with:inlines/event:CPU_CLK_UNHALTED/$file" >got
	done
	D=s opfs cat current/image:nested/with:inlines/stacks.folded >got
	diff got <(opfs cat current/with:inlines/stacks.folded)
	[ "$(D=s folded with:inlines | awk '{ n += $NF } END { print n }')" = 394 ]
	D=s opfs cat current/with:inlines/status | grep -E '^no-inlines: .*/damaged: 197 '
}

@test "files that show no functions, or places in them, say which do" {
	for file in details report.xml gmon.out callgraph summary; do
		run -1 opfs cat "current/with:inlines/$file"
		[[ $output == *"does not take with:inlines; "*"report"* ]]
	done
	opfs ls current/with:inlines >got
	grep -x report got
	grep -x flamegraph.svg got
	run ! grep -x details got
}
