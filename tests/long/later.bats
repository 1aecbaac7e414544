#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Binaries, debug files and sources that come after a saved session was first read.

bats_require_minimum_version 1.5.0
load ../lib/mount

setup() {
	need_mount
	make_dirs
	cd "$W" || return
	cp "$OPFS_TOP/tests/cli/symbols/sample.c" .
	${CC:-gcc} -g -O1 -rdynamic -o whole sample.c
	objcopy --only-keep-debug whole whole.debug
	cp whole prog
	objcopy -S --add-gnu-debuglink=whole.debug prog
	mkdir away
	mv sample.c whole.debug away
	nm -S away/whole.debug | awk '$3 ~ /[tT]/ && $2 != 0 { print $1 }' | python3 -c '
import json, sys
at = {hex(int(l, 16)): 10 for l in sys.stdin}
print(json.dumps([{"session": "saved", "app": sys.argv[1], "samples": at}]))' \
		"$W/prog" >told.json
	mksession told.json
}

teardown() {
	cd /
	remove_dirs
}

# soon COMMAND...: some time, without a new mount
soon() {
	wait_for "$@"
}

shows() {
	grep -q "$1" "$M/saved/$2"
}

@test "a debug file, a binary and a source that come later are shown by an old mount" {
	mv prog away
	"$OPFS" mount --session-dir "$D" "$M"
	shows "$W/prog" report
	run ! shows main report
	cp -p away/prog prog
	soon shows main report
	run ! shows 'sample.c:[0-9]' with:debug-info/report
	cp away/whole.debug .
	soon shows 'sample.c:[0-9]' with:debug-info/report
	soon shows 'No source: .*sample.c' "annotate$W/sample.c"
	[ "$(wc -c <"$M/saved/annotate$W/sample.c")" = \
		"$(stat -c %s "$M/saved/annotate$W/sample.c")" ]
	touch -d 2020-01-01 away/sample.c
	cp -p away/sample.c .
	soon shows ':.*main(' "annotate$W/sample.c"
	run ! shows 'No source' "annotate$W/sample.c"
	[ "$(wc -c <"$M/saved/annotate$W/sample.c")" = \
		"$(stat -c %s "$M/saved/annotate$W/sample.c")" ]
}
