#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Every row of libcfi's tables, against libdw.

bats_require_minimum_version 1.5.0
load ../lib/need
load ../lib/unwind

setup_file() {
	local lib

	cd "$BATS_FILE_TMPDIR" || return
	lib=$(readlink -f "$OPFS_BIN/../lib")
	build_unwindat
	# shellcheck disable=SC2086 # words on purpose
	${CC:-gcc} -std=gnu17 -O2 -g -D_GNU_SOURCE -I"$OPFS_TOP" \
		${OPFS_SAN:+-fsanitize=$OPFS_SAN} -o cfidiff \
		"$OPFS_TOP/tests/tools/cfidiff.c" "$lib/libcfi.a" "$lib/base.a" \
		-ldw -lelf -pthread
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

# same_as_libdw FILE...: that is so of all rows, of which there are some.
same_as_libdw() {
	./cfidiff "$@" >log
	[ "$(grep -c 'rows' log)" = $# ]
	! grep -v ' 0 differ$' log
	! grep ' 0 the same' log
}

@test "the loader, the C library, and others that are there" {
	local f files=()

	for f in /lib64/ld-linux-x86-64.so.2 "$(gcc -print-file-name=libc.so.6)" \
		"$(gcc -print-file-name=libcrypto.so.3)" /usr/bin/python3 \
		"$(g++ -print-prog-name=cc1plus)"; do
		[ ! -e "$f" ] || files+=("$(readlink -f "$f")")
	done
	same_as_libdw "${files[@]}"
}

@test "the kernel's vdso" {
	python3 - <<-'END'
		import re
		for line in open("/proc/self/maps"):
		    m = re.match(r"(\w+)-(\w+) .*\[vdso\]", line)
		    if m:
		        start, end = int(m[1], 16), int(m[2], 16)
		        with open("/proc/self/mem", "rb") as mem:
		            mem.seek(start)
		            vdso = mem.read(end - start)
		with open("vdso", "wb") as out:
		    out.write(vdso)
	END
	same_as_libdw vdso
}

@test "what compilers make, with .eh_frame and with .debug_frame" {
	local cc o

	for cc in gcc clang; do
		for o in -O0 -O2 -Os; do
			$cc $o -g0 -fomit-frame-pointer -o "eh$cc$o" "$src/shapes.c" -lm
			same_as_libdw "eh$cc$o"
		done
	done
	gcc -O2 -g -fomit-frame-pointer -fno-asynchronous-unwind-tables -o debug \
		"$src/shapes.c" -lm
	"$PWD/unwindat" -t "$PWD/debug" >debug.table
	gcc -O2 -g0 -fomit-frame-pointer -o eh "$src/shapes.c" -lm
	"$PWD/unwindat" -t "$PWD/eh" | cmp - debug.table
}
