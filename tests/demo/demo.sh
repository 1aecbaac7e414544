#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# demo.sh O [SECONDS]: records a small program, mounts what was recorded and reads it.
# O is where the programs were built; the session stays in O/demo, the mount does not.
#
# Whatever ends this script, nothing of it goes on: what it starts runs in process groups
# of its own, which cleanup() ends, and the kernel does if the script is killed -9.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
out=${1:?usage: demo.sh O [SECONDS]}
seconds=${2:-2}
cd "$top" || exit 1
opcollect=$out/bin/opcollect
opfs=$out/bin/opfs
dir=$out/demo
session_dir=$dir/oprofile_data
program=$dir/demo
work=''
mnt=''

say()
{
	printf '%s\n' "$*"
}

fail()
{
	say "demo: $*" >&2
	exit 1
}

# Shows a command as one would type it.
show()
{
	printf '\n$'
	printf ' %q' "$@"
	printf '\n'
}

# Starts a command in the background, in a process group of its own (set -m).
start()
{
	setpriv --pdeathsig TERM -- "$@" &
}

# Runs a command so that a signal to this script is acted on at once.
run()
{
	start "$@"
	wait $!
}

try()
{
	show "$@"
	run "$@"
}

mounted()
{
	[ -n "$mnt" ] && grep -qF " ${mnt// /\\040} " /proc/self/mountinfo
}

# Ends whatever was started: politely, after five seconds not.
end_jobs()
{
	local pid

	for pid in $(jobs -p); do
		kill -TERM -- "-$pid"
	done
	for pid in $(jobs -p); do
		for _ in {1..50}; do
			kill -0 -- "-$pid" || break
			sleep 0.1
		done
		kill -KILL -- "-$pid"
	done
	wait
} 2>/dev/null

# Takes the mount away, lazily if somebody still stands in it.
unmount()
{
	mounted && fusermount3 -u "$mnt"
	mounted && fusermount3 -uz "$mnt"
	mounted && umount -l "$mnt"
} 2>/dev/null

cleanup()
{
	trap '' INT TERM HUP
	unmount
	end_jobs
	unmount
	[ -z "$mnt" ] || rmdir "$mnt" 2>/dev/null
	[ -z "$work" ] || rmdir "$work" 2>/dev/null
	work=''
}

build()
{
	mkdir -p "$dir" || exit 1
	if [ ! "$program" -nt tests/demo/demo.c ]; then
		${CC:-gcc} -std=gnu17 -O2 -g -o "$program.new" tests/demo/demo.c &&
			mv "$program.new" "$program" || exit 1
	fi
	for p in "$opcollect" "$opfs"; do
		[ -x "$p" ] || fail "$p is not there: run 'make' first"
	done
}

record()
{
	local command=("$opcollect" record --session-dir "$session_dir"
		-- "$program" "$seconds")

	say "1. Record: a program that spends 50, 30, 15 and 5 % of its time in the"
	say "   functions parse_50, sort_30, hash_15 and print_5 (tests/demo/demo.c)."
	rm -rf "$session_dir" && mkdir "$session_dir" || exit 1
	show "${command[@]}"
	run "${command[@]}" ||
		fail "recording failed: the message above says why, and what helps"
}

# Says why this user cannot mount through FUSE at all; nothing if there is no reason.
no_mount()
{
	if [ ! -e /dev/fuse ]; then
		echo "there is no /dev/fuse here" \
			"('modprobe fuse', or give it to the container)"
	elif [ ! -r /dev/fuse ] || [ ! -w /dev/fuse ]; then
		echo "this user may not open /dev/fuse" \
			"('chmod 666 /dev/fuse' as root helps)"
	elif ! command -v fusermount3 >/dev/null; then
		echo "fusermount3 is missing ('apt install fuse3' helps)"
	fi
}

mount_session()
{
	local command=("$opfs" mount --session-dir "$session_dir" -f "$mnt")

	say
	say "2. Mount: every report of every slice of that session is a file now."
	show "${command[@]}"
	start "${command[@]}"
	for _ in {1..1200}; do
		mounted && return 0
		kill -0 $! 2>/dev/null || break
		sleep 0.1
	done
	end_jobs
	return 1
}

# What is listed below the mount, indented, but for the events there are; a directory's
# size is its number of samples.
tree()
{
	(cd "$mnt" && find . -mindepth 1 -path './events/*' -prune -o \
		-printf '%P\t%d\t%y\t%s\t%l\n') | LC_ALL=C sort |
	awk -F '\t' '{
		name = $1
		sub(/.*\//, "", name)
		note = $3 == "l" ? " -> " $5 : $3 == "d" ? "/" : ""
		if ($3 == "d" && $4)
			note = "/   (" $4 " samples)"
		printf "%*s%s%s\n", 3 * $2, "", name, note
	}'
}

look()
{
	say
	say "3. Look: the tree, and three of its files."
	show find "$mnt" -path '*/events/*' -prune -o -print
	tree &
	wait $!
	try cat "$mnt/current/summary"
	try cat "$mnt/current/image:$(realpath "$program")/report"
	try head -n 4 "$mnt/current/report.tsv"
}

look_without_mount()
{
	say
	say "2. No mount: $1."
	say "   'opfs ls' and 'opfs cat' read the same paths without one."
	say
	say "3. Look: the tree, and three of its files."
	try "$opfs" ls --session-dir "$session_dir" current
	try "$opfs" cat --session-dir "$session_dir" current/summary
	try "$opfs" cat --session-dir "$session_dir" \
		"current/image:$(realpath "$program")/report"
}

end()
{
	cat <<END

Nothing of the demo is mounted or running any more. What it leaves:
  $out/bin              opcollect and opfs
  $session_dir   the session that was recorded
  $program        the program, from tests/demo/demo.c

Next, in $top:
  $opfs cat --session-dir $session_dir current/report
  $opcollect record -- YOUR-PROGRAM ITS-ARGUMENTS
  mkdir -p ~/opfs && $opfs mount ~/opfs && ls ~/opfs/current
  fusermount3 -u ~/opfs
README.md goes on from there; 'man -l doc/opfs.5' tells all of the tree.
END
}

trap cleanup EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
set -m

build
record
work=$(mktemp -d "${TMPDIR:-/tmp}/opfs-demo.XXXXXX") || exit 1
work=$(realpath "$work")
mnt=$work/mnt
mkdir "$mnt" || exit 1
why=$(no_mount)
if [ -n "$why" ]; then
	look_without_mount "$why"
elif mount_session; then
	look
	show fusermount3 -u "$mnt"
	cleanup
	mounted && fail "$mnt is still mounted"
else
	look_without_mount "mounting failed, the message above says why"
fi
end
