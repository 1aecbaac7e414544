#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# "make lint" finds what breaks the rules, here in a small tree of its own.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR"
	mkdir -p .ci base libspec libsym libcfi events collector/room opfs kernel/uapi \
		tests/unit bench doc/completion
	cp "$OPFS_TOP"/tests/lint.sh "$OPFS_TOP"/tests/*.awk tests
	cp "$OPFS_TOP/.clang-format" .
	touch Makefile kernel/uapi/none.h tests/unit/none.h
	export O=build
}

# define FILE [WORD]: FILE gets a function of its name, which calls the function WORD.
define() {
	local name=${1##*/}

	name=${name%.c}
	printf 'void %s(void);\n' "$name" >"${1%.c}.h"
	printf '#include "%s"\n\n%s\n\nvoid %s(void)\n{\n\t%s\n}\n' "${1%.c}.h" \
		"${2:+void $2(void);}" "$name" "${2:+$2();}" >"$1"
}

# builds FILE...: as make does.
builds() {
	local file

	for file; do
		mkdir -p "build/obj/${file%/*}"
		${CC:-gcc} -I. -c -o "build/obj/${file%c}o" "$file"
	done
}

@test "a gate that there is not is an error" {
	run -2 tests/lint.sh colums
	[ "$output" = "lint.sh: there is no gate \"colums\", but: format columns length\
 functions modules layers calls" ]
}

@test "a tree that keeps the rules passes" {
	define base/one.c
	define base/two.c one
	builds base/one.c base/two.c
	tests/lint.sh lay-out
	run tests/lint.sh
	echo "$output"
	[ "$status" = 0 ]
	[ -z "$output" ]
}

@test "what is not laid out is told" {
	echo 'int  x;' >base/one.c
	run -1 tests/lint.sh format
	[[ "$output" == "format: base/one.c:1:4: error: "* ]]
}

@test "a wide line is told, with tabs as wide as they look" {
	printf '\t%082d\n' 0 >bench/one.py
	printf '\t%080d\303\244\303\244\n' 0 >bench/two.py
	printf '#!/bin/sh\n# %089d\n' 0 >tests/three
	printf '# %089d\n' 0 >tests/four
	run -1 tests/lint.sh columns
	[ "$output" = "columns: tests/three:2: 91 columns, of at most 90" ]
	printf ' \t%083d\n' 0 >bench/one.py
	run -1 tests/lint.sh columns
	[[ "$output" == "columns: bench/one.py:1: 91 columns, of at most 90"* ]]
}

@test "long sources and functions are told" {
	{
		printf 'int f(void)\n{\n'
		printf '\tf();\n%.0s' {1..98}
		printf '}\n'
	} >base/one.c
	run -1 tests/lint.sh functions length
	[ "$output" = "functions: base/one.c:1: a function of 101 lines, of at most 100" ]
	printf 'int f%d(void)\n{\n}\n\n' {1..151} >>base/one.c
	sed -i 4d base/one.c
	run -1 tests/lint.sh functions length
	[ "$output" = "length: base/one.c: more than 700 lines" ]
}

@test "sources and headers without each other are told, but rows of tables and programs" {
	printf 'struct a;\nstatic int f(void);\nint main(void)\n{\n}\n' >base/main.c
	printf 'const struct row row_one = {\n\t.run = 0,\n};\n' >base/one.c
	printf 'struct x {\n\tint (*f)(void);\n};\nstatic inline int g(void)\n{\n}\n' \
		>base/x.h
	run tests/lint.sh modules
	[ -z "$output" ]
	define base/two.c
	rm base/two.h
	printf 'int\nfar(int a,\n\tint b);\n' >base/three.h
	run -1 tests/lint.sh modules
	[ "${lines[0]}" = \
		"modules: base/three.h:1: declares far(), and there is no base/three.c" ]
	[ "${lines[1]}" = \
		"modules: base/two.c:5: defines two(), and there is no base/two.h" ]
	[ ${#lines[@]} = 2 ]
}

@test "includes of what is above are told" {
	define base/one.c
	define opfs/main.c
	sed -i '1a#include "opfs/main.h"' base/one.c
	run -1 tests/lint.sh layers
	[ "$output" = 'layers: base/one.c:2: "opfs/main.h": base/ includes only base' ]
}

@test "a cycle of calls in a folder is told once, with what is called" {
	define collector/room/one.c two
	define collector/room/two.c three
	define collector/room/three.c one
	define collector/room/four.c one
	define collector/five.c six
	define collector/room/six.c five
	builds collector/*.c collector/room/*.c
	run -1 tests/lint.sh calls
	way='one.c -> two.c (two) -> three.c (three) -> one.c (one)'
	[ "$output" = "calls: collector/room/: $way" ]
}

@test "objects that are missing are told" {
	define base/one.c
	run -1 tests/lint.sh calls
	[[ "$output" == *"build/obj/base/one.o"* ]]
}
