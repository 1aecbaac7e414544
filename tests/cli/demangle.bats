#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# demangle: changes names, and nothing else.

bats_require_minimum_version 1.5.0
load ../lib/need
load ../lib/opfs

setup_file() {
	export D="$BATS_FILE_TMPDIR/s"
	local src="$OPFS_TOP/tests/cli/demangle"

	need_command g++
	cd "$BATS_FILE_TMPDIR"
	mkdir old new
	g++ -w -O0 -fPIC -shared -o old/libnames.so "$src/names.cc" "$src/more.cc"
	g++ -w -O0 -fPIC -shared -DSHIFTED -o new/libnames.so "$src/names.cc" \
		"$src/more.cc"
	"$src/session.py" "current=$PWD/new/libnames.so" "old=$PWD/old/libnames.so" |
		mksession
}

setup() {
	cd "$BATS_TEST_TMPDIR"
}

# shown STYLE DIRECTORY REPORT...: these and report.tsv, sorted, without names
shown() {
	local style="$1" at="$2/demangle:$1" report

	opfs cat "$at/report.tsv" | cut -f 4 --complement | LC_ALL=C sort
	for report in "${@:3}"; do
		opfs cat "$at/with:show-address/$report" >text
		sed -E "s/^( *[0-9a-f]{8} +([0-9.e+-]+ +)+).*/\1/
			s,(demangle:$style[/,]|with:)(show-address),with:\2,g
			s,demangle:$style/,,g" text | LC_ALL=C sort
	done
}

# same_figures DIRECTORY REPORT...; leaves in "names" those of report.tsv, smart
same_figures() {
	opfs cat "$1/demangle:none/report.tsv" | cut -f 4 >raw
	shown none "$@" >none
	[ "$(wc -l <none)" -gt 40 ]
	for style in normal normal/with:short-names smart; do
		shown "$style" "$@" | diff none -
		opfs cat "$1/demangle:$style/report.tsv" | cut -f 4 >names
		run ! cmp -s raw names
	done
}

@test "functions called the same stay rows of their own, with the same figures" {
	same_figures current report details callgraph
	# destructors, Rust's hashes and unnamed namespaces collide
	[ "$(grep -cx 'left::~left()' names)" = 3 ]
	[ "$(grep -cx 'core::fmt::write' names)" = 2 ]
	[ "$(grep -cx 'same(long)' names)" = 3 ]
	[ "$(grep -cx 'same(int)' names)" = 2 ]
}

@test "no figure of a comparison with another build depends on demangle:" {
	same_figures current/diff:old report
	[ "$(grep -c . names)" -ge 18 ]
}

@test "every file with names of functions has them short" {
	local f short=current/with:short-names

	opfs cat $short/report.tsv | cut -f 4 >names
	grep -qE '<\.\.\.>' names
	run ! grep -E '[a-z]\([a-z]|<[a-z]+>' names
	for f in report details report.tsv report.json report.xml; do
		opfs cat "$short/$f" | grep -qE '<\.\.\.>|&lt;\.\.\.&gt;'
	done
	opfs cat current/report | grep -vq '<\.\.\.>'
	# a function is still asked for by its whole name
	opfs cat "current/symbol:*same(long)/with:short-names/report" >got
	cat got
	grep -qE '[ :]same$' got
}
