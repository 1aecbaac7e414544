#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Users of one mount share its threads, its helpers and what may be open: one who wants
# all is in nobody's way.

bats_require_minimum_version 1.5.0
load ../lib/opfs
load ../lib/mount
load ../lib/slowfs
load ../lib/users

setup_file() {
	build_slowfs
}

# $1 sessions s1, s2 ... with a sample each in a program of its own in $2.
sessions() {
	seq "$1" | jq -s --arg dir "$2" 'map({session: "s\(.)", app: "\($dir)/p\(.)",
		samples: {"0x1100": 1}})' | mksession
}

# So many requests wait for the mount's answers.
requests_wait() {
	local at=/sys/fs/fuse/connections

	mountpoint -q $at || mount -t fusectl none $at
	[ "$(cat "$at/$(mountpoint -d "$M" | cut -d: -f2)/waiting")" -ge "$1" ]
}

# $slow shows programs p1 to p$1, until answers() says otherwise.
slow_programs() {
	local i

	slow "$W/slow"
	slow=$W/slow/mnt
	for i in $(seq "$1"); do cp /bin/true "$W/slow/real/p$i"; done
}

@test "a report comes while another user's wait for a file system that never answers" {
	slow_programs 16
	sessions 16 "$slow"
	python3 "$MKSESSION" "$D" <<<'[{"session": "mine", "app": "/bin/true",
		"samples": {"0x1100": 7}}]'
	chmod -R a+rX "$D"
	shared_mount
	answers never
	for i in $(seq 16); do start_as $alice cat "$M/s$i/report"; done
	wait_for requests_wait 16
	run -0 as $bob cat "$M/mine/report"
	[[ $output == *true* ]]
	# two of hers at a time give up, after half a minute
	requests_wait 12
}

# Whether bob gets his answers while alice's requests wait, which is half a minute.
answered_before_alice() {
	start_as $alice cat "$M/s1/symbol:main/report"
	start_as $alice cat "$M/s1/symbol:other/report"
	wait_for requests_wait 2
	# who creates something locks the directory until all lookups in it are answered
	run as $alice mkdir "$M/s1/symbol:new" "$M/s1/new"
	[[ $output == *"Read-only file system"* || $output == *denied* ||
		$output == *exists* ]]
	run -0 as $bob cat "$M/s1/README"
	run -2 as $bob ls "$M/s1/no-such-image"
	requests_wait 2 || return 1
}

@test "names that another user looks up for ever keep nobody from the same directory" {
	slow_programs 1
	sessions 1 "$slow"
	shared_mount
	answers never
	for try in 1 2 3 4; do
		! answered_before_alice || return 0
		busy_end
	done
	false
}

@test "what is looked up later is there, or is not, as if it had been at once" {
	cp /bin/true "$W/true"
	sessions 1 "$W"
	cp /bin/true "$W/p1"
	shared_mount
	run -1 as $alice cat "$M/s1/symbol:nosuch/report"
	[[ $output == *"No such file or directory"* ]]
	run -1 as $alice stat "$M/s1/symbol:nosuch"
	run -1 as $alice test -e "$M/s1/symbol:nosuch"
	run -2 as $alice ls "$M/s1/symbol:nosuch/"
	run ! as $alice sh -c "cd $M/s1/symbol:nosuch"
	run ! as $alice cat "$M/s1/symbol:nosuch/symbol:other/image:$W/p2/report"
	ln -s "$W/p1" "$W/link"
	[ "$(as $alice stat -c %s "$M/s1/image:$W/link")" = 1 ]
	[ "$(as $bob stat -c %i "$M/s1/image:$W/link")" = \
		"$(as $bob stat -c %i "$M/s1/image:$W/link/.")" ]
	run -0 as $alice sh -c "cd $M/s1/image:$W/link && pwd -P && ls && cat report"
	[[ $output == *"image:$W/link"* && $output == *p1* ]]
	run -0 as $alice /usr/bin/python3 -c 'import os, sys
print(os.getxattr(sys.argv[1], "user.opfs.samples"), os.listxattr(sys.argv[2]))' \
		"$M/s1/image:$W/./link" "$M/s1/image:$W/../${W##*/}/link"
	[[ $output == *"b'1'"*user.opfs.percent* ]]
	run ! as $alice /usr/bin/python3 -c 'import os, sys
os.getxattr(sys.argv[1], "user.opfs.samples")' "$M/s1/image:$W/./nosuch"
	[[ $output == *"No such file"* ]]
}

# opener UID N PATH...: opens them in turn, N times or as often as it can, tells how
# often and why no more, and keeps all open until its input ends.
opener() {
	as "$1" /usr/bin/python3 -c '
import errno, os, resource, sys
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
open_at_once, why = [], "none"
limit = int(sys.argv[1])
while len(open_at_once) < limit and why == "none":
    path = sys.argv[2 + len(open_at_once) % (len(sys.argv) - 2)]
    try:
        open_at_once.append(os.open(path, os.O_RDONLY))
    except OSError as e:
        why = errno.errorcode[e.errno]
print(len(open_at_once), why, flush=True)
sys.stdin.read()
' "${@:2}"
}

# Ends an opener that is the coprocess "hog".
let_go() {
	local pid=$hog_PID

	exec {hog[1]}>&-
	wait "$pid"
}

@test "who has opened half of what may be open gets ENFILE, and others what they want" {
	[ "$(ulimit -Hn)" = unlimited ] || [ "$(ulimit -Hn)" -gt 16400 ] ||
		skip "no more than $(ulimit -Hn) files may be open here"
	sessions 1 /bin
	shared_mount
	coproc hog { opener $alice 20000 "$M/README" 2>&1; }
	read -r line <&"${hog[0]}"
	[ "$line" = "16384 ENFILE" ]
	run -0 as $bob cat "$M/README"
	# alice's other processes are refused too
	run -1 as $alice cat "$M/s1/status"
	[[ $output == *"Too many open files in system"* ]]
	let_go
	wait_for as $alice cat "$M/s1/status"
	as $alice cat "$M/status" | grep 'all that others leave for you'
	! as $bob cat "$M/status" | grep 'what you have open' || return 1
}

@test "texts that are open are bounded for each user, and the same one counts once" {
	local many=()

	sessions 64 /bin
	shared_mount -o held=64K
	# root is a user as well
	for i in $(seq 64); do many+=("$M/s$i/report" "$M/s$i/status"); done
	run -0 opener $bob 1000 "$M/s1/report" </dev/null
	[ "$output" = "1000 none" ]
	coproc hog { opener $alice 100000 "${many[@]}" 2>&1; }
	read -r nr why <&"${hog[0]}"
	[ "$why" = ENFILE ]
	[ "$nr" -lt 128 ]
	run -0 as $bob cat "$M/s1/report" "$M/s60/status"
	let_go
	# all has been given back
	for i in 1 2 3; do
		run -0 opener $alice "$nr" "${many[@]}" </dev/null
		[ "$output" = "$nr none" ]
	done
}
