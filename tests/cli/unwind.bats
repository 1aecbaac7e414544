#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Stacks unwound by libcfi, against gdb's at the same stops.

bats_require_minimum_version 1.5.0
load ../lib/need
load ../lib/unwind

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	build_unwindat
	build_shapes -O1
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
	need_gdb
}

@test "exceptions, as they are thrown" {
	g++ -O2 -fomit-frame-pointer -o throws "$src/throws.cc"
	compare 60 ./throws
	agrees
}

@test "handlers of signals, on the stack and on one of their own" {
	gcc -O2 -fomit-frame-pointer -o signals "$src/signals.c"
	compare 60 ./signals
	agrees
	compare 60 ./signals own-stack
	agrees
}

@test "threads, while a library comes and goes" {
	gcc -O2 -fomit-frame-pointer -pthread -o threads "$src/threads.c"
	gcc -O2 -fomit-frame-pointer -fPIC -shared -o library.so "$src/library.c"
	THREADS=1 compare 100 ./threads "$PWD/library.so"
	agrees
}

@test "a stripped program, without sections too" {
	strip -o stripped shapes-O1
	compare 30 ./stripped
	agrees
	# gdb finds nothing then; the table is the same
	llvm-strip --strip-sections -o bare shapes-O1
	"$PWD/unwindat" -t "$PWD/bare" >bare.table
	"$PWD/unwindat" -t "$PWD/stripped" | cmp - bare.table
}
