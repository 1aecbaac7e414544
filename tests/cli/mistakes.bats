#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What users do wrong, and what they are told: tests/cli/mistakes/table.  "BLESS=1" writes
# the messages anew.

bats_require_minimum_version 1.5.0
load ../lib/need
load ../lib/opfs

setup_file() {
	table="$OPFS_TOP/tests/cli/mistakes/table"
	export table W="$BATS_FILE_TMPDIR/w"
	mkdir "$W"
	cd "$W"
	D=good mksession "$OPFS_TOP/tests/data/stacks.json"
	D=damaged mksession <<<'[{"app": "/bin/one"}, {"app": "/bin/two"}]'
	truncate -s 10 "$(find damaged -path '*{root}/bin/two/*' -type f | head -1)"
	mkdir -p plain empty/samples
	touch file
	echo 'no stream of the driver' >stream
	find "$W/good/samples/current/{root}" -type f -name '*.all' | sort |
		head -n 1 >sample
}

# run_case COMMAND: its output and, in the last line, its exit status.  Only words of the
# table are run.
run_case() {
	(
		cd "$W"
		PATH=$OPFS_BIN:$PATH
		unset OPFS_SESSION_DIR
		unset -f opfs # the program, not tests/lib/opfs.bash's
		local rc=0
		eval "$1" 2>&1 </dev/null || rc=$?
		echo "exit status $rc"
	)
}

# Prints the table as it is now.
run_table() {
	local line command=

	while IFS= read -r line; do
		case $line in
		'$ '*)
			command=${line#'$ '}
			echo "$line"
			run_case "$command"
			;;
		'' | '#'*) echo "$line" ;;
		esac
	done <"$table"
}

@test "every mistake of the table is told with what it says there" {
	run_table >"$W.got"
	[ -z "${BLESS-}" ] || cp "$W.got" "$table"
	diff "$table" "$W.got"
}

@test "the table holds at least sixty mistakes, and none of them succeeds" {
	[ "$(grep -c '^\$ ' "$table")" -ge 60 ]
	! grep -q '^exit status 0$' "$table"
	[ "$(grep -cE '^exit status (1|2|3|127)$' "$table")" = \
		"$(grep -c '^\$ ' "$table")" ]
}

@test "in another language the messages are the same" {
	mkdir "$BATS_TEST_TMPDIR/locale"
	need_command localedef
	localedef -i de_DE -f UTF-8 "$BATS_TEST_TMPDIR/locale/de_DE.UTF-8"
	export LOCPATH="$BATS_TEST_TMPDIR/locale"
	export LC_ALL=de_DE.UTF-8 LANGUAGE=de
	# the language is there: another program speaks it
	[[ $(ls /nosuch 2>&1) = *'Datei oder Verzeichnis nicht gefunden'* ]]
	run_table >"$W.got"
	diff "$table" "$W.got"
}

@test "who may not read a session or its directory is told whose it is to allow" {
	need_others
	d=$(mktemp -d /tmp/opfs-mistakes.XXXXXX)
	chmod 755 "$d"
	D="$d/data" mksession <<<'[{"app": "/bin/one"}]'
	chmod 755 "$d/data" "$d/data/samples"
	chmod 700 "$d/data/samples/current"
	run setpriv --reuid=65534 --regid=65534 --clear-groups -- \
		"$OPFS_BIN/opfs" check --session-dir "$d/data"
	one=$output
	chmod 700 "$d/data"
	run setpriv --reuid=65534 --regid=65534 --clear-groups -- \
		"$OPFS_BIN/opfs" ls --session-dir "$d/data"
	two=$output
	rm -rf "$d"
	remedy='does not allow you to read it (its owner can: chmod o+rx)'
	echo "$one"
	[ "$one" = "opfs check: current: session current: its directory $remedy" ]
	echo "$two"
	[ "$two" = "opfs ls: $d/data: this session directory $remedy" ]
}

@test "what cannot be written is a failure, also of help" {
	need_dev_full
	for command in 'opfs --help' 'opfs --version' 'opfs help cat' 'opcollect --help' \
		'opcollect record -h' 'opcollect config' 'opcollect list -d good'; do
		run -0 run_case "$command >/dev/full"
		echo "$output"
		[[ "$output" == *"standard output: No space left on device"*"status 1" ]]
	done
}
