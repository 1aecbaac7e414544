#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What is told on a terminal while something takes long.

bats_require_minimum_version 1.5.0
load ../lib/opfs
load ../lib/busy
load ../lib/need
load ../lib/slowfs
load ../lib/typed

setup_file() {
	need_command tmux
	build_slowfs
}

setup() {
	cd "$BATS_TEST_TMPDIR"
	slow
	cp "$OPFS_BIN/opfs" real/prog
	D=$PWD/data
	mksession <<<"[{\"app\": \"$PWD/mnt/prog\", \"samples\": {\"0x10\": 3}}]"
	export OPFS_SESSION_DIR=$D PAGER=cat
}

teardown() {
	[ -z "${slow_pid-}" ] || kill -9 "$slow_pid" || true
	shell_end
	cd /
	umount -l "$BATS_TEST_TMPDIR/mnt" 2>/dev/null || true
}

progress='opfs cat: reading symbols: 0 of 1 images'

screen_shows() {
	screen | grep -qF -- "$1"
}

@test "how far a report is is told on a terminal after a second, and erased before it" {
	shell bash
	answers never
	keys 'opfs cat --color=never current/report; echo "status $?"' Enter
	wait_for screen_shows "$progress"
	answers 0
	wait_for screen_shows 'status 0'
	screen
	! screen_shows 'reading symbols'
	screen_shows '100.000'
}

has_a_helper() {
	pid=$(cat pid) && [ -n "$(pgrep -P "$pid")" ]
}

# The second one, which is told on the terminal, begins when the first waits already.
@test "nothing is told where stderr is no terminal" {
	shell bash
	answers never
	keys 'opfs cat --no-pager --color=never current/report >out 2>told & ' \
		'echo $! >pid' Enter
	wait_for has_a_helper
	keys C-l 'opfs cat --color=never current/report; echo "status $?"' Enter
	wait_for screen_shows "$progress"
	[ ! -s out ]
	answers 0
	wait_for screen_shows 'status 0'
	keys C-l 'wait "$(cat pid)"; echo "first: $?"' Enter
	wait_for screen_shows 'first: 0'
	grep -q '100.000' out
	[ ! -s told ]
}
