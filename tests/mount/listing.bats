#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Listings have one shape, and programs that follow links come to an end in them.

bats_require_minimum_version 1.5.0
load ../lib/mount

setup_file() {
	[ -z "$(mount_obstacle)" ] || return 0
	make_dirs
	python3 >"$W/session.json" <<-'END'
	import json
	def files(session, apps, events=("CPU_CLK_UNHALTED",), **more):
	    return [dict({"session": session, "app": a, "image": lib, "event": e,
	            "samples": {"0x%x" % (64 * k): 1 + k for k in range(3)}}, **more)
	            for a in apps for e in events for lib in (a, "/lib/libc.so.6")]
	two = ("CPU_CLK_UNHALTED", "LLC_MISSES")
	out = files("one", ["/bin/ls"]) + files("many", ["/bin/ls", "/bin/cp"], two)
	for t in 1, 2:
	    out += files("threads", ["/bin/ls"], tgid=t, tid=t, cpu=0)
	out += files("alike", ["/usr/bin/tool", "/opt/bin/tool", "/opt/tool~1",
	                       "/bin/ls"])
	out += files("full", ["/app/a%d" % i for i in range(100)], tgid=7, tid=7, cpu=1)
	print(json.dumps(out))
	END
	mksession "$W/session.json"
	"$OPFS" mount --session-dir "$D" "$M"
}

teardown_file() {
	remove_dirs
}

setup() {
	need_mount
	cd "$M"
}

# How many reports the mount has made.
made() {
	sed -n 's/^Reports made: //p' "$M/status"
}

@test "event, image and the links are there with one value and with many" {
	for d in one many one/event/CPU_CLK_UNHALTED many/event/LLC_MISSES; do
		for name in README status summary report more image lib-image symbol; do
			ls "$d" | grep -qx "$name"
		done
	done
	[ -d one/event ] && [ ! -L one/event ]
	[ ! -L one/event/CPU_CLK_UNHALTED/image ]
	[ "$(readlink one/event:CPU_CLK_UNHALTED)" = event:/CPU_CLK_UNHALTED ]
	[ "$(ls -d many/event:* | wc -l)" = 2 ]
	[ "$(ls -d many/image:* | wc -l)" = 2 ]
	[ "$(ls one | grep -cx tgid)" = 0 ]
	for name in tgid tid cpu; do
		ls threads | grep -qx $name
		[ -L threads/$name ]
	done
}

@test "the same globs reach the reports of every session" {
	for s in one/bin many/bin threads/bin alike/usr/bin full/app; do
		dir=${s#*/} s=${s%%/*}
		set -- $s/event:*/image:/$dir/*/report
		[ -e "$1" ]
		set -- $s/event/*/image/*/report
		[ -e "$1" ]
		head -qn 1 "$@" >"$W/heads"
		[ "$(wc -l <"$W/heads")" = $# ]
	done
	[ $# = 100 ]
}

@test "a directory of more than 50 images has no link for each" {
	[ "$(ls alike | grep -c ^image:)" = 4 ]
	[ "$(ls full | grep -c ^image:)" = 0 ]
	[ -e full/image:a77/report ]
}

@test "images of one name are told apart by a number, and their path is an attribute" {
	ls alike/image/ | sort >"$W/names"
	[ "$(cat "$W/names")" = $'ls\ntool~1\ntool~2\ntool~3' ]
	for n in 2 3; do
		getfattr --only-values -n user.opfs.path "alike/image/tool~$n"
		echo
	done >"$W/paths"
	sort "$W/paths" | cmp - <(printf '/opt/bin/tool\n/usr/bin/tool\n')
	# a file that is called so itself comes before
	path=$(getfattr --only-values -n user.opfs.path "alike/image/tool~1")
	[ "$path" = /opt/tool~1 ]
	# by its number, by its path, and in a list
	path=$(getfattr --only-values -n user.opfs.path "alike/image/tool~2")
	cmp <(grep -v : "alike/image:tool~2/report") \
		<(grep -v : "alike/image:$path/report")
	[ -e "alike/image:tool~2,ls/report" ]
	[ "$(getfattr --only-values -n user.opfs.samples "alike/image:tool")" = 24 ]
}

@test "ls without sizes makes no report, and ls -l makes each of them once" {
	before=$(made)
	ls --color=always -F one many threads/tgid/ >/dev/null
	[ "$(made)" = "$before" ]
	ls -l one/report one/summary >/dev/null
	[ "$(made)" = $((before + 2)) ]
	ls -l --color=always one/report one/summary >/dev/null
	cat one/report >"$W/report"
	[ "$(stat -c %s one/report)" = "$(wc -c <"$W/report")" ]
	[ "$(made)" = $((before + 2)) ]
}

@test "a link leads to values and files, and to no further tags" {
	for d in many/lib-image/libc.so.6 threads/tgid/1 many/image/ls \
		many/event:LLC_MISSES; do
		[ -e "$d/report" ]
		[ -e "$d/more/report.xml" ]
		run ! grep -x 'more\|image\|lib-image\|symbol\|event\|tgid' <(ls "$d")
	done
	# what is typed is no link
	ls many/lib-image:libc.so.6 | grep -qx symbol
}

@test "programs that follow links meet at most ten times of what others meet" {
	for s in one many threads full; do
		plain=$(find $s | wc -l)
		[ "$(find -L $s | wc -l)" -le $((10 * plain)) ]
	done
	# each report is made once for all that read it
	before=$(made)
	files=$(find -L full -type f | tee "$W/files" | wc -l)
	rg --follow --no-messages -l nothing-like-this full || [ $? = 1 ]
	first=$(made)
	[ $((first - before)) -le "$files" ]
	grep -R -c nothing-like-this full >"$W/counts" || [ $? = 1 ]
	[ "$(wc -l <"$W/counts")" = "$files" ]
	mkdir "$W/copy"
	rsync -aL ./full "$W/copy/"
	[ "$(find "$W/copy" -type f | wc -l)" = "$files" ]
	rm -r "$W/copy"
}

# files COMMAND...: it prints a line for each of the $n files.
files() {
	"$@" >"$W/got" || [ $? = 1 ]
	[ "$(grep -cv '/$' "$W/got")" = "$n" ] || { echo "$*"; cat "$W/got"; return 1; }
}

@test "twenty programs that follow links end, and read the same" {
	mkdir "$W/walk"
	cd one
	n=$(find -L . -type f | wc -l)
	du -L . >/dev/null
	ls -RL . >/dev/null
	tree -l . >/dev/null
	files fdfind -L -t f .
	files rg --files --follow .
	files rg --follow -a -c "" .
	files grep -R -l "" .
	cp -rL . "$W/walk/cp"
	files find "$W/walk/cp" -type f
	rsync -aL ./ "$W/walk/rsync"
	diff -r "$W/walk/cp" "$W/walk/rsync"
	diff -r "$W/walk/cp" .
	tar -chf "$W/walk/x.tar" .
	files tar -tf "$W/walk/x.tar"
	bsdtar -cLf "$W/walk/y.tar" .
	files bsdtar -tf "$W/walk/y.tar"
	zip -qr "$W/walk/x.zip" .
	files unzip -Z1 "$W/walk/x.zip"
	find . -follow -type f | cpio -oL --quiet >"$W/walk/x.cpio"
	files cpio -t --quiet <"$W/walk/x.cpio"
	files python3 -c 'import os
for d, _, names in os.walk(".", followlinks=True):
    for name in names:
        print(os.path.join(d, name))'
	files find -L . -type f -exec md5sum {} +
	find -L . -type f -print0 | xargs -0 file -L | wc -l | grep -qx "$n"
	find -L . -name report -exec cat {} + | grep -q libc
	shopt -s globstar
	set -- **/report
	[ $# -ge 3 ]
	python3 -c 'import glob, sys
sys.exit(not glob.glob("**/report", recursive=True))'
}
