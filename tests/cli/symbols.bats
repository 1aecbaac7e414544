#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# libsym through its helper processes, against readelf, objdump and c++filt.

bats_require_minimum_version 1.5.0
load ../lib/opfs
load ../lib/busy
load ../lib/need

setup_file() {
	local lib

	cd "$BATS_FILE_TMPDIR" || return
	lib=$(readlink -f "$OPFS_BIN/../lib")
	# shellcheck disable=SC2046,SC2086 # words on purpose
	${CC:-gcc} -std=gnu17 -g -D_GNU_SOURCE -DOPFS_VERSION='"test"' -I"$OPFS_TOP" \
		${OPFS_SAN:+-fsanitize=$OPFS_SAN} -o symdump \
		"$OPFS_TOP/tests/tools/symdump.c" "$lib/libsym.a" "$lib/base.a" \
		$(sed -n 's/^PKGS_\(libsym\|base\) := //p' \
			"$OPFS_TOP"/{libsym,base}/module.mk | xargs pkg-config --libs) \
		$(sed -n 's/^LIBS_libsym := //p' "$OPFS_TOP/libsym/module.mk") -pthread
	gcc -O2 -g -o full "$OPFS_TOP/tests/cli/symbols/sample.c"
	strip -o stripped full
	gcc -O2 -s -rdynamic -o exports "$OPFS_TOP/tests/cli/symbols/sample.c"
	strip --only-keep-debug -o only.debug full
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
	PATH="$BATS_FILE_TMPDIR:$PATH"
	src="$OPFS_TOP/tests/cli/symbols"
	d=$(mktemp -d /tmp/opfs-symbols.XXXXXX) # where other users can look
	chmod 755 "$d"
}

teardown() {
	rm -rf "$d"
}

# What is said on stderr; -q leaves nothing else.
state() {
	symdump -q "$@" 2>&1
}

has() {
	grep -qF -- "$1" <<<"$output" || {
		echo "not said: $1"
		echo "$output"
		return 1
	}
}

debug_path() {
	local id

	id=$(build_id "$1")
	echo ".build-id/${id:0:2}/${id:2}.debug"
}

@test "tells what readelf and objdump tell, whatever linker and layout" {
	local flags

	while read -r flags; do
		echo "flags: $flags"
		# shellcheck disable=SC2086 # words on purpose
		gcc -O2 $flags -o "$d/p" "$src/sample.c"
		"$src/compare.py" symdump "$d/p"
	done <<-END
		-pie
		-no-pie
		-static
		-pie -Wl,-z,now
		-pie -fcf-protection -Wl,-z,ibtplt
		-pie -fcf-protection -Wl,-z,now,-z,ibtplt
		-fuse-ld=gold
		-no-pie -Wl,-z,noseparate-code -Wl,--section-start=.elsewhere=0x700000
		-g -gz
	END
}

@test "tells what readelf and objdump tell of programs and libraries of the system" {
	local f

	for f in /usr/bin/ls /usr/bin/gcc /usr/lib/x86_64-linux-gnu/libstdc++.so.6 \
		/usr/lib/x86_64-linux-gnu/libelf.so.1; do
		[ ! -e "$f" ] || "$src/compare.py" symdump "$(readlink -f "$f")" "$(
			symdump -q "$(readlink -f "$f")" 2>&1 |
			awk -v f="$(readlink -f "$f")" \
				'/^debug: ./ { f = $2 } END { print f }')"
	done
}

@test "entries of code are what readelf tells of stripped programs, whatever linker" {
	local flags

	while read -r flags; do
		echo "flags: $flags"
		# shellcheck disable=SC2086 # words on purpose
		gcc -O2 -s $flags -o "$d/p" "$src/sample.c"
		"$src/entries.py" symdump "$d/p" /usr/bin/bash
	done <<-END
		-pie
		-no-pie
		-static-pie
		-rdynamic -Wl,--no-eh-frame-hdr
		-fuse-ld=gold
		-no-pie -Wl,-z,noseparate-code -Wl,--section-start=.elsewhere=0x700000
	END
	symdump -e "$d/p" 2>/dev/null | grep -q 0x700000
}

@test "only where functions of an image's own have no names it has entries" {
	mkdir -p "$d/$(dirname "$(debug_path full)")"
	cp only.debug "$d/$(debug_path full)"
	[ -n "$(symdump -e stripped 2>/dev/null)" ]
	[ -n "$(symdump -e exports 2>/dev/null)" ]
	[ -z "$(symdump -e full 2>/dev/null)" ]
	[ -z "$(symdump -e --debug-dir "$d" stripped 2>/dev/null)" ]
	[ -z "$(symdump -e -k vdso 2>/dev/null)" ]
	echo 'int f(void); int f(void) { return 1; }' >"$d/f.c"
	gcc -shared -nostdlib -s -fno-asynchronous-unwind-tables -o "$d/f.so" "$d/f.c"
	[ -z "$(symdump -e "$d/f.so" 2>/dev/null)" ]
}

@test "of nested symbols the innermost wins and behind a symbol's size is none" {
	local outer gap open

	outer=$(symdump full 2>/dev/null | awk '$4 == "outer_fn" { print $1 }')
	gap=$(symdump full 2>/dev/null | awk '$4 == "gap_fn" { print $1 }')
	open=$(symdump full 2>/dev/null | awk '$4 == "open_fn" { print $1 }')
	for at in 0:outer_fn 3:outer_fn 4:inner_fn 5:inner_fn 6:outer_fn 8:outer_fn; do
		run symdump -a $((outer + ${at%%:*})) full
		[[ $output == *" ${at#*:}" ]]
	done
	run symdump -a $((outer + 9)) full
	has "(no symbol)"
	has "vma"
	run symdump -a $((gap + 1)) full
	has "(no symbol)"
	run symdump -a $((open + 63)) full
	[[ $output == *" open_fn" ]]
	run symdump -a 0x70000000 full
	[[ $output == *"(no symbol)" && $output != *vma* ]]
}

@test "of aliases the strong and the one without underscore is shown" {
	run symdump full
	has " strong_twin"
	has " plain_name"
	[[ $output != *" weak_twin"* && $output != *" _under"* && $output != *hidden* ]]
}

@test "a stripped program has its exported names and PLT, or says that it has none" {
	run state exports
	has "source: dynsym"
	run symdump exports
	has " strong_twin"
	has " puts@plt"
	[[ $output != *local_one* ]]
	echo 'int f(void);int f(void){return 1;}' >"$d/f.c"
	gcc -O2 -shared -nostdlib -fvisibility=hidden -s -o "$d/f.so" "$d/f.c"
	run state "$d/f.so"
	has "state: no symbols"
	has "$d/f.so: no symbols for code: stripped, and no separate debug file was found"
	run symdump stripped
	has "state: no symbols"
	has " puts@plt"
}

@test "a debug file is found by build-id" {
	mkdir -p "$d/$(dirname "$(debug_path full)")"
	cp only.debug "$d/$(debug_path full)"
	symdump full >"$d/want" 2>/dev/null
	symdump --debug-dir "$d" stripped >"$d/got" 2>"$d/state"
	cmp "$d/want" "$d/got"
	grep -qx "source: debug file" "$d/state"
	grep -qx "debug: $d/$(debug_path full)" "$d/state"
}

@test "a debug file of another build is refused" {
	gcc -O1 -g -o "$d/other" "$src/sample.c"
	mkdir -p "$d/$(dirname "$(debug_path full)")"
	cp "$d/other" "$d/$(debug_path full)"
	run state --debug-dir "$d" stripped
	has "state: no symbols"
}

@test "a debug file is found by its link in .debug, beside, and below the debug root" {
	local where

	gcc -O2 -g -Wl,--build-id=none -o "$d/full" "$src/sample.c"
	strip --only-keep-debug -o "$d/p.debug" "$d/full"
	strip -o "$d/p" "$d/full"
	(cd "$d" && objcopy --add-gnu-debuglink=p.debug p)
	symdump "$d/full" >"$d/want" 2>/dev/null
	for where in "$d/.debug" "$d" "$d/root$d"; do
		mkdir -p "$where"
		[ "$where" = "$d" ] || mv "$d/p.debug" "$where"
		symdump --debug-dir "$d/root" "$d/p" >"$d/got" 2>"$d/state"
		grep -qx "debug: $where/p.debug" "$d/state"
		cmp "$d/want" "$d/got"
		[ "$where" = "$d" ] || mv "$where/p.debug" "$d"
	done
	printf x >>"$d/p.debug"
	run state --debug-dir "$d/root" "$d/p"
	has "state: no symbols"
}

@test "minidebug information is used" {
	objcopy -S --remove-section .gdb_index --remove-section .comment full "$d/mini" \
		--keep-symbol=local_one --keep-symbol=inner_fn
	strip --only-keep-debug -o "$d/dbg" full
	objcopy --remove-section '.debug*' "$d/dbg" "$d/mini"
	xz -k "$d/mini"
	objcopy --add-section .gnu_debugdata="$d/mini.xz" stripped "$d/p"
	run symdump "$d/p"
	has "source: minidebug"
	has " local_one"
	has " inner_fn"
	dd if=/dev/urandom of="$d/mini.xz" bs=1 seek=100 count=50 conv=notrunc status=none
	objcopy --add-section .gnu_debugdata="$d/mini.xz" stripped "$d/p"
	run state "$d/p"
	has "state: no symbols"
}

@test "the build-id decides, else the time of modification, else it says so" {
	local id

	id=$(build_id full)
	run state -b "$id" -m 5 full
	has "state: ok"
	run state -b "$(other_id "$id")" full
	has "state: changed"
	has "reason: $PWD/full: is not what was sampled: its build-id is $id"
	run state -m "$(stat -c %Y full)" full
	has "state: ok"
	run state -m 86400 full
	has "state: changed"
	has "the sampled one at 1970-01-02 00:00:00 UTC"
	run symdump -m 86400 full
	[[ $output != *local_one* ]]
	run state full
	has "state: unchecked"
	has "full: could not check"
}

@test "what is missing, unreadable or no program says so" {
	run state "$d/none"
	has "state: missing"
	has "reason: $d/none: No such file or directory"
	run state /dev/zero
	has "state: not ELF"
	mkfifo "$d/pipe"
	run state "$d/pipe"
	has "$d/pipe: is not a regular file"
	echo text >"$d/text"
	run state "$d/text"
	has "$d/text: is not an ELF file"
	: >"$d/empty"
	run state "$d/empty"
	has "state: not ELF"
	run state "$d"
	has "state: not ELF"
}

@test "files are opened with the rights of the user who asks" {
	need_root
	cp full "$d/secret"
	cp full "$d/open"
	chmod 711 "$d/secret"
	run state "$d/secret"
	has "state: unchecked"
	run state -u 65534 "$d/secret"
	has "state: unreadable"
	has "$d/secret: Permission denied"
	mkdir -m 700 "$d/private"
	cp full "$d/private/p"
	run state -u 65534 "$d/private/p"
	has "state: unreadable"
	ln -s secret "$d/link"
	run state -u 65534 "$d/link"
	has "state: unreadable"
	run state -u 65534 "$d/open"
	has "state: unchecked"
}

@test "a server that is not root shows others only what modes allow them" {
	need_root
	cp full symdump "$d"
	PATH="$d:$PATH"
	chown 1234 "$d/full" "$d"
	chmod 600 "$d/full"
	as="setpriv --reuid 1234 --regid 1234 --clear-groups"
	run $as symdump -q "$d/full"
	has "state: unchecked"
	run $as symdump -q -u 1235 "$d/full"
	has "state: unreadable"
	chmod 644 "$d/full"
	run $as symdump -q -u 1235 "$d/full"
	has "state: unchecked"
	chmod 700 "$d"
	run $as symdump -q -u 1235 "$d/full"
	has "state: unreadable"
}

kernel_files() {
	cat >"$d/kallsyms" <<-END
		0000000000000000 A fixed_percpu_data
		ffffffff81000000 T _stext
		ffffffff81000000 T _text
		ffffffff81000000 T first_fn
		ffffffff81000100 t second_fn
		ffffffff81000180 W weak_fn
		ffffffff81000200 T _etext
		ffffffff81800000 D some_data
		ffffffffc0001000 t mod_one	[foo_bar]
		ffffffffc0001040 t mod_two	[foo_bar]
		ffffffffc0002000 t mod_other	[other]
	END
	cat >"$d/modules" <<-END
		other 4096 0 - Live 0xffffffffc0002000
		foo_bar 16384 1 other, Live 0xffffffffc0001000 (OE)
	END
	# owner GNU, type 3, 4 bytes deadbeef
	printf '\4\0\0\0\4\0\0\0\3\0\0\0GNU\0\xde\xad\xbe\xef' >"$d/notes"
	kernel="--kernel-notes $d/notes --kallsyms $d/kallsyms --modules $d/modules
		--modules-dir $d/lib"
}

@test "kernel symbols count from _stext and end where the next symbol starts" {
	kernel_files
	# shellcheck disable=SC2086 # words on purpose
	symdump -k kallsyms $kernel -b deadbeef >"$d/got" 2>"$d/state"
	diff - "$d/got" <<-END
		0 0x100 0xffffffff81000000 first_fn
		0x100 0x80 0xffffffff81000100 second_fn
		0x180 0x80 0xffffffff81000180 weak_fn
	END
	grep -qx "state: ok" "$d/state"
	# shellcheck disable=SC2086
	run state -k kallsyms $kernel -b deadbeee
	has "state: changed"
	# shellcheck disable=SC2086
	run state -k kallsyms $kernel
	has "state: unchecked"
	sed -i 's/^[0-9a-f]*/0000000000000000/' "$d/kallsyms"
	# shellcheck disable=SC2086
	run state -k kallsyms $kernel
	has "state: unreadable"
	has "kernel.kptr_restrict"
}

@test "the symbols of a module come from kallsyms where there is no file" {
	kernel_files
	# shellcheck disable=SC2086 # words on purpose
	symdump -k module -n foo-bar $kernel >"$d/got" 2>"$d/state"
	diff - "$d/got" <<-END
		0 0x40 0xffffffffc0001000 mod_one
		0x40 0x3fc0 0xffffffffc0001040 mod_two
	END
	# shellcheck disable=SC2086
	run state -k module -n absent $kernel
	has "state: missing"
	has "module absent:"
}

@test "the file of a module is found, packed or not" {
	local pack text off value

	kernel_files
	mkdir -p "$d/lib/kernel/drivers/x"
	gcc -O2 -c -fno-pic -Wl,--build-id -o "$d/m.o" "$src/sample.c"
	ld -r --build-id -o "$d/foo.ko" "$d/m.o"
	for pack in cat:"" "xz -c:.xz" "zstd -qc:.zst" "gzip -c:.gz"; do
		rm -f "$d"/lib/kernel/drivers/x/*
		${pack%%:*} <"$d/foo.ko" >"$d/lib/kernel/drivers/x/foo-bar.ko${pack#*:}"
		# shellcheck disable=SC2086
		symdump -k module -n foo_bar -b "$(build_id "$d/foo.ko")" $kernel \
			>"$d/got" 2>"$d/state"
		cat "$d/state"
		grep -qx "state: ok" "$d/state"
		grep -q " local_one$" "$d/got"
		grep -q " far_away$" "$d/got"
	done
	off=$(awk '$4 == "outer_fn" { print $1 }' "$d/got")
	value=$(nm "$d/foo.ko" | awk '$3 == "outer_fn" { print "0x" $1 }')
	text=$(awk '/^text:/ { print $2 }' "$d/state")
	[ $((text)) -ne 0 ]
	[ $((off)) -eq $((text + value)) ]
	# shellcheck disable=SC2086
	run state -k module -n foo_bar -b 1234 $kernel
	has "state: changed"
}

@test "a vmlinux tells where its .text is in the file" {
	gcc -O2 -no-pie -o "$d/vmlinux" "$src/sample.c"
	run state -k vmlinux "$d/vmlinux"
	local want
	want=$(objdump -h "$d/vmlinux" | awk '$2 == ".text" { print $6 }')
	has "text: $(printf '%#x' "0x$want")"
}

@test "the vdso of the running kernel is used for samples of that kernel only" {
	local id

	run symdump -k vdso
	[[ $output != *"state: missing"* ]] || skip "this kernel has no vdso"
	has "clock_gettime"
	id=$(awk '/^build-id:/ { print $2 }' <<<"$output")
	run state -k vdso -b "$id"
	has "state: ok"
	run state -k vdso -b "$(other_id "$id")"
	has "state: changed"
}

@test "names are spelled as c++filt and as OProfile's smart spelling" {
	local t="$OPFS_TOP/tests/data/transcripts"

	awk '/^[0-9].*_Z/ { print $NF }' "$t"/27-symbols-cxx-none.txt >"$d/raw"
	[ -s "$d/raw" ]
	for style in normal:26-symbols-cxx smart:28-symbols-cxx-smart; do
		symdump -N -d "${style%%:*}" <"$d/raw" | sort >"$d/got"
		sed -nE '/^[0-9]/s/^([^ ]+ +){4}//p' "$t/${style#*:}.txt" |
			sort >"$d/want"
		diff "$d/want" "$d/got"
	done
}

# spelled FILE STYLE [OPTION]: names of the code and data that it defines
spelled() {
	nm "${@:3}" --defined-only "$1" |
		awk '/ [TtWV] _Z/ { sub(/@.*/, ""); print $3 }' |
		symdump -N -d "$2"
}

@test "types of the standard library are as short as OProfile's smart spelling has them" {
	need_command g++
	g++ -std=c++17 -w -c -o "$d/stl.o" "$src/stl.cc"
	spelled "$d/stl.o" smart | grep -E '^[a-z][a-z_]*[(]' | grep -v '^operator' |
		LC_ALL=C sort | diff "$src/stl.smart" -
	run spelled "$d/stl.o" smart
	has "_Rb_tree<int, pair<int const, vector<__cxx11::string>>>::_M_begin()"
	has "_Rb_tree<pair<int const, vector<__cxx11::string>>>::iterator::operator++()"
}

@test "smart names of all that libstdc++ defines are whole, and never longer" {
	local lib

	need_command g++
	lib=$(g++ -print-file-name=libstdc++.so.6)
	spelled "$lib" normal -D >"$d/normal"
	spelled "$lib" smart -D >"$d/smart"
	[ "$(wc -l <"$d/normal")" -gt 1000 ]
	paste "$d/normal" "$d/smart" | awk -F '\t' '
		{ text = $2 }
		NF != 2 || length($2) > length($1) || $2 ~ /(^|[ ,<(])std::/ ||
		gsub(/[(]/, "", text) != gsub(/[)]/, "", text) { print; bad = 1 }
		END { exit bad }'
}

@test "200 damaged programs: each is answered for, and the asker lives" {
	local i rc

	"$src/mutate.py" full "$d" 200
	for i in {1..200}; do
		rc=0
		timeout 1000 symdump "$d/$i" >"$d/out" 2>"$d/err" || rc=$?
		[ $rc = 0 ] || { echo "seed $i: exit $rc"; cat "$d/err"; return 1; }
		grep -q ^state: "$d/err"
	done
}

# A program that takes for ever to read: its link leads to a huge file.
endless() {
	gcc -O2 -g -Wl,--build-id=none -o "$d/full" "$src/sample.c"
	strip --only-keep-debug -o "$d/p.debug" "$d/full"
	strip -o "$d/p" "$d/full"
	(cd "$d" && objcopy --add-gnu-debuglink=p.debug p)
	truncate -s 200G "$d/p.debug" || skip "no file of that size here"
}

@test "a program whose reading waits for too long is given up, a busy one is not" {
	local pid i f job=

	endless
	symdump --blocked=500 --cpu=100 "$d/p" >/dev/null 2>"$d/err" 3>&- &
	pid=$!
	for i in {1..200}; do
		# the one that reads, for longer than it may wait
		for f in $(helpers_of); do
			i=$(awk '{ print $14 + $15 }' "/proc/$f/stat") || continue
			[ "${i:-0}" -lt 100 ] || job=$f
		done
		[ -z "$job" ] || break
		sleep 0.1
	done
	[ -n "$job" ]
	kill -STOP "$job" # as a disk may
	wait "$pid"
	run cat "$d/err"
	has "state: broken"
	has "$d/p: cannot be read: waited longer than 0.5 s for its files"
}

@test "a program that takes too much processor time is given up" {
	endless
	run -0 state --cpu=1 -t 250000 "$d/p"
	has "state: broken"
	has "$d/p: cannot be read: needs more than 1 s of processor time"
}

@test "the process of a job has little memory, no privileges and a filter" {
	local pid job f

	[[ ${OPFS_SAN-} != *address* ]] || skip "the address sanitizer needs more"
	endless
	symdump -t 250000 --cpu=250 "$d/p" >/dev/null 2>&1 3>&- &
	pid=$!
	is_there() {
		job=
		for f in $(helpers_of); do
			grep -q '^Seccomp:[[:space:]]*2' "/proc/$f/status" && job=$f
		done
		[ -n "$job" ]
	}
	wait_for is_there
	grep -q '^NoNewPrivs:[[:space:]]*1' "/proc/$job/status"
	grep -q '^Max address space *536870912 ' "/proc/$job/limits"
	grep -q '^Max file size *0 *0 ' "/proc/$job/limits"
	[ "$(find "/proc/$job/fd" -type l -lname 'socket:*' | wc -l)" = 1 ]
	kill "$pid"
	wait "$pid" || true
}

@test "helpers end with the program that started them" {
	local pid

	endless
	symdump -t 250000 --cpu=250 "$d/p" >/dev/null 2>&1 3>&- &
	pid=$!
	are_there() { [ "$(helpers_of | wc -l)" -ge 2 ]; }
	are_gone() { [ -z "$(helpers_of)" ]; }
	wait_for are_there
	kill -KILL "$pid"
	wait "$pid" || true
	wait_for are_gone
}

# Processes of this symdump that are helpers.
helpers_of() {
	find /proc/[0-9]*/exe -maxdepth 0 -lname "$BATS_FILE_TMPDIR/symdump" 2>/dev/null |
		sed 's|exe$|cmdline|' | xargs -r grep -lz '^--box=opfs-symbols' \
			2>/dev/null |
		sed 's|/proc/\(.*\)/cmdline|\1|'
	return 0
}
