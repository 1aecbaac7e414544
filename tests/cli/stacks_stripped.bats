#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Stacks in programs whose symbols are stripped: their unwind tables tell functions apart.

bats_require_minimum_version 1.5.0
load ../lib/need
load ../lib/opfs

# build DIR FLAGS...: the program p and its library
build() {
	local dir=$1
	shift
	mkdir "$dir"
	${CC:-gcc} -O0 -no-pie "$@" -o "$dir/p" p.c
	${CC:-gcc} -O0 -shared -fPIC "$@" -o "$dir/libq.so" q.c
}

# at FILE FUNCTION: a frame in it
at() {
	echo "\"$PWD/$dir/$1@$(($(offset_of "$from/$1" "$2") + 5))\""
}

# session DIR FROM: of the programs there; FROM has them with their symbols.
session() {
	local dir=$1 from=$2 main work twice leaf api inner nowhere

	main=$(at p main) work=$(at p work) twice=$(at p twice)
	leaf=$(at p leaf) api=$(at libq.so api)
	inner=$(at libq.so inner) nowhere="\"$PWD/$1/p@0x10\""
	mksession <<-END
	[{"session": "$1", "app": "$PWD/$1/p", "mtime": $(stat -c %Y "$1/p"),
	  "stacks": [[[$main, $work, $leaf], 5], [[$main, $twice, $twice, $leaf], 3],
		     [[$main, $work, $nowhere], 2]]},
	 {"session": "$1", "app": "$PWD/$1/p", "image": "$PWD/$1/libq.so",
	  "mtime": $(stat -c %Y "$1/libq.so"), "stacks": [[[$main, $api, $inner], 7]]}]
	END
}

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	cat >p.c <<-'END'
	static int leaf(int x) { return x + 1; }
	static int work(int x) { return leaf(x) + 1; }
	static int twice(int x) { return x ? twice(x - 1) : leaf(x); }
	int main(int argc, char **argv) { return work(argc) + twice(argc) + !argv; }
	END
	cat >q.c <<-'END'
	static int inner(int x) { return x + 1; }
	int api(int x) { return inner(x); }
	END
	build full
	build fast -fno-asynchronous-unwind-tables
	cp -r full bare
	cp -r fast none
	strip bare/* none/*
	session full full
	session bare full
	session none fast
}

setup() {
	D=$BATS_FILE_TMPDIR/s
	cd "$BATS_FILE_TMPDIR" || return
}

# by_entry FILE FUNCTION: what it is called once it is stripped
by_entry() {
	nm "full/$1" | awk -v f="$2" -v file="$1" '$3 == f {
		sub(/^0*/, "", $1)
		print file "+0x" $1
	}'
}

# strip_names: puts such names in place of those of functions
strip_names() {
	local f script=

	for f in main work twice leaf; do
		script+="s/\\<$f\\>/$(by_entry p "$f")/g;"
	done
	sed "$script s/\\<inner\\>/$(by_entry libq.so inner)/g"
}

@test "stacks.folded: the entry that nm showed stands for the name" {
	opfs cat full/more:/stacks.folded >full.folded
	cat full.folded
	diff - full.folded <<-END
		main;api;inner 7
		main;twice;twice;leaf 3
		main;work;[p] 2
		main;work;leaf 5
	END
	opfs cat bare/more:/stacks.folded >bare.folded
	diff <(strip_names <full.folded | sort) <(sort bare.folded)
}

# rows SESSION: image, levels and name, with the samples of each row of the call tree
rows() {
	opfs cat "$1/threshold:0/calltree" |
		awk '$1 ~ /^[0-9]+$/ && NF > 5 { print $1, $3, $5, $6 }'
}

@test "calltree: the same tree, and a library keeps the names that it exports" {
	rows full >full.tree
	[ "$(grep -c . full.tree)" = 9 ]
	rows bare >bare.tree
	diff <(strip_names <full.tree | sort) <(sort bare.tree)
	grep -F ".api" bare.tree
}

@test "flamegraph.svg has a frame for each function" {
	local f

	opfs cat bare/flamegraph.svg >bare.svg
	for f in main work twice leaf; do
		grep -F "$(by_entry p "$f")" bare.svg
	done
	grep -F "$(by_entry libq.so inner)" bare.svg
}

@test "calls: lists entries as directories, and a path of them selects" {
	local main work

	main=$(by_entry p main) work=$(by_entry p work)
	opfs ls bare/calls: | grep -Fx "$main"
	opfs ls "bare/calls:$main" | grep -Fx "$work"
	opfs cat "bare/calls:$main/$work/more:/stacks.folded" >got
	grep -Fx "$main;$work;$(by_entry p leaf) 5" got
	[ "$(wc -l <got)" = 2 ]
	opfs cat "bare/callers:$(by_entry p leaf)/$work/more:/stacks.folded" >got
	diff - got <<<"$main;$work;$(by_entry p leaf) 5"
}

@test "callgrind.out has entries as functions at their addresses" {
	opfs cat bare/callgrind.out >got
	grep -F "$(by_entry p work)" got
	grep -F "$(by_entry libq.so inner)" got
}

# report_rows PATH: rows of a report, without the path of what is shown as itself
report_rows() {
	opfs cat "$1" | sed "s|$PWD/bare/||g" | awk '$1 ~ /^[0-9]+$/ { $1 = $1; print }'
}

@test "report has one row for all of a stripped program, which counts once a stack" {
	report_rows bare/report | diff - /dev/fd/3 3<<-END
		10 58.8235 p p
		7 41.1765 libq.so (no symbol)
	END
	report_rows bare/with:children/report | diff - /dev/fd/3 3<<-END
		17 100.000 10 58.8235 p p
		7 41.1765 7 41.1765 libq.so (no symbol)
		7 41.1765 0 0 libq.so api
	END
}

@test "symbol: takes the program as a whole, and its stacks keep their entries" {
	local program=${PWD//\//%2F}%2Fbare%2Fp

	opfs ls bare/symbol: | sort >got
	printf '%s\n' "$program" "(no symbol)" | sort | diff - got
	opfs cat "bare/symbol:$program/more:/stacks.folded" >got
	opfs cat bare/more:/stacks.folded | grep -Fv "libq" | diff - got
}

@test "without unwind tables functions of an image are one" {
	opfs cat none/more:/stacks.folded >got
	diff - got <<-END
		[p];[p];[p] 7
		[p];[p];[p];[p] 3
		[p];api;[libq.so] 7
	END
}

@test "entries are kept for when the binary is gone" {
	cp -r bare gone
	session gone full
	opfs cat gone/more:/stacks.folded >before
	opfs keep gone
	rm gone/*
	opfs cat gone/more:/stacks.folded | diff before -
	grep -F "$(by_entry p work)" before
}

# As libc's __restore_rt: nobody calls it, and handlers of signals return to it.
@test "a handler of signals was called by where it returns to" {
	local dir=. from=. main start on_alarm

	cat >t.c <<-'END'
	__asm__(".text; .type before, @function; before: nop; .size before, 1; nop; nop;"
		".type restore, @function; restore: nop; nop; .size restore, 2");
	int on_alarm(int x) { return x; }
	int main(void) { return on_alarm(0); }
	END
	${CC:-gcc} -O0 -no-pie -o t t.c
	start="\"$PWD/t@$(offset_of t restore)\""
	main="\"$PWD/t@$(($(offset_of t main) + 5))\""
	on_alarm="\"$PWD/t@$(offset_of t on_alarm)\""
	mksession <<-END
	[{"app": "$PWD/t", "mtime": $(stat -c %Y t),
	  "stacks": [[[$main, $start, $on_alarm], 3]]}]
	END
	[ "$(opfs cat current/stacks.folded)" = "main;restore;on_alarm 3" ]
	opfs cat current/callgrind.out | grep -x "$(nm t | awk '$3 == "restore" {
		sub(/^0*/, "0x", $1); print $1, 3 }')"
}
