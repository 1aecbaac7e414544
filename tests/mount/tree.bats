#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The tree in a mount: slow files, reports that are directories, files that tags
# contradict, and two sides of a comparison.  The reference session, see
# tests/lib/opdemo.bash.

bats_require_minimum_version 1.5.0
load ../lib/mount
load ../lib/opdemo

setup() {
	need_mount
	need_root
	need_mount_namespace
	make_dirs
}

teardown() {
	remove_dirs
}

# mounted SCRIPT: runs it in the mount of s1 as the current directory; $O is opfs without
# a mount.  The mount ends with it, and with the <( ) in it, for which bash does not wait.
mounted() {
	export SCRIPT=$1 M OPFS
	opdemo bash -euc '
		O() { "$OPFS" "$1" --session-dir /opt/opdemo/s1 "${@:2}"; }
		"$OPFS" mount --session-dir s1 "$M"
		. "$OPFS_TOP/tests/lib/busy.bash"
		trap "cd /; wait_for umount \"$M\"" EXIT
		cd "$M"
		eval "$SCRIPT"'
}

@test "annotate is a tree of source paths, each file as long as it says" {
	run mounted '
		find current/annotate -type f | sort >/opt/files
		grep -x current/annotate/opt/opdemo/src/main.c /opt/files
		while read -r f; do
			[ "$(stat -c %s "$f")" = "$(wc -c <"$f")" ]
			cmp "$f" <(O cat "$f")
		done </opt/files
		[ "$(wc -l </opt/files)" -ge 4 ]
		[ "$(stat -c %F current/annotate/opt)" = directory ]
		cmp current/annotate/opt/opdemo/src/main.c \
			current/more/annotate/opt/opdemo/src/main.c
		! stat current/annotate/etc
		cp -r current/annotate /opt/copy
		diff -r current/annotate /opt/copy'
	echo "$output"
	[ "$status" = 0 ]
}

@test "find meets no slow file, and more leads to them" {
	run mounted '
		[ -z "$(find . -name report.xml -o -name annotate -o -name "*.tar")" ]
		[ "$(readlink current/more)" = more: ]
		ls current/more/ >/opt/more
		grep -x report.xml /opt/more
		grep -x annotate /opt/more
		grep -x archive.tar /opt/more
		cmp current/more/report.xml current/report.xml
		for d in $(find . -path ./events -prune -o -type d -not -name image \
			-not -name event -print); do
			[ "$(ls -a "$d" | wc -l)" -le 45 ]
		done'
	echo "$output"
	[ "$status" = 0 ]
}

@test "a file that tags contradict is not listed, cannot be opened, and status says why" {
	run mounted '
		ls current/demangle:none >/opt/listed
		grep -x report /opt/listed
		! grep -x summary /opt/listed
		! cat current/demangle:none/summary 2>/opt/why
		grep "Invalid argument" /opt/why
		grep "demangle:none/summary: .*report" status
		cat current/demangle:none/status >/dev/null
		! cat current/image:demo/tasks.tsv
		grep "tasks.tsv is of a whole session" status
		! stat current/threshold:200
		ls current/sort: | grep -x app-name
		! ls current/threshold:
		grep "threshold:0.5" status'
	echo "$output"
	[ "$status" = 0 ]
}

@test "archive.tar is read in any order, by several at once" {
	run mounted '
		size=$(stat -c %s current/archive.tar)
		O cat current/archive.tar >/opt/whole
		[ "$(stat -c %s /opt/whole)" = "$size" ]
		tar tf current/archive.tar | grep -c . >/dev/null
		for at in 300000 4096 0 $((size - 100)) 77; do
			cmp <(tail -c +$((at + 1)) current/archive.tar | head -c 5000) \
				<(tail -c +$((at + 1)) /opt/whole | head -c 5000)
		done
		pids=
		for i in 1 2 3 4; do
			cmp current/archive.tar /opt/whole 3>&- & pids="$pids $!"
		done
		for p in $pids; do wait "$p"; done
		python3 - <<-END
		import mmap, os
		f = open("current/archive.tar", "rb")
		m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
		assert m[:] == open("/opt/whole", "rb").read()
		END'
	echo "$output"
	[ "$status" = 0 ]
}

@test "diff: has two sides, which other sessions and session directories can be" {
	run mounted '
		e=current/event:CPU_CLK_UNHALTED
		grep "older" "$e/diff:base/report" >/dev/null
		cmp "$e/diff:base/report" <(O cat "$e/diff:base/report")
		ls "$e/diff:" | grep -x base
		[ "$(stat -c %s "$e/diff:base")" = "$(stat -Lc %s "$e")" ]
		! stat "$e/diff:nosuch"
		ls "$e/diff:base/image:" | grep -x demo
		cat "$e/image:demo/diff:base/image/demo/report" >/dev/null
		cp -r /opt/opdemo/s1 /opt/other
		mv /opt/other/samples/base /opt/other/samples/older
		rm -r /opt/other/samples/current
		cmp <(grep -v "^Diff" "$e/diff:%2Fopt%2Fother/report") \
			<(grep -v "^Diff" "$e/diff:base/report")
		! cat "$e/diff:base/details"'
	echo "$output"
	[ "$status" = 0 ]
}

@test "what names host paths is for who mounted, also once he has looked" {
	mksession <<-'END'
	[{"session": "saved", "app": "/bin/a", "samples": {"0x1000": 10}},
	 {"session": "old", "app": "/bin/a", "samples": {"0x1000": 10}}]
	END
	"$OPFS" mount --session-dir "$D" "$M" -o allow_other
	mkdir "$D/few"
	few=$(echo "$D/few" | sed 's|/|%2F|g')
	other="$M/saved/diff:$(echo "$D/samples/old" | sed 's|/|%2F|g')"
	for p in "$M/saved/image-path:$few" "$M/saved/root:%2F" "$other"; do
		for round in 1 2; do
			stat "$p/report" >/dev/null
			cat "$p/report" >/dev/null
			ls "$p" >/dev/null
			for what in report README .; do
				run as_nobody stat "$p/$what"
				echo "$what: $output"
				[ "$status" = 1 ]
				[[ $output == *"Permission denied"* ]]
			done
		done
	done
	stat "$M/saved/archive.tar" >/dev/null
	run -1 as_nobody stat "$M/saved/archive.tar"
	[[ $output == *"Permission denied"* ]]
	run -0 as_nobody ls "$M/saved/more"
	[[ $output != *archive.tar* ]]
	run as_nobody cat "$M/status"
	[[ $output == *"only for the user who mounted"* ]]
}
