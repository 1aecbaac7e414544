#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Users of one mount may store sessions beside each other: one user's keep nobody else
# from theirs, nor lead the mount anywhere.

bats_require_minimum_version 1.5.0
load ../lib/opfs
load ../lib/mount
load ../lib/slowfs
load ../lib/users

setup_file() {
	build_slowfs
}

# Sessions NAME... with ten samples each.
sessions() {
	printf '%s\n' "$@" | jq -sR 'split("\n") | map(select(. != "") | {session: .,
		app: "/bin/true", samples: {"0x1100": 10}})' | mksession
}

# So many requests wait for the mount's answers.
requests_wait() {
	local at=/sys/fs/fuse/connections

	mountpoint -q $at || mount -t fusectl none $at
	[ "$(cat "$at/$(mountpoint -d "$M" | cut -d: -f2)/waiting")" -ge "$1" ]
}

@test "a file system that never answers, mounted among or in sessions, is not asked" {
	sessions saved other
	mkdir "$D/samples/dead"
	slow "$W/slow"
	chown -R $bob "$W/slow/real"
	mount --bind "$W/slow/mnt" "$D/samples/dead"
	mkdir "$D/samples/other/{root}/bound"
	mount --bind "$W/slow/mnt" "$D/samples/other/{root}/bound"
	ln -s "$W/slow/mnt" "$D/samples/link"
	chown -h $bob "$D/samples/link"
	shared_mount
	answers never
	run -0 as $alice ls -l "$M"
	[[ $output == *saved* && $output == *other* ]]
	[[ $output != *dead* && $output != *link* ]]
	run -0 as $alice cat "$M/session:*/summary"
	[[ $output == *" 20 "* ]]
	run -0 as $alice cat "$M/other/status"
	[[ $output == *"another file system: not entered"* ]]
	run as $alice cat "$M/dead/summary"
	[ "$status" != 0 ]
	run as $alice cat "$M/link/summary"
	[ "$status" != 0 ]
	run -0 as $alice cat "$M/status"
	[[ $output == *"session dead: another file system is mounted there"* ]]
	[[ $output == *"session link: is a link"* ]]
	# who mounts for himself trusts what he mounts
	answers 0
	unmount "$M"
	"$OPFS" mount --session-dir "$D" "$M"
	ls -l "$M/dead" "$M/link"
}

# The session "large" of user $1, on a file system that takes its time once it is told to,
# beside "mine".
large_session() {
	sessions mine
	slow "$W/slow"
	mkdir -p "$W/slow/real/session" "$W/one"
	D=$W/one sessions large
	for i in $(seq 300); do
		mkdir "$W/slow/real/s$i"
		cp -r "$W/one/samples/large/." "$W/slow/real/s$i"
	done
	mkdir "$W/slow/real/session/{root}"
	mv "$W"/slow/real/s[0-9]* "$W/slow/real/session/{root}"
	chown -R "$1" "$W/slow/real/session"
	ln -s "$W/slow/mnt/session" "$D/samples/large"
	shared_mount
}

@test "a session that takes minutes to read keeps nobody from the directory" {
	large_session root
	answers 200
	start_as $bob cat "$M/large/summary"
	wait_for requests_wait 1
	# who creates something locks the directory until all lookups in it are answered
	run as $bob mkdir "$M/new"
	[ "$status" != 0 ]
	run -0 as $alice cat "$M/mine/summary"
	[[ $output == *" 10 "* ]]
	requests_wait 1
}

@test "another user's session that takes long is given up, and sums are made without it" {
	large_session $bob
	answers 40
	run -0 as $alice cat "$M/status"
	[[ $output == *"large  "*"of another user; nobody has looked into it yet"* ]]
	run ! as $bob cat "$M/large/summary"
	run -0 as $bob cat "$M/status"
	[[ $output == *"session large: too large to be read for several users"* ]]
	# now it would be quick, but nobody waits for it twice
	answers 0
	run ! as $alice cat "$M/large/summary"
	run -0 as $alice cat "$M/session:*/summary"
	[[ $output == *" 10 "* ]]
	run -0 as $alice cat "$M/session:*/status"
	[[ $output == *"session large: too large to be read for several users"* ]]
	"$OPFS" cat --session-dir "$D" large/summary
}

@test "tables that would fill memory are not read for others, nor by name alone" {
	sessions mine huge
	chown -R $bob "$D/samples/huge"
	truncate -s 5M "$D/samples/huge/images"
	shared_mount
	run ! as $bob cat "$M/huge/summary"
	run -0 as $alice cat "$M/session:*/summary"
	[[ $output == *" 10 "* ]]
	run -0 as $alice cat "$M/session:*/status"
	[[ $output == *"session huge: too large to be read for several users"* ]]
	# whom the mount trusts may have them
	chown -R root "$D/samples/huge"
	unmount "$M"
	shared_mount
	run -0 as $alice cat "$M/huge/status"
	[[ $output == *"images: "* ]]
}

# The inode numbers of a path, as three requests give them.
numbers() {
	as "$1" stat -c %i "$2"
	as "$1" ls -di "$2" | cut -d' ' -f1
	as "$1" ls -d "$2"/ >"$W/list" && as "$1" stat -c %i "$2"
}

@test "a session has one inode number, whoever asked first and whether it was read" {
	sessions saved other
	shared_mount
	for path in saved other 'session:*' session:saved last:1d 'event:*'; do
		for who in $alice $bob; do
			numbers $who "$M/$path" >"$W/numbers" 2>/dev/null || true
			[ "$(sort -u "$W/numbers" | wc -l)" -le 1 ]
		done
	done
	[ "$(as $alice stat -c %i "$M/saved")" = "$(as $bob stat -c %i "$M/saved")" ]
	[ "$(as $alice stat -c %i "$M/saved")" = \
		"$(as $bob ls -i "$M" | awk '$2 == "saved" { print $1 }')" ]
	as $alice find "$M/session:*/" -maxdepth 2 >"$W/found"
	grep -q summary "$W/found"
}

@test "who stands in sessions chosen by a pattern stays there, whoever else asks for it" {
	sessions hers his
	chown -R $alice "$D/samples/hers"
	chown -R $bob "$D/samples/his"
	chmod 700 "$D/samples/hers" "$D/samples/his"
	mkdir -m 777 "$W/out"
	shared_mount
	start_as $alice bash -c "cd '$M/session:h*' && cat status >'$W/out/before' &&
		until [ -e '$W/out/go' ]; do sleep 0.1; done
		{ ls; cat status; } >'$W/out/after' 2>&1; touch '$W/out/done'"
	wait_for test -s "$W/out/before"
	as $bob cat "$M/session:h*/status" >"$W/out/his"
	touch "$W/out/go"
	wait_for test -e "$W/out/done"
	cd "$W/out"
	grep -q hers before
	grep -q hers after
	grep -q his his
	! grep -qw his before after
	! grep -q hers his
}

# stay UID PATH NAME COMMAND: that user looks around in PATH and stays there.
stay() {
	mkdir -p -m 777 "$W/out"
	start_as "$1" bash -c "cd '$2' && ls >'$W/out/$3.before' &&
		until [ -e '$W/out/go' ]; do sleep 0.1; done
		{ $4; } >'$W/out/$3.new' 2>&1; mv '$W/out/$3.new' '$W/out/$3'"
	wait_for test -s "$W/out/$3.before"
}

# What COMMAND of NAME says there now.
says() {
	touch "$W/out/go"
	wait_for test -e "$W/out/$1"
	cat "$W/out/$1"
}

# The live session as it is for the N-th time.
generation() {
	echo "$1 1000000000 live" >"$W/live"
	mv "$W/live" "$D/samples/current/stats/live"
}

@test "who works in a live session has a working directory, whoever else looks it up" {
	sessions current
	mkdir "$D/samples/current/stats"
	generation 1
	shared_mount
	stay $alice "$M/current" cwd 'readlink /proc/self/cwd'
	sleep 1.2 # for a second the kernel may remember the name
	generation 2
	as $bob stat "$M/current"
	[ "$(says cwd)" = "$(realpath "$M")/current" ]
}

@test "who was idle in a live session stays there when another one comes" {
	sessions current
	mkdir "$D/samples/current/stats" "$W/out"
	generation 1
	"$OPFS" mount --session-dir "$D" "$M"
	busy_start bash -c "cd '$M/current' && ls >'$W/out/before' &&
		until [ -e '$W/out/go' ]; do sleep 0.1; done
		readlink /proc/self/cwd >'$W/out/after'; touch '$W/out/done'"
	wait_for test -s "$W/out/before"
	sleep 10.5 # after ten seconds its place goes with the next look at another
	ls "$M/session:current"
	mkdir "$D/samples/other"
	wait_for test -e "$M/other"
	sleep 0.5 # it may be seen before the kernel is told
	touch "$W/out/go"
	wait_for test -e "$W/out/done"
	[ "$(cat "$W/out/after")" = "$(realpath "$M")/current" ]
}

@test "who works in a session stays there when something touches it" {
	local what

	sessions saved other current
	mkdir "$D/samples/current/stats"
	generation 1
	shared_mount
	for what in saved current 'session:saved'; do
		stay $alice "$M/$what" "$what" 'readlink /proc/self/cwd'
	done
	touch "$D" "$D/samples" "$D/samples"/*
	chmod 750 "$D/samples/other" # seen after all that happened before
	wait_for refused as $alice stat "$M/other"
	for what in saved current 'session:saved'; do
		[ "$(says "$what")" = "$(realpath "$M")/$what" ]
	done
}

@test "a sum goes on with the other sessions when one of them is closed" {
	sessions s1 s2 s3
	shared_mount
	[ "$(as $alice stat -c %s "$M/session:*")" = 30 ]
	stay $alice "$M/session:*" sum 'cat summary'
	chmod 700 "$D/samples/s2"
	wait_for refused as $alice stat "$M/s2"
	diff <(says sum) <(as $alice cat "$M/session:s1,s3/summary")
	[ "$(as $alice stat -c %s "$M/session:*")" = 20 ]
	run ! as $alice stat "$M/session:s1,s2"
}

@test "a sum goes on with the other sessions when one of them is removed" {
	local dir

	sessions s1 s2 s3
	shared_mount
	for dir in 'session:*' 'session:*/image:/bin/true' 'session:s1,s2'; do
		stay $alice "$M/$dir" "${dir//\//,}" 'cat summary'
	done
	stay 0 "$M/s1/diff:s[23]" diff 'cat report'
	rm -r "$D/samples/s2"
	wait_for refused as $alice stat "$M/s2"
	says diff | grep -q /bin/true
	diff <(says 'session:*') <(as $alice cat "$M/session:s1,s3/summary")
	diff <(says 'session:*,image:,bin,true') \
		<(as $alice cat "$M/session:s1,s3/image:%2Fbin%2Ftrue/summary")
	[[ $(says 'session:s1,s2') == *'Stale file handle' ]] # he asked for that one
}

@test "a sum takes in a session that is opened, and one that is closed goes out of it" {
	sum_is() {
		[ "$(as $alice stat -c %s "$M/session:*")" = "$1" ]
	}
	sessions s1 s2 s3
	chmod 700 "$D/samples/s2"
	shared_mount
	sum_is 20
	chmod 755 "$D/samples/s2"
	wait_for sum_is 30
	chmod 700 "$D/samples/s2"
	wait_for sum_is 20
}

@test "names that are deeper than any specification are refused" {
	sessions current
	mkdir "$D/samples/current/stats"
	generation 1
	shared_mount
	as $bob /usr/bin/python3 - "$M/current" <<-'END'
	import errno, os, sys, time
	os.chdir(sys.argv[1])
	os.chdir("image:")
	deep = 0
	try:
	    while deep < 20000:
	        os.chdir("bin")
	        os.chdir("true,")
	        deep += 2
	except OSError as e:
	    print(deep, e.strerror, flush=True)
	    assert e.errno == errno.ENAMETOOLONG
	    assert 500 < deep < 600
	time.sleep(11)  # its place goes, and is looked for again from the top
	os.stat("../..")
	os.listdir(".")
	END
	as $alice cat "$M/current/summary"
}

@test "tasks are told to those who may read their table now" {
	local table=$D/samples/saved/tasks

	# by another user, who is told of it in any case
	mksession <<-'END'
	{"files": [{"session": "saved", "app": "/bin/true", "tgid": 7, "tid": 7}],
	 "sessions": {"saved": {"tasks": [[7, 7, 1, "true", "secret", "/", 60003]]}}}
	END
	shared_mount
	told() {
		as "$1" grep -q secret "$M/saved/tasks.tsv"
	}
	for who in $alice $bob; do wait_for told $who; done
	chmod 640 "$table"
	for who in $alice $bob; do wait_for refused told $who; done
	chown $alice "$table"
	wait_for told $alice
	refused told $bob
	chown $bob "$table"
	wait_for refused told $alice
	wait_for told $bob
	told 60003
}

@test "who may not search the directory of sessions does not learn which there are" {
	sessions saved other
	shared_mount
	chmod 700 "$D/samples"
	for name in saved nosuch current 'session:saved' 'session:nosuch'; do
		run as $alice stat "$M/$name"
		[[ $output == *"Permission denied"* ]]
	done
	run -0 as $alice ls "$M"
	[[ $output != *saved* ]]
	chmod 711 "$D/samples"
	run -0 as $alice cat "$M/saved/summary"
	run -0 as $alice ls "$M"
	[[ $output != *saved* ]]
	run ! as $alice stat "$M/session:s*"
	run ! as $alice cat "$M/session:s*/summary"
}

@test "who opens files of a live session while others do gets them" {
	sessions current
	shared_mount
	for round in $(seq 30); do
		readers=()
		for i in 1 2 3 4 5 6 7 8; do
			cat "$M"/current/{report,archive.tar,summary} >/dev/null 3>&- &
			readers+=($!)
		done
		for pid in "${readers[@]}"; do
			wait "$pid" || return 1
		done
	done
}
