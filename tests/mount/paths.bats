#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Paths that a user names, or a binary of his, lead a mount by root neither into itself
# nor to what the user may not see.

bats_require_minimum_version 1.5.0
load ../lib/opfs
load ../lib/mount
load ../lib/users

setup() {
	need_mount
	need_root
	make_dirs
}

teardown() {
	# what waits for a mount ends when its connection does
	[ -z "${connection-}" ] || echo 1 >"$connection/abort" || true
	remove_dirs
}

# hostile_sources PATH...: a session of $W/prog, which names these as its sources.
hostile_sources() {
	local i=0 f

	for f; do
		printf '# 1 "%s"\nint f%d(int n) { return n; }\n' "$f" $((i++))
	done >"$W/src.c"
	printf 'int main(int c, char **v) { return c + !v; }\n' >>"$W/src.c"
	${CC:-gcc} -O0 -g -fpreprocessed -o "$W/prog" "$W/src.c"
	nm "$W/prog" | awk '$3 ~ /^f[0-9]+$/ { print $1 }' | python3 -c '
import json, sys
print(json.dumps([{"session": "saved", "app": sys.argv[1], "samples":
                   {hex(int(l, 16)): 10 for l in sys.stdin}}]))' "$W/prog" >"$W/told.json"
	mksession "$W/told.json"
}

@test "what the kernel makes for who reads it is no source, for root neither" {
	ln -s /proc/self/maps "$W/link.c"
	hostile_sources /proc/self/maps "$W/link.c" /sys/kernel/notes /proc/version
	shared_mount
	for who in env as_nobody; do
		$who timeout 60 grep -rh "" "$M/saved/annotate" >"$W/out"
		cat "$W/out"
		grep -q "/proc/self/maps: is not read" "$W/out"
		run ! grep -E "r-xp|Linux version" "$W/out"
	done
}

@test "a source or a binary in the mount itself is not read, by whatever path" {
	mkdir "$W/second"
	hostile_sources "$M/saved/summary" "$W/second/saved/summary"
	shared_mount
	mount --bind "$M" "$W/second"
	timeout 60 grep -rh "" "$M/saved/annotate" >"$W/out"
	cat "$W/out"
	[ "$(grep -c "No source: .*/saved/summary: is not read" "$W/out")" = 2 ]
}
