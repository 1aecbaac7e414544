#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Stacks unwound by libcfi, against gdb's at the same stops: many, and of big programs.

bats_require_minimum_version 1.5.0
load ../lib/need
load ../lib/unwind

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	build_unwindat
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
	need_gdb
}

@test "every instruction of functions of all shapes, whatever the optimization" {
	local o

	for o in -O0 -O1 -O3 -Os; do
		build_shapes $o
		STEP="shapes shapes_end" compare 3000 "./shapes$o" once
		agrees
	done
}

@test "every instruction of what clang makes" {
	clang -O2 -fomit-frame-pointer -o clanged "$src/shapes.c" -lm
	STEP="shapes shapes_end" compare 3000 ./clanged once
	agrees
	g++ -O2 -fomit-frame-pointer -o throws "$src/throws.cc"
	clang++ -O2 -fomit-frame-pointer -o clanged_throws "$src/throws.cc"
	compare 200 ./clanged_throws
	agrees
}

@test "every instruction of a throw" {
	g++ -O2 -fomit-frame-pointer -o throws "$src/throws.cc"
	STEP="__cxa_throw __cxa_begin_catch" compare 6000 ./throws
	agrees
}

@test "a static program" {
	build_shapes -O2 -static
	compare 200 ./shapes-O2-static
	agrees
}

@test "a PLT with branch protection, and one that was filled at the start" {
	gcc -O1 -fomit-frame-pointer -fcf-protection -Wl,-z,now -o now "$src/begins.c"
	STEP="begins begins_end" compare 4000 ./now
	agrees
	gcc -O1 -fomit-frame-pointer -fcf-protection -Wl,-z,lazy,-z,ibtplt -o ibt \
		"$src/begins.c"
	STEP="begins begins_end" compare 4000 ./ibt
	agrees
}

@test "handlers of signals, at many moments" {
	gcc -O2 -fomit-frame-pointer -o signals "$src/signals.c"
	compare 400 ./signals
	agrees
	compare 400 ./signals own-stack
	agrees
}

@test "python3" {
	compare 300 "$(readlink -f /usr/bin/python3)" "$src/spin.py"
	agrees
}

@test "cc1plus" {
	compare 300 "$(g++ -print-prog-name=cc1plus)" -quiet -O2 -D_GNU_SOURCE \
		-imultiarch "$(gcc -print-multiarch)" "$src/templates.cc" -o templates.s
	agrees
}

# Most of it is code that nothing describes, where gdb gets lost.
@test "node, where its code is described" {
	local node

	need_command node
	node=$(readlink -f "$(command -v node)")
	THREADS=1 compare 400 "$node" "$src/spin.js"
	tail -n 1 log
	[ $((number[differ] * 99)) -le $((number[equal] + number[short])) ]
	[ $((number[equal] + number[short])) -ge 100 ]
	# code that was just made has no frame at its first and last instructions
	[ $((number[jitwhole] * 100)) -ge $((number[jit] * 90)) ]
}
