#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Code without a symbol has one name in reports and another in call trees: whatever name a
# file shows, a tag takes it, or says which name does.

bats_require_minimum_version 1.5.0
load ../lib/need
load ../lib/opfs
# at FILE FUNCTION: a frame in it
at() {
	echo "\"$PWD/$dir/$1@$(($(offset_of "full/$1" "$2") + 5))\""
}

# session DIR: of the programs there, and of all other code that has no names
session() {
	local dir=$1 p=$PWD/$1/p q=$PWD/$1/libq.so z=/gone/lib,z.so
	local main work leaf api inner
	local vdso=anon:[vdso]:7:1000:1fff jit=anon:anon:7:3000:3fff

	main=$(at p main) work=$(at p work) leaf=$(at p leaf)
	api=$(at libq.so api) inner=$(at libq.so inner)
	mksession <<-E
	[{"session": "$1", "app": "$p", "mtime": $(stat -c %Y "$p"),
	  "stacks": [[[$main, $work, $leaf], 5], [[$main, $work, "$p@0x10"], 2],
		     [["#1", $work, $leaf], 1]]},
	 {"session": "$1", "app": "$p", "image": "$q", "mtime": $(stat -c %Y "$q"),
	  "stacks": [[[$main, $api, $inner], 7], [[$main, "$q@0x10"], 11]]},
	 {"session": "$1", "app": "$p", "image": "$z",
	  "stacks": [[[$main, "$z@0x1234"], 13], [["$z@0x1234", "$z@0x2234"], 17]]},
	 {"session": "$1", "app": "$p", "image": "$vdso",
	  "stacks": [[[$main, "$vdso@0x10"], 19]]},
	 {"session": "$1", "app": "$p", "image": "$jit",
	  "stacks": [[["$jit@0x10", $inner, "$jit@0x20"], 23]]},
	 {"session": "$1", "app": "$p", "image": "kern:no-vmlinux", "kernel": true,
	  "stacks": [[[$main, "kern:no-vmlinux@0x10", "kern:no-vmlinux@0x20"], 29]]},
	 {"session": "$1", "app": "$p", "image": "kern:nomod", "kernel": true,
	  "stacks": [[[$main, "kern:nomod@0x10"], 31]]}]
	E
}

setup_file() {
	need_command protoc
	cd "$BATS_FILE_TMPDIR" || return
	cat >p.c <<-'E'
	static int leaf(int x) { return x + 1; }
	static int work(int x) { return leaf(x) + 1; }
	int main(int argc, char **argv) { return work(argc) + !argv; }
	E
	cat >q.c <<-'E'
	static int inner(int x) { return x + 1; }
	int api(int x) { return inner(x); }
	E
	mkdir full
	${CC:-gcc} -O0 -no-pie -o full/p p.c
	${CC:-gcc} -O0 -shared -fPIC -o full/libq.so q.c
	cp -r full bare
	strip bare/*
	cp -r bare cut
	strip -R .eh_frame -R .eh_frame_hdr cut/*
	cp -r bare moved
	for dir in full bare cut moved; do
		session "$dir"
	done
	rm -r moved
}

setup() {
	D=$BATS_FILE_TMPDIR/s
	cd "$BATS_FILE_TMPDIR" || return
}

# samples PATH: the sum of its report, which is 0 if there is none
samples() {
	{ opfs cat "$1/report.tsv" || true; } 2>why |
		awk -F'\t' 'NR > 1 { n += $5 } END { print n + 0 }'
}

# expect TAG:NAME NUMBER: it has so many samples.
expect() {
	local raw=${1//\//%2F} n

	n=$(samples "$session/$raw")
	[ "$n" = "$2" ] || { echo "$raw: $n, not $2: $(cat why)" && return 1; }
}

# folded: stacks and samples, kernel functions as they are called
folded() {
	opfs cat "$session/more:/stacks.folded" | sed 's/_\[k\]\(;\| [0-9]*$\)/\1/g'
}

# of_stacks: name, then samples of stacks that end in it, begin with it, have it
of_stacks() {
	folded | awk '{
		n = $NF
		sub(/ [0-9]+$/, "")
		k = split($0, f, ";")
		ends[f[k]] += n
		begins[f[1]] += n
		split("", seen)
		for (i = 1; i <= k; i++)
			if (!seen[f[i]]++)
				has[f[i]] += n
	}
	END { for (i in has) printf "%s\t%d\t%d\t%d\n", i, ends[i], begins[i], has[i] }'
}

# rows: symbol and samples, then those with all that it called
rows() {
	opfs cat "$session/report.tsv" | awk -F'\t' 'NR > 1 {
		n[$4] += $5
	}
	END { for (i in n) printf "%s\t%d\n", i, n[i] }'
}

@test "names of call trees: callers:, calls: and through: have what the trees have" {
	local session name ends begins has

	for session in full bare cut moved; do
		of_stacks >names
		[ "$(wc -l <names)" -ge 8 ]
		while IFS=$'\t' read -r name ends begins has; do
			expect "callers:$name" "$ends"
			expect "calls:$name" "$begins"
			expect "through:$name" "$has"
		done <names
	done
}

@test "names of rows: symbol: and callers: have what the row has" {
	local session name n

	for session in full bare cut moved; do
		rows >names
		[ "$(wc -l <names)" -ge 7 ]
		while IFS=$'\t' read -r name n; do
			expect "symbol:$name" "$n"
			expect "callers:$name" "$n"
			expect "include-symbols:${name//,/%2C}" "$n"
			expect "exclude-symbols:${name//,/%2C}" $((158 - n))
		done <names
	done
}

@test "names of rows: through: has what with:children adds up, also below a function" {
	local session=bare main

	expect "through:(no symbol)" 41
	expect "calls:(no symbol)" 0
	expect "through:$PWD/bare/p" 118
	expect "calls:$PWD/bare/p" 117
	opfs cat bare/with:children/report | grep -E '^41 .*\(no symbol\)$'
	opfs cat bare/with:children/report | grep -E "^118 .* $PWD/bare/p$"
	main=$(folded | awk -F';' '/ 13$/ { print $1 }')
	[ "$(samples "bare/calls:$main/(no symbol)")" = 11 ]
	[ "$(samples "bare/through:(no symbol)/[[]anon*")" = 23 ]
	[ "$(samples "bare/through:[libq.so],(no symbol)")" = 41 ]
}

@test "symbol: takes a name of call trees where a row is just that, or names a tag" {
	local session name ends begins has tag

	for session in full bare cut moved; do
		of_stacks >names
		while IFS=$'\t' read -r name ends begins has; do
			if opfs ls "$session/symbol:$name" >ignored 2>why; then
				expect "symbol:$name" "$ends"
				continue
			fi
			tag=callers
			[ "$ends" != 0 ] || tag=through
			grep -qF "(call trees have it: $tag:$name)" why
			echo "$session $name"
		done <names
	done >refused
	sed -E 's/0x[0-9a-f]+/ENTRY/' refused | sort | uniq -c | sed 's/^ *//' |
		LC_ALL=C sort -k2 | diff - /dev/fd/3 3<<-E
		1 bare [libq.so]
		1 bare [p]
		1 bare [truncated: copy too short]
		1 bare libq.so+ENTRY
		3 bare p+ENTRY
		1 cut [truncated: copy too short]
		1 full [truncated: copy too short]
		1 moved [truncated: copy too short]
	E
}

@test "every file shows these names and no others" {
	local session

	for session in bare cut; do
		of_stacks | cut -f1 | sort >trees
		opfs cat "$session/more:/callgrind.out" |
			sed -nE 's/^c?fn=\([0-9]+\) //p' | grep -Fxv '[all]' | sort -u |
			diff trees -
		opfs cat "$session/flamegraph.svg" |
			sed -nE '/<title>all /d; s/ [0-9]+ samples?,.*//; T
				s/ \(([^()]|\([^()]*\))*\)$//; s/.*<title>//p' |
			sort -u | diff trees -
		opfs cat "$session/hot-paths" | sed -nE 's/^\t(.*)  \(.*\)$/\1/p' |
			sort -u | comm -13 trees - | diff /dev/null -
		opfs cat "$session/more:/profile.pb.gz" | gzip -dc |
			protoc --decode=Profile \
			-I "$OPFS_TOP/tests/lib" profile.proto |
			sed -nE 's/^string_table: "(.*)"$/\1/p' | sort -u >strings
		comm -23 trees strings | diff /dev/null -
		for file in calltree callertree; do
			opfs cat "$session/threshold:0/$file" >got
			while read -r name; do
				grep -qE "[. ]$(sed 's/[][+.()]/\\&/g' <<<"$name")\$" got
			done <trees
		done
		rows | cut -f1 >rows
		opfs cat "$session/callgraph" >got
		while read -r name; do
			grep -qF " $name" got
		done <rows
		run ! grep -F -f <(grep -E '\+0x|^\[lib|^\[p\]' trees) got
	done
}

@test "what files add to a name is told" {
	opfs cat bare/more:/stacks.folded | grep -F 'no-vmlinux]_[k];'
	run ! opfs cat 'bare/through:[no-vmlinux]_[k]/report'
	[[ $output == *'("_[k]" is no part of names: [no-vmlinux])'* ]]
	run ! opfs cat 'bare/symbol:[no-vmlinux] [self]/report'
	[[ $output == *'(" [...]" behind a name is no part of it: [no-vmlinux])'* ]]
	run ! opfs cat "bare/calls:[libq.so]/api_[k]/report"
	run ! opfs cat "bare/callers:/gone/lib,z.so/report"
	[[ $output == *'(in names each "/" is written %2F)'* ]]
}
