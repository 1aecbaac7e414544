#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Call trees in a mount: directories below calls:, callers: and through:, and that every
# file of a slice is exactly of it.

bats_require_minimum_version 1.5.0
load ../lib/mount
load ../lib/opfs

slices=$BATS_TEST_DIRNAME/../lib/stack_slices.py
SEED=${OPFS_STACKS_SEED:-1}

# What the tests read: binaries with known functions, and random stacks of these.
setup_file() {
	need_command gcc nm
	cd "$BATS_FILE_TMPDIR"
	chmod 755 "$BATS_RUN_TMPDIR" . 2>/dev/null || true
	for name in one two libdo.so; do
		python3 "$slices" source $name |
			gcc -O1 -w -x c -shared -fPIC -o $name -
	done
	python3 "$slices" make "$SEED" "$PWD" >made
	D=random mksession made
}

setup() {
	need_mount
	make_dirs
	cd "$BATS_FILE_TMPDIR"
}

teardown() {
	cd /
	remove_dirs
}

mounted() {
	"$OPFS" mount --session-dir "$1" "$M"
	cd "$M/current"
}

@test "200 random slices: each file has what a second implementation says" {
	"$OPFS" mount --session-dir random "$M"
	run python3 "$slices" check "$SEED" "$BATS_FILE_TMPDIR" "$M" 200
	echo "$output"
	[ "$status" = 0 ]
	[[ $output == *"200 slices, 0 differences"* ]]
}

@test "no report depends on what was read before it: stacks have images of callers" {
	local file one=$PWD/one lib=$PWD/libdo.so

	cat >calls.json <<-END
	[{"app": "$one", "image": "$lib",
	  "stacks": [[["$one@0x1040", "$lib@0x1050"], 7]]}]
	END
	D=calls mksession calls.json
	mounted "$PWD/calls"
	cat calltree callgraph flamegraph.svg report.json >"$W/out"
	grep -q one calltree
	for file in report report.json report.tsv report.xml details summary status; do
		"$OPFS" cat --session-dir "$BATS_FILE_TMPDIR/calls" \
			"current/$file" >"$W/want"
		diff "$W/want" <(cat "$file")
	done
}

# tree: a session whose stacks are main -> parse -> lex, main -> parse, main -> sort.
tree() {
	printf 'int %s(void) { static volatile int n; return n++; }\n' main parse lex \
		sort report >tree.c
	gcc -O1 -w -shared -fPIC -o tree.so tree.c
	python3 - "$PWD/tree.so" $(for f in main parse lex sort report; do
		offset_of tree.so $f
	done) >tree.json <<-'END'
	import json, sys
	lib = sys.argv[1]
	main, parse, lex, sort, report = ["%s@%s" % (lib, at) for at in sys.argv[2:]]
	inside = {f: "%s@%#x" % (lib, int(f.rsplit("@", 1)[1], 0) + 4)
	          for f in (main, parse, sort)}
	print(json.dumps([{"app": lib, "event": "E", "stacks": [
	    [[inside[main], inside[parse], lex], 40], [[inside[main], parse], 2],
	    [[inside[main], inside[sort], report], 5], [[inside[main], sort], 3]]}]))
	END
	D=tree mksession tree.json
}

# two_trees: and session "old", in which sort called lex instead of report.
two_trees() {
	tree
	python3 - >old.json <<-'END'
	import json
	old = json.load(open("tree.json"))[0]
	main_parse_lex, main_parse, main_sort_report, main_sort = \
	    [stack for stack, samples in old["stacks"]]
	main_sort_lex = main_sort_report[:2] + main_parse_lex[2:]
	print(json.dumps([dict(old, session="old", stacks=[
	    [main_parse_lex, 20], [main_parse, 2], [main_sort_lex, 4], [main_sort, 1]])]))
	END
	D=tree mksession old.json
}

opfs_of_tree() {
	D=$BATS_FILE_TMPDIR/tree opfs "$@"
}

# compared PATH: a line for each row: symbol, samples, samples before
compared() {
	opfs_of_tree cat "current/$1/report.tsv" |
		awk -F '\t' 'NR > 1 { print $4, $5, $15 }' | LC_ALL=C sort
}

folded() {
	opfs cat "session:$1/event:CYCLES/stacks.folded"
}

@test "stacks of three sessions add up, in whatever order these are named" {
	local D=$BATS_FILE_TMPDIR/merged order file
	for seed in 1 2 3; do
		python3 "$slices" make $seed "$PWD" |
			python3 -c '
import json, sys
files = json.load(sys.stdin)["files"]
print(json.dumps([dict(f, session="s" + sys.argv[1]) for f in files]))' $seed |
			mksession
	done
	for seed in 1 2 3; do folded s$seed; done | awk '
		{ n = $NF; sub(/ [0-9]+$/, ""); sum[$0] += n }
		END { for (stack in sum) print stack, sum[stack] }' |
		LC_ALL=C sort >sum
	[ "$(wc -l <sum)" -gt "$(folded s1 | wc -l)" ]
	folded s1,s2,s3 | LC_ALL=C sort | diff sum -
	for order in s1,s3,s2 s3,s2,s1 s2,s1,s3; do
		for file in stacks.folded calltree callertree callgraph report \
			flamegraph.svg with:children/report hot-paths callgrind.out; do
			opfs cat "session:s1,s2,s3/event:CYCLES/$file" >first
			opfs cat "session:$order/event:CYCLES/$file" | diff first -
		done
	done
}

@test "sizes are samples with all that was called, blocks those in the function itself" {
	tree
	mounted tree
	[ "$(ls -S calls:main)" = "$(printf '%s\n' parse sort)" ]
	[ "$(stat -c '%s %b' calls:main calls:main/parse)" = "$(printf '%s\n' '50 0' \
		'42 2')" ]
	[ "$(du -B512 -s calls: callers: | cut -f1)" = "$(printf '50\n50')" ]
	[ "$(du -B512 -d1 calls:main | sort -n | tail -1 | cut -f1)" = 50 ]
	[ "$(du -B512 -s calls:main/parse | cut -f1)" = 42 ]
	[ "$(stat -c %s through:parse callers:lex through:main/sort)" = "$(printf \
		'%s\n' 42 40 8)" ]
}

@test "links lead to call trees, which find does not enter and which list no files" {
	tree
	mounted tree
	[ "$(readlink calls callers through)" = "$(printf '%s:\n' calls callers \
		through)" ]
	run ! grep -q parse <(find .)
	[ -z "$(find calls: -type f)" ]
	[ "$(find calls:main -type d | wc -l)" = 5 ]
	cat calls:main/parse/report calls:main/parse/more/stacks.folded >"$W/files"
	grep -x 'main;parse;lex 40' "$W/files"
	cd calls/main/parse
	grep -E '^40 .* lex$' report
	cd lex
	grep -cx 'main;parse;lex 40' stacks.folded
}

@test "a function called like a file has an escaped name, one like a tag has not" {
	tree
	mounted tree
	ls calls:main/sort | grep -x %72eport
	[ "$(stat -c %s calls:main/sort/%72eport)" = 5 ]
	grep -E '^5 .* report$' calls:main/sort/report
	grep -E '^3 .* sort$' sort:symbol/calls:main/sort/report
	ls calls:main/sort/sort: | grep -x symbol
	ls calls:main/parse/sort | grep -x symbol
	[ "$(stat -c %s callers:report callers:sort)" = "$(printf '%s\n' 5 3)" ]
}

@test "a function that is not there: which are, and where trees begin" {
	tree
	why() {
		"$OPFS_BIN/opfs" why --session-dir tree "current/$1" || true
	}
	why calls:main/prase | grep -F 'no function "prase" here; there are: parse'
	why calls:main/parse | grep -A1 -x '  calls  *main/parse' |
		grep -F 'samples            42 of 50'
	why through:lex/prase | grep -F 'no function "prase" here'
	why callers:prase | grep -F 'no stack with functions "prase" here'
	why calls:parse | grep -F 'calls: begins with the outermost function'
	why through:parse/main |
		grep -F 'from the outermost call of the first function of through:'
	printf '[{"app": "/bin/ls", "samples": {"0x1000": 1}}]' | D=flat mksession
	"$OPFS_BIN/opfs" why --session-dir flat current/calls:main |
		grep 'no stacks were recorded of these samples: opcollect record -g'
}

@test "through: follows a stack that recurs from its function's outermost call on" {
	tree
	# main -> parse -> lex -> parse -> sort, and main -> parse -> sort
	python3 - "$PWD/tree.so" $(for f in main parse lex sort; do
		offset_of tree.so $f
	done) >recurs.json <<-'END'
	import json, sys
	lib = sys.argv[1]
	main, parse, lex, sort = ["%s@%s" % (lib, at) for at in sys.argv[2:]]
	in_main, in_parse, in_lex = ["%s@%#x" % (lib, int(at, 0) + 4)
	                             for at in sys.argv[2:5]]
	print(json.dumps([{"app": lib, "event": "E", "stacks": [
	    [[in_main, in_parse, in_lex, in_parse, sort], 7],
	    [[in_main, in_parse, sort], 2]]}]))
	END
	D=recurs mksession recurs.json
	mounted recurs
	[ "$(stat -c %s through:parse through:parse/lex through:parse/lex/parse \
		through:parse/sort through:lex/parse)" = "$(printf '%s\n' 9 7 7 2 7)" ]
	[ "$(ls through:parse/lex/parse)" = sort ]
	run -2 ls through:parse/parse
	# files show the stacks whole
	grep -E '^7 .* \.{3}parse$' through:parse/calltree
}

@test "values of call trees may be lists and patterns" {
	tree
	mounted tree
	grep -E '^42|^40' <(cat 'calls:main/p*/report')
	[ "$(stat -c %s through:lex,report 'calls:*/parse,sort' 'callers:*/parse')" \
		= "$(printf '%s\n' 45 50 40)" ]
	[ "$(ls 'calls:*')" = "$(printf '%s\n' parse sort)" ]
	[ "$(ls calls:main/parse,sort)" = "$(printf '%s\n' %72eport lex)" ]
	[ "$(find 'calls:main/*' 'callers:*' | wc -l)" = 9 ]
	[ "$(stat -c '%s %b' 'calls:m*/p*' 'calls:m*/p*/lex')" = "$(printf '%s\n' '42 2' \
		'40 40')" ]
	[ "$(du -B512 -d1 'calls:m*/*' | cut -f1 | sort -n | tr '\n' ' ')" = '5 40 50 ' ]
	(cd 'calls:m*/p*/lex' && grep -E '^40 .* lex$' report with:children/report)
	run -2 ls calls:main/nobody
	grep 'calls:main/nobody' ../status
}

@test "a path longer than PATH_MAX is reached by cd, a name of 5,000 bytes as listed" {
	long=$(printf 'f%.0s' {1..190})
	huge=$(printf 'g%.0s' {1..5000})
	printf 'int %s(void) { static volatile int n; return n++; }\n' $long $huge >long.c
	gcc -O1 -w -shared -fPIC -o long.so long.c
	set -- "$(offset_of long.so $long)" "$(offset_of long.so $huge)"
	python3 - "$PWD/long.so" "$@" \
		>long.json <<-'END'
	import json, sys
	lib, f, g = sys.argv[1:]
	inside = "%s@%#x" % (lib, int(f, 0) + 4)
	print(json.dumps([{"app": lib, "event": "E", "stacks": [
	    [[inside] * 40 + ["%s@%s" % (lib, g)], 7]]}]))
	END
	D=long mksession long.json
	mounted long
	cd calls:
	for _ in {1..40}; do
		cd $long
	done
	[ "$(pwd | wc -c)" -gt 4096 ]
	cut=$(ls)
	[ ${#cut} -lt 250 ]
	cd "$cut"
	grep -c "^7 .* $huge\$" report
	[ "$(tr -cd ';' <stacks.folded | wc -c)" = 40 ]
	[ "$(stat -c %b .)" = 7 ]
	[ "$(du -B512 -s "$M/current/calls:" | cut -f1)" = 7 ]
}

@test "a directory whose function has gone is stale, others move on with the session" {
	tree
	mounted tree
	mkdir -p "$BATS_FILE_TMPDIR/tree/samples/current/stats"
	cd calls:main/parse
	[ "$(stat -c %s .)" = 42 ]
	(cd "$BATS_FILE_TMPDIR" && python3 - <<-'END'
	import json
	files = json.load(open("tree.json"))
	files[0]["stacks"] = [s for s in files[0]["stacks"] if len(s[0]) == 3][1:]
	json.dump(files, open("less.json", "w"))
	END
	D=tree mksession less.json)
	wait_for eval '! stat -c %s . 2>"$W/err"'
	grep -i stale "$W/err"
	[ "$(stat -c %s "$M/current/calls:main/sort")" = 5 ]
}

@test "diff: compares the same call tree of both sides, wherever it is given" {
	two_trees
	for path in calls:main/sort/diff:old diff:old/calls:main/sort \
		'diff:old/calls:m*/so*' 'diff:old/calls:main/so*' \
		diff:old/calls:main/sort/sort:diff diff:old/through:sort; do
		[ "$(compared "$path")" = "$(printf '%s\n' 'lex 0 4' 'report 5 0' \
			'sort 3 1')" ]
	done
	[ "$(compared diff:old/callers:lex/parse)" = "lex 40 20" ]
	[ "$(compared diff:old/calls:main/callers:sort)" = "sort 3 1" ]
	# only one that was there before is replaced for the older side alone
	[ "$(compared calls:main/sort/diff:old/calls:main/parse)" = "$(printf '%s\n' \
		'lex 0 20' 'parse 0 2' 'report 5 0' 'sort 3 0')" ]
	[ "$(compared diff:old/calls:main/sort/calls:main/parse)" = \
		"$(compared calls:main/sort/diff:old/calls:main/parse)" ]
	opfs_of_tree cat current/diff:old/calls:main/sort/flamegraph.svg |
		grep -F 'sort ('"$PWD"'/tree.so) 8 samples, 100.00%; before 5, 100.00%'
	opfs_of_tree cat current/diff:old/calls:main/sort/summary |
		grep -E '^ +8 100.000 +0 +no '
}

@test "diff: of a function that one side has: the other one is empty" {
	two_trees
	[ "$(compared through:report/diff:old)" = "report 5 0" ]
	[ "$(compared diff:old/calls:main/sort/%72eport)" = "report 5 0" ]
	[ "$(compared diff:old/calls:main/sort/lex)" = "lex 0 4" ]
	[ "$(compared 'diff:old/calls:*/s*/lex')" = "lex 0 4" ]
	[ "$(compared diff:old/through:sort/callers:lex)" = "lex 0 4" ]
	[ "$(compared through:report/diff:old/image:tree.so)" = "report 5 0" ]
	for report in report summary report.xml report.json flamegraph.svg; do
		opfs_of_tree cat current/diff:old/calls:main/sort/{lex,%72eport}/$report
	done >/dev/null
	opfs_of_tree cat current/diff:old/callers:report/flamegraph.svg |
		grep '5 samples, before 0 in old/callers:%72eport'
	# a path that is told leads there
	run -1 opfs_of_tree cat current/diff:old/calls:main/sort/lex/details
	mounted tree
	run ! cat diff:old/calls:main/sort/lex/details
	grep 'current/diff:old/calls:main/sort/lex/details: ' "$M/status"
	run -1 opfs_of_tree cat current/diff:old/calls:main/nobody/report
	[[ $output == *'no function "nobody" here; there are: parse, sort'* ]]
	run -1 opfs_of_tree cat current/diff:old/through:nobody/report
	[[ $output == *'no stack with functions "nobody" here'* ]]
	run -3 opfs_of_tree diff --fail-over=5% old current/callers:report
	[[ $output == *'the older side has no such samples'* ]]
	run -0 opfs_of_tree diff --fail-over=5% old/calls:main/sort/lex current
	printf '[{"session": "flat", "app": "/bin/ls", "samples": {"0x1000": 1}}]' |
		D=$BATS_FILE_TMPDIR/tree mksession
	run -1 opfs_of_tree cat current/calls:main/diff:flat/report
	[[ $output == *'older side of diff:, flat: no stacks were recorded'* ]]
}

@test "directories behind diff: have the newer side's functions, and files of both" {
	two_trees
	mounted tree
	[ "$(ls diff:old/calls)" = main ]
	[ "$(ls diff:old/calls:main diff:old/callers:lex)" = "$(printf '%s\n' \
		diff:old/callers:lex: parse '' diff:old/calls:main: parse sort)" ]
	[ "$(stat -c '%s %b' diff:old/calls:main/parse)" = "42 2" ]
	cat diff:old/calls/main/parse/report | grep -E '^40 .* lex$'
	head -3 diff:old/calls:main/parse/report |
		grep 'Differences of current/calls:main/parse to old/calls:main/parse'
	cd diff:old/calls:main/sort
	grep -E '^5 .* \+\+\+ .* report$' report
	grep -E '^4 .* --- .* lex$' lex/../sort:sample/report
	cd lex
	grep -E '^4 .* --- .* lex$' report
	# one side without samples moves on with its session all the same
	mkdir -p "$BATS_FILE_TMPDIR/tree/samples/current/stats"
	(cd "$BATS_FILE_TMPDIR" && python3 - <<-'END'
	import json
	more = json.load(open("tree.json"))
	more[0]["stacks"].append([more[0]["stacks"][2][0][:1] +
	                          more[0]["stacks"][0][0][2:], 100])
	json.dump(more, open("more.json", "w"))
	END
	D=tree mksession more.json)
	wait_for eval '[ "$(stat -c %s "$M/current")" = 150 ]'
	[ "$(stat -c %s .)" = 0 ]
	grep -E '^4 .* --- .* lex$' report
}

@test "what shows one session is not listed below diff:, and says what compares" {
	two_trees
	mounted tree
	cd calls:main/diff:old
	local both=$'report\nreport.tsv\nsummary\nflamegraph.svg\nreport.xml\nreport.json'
	[ "$(ls . more: | grep -vx '\|.*:\|more\|README\|status' | sort)" = \
		"$(sort <<<"$both")" ]
	for file in details callgraph calltree callertree hot-paths stacks.folded \
		profile.pb.gz callgrind.out; do
		run ! cat $file
		grep "diff:old/$file: .* does not take diff:; summary, report," \
			"$M/status"
	done
	run ! cat with:children/report
	grep 'with:children shows one session: leave it or diff: out' "$M/status"
}
