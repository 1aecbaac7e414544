#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Flame graphs as those see them who draw them: XML, librsvg, and a browser with and
# without scripts.

bats_require_minimum_version 1.5.0
load ../lib/need

setup_file() {
	local lib

	cd "$BATS_FILE_TMPDIR" || return
	lib=$(readlink -f "$OPFS_BIN/../lib")
	${CC:-gcc} -std=gnu17 -g -D_GNU_SOURCE -DOPFS_VERSION='"test"' -I"$OPFS_TOP" \
		${OPFS_SAN:+-fsanitize=$OPFS_SAN} -o flamedraw \
		"$OPFS_TOP/tests/tools/flamedraw.c" \
		"$OPFS_TOP/tests/unit/opfs/made_up_stacks.c" "$lib/opfs.a" "$lib/base.a" \
		-pthread -lm
	cat >stacks <<-'END'
	main;parse;lex 100
	main;parse;lex;malloc@/lib/libc.so.6 100
	main;parse;lex;malloc@/lib/libc.so.6;_int_malloc@/lib/libc.so.6 200
	main;parse;made_[m] 350
	main;run;interpret;write@/lib/libc.so.6;do_syscall_64_[k] 200
	main;run;interpret;a_name_that_is_cut_before_the_zoom 50
	[truncated: depth limit] 100
	END
	draw <stacks >plain.svg "CYCLES, 100000 a sample" "1,100 samples, none lost"
	draw <stacks >icicle.svg --icicle
	draw <<-'END' >diff.svg --diff
	same 500 500
	grew 300 100
	shrank 200 400
	END
	hostile | draw >hostile.svg --title "$(hostile)" "$(hostile)"
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

draw() {
	./flamedraw "$@"
}

# Names of bytes that mean something to XML, to scripts, or to nobody.
hostile() {
	printf '%b 1\n' '<a b="c">&amp;</a>' ']]>' '</title><script>alert(1)</script>' \
		'\xff\xfe\x80' '\xe2\x80\xa8line' '\x01\x1b[31m\x7f' '\xed\xa0\x80' \
		'\xef\xbf\xbf' '\xf0\x9f\x94\xa5\xf0\x9f\x94\xa5' ' ' '(' 'a (b' \
		') 5 samples, 1%' 'f(int (*)(int)) 5 samples, 1%' 'x@/a (b' \
		'x@/(((((' '\xe2\x80\xaeoverride' "'" "\${x}" '&#0;' "\\\\" \
		"$(printf '%05000d' 0)"
}

# in_browser CASE FILE
in_browser() {
	need_command chromium
	TMPDIR=$BATS_TEST_TMPDIR python3 "$OPFS_TOP/tests/cli/flame/page.py" "$1" \
		"$PWD/$2" 3>&-
}

# picture FILE NAME=COLOUR...: as librsvg draws it
picture() {
	need_command rsvg-convert
	rsvg-convert "$1" >"$BATS_TEST_TMPDIR/png"
	python3 "$OPFS_TOP/tests/cli/flame/pixels.py" "$1" "$BATS_TEST_TMPDIR/png" \
		"${@:2}"
}

@test "every file is XML, whatever the names are" {
	for f in plain icicle diff hostile; do
		xmllint --noout "$f.svg"
	done
	draw </dev/null >empty.svg
	xmllint --noout empty.svg
}

@test "100,000 stacks take less than 1 MB, and what is not drawn is told" {
	awk 'BEGIN {
		for (i = 0; i < 100000; i++) {
			x = (i * 2654435761) % 4294967296
			line = "main"
			for (d = 0; d < 20; d++) {
				x = (x * 69069 + 1) % 4294967296
				f = "a_function_" d "_" int(x / 65536) % (d % 2 ? 1 : 3)
				line = line ";" f
			}
			print line, 1 + i % 7
		}
	}' | draw >many.svg
	[ "$(grep -c '<rect' many.svg)" -gt 2000 ]
	[ "$(wc -c <many.svg)" -lt 1000000 ]
	grep -E '[0-9.]+% of the samples are in frames too narrow to draw' many.svg
	xmllint --noout many.svg
}

@test "nothing is fetched, and no attribute runs a script" {
	for f in plain hostile; do
		run xmllint --xpath '//@*[starts-with(local-name(), "on")] |
			//@href | //@src | //*[local-name() = "image"]' "$f.svg"
		[[ "$output" == *"XPath set is empty"* ]]
		[ "$(xmllint --xpath 'count(//*[local-name() = "script"])' \
			"$f.svg")" = 1 ]
	done
	[ "$(grep -oE 'https?:[^"'\'']*' plain.svg | sort -u)" = "$(printf '%s\n' \
		http://www.w3.org/1999/xhtml http://www.w3.org/2000/svg)" ]
	run ! grep -E 'url\(|@import|eval\(|new Function' plain.svg
}

@test "librsvg draws each kind of code in its colour" {
	picture plain.svg main=orange parse=orange malloc=yellow made=green \
		do_syscall_64=blue '[truncated:=grey'
}

@test "librsvg draws a comparison in red and blue" {
	picture diff.svg grew=red shrank=blue same=white
}

@test "librsvg draws names of any bytes" {
	need_command rsvg-convert
	rsvg-convert hostile.svg >"$BATS_TEST_TMPDIR/png"
}

@test "a click zooms, one on a frame below or on the button leads back" {
	in_browser zoom plain.svg
}

@test "keys move a focus among frames, zoom in and out" {
	in_browser keys plain.svg
}

@test "in an icicle graph, keys go down to callees" {
	in_browser icicle_keys icicle.svg
}

@test "a search marks what matches and tells its share" {
	in_browser search plain.svg
}

@test "zoom and search are in the address" {
	in_browser address plain.svg
}

@test "without scripts the same frames are there" {
	in_browser without_scripts plain.svg
}

@test "labels lie within their frames and can be read, on light and dark pages" {
	in_browser legible plain.svg
	in_browser legible diff.svg
}

@test "the script works with names of any bytes" {
	in_browser starts hostile.svg
}
