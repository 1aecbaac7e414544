#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# archive.tar: taken from a session, unpacked, mounted again without the binaries.

bats_require_minimum_version 1.5.0
load ../lib/mount

setup()
{
	need_mount
	make_dirs
}

teardown()
{
	cd / || return
	remove_dirs
}

# A program with its debug information in a file of its own, recorded with calls.
record_program()
{
	mkdir -p "$W/src/sub" "$W/bin/.debug"
	cp "$OPFS_TOP/tests/cli/progs/chain.c" "$W/src/sub/chain.c"
	(cd "$W/src" && ${CC:-gcc} -O1 -g -fno-omit-frame-pointer -pthread \
		-I"$OPFS_TOP/tests/cli/progs" -o "$W/bin/prog" sub/chain.c)
	objcopy --only-keep-debug "$W/bin/prog" "$W/bin/.debug/prog.debug"
	strip "$W/bin/prog"
	objcopy --add-gnu-debuglink="$W/bin/.debug/prog.debug" "$W/bin/prog"
	"$OPFS_BIN/opcollect" record --session-dir "$D" -g -e TIMER -F 4000 -- \
		"$W/bin/prog" >"$W/said" 2>&1 || skip "this user may not record here"
}

# Everything that a session's directory holds, `more` as well.
copy_tree()
{
	mkdir "$2"
	cp -r "$1/." "$2/"
	mkdir "$2/slow"
	cp -r "$1/more/." "$2/slow/"
	rm -f "$2/slow/archive.tar"
}

@test "a recorded program, unpacked elsewhere: every file is the same without binaries" {
	record_program
	"$OPFS" mount --session-dir "$D" "$M"
	copy_tree "$M/current" "$W/before"
	cp "$M/current/archive.tar" "$W/a.tar"
	"$OPFS" cat --session-dir "$D" current/archive.tar | cmp - "$W/a.tar"
	mkdir "$W/gnu" "$W/bsd" "$W/direct"
	tar -C "$W/gnu" -xf "$W/a.tar"
	bsdtar -C "$W/bsd" -xf "$W/a.tar"
	tar -C "$W/direct" -xf "$M/current/archive.tar"
	diff -r "$W/gnu" "$W/bsd"
	diff -r "$W/gnu" "$W/direct"
	for d in gnu bsd; do
		(cd "$W/$d" && sha256sum --strict --quiet -c MANIFEST)
		[ "$(cd "$W/$d" && find . -type f | wc -l)" = \
			$(($(grep -vc '^#' "$W/$d/MANIFEST") + 1)) ]
	done
	[ -e "$W/gnu/archive$W/bin/.debug/prog.debug" ]
	[ "$(stat -c %Y "$W/gnu/archive$W/bin/prog")" = "$(stat -c %Y "$W/bin/prog")" ]
	cmp "$W/gnu/archive$W/src/sub/chain.c" "$W/src/sub/chain.c"
	fusermount3 -u "$M"
	mv "$W/bin" "$W/gone"
	mv "$W/src" "$W/gone"
	for d in gnu bsd; do
		"$OPFS" mount --session-dir "$W/$d" "$M"
		copy_tree "$M/current" "$W/after"
		diff -r --no-dereference "$W/before" "$W/after"
		grep -q "$W/src/sub/chain.c" -r "$W/after/slow/annotate" ||
			find "$W/after/slow/annotate" -path "*$W/src/sub/chain.c*" |
				grep -q .
		rm -rf "$W/after"
		# an archive of an archive is the same again
		"$OPFS" cat --session-dir "$W/$d" current/archive.tar >"$W/b.tar"
		cmp "$W/a.tar" "$W/b.tar"
		fusermount3 -u "$M"
	done
}

@test "a binary that changed is another archive; one that changes while read fails" {
	cp /bin/true "$W/prog"
	python3 "$MKSESSION" "$D" <<-END
		[{"session": "s", "app": "$W/prog", "samples": {"0x2000": 4},
		  "mtime": $(stat -c %Y "$W/prog")}]
	END
	"$OPFS" mount --session-dir "$D" "$M"
	tar -tf "$M/s/archive.tar" >"$W/first"
	grep -q "archive$W/prog" "$W/first"
	exec 7<"$M/s/archive.tar"
	cp -p /bin/false "$W/other"
	touch -d @1 "$W/other"
	mv "$W/other" "$W/prog"
	run dd bs=1M iflag=direct of=/dev/null <&7
	exec 7<&-
	[ "$status" != 0 ]
	[[ $output == *"Input/output error"* ]]
	tar -tf "$M/s/archive.tar" >"$W/second"
	run ! grep -q "archive$W/prog" "$W/second"
	tar -xOf "$M/s/archive.tar" LEFT_OUT | grep -q "$W/prog.*is not what was sampled"
}

@test "only who mounted has archive.tar, of a session or of a part" {
	need_root
	python3 "$MKSESSION" "$D" <<-'END'
		[{"app": "/bin/true", "samples": {"0x2000": 4}},
		 {"app": "/bin/false", "samples": {"0x2000": 4}}]
	END
	chmod -R a+rX "$D"
	"$OPFS" mount --session-dir "$D" -o allow_other "$M"
	[ -s "$M/current/archive.tar" ]
	for d in current current/image:/bin/true; do
		run setpriv --reuid=nobody --regid=nogroup --clear-groups cat \
			"$M/$d/archive.tar"
		[ "$status" != 0 ]
	done
	tar -tf "$M/current/image:/bin/true/archive.tar" >"$W/part"
	grep -q "/bin/true/CPU_CLK" "$W/part"
	run ! grep /bin/false "$W/part"
}

@test "a source that not everybody may read is not in root's archive" {
	need_root
	mkdir "$W/src"
	cp "$OPFS_TOP/tests/cli/progs/weights.c" "$W/src/hidden.c"
	${CC:-gcc} -g -O0 -o "$W/prog" "$W/src/hidden.c" \
		-pthread -I"$OPFS_TOP/tests/cli/progs"
	chmod 600 "$W/src/hidden.c"
	local main
	main=$(nm "$W/prog" | awk '$3 == "main" { print $1 }')
	python3 "$MKSESSION" "$D" <<-END
		[{"app": "$W/prog", "samples": {"0x$main": 4},
		  "mtime": $(stat -c %Y "$W/prog")}]
	END
	"$OPFS" mount --session-dir "$D" "$M"
	tar -tf "$M/current/archive.tar" >"$W/list"
	grep -q "archive$W/prog" "$W/list"
	run ! grep -q hidden.c "$W/list"
	tar -xOf "$M/current/archive.tar" LEFT_OUT | grep -q "hidden.c.*everybody"
}

@test "who begins at the end of a long archive can be interrupted, and others go on" {
	cp /bin/true "$W/long"
	truncate -s 3000M "$W/long"
	python3 "$MKSESSION" "$D" <<-END
		[{"app": "$W/long", "samples": {"0x2000": 4},
		  "mtime": $(stat -c %Y "$W/long")}]
	END
	"$OPFS" mount --session-dir "$D" "$M"
	[ "$(stat -c %s "$M/current/archive.tar")" -gt 3000000000 ]
	run timeout -s INT 0.5 tail -c 3000 "$M/current/archive.tar"
	[ "$status" != 0 ] || skip "this machine is too fast"
	cat "$M/current/summary" >/dev/null
	[ "$(head -c 5000 "$M/current/archive.tar" | wc -c)" = 5000 ]
}
