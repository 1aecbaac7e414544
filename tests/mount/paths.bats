#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Paths that a user names, or a binary of his, lead a mount by root neither into itself
# nor to what the user may not see.

bats_require_minimum_version 1.5.0
load ../lib/opfs
load ../lib/mount
load ../lib/users
load ../lib/slowfs

setup_file() {
	build_slowfs
}

setup() {
	users_setup
}

teardown() {
	[ -z "${sleeper-}" ] || kill "$sleeper" || true
	users_teardown
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

# told UID PATH: what "image:PATH", one component, tells that user.
told() {
	as "$1" timeout 60 stat -c %s "$M/saved/image:${2//\//%2F}" 2>&1 |
		sed "s,'[^']*',IT,"
}

# A mount with links in a directory of mode 0700 of uid 65533.
linked_mount() {
	build_open_and_closed
	mkdir -m 700 "$W/closed.d"
	ln -s "$W/open" "$W/closed.d/link"
	ln -s "$W/open" "$W/link"
	chown -R 65533 "$W/closed.d"
	shared_session
}

@test "a link is followed for those only who may see it" {
	linked_mount
	for round in 1 2; do
		[ "$(told 65533 "$W/closed.d/link")" = 10 ]
		[ "$(told 0 "$W/closed.d/link")" = 10 ]
		[ "$(told 65534 "$W/link")" = 10 ]
		# what he may not see, and what is not there, are one
		is=$(told 65534 "$W/closed.d/link")
		[[ $is == *"No such file"* ]]
		[ "$is" = "$(told 65534 "$W/closed.d/none")" ]
	done
}

@test "which program a process runs is not told" {
	linked_mount
	cp "$(command -v sleep)" "$W/open2"
	mv "$W/open2" "$W/open"
	"$W/open" 1000 3>&- &
	sleeper=$!
	for who in 0 65534; do
		[[ $(told $who "/proc/$sleeper/exe") == *"No such file"* ]]
	done
}

@test "a path through a second mount of the same does not stop it" {
	mkdir "$W/second"
	linked_mount
	mount --bind "$M" "$W/second"
	ln -s "$W/second" "$W/around"
	slow "$W/s"
	answers 200
	s=${W//\//%252F}%252Fs%252Fmnt%252F
	readers=()
	# more than there are workers, and helpers at once
	for ((i = 0; i < 40; i++)); do
		# itself a lookup that a worker has to answer, and not at once
		as_nobody timeout -k 1 100 stat \
			"$M/saved/image:${W//\//%2F}%2Faround%2Fsaved%2Fimage:$s$i" \
			>/dev/null 2>&1 3>&- &
		readers+=($!)
		as_nobody timeout -k 1 100 stat \
			"$M/saved/root:${W//\//%2F}%2Faround%2F$i" \
			>/dev/null 2>&1 3>&- &
		readers+=($!)
	done
	for r in "${readers[@]}"; do
		rc=0
		wait "$r" || rc=$?
		[ "$rc" = 1 ] || { abort_mounts; false; }
	done
	as_nobody timeout 60 cat "$M/saved/summary"
}

@test "a file system that never answers holds up who asked for it, and not for long" {
	linked_mount
	slow "$W/s"
	s=${W//\//%2F}%2Fs%2Fmnt%2F
	answers never
	rc=0
	as 65531 timeout -k 1 100 stat "$M/saved/image:${s}a" || rc=$?
	[ "$rc" = 1 ]
	# whoever gives up leaves a helper that cannot be killed: not many of them
	for ((i = 0; i < 40; i++)); do
		as 65531 timeout -s KILL 0.2 stat "$M/saved/image:$s$i" \
			2>/dev/null || true
	done
	[ "$(told 65533 "$W/closed.d/link")" = 10 ]
	# 16, and those that were under way
	left=$(helpers_of 65531)
	[ "$left" -ge 1 ] && [ "$left" -le 32 ]
	as_nobody timeout 60 cat "$M/saved/summary"
	answers 0
	wait_for no_helpers_of 65531
}

helpers_of() {
	pgrep -c -u "$1" -x opfs-symbols || true
}

no_helpers_of() {
	[ "$(helpers_of "$1")" = 0 ]
}

@test "an archive takes what is in closed directories for nobody to give away" {
	mkdir -m 700 "$W/closed.d"
	echo "/* CLOSED */" >"$W/closed.d/dir.c"
	echo "/* OPEN */" >"$W/open.c"
	ln -s "$W/closed.d/dir.c" "$W/link.c"
	hostile_sources "$W/closed.d/dir.c" "$W/link.c" /proc/self/maps /proc/version \
		"$W/open.c"
	shared_mount
	timeout 60 tar -C "$W" --one-top-level=all -xf "$M/saved/archive.tar"
	cat "$W/all/LEFT_OUT"
	for f in closed.d/dir.c link.c; do
		[ ! -e "$W/all/archive$W/$f" ]
		grep -q "$f.*not everybody may read it" "$W/all/LEFT_OUT"
	done
	[ ! -e "$W/all/archive/proc/self" ] && [ ! -e "$W/all/archive/proc/version" ]
	grep -q "/proc/self/maps.*is not read" "$W/all/LEFT_OUT"
	cmp "$W/open.c" "$W/all/archive$W/open.c"
	cmp "$W/prog" "$W/all/archive$W/prog"
}
