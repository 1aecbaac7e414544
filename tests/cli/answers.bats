#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What helpers said is kept for the next run ($OPFS_CACHE_DIR), and told as long as a
# helper would say the same.

bats_require_minimum_version 1.5.0
load ../lib/need
load ../lib/opfs
load ../lib/record

setup() {
	need_programs
	need_command strace
	cd "$BATS_TEST_TMPDIR"
	cat >c.c <<-'END'
	int work(int n) { return n * 3; }
	int main(int argc, char **argv) { (void)argv; return work(argc); }
	END
	cat >cc.cc <<-'END'
	struct shape { int area(int n); };
	__attribute__((noinline)) int shape::area(int n) { return n * 3; }
	int main(int argc, char **) { return shape().area(argc); }
	END
	build c
	build cc
	mksession <<-END
	[{"app": "$PWD/c", "samples": {"$(offset_of c work)": 20}},
	 {"app": "$PWD/cc", "samples": {"$(offset_of cc _ZN5shape4areaEi)": 10}}]
	END
	export OPFS_CACHE_DIR=$PWD/cache
}

# build PROGRAM [OPTION...]
build() {
	"${CC:-gcc}" -g -O1 -fno-inline -o "$1.new" "$1.c"* "${@:2}"
	mv "$1.new" "$1"
}

# A report as it is with what is kept: the same as without.
same() {
	OPFS_CACHE_DIR='' opfs cat "current/$1" >"fresh" 2>&1 || true
	opfs cat "current/$1" >"known" 2>&1 || true
	diff fresh known
}

# traced CALL,...: of the report, each of its processes and threads on its own.
traced() {
	rm -f calls.*
	# looking for leaks is work of another process
	ASAN_OPTIONS="${ASAN_OPTIONS-}:detect_leaks=0" strace -ff -o calls \
		-e trace="$1" "$OPFS_BIN/opfs" cat --session-dir s current/report >report
}

# Processes that it starts; threads are none.
processes() {
	traced execve,clone,clone3,fork,vfork
	cat calls.* | grep -Ev 'CLONE_THREAD|^(---|\+\+\+)' | grep -c ' = [0-9]'
}

@test "the second report starts no other process" {
	[ "$(processes)" -gt 2 ]
	cp report first
	[ "$(processes)" = 1 ]
	cmp first report
	grep -q 'c  *work$' report
	grep -q 'shape::area(int)$' report
}

# Of files and directories: a sanitizer makes calls of its own.
file_calls() {
	opfs cat current/report >/dev/null
	traced openat,openat2,newfstatat,statx,getdents64,read,pread64
	cat calls.* | wc -l
}

@test "the second report makes a bounded number of system calls for each file" {
	few=$(file_calls)
	for i in $(seq 20); do
		cp c "c$i"
		printf '{"app": "%s", "samples": {"%s": 1}},\n' "$PWD/c$i" \
			"$(offset_of c work)"
	done | sed '1s/^/[/; $s/,$/]/' | mksession
	many=$(file_calls)
	echo "$few calls for 2 sample files, $many for 22"
	[ "$(grep -c ' work$' report)" = 21 ]
	[ $((many - few)) -le $((20 * 80)) ]
}

@test "a binary that was replaced, came back or is gone is told as it is now" {
	for file in report status details report.json; do
		same "$file"
		same "$file"
	done
	cp -p c kept
	build c -DOTHER -Wl,--build-id=0x1234
	same report
	same status
	rm c
	same report
	same status
	cp -p kept c
	same report
	same status
	strip c
	same report
	same status
	chmod 000 c
	same report
}

@test "what other libraries said is not told again" {
	local lib at

	lib=$(ldd "$OPFS_BIN/opfs" | awk '/libdw/ { print $3 }')
	[ -n "$lib" ] || skip "opfs is linked without shared libraries"
	mkdir upgraded
	cp -L "$lib" upgraded
	at=$(readelf -SW "$lib" | awk '/ .note.gnu.build-id / {
		sub(/.*NOTE */, ""); print $2 }')
	[ "$(processes)" -gt 2 ]
	[ "$(processes)" = 1 ]
	export LD_LIBRARY_PATH=$PWD/upgraded
	[ "$(processes)" = 1 ]
	flip_byte "upgraded/${lib##*/}" $((16#$at + 16))
	[ "$(processes)" -gt 2 ]
	[ "$(processes)" = 1 ]
	unset LD_LIBRARY_PATH
	[ "$(processes)" = 1 ]
}

@test "names that come with a debug file are told at once, and those that go" {
	at=$(offset_of c work)
	objcopy --only-keep-debug c c.debug
	strip c
	objcopy --add-gnu-debuglink=c.debug c
	mv c.debug away
	mksession <<-END
	[{"app": "$PWD/c", "samples": {"$at": 20}}]
	END
	same report
	same report
	! grep -q 'work$' known
	mkdir .debug
	cp away .debug/c.debug
	same report
	grep -q ' work$' known
	rm .debug/c.debug
	same report
	! grep -q ' work$' known
	mv away c.debug
	same report
	grep -q ' work$' known
}

@test "what is kept is for the user alone" {
	opfs cat current/report >first
	[ "$(find cache/answers -type f | wc -l)" -ge 3 ]
	[ -z "$(find cache -mindepth 1 -perm /077)" ]
	chmod 755 cache/answers
	[ "$(processes)" -gt 2 ]
	cmp first report
}

@test "after record, the first report starts no other process" {
	can_record
	rm -rf s
	"$OPFS_BIN/opcollect" record -F 999 -o s -- \
		"${BASH}" -c 'for ((i = 0; i < 300000; i++)); do :; done'
	[ "$(processes)" = 1 ]
	grep -q bash report
}

@test "damage costs time, and nothing else" {
	opfs cat current/report >first
	for f in cache/answers/*; do
		truncate -s -1 "$f"
	done
	opfs cat current/report | cmp - first
	for f in cache/answers/*; do
		flip_byte "$f" 70
	done
	opfs cat current/report | cmp - first
	[ "$(processes)" = 1 ]
}

@test "where nothing can be kept nothing is said of it" {
	need_mount_namespace
	opfs cat current/report >first
	mkdir full
	for how in 'mount -t tmpfs -o size=4k none full' \
		'mount -t tmpfs -o ro none full' 'rmdir full' ': >full/answers'; do
		run -0 --separate-stderr private_mounts sh -ec "$how
			OPFS_CACHE_DIR=$PWD/full exec '$OPFS_BIN/opfs' cat \
				--session-dir s current/report"
		diff <(echo "$output") first
		[ "$stderr" = '' ]
		rm -rf full
		mkdir full
	done
}

@test "programs that are killed while they keep something do no harm" {
	OPFS_CACHE_DIR='' opfs cat current/report >first
	for i in $(seq 30); do
		timeout -s KILL 0.00$((i % 10))$((i / 10)) "$OPFS_BIN/opfs" cat \
			--session-dir s current/report >/dev/null || true
		[ $((i % 10)) = 0 ] || continue
		opfs cat current/report | cmp - first
		rm -rf cache
	done
}

@test "users of one cache at a time all read the same" {
	OPFS_CACHE_DIR='' opfs cat current/report >first
	for round in 1 2 3; do
		rm -rf cache
		for i in 1 2 3 4 5 6; do
			opfs cat current/report >"read.$i" 3>&- &
			readers[i]=$!
		done
		wait "${readers[@]}"
		for i in 1 2 3 4 5 6; do cmp first "read.$i"; done
	done
}

@test "all golden outputs are the same with answers that were kept" {
	for round in cold warm; do
		OPFS_TOP=$OPFS_TOP bats "$OPFS_TOP/tests/cli/golden.bats"
	done
	[ "$(find cache/answers -type f | wc -l)" -gt 10 ]
}
