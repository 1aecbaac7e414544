#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Debug information can name any file as the source of a program: it is shown to those
# only who could open it themselves.

bats_require_minimum_version 1.5.0
load ../lib/mount

setup() {
	need_mount
	need_root
	make_dirs
	mkdir -m 755 "$W/src"
	mkdir -m 700 "$W/src/closed"
	echo "/* CLOSED-DIRECTORY */" >"$W/src/closed/dir.c"
	echo "/* SECRET-MODE */" >"$W/src/mode.c"
	chmod 600 "$W/src/mode.c"
	ln -s mode.c "$W/src/link.c"
	ln -s /proc/self/root/etc/shadow "$W/src/proc.c"
	echo "/* GROUP-ONLY */" >"$W/src/group.c"
	chown 0:1234 "$W/src/group.c"
	chmod 640 "$W/src/group.c"
	echo "/* FOR-ALL */" >"$W/src/open.c"
	files="/etc/shadow $W/src/closed/dir.c $W/src/mode.c $W/src/link.c $W/src/proc.c
		$W/src/group.c $W/src/open.c"
	{
		i=0
		for f in $files; do
			printf '# 1 "%s"\nint f%d(int n) { return n; }\n' "$f" $((i++))
		done
		printf 'int main(int c, char **v) { return c + !v; }\n'
	} >"$W/src.c"
	${CC:-gcc} -O0 -g -fpreprocessed -o "$W/prog" "$W/src.c"
	nm "$W/prog" | awk '$3 ~ /^f[0-9]+$/ { print $1 }' | python3 -c '
import json, sys
print(json.dumps([{"session": "saved", "app": sys.argv[1], "samples":
                   {hex(int(l, 16)): 10 for l in sys.stdin}}]))' "$W/prog" >"$W/told.json"
	mksession "$W/told.json"
}

teardown() {
	[ -z "${swapper-}" ] || { kill "$swapper" && wait "$swapper" || true; }
	remove_dirs
}

# The first line of a file that only root may read.
secret() {
	head -n 1 /etc/shadow
}

@test "sources of a hostile binary are read with the rights of who asks" {
	"$OPFS" mount --session-dir "$D" "$M" -o allow_other
	for round in 1 2; do
		cat "$M"/saved/annotate"$W"/src/*.c \
			"$M/saved/annotate$W/src/closed/dir.c" \
			"$M/saved/annotate/etc/shadow" >"$W/root"
		for what in FOR-ALL GROUP-ONLY SECRET-MODE CLOSED-DIRECTORY \
			"$(secret)"; do
			grep -qF -- "$what" "$W/root"
		done
		as_nobody cat "$M"/saved/annotate"$W"/src/*.c \
			"$M/saved/annotate$W/src/closed/dir.c" \
			"$M/saved/annotate/etc/shadow" >"$W/nobody"
		grep -q FOR-ALL "$W/nobody"
		for what in GROUP-ONLY SECRET-MODE CLOSED-DIRECTORY "$(secret)"; do
			run ! grep -F -- "$what" "$W/nobody"
		done
		[ "$(grep -c 'No source: .*Permission denied' "$W/nobody")" = 5 ]
		# a link into /proc is followed for nobody
		[ "$(grep -c 'No source: .*is not read' "$W/nobody")" = 1 ]
	done
}

@test "a supplementary group counts" {
	"$OPFS" mount --session-dir "$D" "$M" -o allow_other
	setpriv --reuid=65534 --regid=65534 --groups=1234 -- \
		cat "$M/saved/annotate$W/src/group.c" | grep GROUP-ONLY
	as_nobody cat "$M/saved/annotate$W/src/group.c" >"$W/nobody"
	run ! grep GROUP-ONLY "$W/nobody"
}

@test "other reports of source files keep to the same" {
	"$OPFS" mount --session-dir "$D" "$M" -o allow_other
	as_nobody cat "$M/saved/symbol:f0/source" "$M/saved/symbol:f2/source" \
		"$M/saved/with:source/asm" >"$W/nobody"
	grep -q 'f2' "$W/nobody"
	for what in SECRET-MODE "$(secret)"; do
		run ! grep -F -- "$what" "$W/nobody"
	done
	grep -q SECRET-MODE "$M/saved/symbol:f2/source"
}

@test "without a mount a user sees what he may read" {
	need_others
	for f in "$W"/src/mode.c "$W"/src/open.c /etc/shadow; do
		as_nobody "$OPFS" cat --session-dir "$D" "saved/annotate$f"
	done >"$W/nobody"
	grep -q FOR-ALL "$W/nobody"
	for what in SECRET-MODE "$(secret)"; do
		run ! grep -F -- "$what" "$W/nobody"
	done
}

@test "a source that becomes a link to a secret while it is read shows nothing of it" {
	python3 - "$W/src" 3>&- <<-'END' &
	import os, sys
	src = sys.argv[1]
	turn = 0
	while True:
	    os.symlink(("open.c", "mode.c")[turn], src + "/swap.new")
	    os.rename(src + "/swap.new", src + "/link.c")
	    turn = 1 - turn
	END
	swapper=$!
	"$OPFS" mount --session-dir "$D" "$M" -o allow_other
	# every threshold is a text of its own
	as_nobody sh -c 'for i in $(seq 1 200); do
		cat "$1/saved/threshold:0.$i/annotate$2/src/link.c"; done' \
		sh "$M" "$W" >"$W/seen"
	kill $swapper
	wait $swapper || true
	swapper=
	run ! grep SECRET-MODE "$W/seen"
	grep -q FOR-ALL "$W/seen"
}
