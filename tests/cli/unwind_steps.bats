#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Stacks unwound by libcfi, against gdb's, instruction by instruction.

bats_require_minimum_version 1.5.0
load ../lib/need
load ../lib/unwind

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	build_unwindat
	build_shapes -O2
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
	need_gdb
}

@test "every instruction of functions of all shapes, -O2" {
	STEP="shapes shapes_end" compare 2500 ./shapes-O2 once
	agrees
	[ "${number[equal]}" -ge 1500 ]
}

@test "a first call by a PLT, and the loader that looks the function up" {
	gcc -O1 -fomit-frame-pointer -fcf-protection=none -Wl,-z,lazy -o lazy \
		"$src/begins.c"
	STEP="begins begins_end" compare 3000 ./lazy
	agrees
	[ "${number[equal]}" -ge 1000 ]
}

@test "the loader, from its entry, which nothing describes" {
	STEP="entry main" compare 300 ./shapes-O2 once
	agrees
}
