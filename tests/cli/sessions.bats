#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# "opcollect list", "rename" and "remove": sessions of a directory, with and without a
# daemon that writes there.

bats_require_minimum_version 1.5.0
load ../lib/record
load ../lib/daemon

setup() {
	cd "$BATS_TEST_TMPDIR"
	daemon_setup
}

teardown() {
	daemon_teardown
}

oc() {
	timeout 1000 "$OPFS_BIN/opcollect" "$@"
}

# made NAME...: sessions of these names in $dir.
made() {
	for name in "$@"; do
		oc record -o "$dir" --session "$name" -e TIMER:1000000 -- sh -c \
			'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done' 2>made
	done
}

@test "list tells name, start, samples, size and events of every session" {
	made one two
	run -0 oc list -d "$dir"
	echo "$output"
	[[ "${lines[0]}" == NAME*START*LENGTH*SAMPLES*LOST*SIZE*EVENTS ]]
	[[ "${lines[1]}" == one*Z*"TIMER:1000000"* ]]
	[[ "${lines[2]}" == two*Z*"TIMER:1000000"* ]]
	oc list -d "$dir" --json >list.json
	[ "$(jq -r '.[].name' list.json | xargs)" = 'one two' ]
	stored=$(cat "$dir/samples/one/stats/stored_samples")
	jq -e --argjson stored "$stored" '.[0] | .samples == $stored and
		.open == false and .bytes > 0 and .events == "TIMER:1000000" and
		(.start | test("Z$"))' list.json
	# the directory is found as other commands find it
	mv "$dir" oprofile_data
	run -0 oc list
	[[ "$output" == *one* ]]
	run -1 oc list -d nowhere
	[[ "$output" == *"nowhere: no session directory"*"--session-dir"* ]]
	mkdir -p empty/samples
	[ "$(oc list -d empty --json | jq length)" = 0 ]
}

@test "list tells samples that are stored, and none where nothing counted them" {
	need_dev_full
	oc record -o "$dir" --session none -e TIMER:1000000 --image=/no/such -- sh -c \
		'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done' 2>made
	made one
	rm -r "$dir/samples/one/stats"
	run -0 oc list -d "$dir"
	[[ "${lines[1]}" == none*"s          0        0 "* ]]
	[[ "${lines[2]}" == one*"s          -        - "* ]]
	oc list -d "$dir" --json | jq -e '.[0].samples == 0 and .[1].samples == null and
		.[1].lost == null'
	run -1 bash -c '"$1" list -d "$2" >/dev/full' - "$OPFS_BIN/opcollect" "$dir"
	[[ "$output" == *"standard output: No space left"* ]]
}

@test "a session that may not be read is told as such by list, rename and remove" {
	local nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)

	need_others
	made one two
	chmod -R a+rX .
	chmod 755 "$BATS_FILE_TMPDIR" "$BATS_RUN_TMPDIR"
	chmod 000 "$dir/samples/one"
	chmod 777 "$dir/samples"
	run -1 --separate-stderr "${nobody[@]}" "$OPFS_BIN/opcollect" list -d "$dir"
	[[ "$output" == *two* && "$output" != *one* ]]
	[[ "$stderr" == *"session one cannot be read: Permission denied"*"chmod"* ]]
	for command in 'rename one three' 'remove one'; do
		run -1 "${nobody[@]}" "$OPFS_BIN/opcollect" $command -d "$dir"
		[[ "$output" == *"samples/one: permission denied"* ]]
	done
	[ -d "$dir/samples/one" ]
}

@test "rename gives a session a name that is free, and its reports stay" {
	made one two
	"$OPFS_BIN/opfs" cat --session-dir "$dir" one/report >before
	run -0 oc rename -d "$dir" one three
	[[ "$output" == *'"one" is now "three"'* ]]
	"$OPFS_BIN/opfs" cat --session-dir "$dir" three/report >after
	diff before after
	run -1 oc rename -d "$dir" three two
	[[ "$output" == *"session two already"* ]]
	run -1 oc rename -d "$dir" one four
	[[ "$output" == *"no session one"* ]]
	for name in current README status . .. .x a/b ../x 2026-11-21T09-00-00Z \
		"$(printf 'a\nb')" ''; do
		run -1 oc rename -d "$dir" three "$name"
		echo "$output"
	done
	[ "$(ls -A "$dir/samples" | xargs)" = 'three two' ]
	run -2 oc rename -d "$dir" three
}

@test "remove takes names and patterns, and with -n nothing" {
	made a1 a2 b1 b2 c
	run -0 oc remove -d "$dir" -n 'a*' c
	[[ "$output" == *'"a1" would be'*'"a2" would be'*'"c" would be'* ]]
	[ "$(ls -A "$dir/samples" | xargs)" = 'a1 a2 b1 b2 c' ]
	run -0 oc remove -d "$dir" 'a*' b1
	[ "$(ls -A "$dir/samples" | xargs)" = 'b2 c' ]
	run -1 oc remove -d "$dir" 'x*' c nothing
	[[ "$output" == *"matches x*"*'"c" is removed'*"no session nothing"* ]]
	[ "$(ls -A "$dir/samples")" = b2 ]
	run -2 oc remove -d "$dir"
}

@test "remove leaves what is not a session, and what lies outside" {
	made real
	mkdir "$dir/samples/photos" elsewhere
	echo 1 >"$dir/samples/photos/one.jpg"
	echo 2 >elsewhere/two
	ln -s "$PWD/elsewhere" "$dir/samples/link"
	for name in photos link ../../elsewhere . .. ''; do
		run -1 oc remove -d "$dir" "$name"
		echo "$name: $output"
	done
	run -1 oc remove -d "$dir" '*'
	[[ "$output" == *"photos is not a session"* ]]
	[ ! -e "$dir/samples/real" ]
	[ -e "$dir/samples/photos/one.jpg" ]
	[ -e elsewhere/two ]
}

@test "options may follow names: what is only asked for is not removed" {
	made one two
	run -0 oc remove one -d "$dir" --dry-run
	[[ "$output" == *'"one" would be removed'* ]]
	[ -d "$dir/samples/one" ]
	run -2 oc remove one --dry -d "$dir" --no-such-option
	run -0 oc remove --help
	run -0 oc rename one three -d "$dir"
	[ -d "$dir/samples/three" ]
	# behind "--" all are names
	run -1 oc remove -d "$dir" -- two --dry-run
	[[ "$output" == *"no session --dry-run"* ]]
	[ ! -e "$dir/samples/two" ]
}

@test "names and events that others chose command no terminal, and are read back" {
	made one
	mv "$dir/samples/one" "$dir/samples/$(printf '\302\233m\033[31m')"
	file=$(find "$dir/samples" -name 'TIMER.*' | head -n 1)
	mv "$file" "${file%/*}/$(printf 'T\033[2JR').${file##*/TIMER.}"
	run -0 oc list -d "$dir"
	[[ "$output" == *%C2%9Bm%1B* ]]
	run -1 grep -P '[\x00-\x09\x0b-\x1f]|\xc2[\x80-\x9f]' <<<"$output"
	oc list -d "$dir" --json | jq -e '.[0].name == "\u009bm\u001b[31m"'
	# what is offered is what opfs takes
	run -1 "$OPFS_BIN/opfs" cat --session-dir "$dir" none/report
	name=${output##* }
	"$OPFS_BIN/opfs" cat --session-dir "$dir" "$name/report" >/dev/null
	# letters that are no controls, though bytes of theirs would be
	oc record -o "$dir" --session Über -e TIMER -- true
	[ -d "$dir/samples/Über" ]
}

# no_controls: in $output, but for the ends of lines.
no_controls() {
	local c1='\xc2[\x80-\x9f]|(?<![\xc3-\xf4])[\x80-\x9f]'

	LC_ALL=C run -1 grep -P "[\x00-\x09\x0b-\x1f\x7f]|$c1" <<<"$output"
}

@test "sessions of names that are none of ours are listed, renamed and removed" {
	long=$(printf '%0255d' 0)
	names=("$long" $'a\nb' $'\e[31mred' $'\xc2\x9bm' $'raw\x9b2J' 'plain %1B' '*')
	shown=("$long" 'a%0Ab' '%1B[31mred' '%C2%9Bm' 'raw%9B2J' 'plain %1B' '*')
	made one
	for name in "${names[@]}"; do
		cp -a "$dir/samples/one" "$dir/samples/$name"
	done
	run -0 oc list -d "$dir"
	for name in "${shown[@]}"; do
		[ "$(grep -cF -- "$name " <<<"$output")" = 1 ]
	done
	no_controls
	[ "$(oc list -d "$dir" --json | jq length)" = 8 ]
	# by the name itself, and as list shows it
	for nr in "${!names[@]}"; do
		for name in "${names[nr]}" "${shown[nr]}"; do
			run -0 oc remove -d "$dir" -n "$name"
			[ "$output" = "session \"${shown[nr]}\" would be removed" ]
			run -0 oc remove -d "$dir" "$name"
			[ "$output" = "session \"${shown[nr]}\" is removed" ]
			[ ! -e "$dir/samples/${names[nr]}" ]
			cp -a "$dir/samples/one" "$dir/samples/${names[nr]}"
		done
		run -0 oc rename -d "$dir" "${shown[nr]}" again
		[ "$output" = "session \"${shown[nr]}\" is now \"again\"" ]
		oc remove -d "$dir" again
	done
	[ "$(ls -A "$dir/samples")" = one ]
	# the name itself comes before what another is shown as
	cp -a "$dir/samples/one" "$dir/samples/x%1B"
	cp -a "$dir/samples/one" "$dir/samples/"$'x\e'
	oc remove -d "$dir" 'x%1B'
	[ "$(ls -A "$dir/samples" | od -An -c | tr -d ' \n')" = 'one\nx033\n' ]
	# patterns mean them too
	run -0 oc remove -d "$dir" '*'
	[[ "$output" == *'"x%1B" is removed'* ]]
	no_controls
	[ -z "$(ls -A "$dir/samples")" ]
}

@test "a session that is not there is told with the nearest name" {
	made monday tuesday
	cp -a "$dir/samples/monday" "$dir/samples/"$'loud\a'
	for command in 'remove DAY' 'remove -n DAY' 'rename DAY x'; do
		run -1 oc ${command/DAY/thuesday} -d "$dir"
		[[ "$output" == *"no session thuesday in $dir: did you mean"* ]]
		[[ "$output" == *' "tuesday"?' ]]
		run -1 oc ${command/DAY/loud} -d "$dir"
		[[ "$output" == *'did you mean "loud%07"?' ]]
		run -1 oc ${command/DAY/christmas} -d "$dir"
		[[ "$output" == *'no session christmas'*'"opcollect list" shows all' ]]
		run -1 oc ${command/DAY/$'zzz\e'} -d "$dir"
		[[ "$output" == *'no session zzz%1B in '* ]]
		run -1 oc ${command/DAY/"$(printf '%0300d' 0)"} -d "$dir"
		[[ "$output" == *'no session 000'* ]]
	done
	mkdir -p empty/samples
	run -1 oc remove -d empty monday
	[[ "$output" == *'no session monday in empty, and no other'*--session-dir ]]
	[ "$(ls -A "$dir/samples" | wc -l)" = 3 ]
}

@test "a daemon removes sessions only, by any name, and tells the nearest" {
	can_run_daemon
	made tuesday
	cp -a "$dir/samples/tuesday" "$dir/samples/"$'\e[2J'
	daemon --stopped
	mkdir "$dir/samples/photos"
	for name in photos .next . .. '' ../samples; do
		run -1 ctl remove "$name"
		echo "$name: $output"
		[ -d "$dir/samples/photos" ]
	done
	run -1 ctl remove photos
	[[ "$output" == *"photos is not a session"* ]]
	run -1 ctl remove thuesday
	[[ "$output" == *'no session thuesday in '*': did you mean "tuesday"?' ]]
	run -1 ctl remove christmas
	[[ "$output" == *'"opcollect list" shows all' ]]
	run -0 ctl remove '%1B[2J'
	[ "$output" = 'session "%1B[2J" is removed' ]
	[ ! -e "$dir/samples/"$'\e[2J' ]
	run -0 ctl remove tuesday
	[ ! -e "$dir/samples/tuesday" ]
	end_daemon
}

@test "a session that cannot be written is told with what fits the reason" {
	echo >file
	run -1 oc record -o file -e TIMER -- true
	[[ "$output" == *"that is no directory: give one with --session-dir"* ]]
	need_mount_namespace
	run -1 unshare -m sh -c 'mkdir full &&
		mount -t tmpfs -o size=4k,nr_inodes=2 none full &&
		exec "$@"' sh "$OPFS_BIN/opcollect" record -o full -e TIMER -- true
	[[ "$output" == *"the disk is full: make room"*"with --session-dir"* ]]
}

@test "current is removed by its full name, when nobody writes it" {
	oc record -o "$dir" -e TIMER -- true
	run -1 oc remove -d "$dir" '*'
	[ -d "$dir/samples/current" ]
	run -0 oc rename -d "$dir" current mine
	oc record -o "$dir" -e TIMER -- true
	run -0 oc remove -d "$dir" current
	[ "$(ls -A "$dir/samples")" = mine ]
}

@test "what is being recorded is neither renamed nor removed" {
	mkfifo go
	oc record -o "$dir" --session busy -e TIMER -- sh -c 'read x <go' 2>busy 3>&- &
	pid=$!
	wait_for test -e "$dir/samples/busy/stats/live"
	for command in 'remove busy' 'rename busy idle'; do
		run -1 oc ${command%% *} -d "$dir" ${command#* }
		[[ "$output" =~ "being written by process "[0-9]+ ]]
	done
	echo >go
	wait "$pid"
	pid=
	oc remove -d "$dir" busy
}

@test "beside a daemon closed sessions are looked after, and it goes on" {
	can_run_daemon
	daemon --frequency=997 --rotate=1s
	load_on
	wait_for rotated_at_least 3
	load_off
	first=$(rotated | head -n 1)
	second=$(rotated | sed -n 2p)
	oc list -d "$dir" --json >list.json
	jq -e '.[] | select(.name == "current") | .open' list.json
	oc rename -d "$dir" "$first" kept
	oc remove -d "$dir" "$second"
	for command in 'remove current' 'rename current x'; do
		run -1 oc ${command%% *} -d "$dir" ${command#* }
		[[ "$output" == *"being written by process $pid"*save* ]]
	done
	ctl dump
	[ "$(fact state)" = sampling ]
	end_daemon
	[ -d "$dir/samples/kept" ]
	[ ! -e "$dir/samples/$second" ]
	[ -z "$(ls -A "$dir/samples" | grep gone)" ]
	run ! grep -i 'error\|fail\|no session' "$log"
	sessions "$dir"
}
