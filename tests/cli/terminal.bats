#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What is different on a terminal: script(1) is one.

bats_require_minimum_version 1.5.0
load ../lib/need
load ../lib/opfs

setup() {
	cd "$BATS_TEST_TMPDIR"
	D=$PWD/data
	mksession <<-'END2'
	[{"app": "/bin/a-program-of-a-long-name-that-has-no-end",
	  "samples": {"0x10": 90}},
	 {"app": "/bin/one", "samples": {"0x10": 9}},
	 {"app": "/bin/one", "image": "/lib/libx\u001b[31m\u4e2d\u6587.so",
	  "samples": {"0x10": 1}}]
	END2
	export TERM=xterm PAGER=cat OPFS_SESSION_DIR=$D
	unset NO_COLOR COLUMNS OPFS_PAGER LESS
}

# terminal COLUMNS WORDS: what opfs writes to a terminal so wide
terminal() {
	script -qec "stty cols $1; '$OPFS_BIN/opfs' $2" /dev/null </dev/null | tr -d '\r'
}

@test "on a terminal no line of a table is wider than it, and the name stays" {
	for columns in 40 60 75 90; do
		terminal "$columns" "cat --color=never current/report" >got
		grep -E '^[0-9]' got >rows
		[ "$(wc -l <rows)" = 3 ]
		[ "$(LC_ALL=C.UTF-8 wc -L <rows)" -le "$columns" ]
		[ "$(grep -c '…' rows)" -ge $((columns < 75)) ]
	done
	COLUMNS=50 terminal 90 "cat --color=never current/report" >got
	[ "$(grep -E '^[0-9]' got | LC_ALL=C.UTF-8 wc -L)" -le 50 ]
}

@test "an application is told only where it is not the image" {
	terminal 200 "cat --color=never current/report" >got
	cat got
	grep -qE '^9 +9\.0000 +one +/bin/one$' got
	grep -qE '^1 +1\.0000 .*so +one +/lib/' got
}

@test "no control character of a name reaches the terminal" {
	for file in report summary status README report.json report.tsv; do
		terminal 200 "cat --color=never current/$file" >got
		[ -s got ]
		! LC_ALL=C grep -q $'\033' got
	done
}

@test "shares are coloured on a terminal, unless it is not wanted" {
	terminal 90 "cat current/report" >got
	grep -qF $'\033[1;31m90.0000\033[m' got
	grep -qF $'\033[32m1.0000\033[m' got || grep -qF $'\033[1;31m9.0000' got
	NO_COLOR=1 terminal 90 "cat current/report" >got
	! grep -q $'\033' got
	TERM=dumb terminal 90 "cat current/report" >got
	! grep -q $'\033' got
	opfs cat --color=always current/report | grep -qF $'\033[1;31m90.0000\033[m'
	run -2 opfs cat --color=alwys current/report
	[[ $output = *'did you mean "always"?'* ]]
}

@test "elsewhere a file is written byte by byte, whatever the environment says" {
	opfs cat current/report >plain
	! grep -q $'\033' plain
	COLUMNS=20 PAGER='sed s/^/paged/' opfs cat current/report | cmp - plain
	opfs cat --color=auto current/report | cmp - plain
	grep -q 'a-program-of-a-long-name-that-has-no-end *a-program' plain
}

@test "a terminal's output goes through the pager, and OPFS_PAGER comes first" {
	PAGER='sed s/^/p:/' terminal 90 "cat current/summary" >got
	! grep -v '^p:' got
	PAGER=false OPFS_PAGER='sed s/^/o:/' \
		terminal 90 "cat current/summary" >got
	! grep -v '^o:' got
	PAGER='sed s/^/p:/' terminal 90 "cat --no-pager current/summary" \
		>got
	! grep '^p:' got
	OPFS_PAGER='' PAGER='sed s/^/p:/' \
		terminal 90 "cat current/summary" >got
	! grep '^p:' got
	grep -q one got
}

@test "a pager that is missing or left early is no failure, and errors are one" {
	PAGER=nosuch-pager terminal 90 "cat current/summary; echo =\$?" \
		>got
	grep -q one got
	grep -qx '=0' got
	PAGER=true terminal 90 "cat current/README; echo =\$?" >got
	grep -qx '=0' got
	PAGER=cat terminal 90 "cat current/summary nosuch; echo =\$?" >got
	grep -q one got
	grep -qx '=1' got
}

@test "what is for programs is not written to a terminal" {
	terminal 90 "cat current/archive.tar; echo =\$?" >got
	cat got
	grep -qF 'write it to a file with "> archive.tar"' got
	grep -qx '=1' got
	run -0 opfs cat current/archive.tar
}

@test "on a terminal it is told which session directory was taken, if nobody named it" {
	need_mount_namespace
	unset OPFS_SESSION_DIR
	mkdir empty
	cd empty
	unshare -rm sh -c "mount -t tmpfs none /var/lib && mkdir /var/lib/oprofile &&
		script -qec '$OPFS_BIN/opfs ls' /dev/null </dev/null" >got
	grep -qF 'opfs ls: using /var/lib/oprofile: ./oprofile_data is not there' got
}
