#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What README's tour does, by users who are not root and in another language: in a
# directory of a daemon, which a group may read, and with recordings of their own.

bats_require_minimum_version 1.5.0
load ../lib/record
load ../lib/daemon

alice=60001 bob=60002 readers=60010

setup_file() {
	need_root
	build_programs
	mkdir "$BATS_FILE_TMPDIR/locale"
	localedef -i de_DE -f UTF-8 "$BATS_FILE_TMPDIR/locale/de_DE.UTF-8"
}

setup() {
	need_root
	cd "$BATS_TEST_TMPDIR"
	chmod 755 .
	daemon_setup
	export HOME=/nonexistent
	unset OPFS_SESSION_DIR DEBUGINFOD_URLS
}

teardown() {
	daemon_teardown
}

# as UID GROUPS COMMAND...
as() {
	setpriv --reuid="$1" --regid="$1" --groups="$2" -- "${@:3}"
}

# tour DIR: what the commands print, and their exit statuses.
tour() {
	local opfs="$OPFS_BIN/opfs" path words

	for words in ls 'ls current' 'ls -l current/image:' 'ls current/event:' \
		'why current/image:weights/report' 'why current/image:none/report' \
		'check current' 'diff current current'; do
		echo "\$ opfs $words"
		# shellcheck disable=SC2086
		"$opfs" ${words%% *} --session-dir "$1" ${words#"${words%% *}"} 2>&1 ||
			echo "exit $?"
	done
	for path in README status current/README current/status current/summary \
		current/report current/report.tsv current/details \
		current/image:weights/report current/sort:symbol,image/report \
		current/image:weights/report.json current/image:weights/annotate \
		current/event:TIMER/image:weights/report current/tasks.tsv \
		curent/report current/reprot current/sort:sampel/report; do
		echo "\$ opfs cat $path"
		"$opfs" cat --color=always --session-dir "$1" "$path" 2>&1 ||
			echo "exit $?"
	done
	echo '$ opcollect list'
	"$OPFS_BIN/opcollect" list -d "$1" 2>&1 || echo "exit $?"
}

# toured UID GROUPS DIR [LOCALE]
toured() {
	export -f tour
	as "$1" "$2" env LC_ALL="${4:-C}" LANGUAGE=de \
		LOCPATH="$BATS_FILE_TMPDIR/locale" bash -c 'tour "$0"' "$3"
}

# A daemon's directory in $dir, which a group may read, and who started it has left.
daemon_of_group() {
	can_run_daemon
	# addresses of the kernel are for root only
	daemon -e TIMER:1000000:0:0:1 --image="$BATS_FILE_TMPDIR/weights"
	"$BATS_FILE_TMPDIR/weights" 0.3 >/dev/null
	ctl dump
	end_daemon
	chgrp -R "$readers" "$dir"
	chmod -R o= "$dir"
	chmod -R g=rX "$dir"
}

@test "who is of the group reads a daemon's sessions, byte by byte as root does" {
	daemon_of_group
	toured 0 0 "$dir" >root
	grep -q weights root
	toured "$alice" "$readers" "$dir" >member
	diff root member
}

@test "who is not of the group is told whose the directory is, by every command" {
	daemon_of_group
	toured "$bob" "$bob" "$dir" >other
	run ! grep -E '^[0-9]+[[:blank:]]' other
	for words in 'ls' 'cat current/report' 'check' 'why current/report'; do
		# shellcheck disable=SC2086
		run ! as "$bob" "$bob" "$OPFS_BIN/opfs" ${words%% *} \
			--session-dir "$dir" ${words#"${words%% *}"}
		echo "$words: $output"
		[[ "$output" == *"$dir"*"not allow you to read it"* ]]
	done
	for words in list 'remove current' 'rename current mine'; do
		# shellcheck disable=SC2086
		run -1 as "$bob" "$bob" "$OPFS_BIN/opcollect" ${words%% *} -d "$dir" \
			${words#"${words%% *}"}
		[[ "$output" == *"$dir"*"Permission denied"* ]]
	done
	# who may read removes nothing
	run -1 as "$alice" "$readers" "$OPFS_BIN/opcollect" remove -d "$dir" current
	[[ "$output" == *"Permission denied"* ]]
	[ -d "$dir/samples/current" ]
}

@test "in another language all commands print the same bytes" {
	daemon_of_group
	toured "$alice" "$readers" "$dir" C >plain
	toured "$alice" "$readers" "$dir" de_DE.UTF-8 >german
	diff plain german
}

@test "a user records and reads alone, in any language" {
	install -d -o "$alice" -g "$alice" own
	cd own
	as "$alice" "$alice" "$OPFS_BIN/opcollect" record --symbols=0 -e TIMER -- true ||
		skip "users may not record here"
	as "$alice" "$alice" env LC_ALL=de_DE.UTF-8 LOCPATH="$BATS_FILE_TMPDIR/locale" \
		"$OPFS_BIN/opcollect" record --symbols=0 -e TIMER:1000000 -- \
		"$BATS_FILE_TMPDIR/weights" 0.3 >/dev/null
	toured "$alice" "$alice" oprofile_data C >../plain
	grep -q weights ../plain
	toured "$alice" "$alice" oprofile_data de_DE.UTF-8 >../german
	diff ../plain ../german
}
