#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Whose names are read: what the process's user may not read does not get into a session.

bats_require_minimum_version 1.5.0
load ../lib/record
load ../lib/opfs

setup_file()
{
	need_programs
	need_others
	can_record
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR"
	"${CC:-gcc}" -O1 -o "$BATS_FILE_TMPDIR/jit" "$progs/jit.c"
}

setup()
{
	mkdir "$BATS_TEST_TMPDIR/d"
	chmod 755 "$BATS_TEST_TMPDIR"
	cd "$BATS_TEST_TMPDIR/d"
	chmod 777 .
	jit=$BATS_FILE_TMPDIR/jit
	roots= away=
	# what the process runs: where its code is, and a wait for what root makes of that
	hook='echo "$JIT_AT" >at.new; echo "$JIT_PID" >number; mv at.new at
		until [ -e ready ]; do sleep 0.02; done; '
}

teardown()
{
	[ -z "${collector:-}" ] || kill "$collector" 2>/dev/null || true
	busy_end
	[ -z "$roots" ] || kill "$roots" 2>/dev/null || true
	[ -z "$away" ] || rm -rf "$away"
	[ ! -s number ] || rm -f "/tmp/perf-$(<number).map"
}

# as_root COMMANDS: beside the process; $at is where its code is, $map its map.
as_root()
{
	(
		until [ -e at ]; do sleep 0.02; done
		at=$(<at)
		map=/tmp/perf-$(<number).map
		eval "$1"
		touch ready
	) 3>&- &
	roots=$!
}

# as_nobody COMMAND...: profiled as another user.
as_nobody()
{
	local rc=0

	rm -f hold
	mkfifo hold
	exec 8<>hold
	record --session-dir s -- \
		setpriv --reuid=65534 --regid=65534 --clear-groups "$@" || rc=$?
	echo >&8
	exec 8>&-
	return $rc
}

need_namespaces_of_others()
{
	setpriv --reuid=65534 --regid=65534 --clear-groups unshare -Urm true \
		2>/dev/null || skip "other users are refused user namespaces here"
}

# is_refused WHY: and nothing of it is in the session.
is_refused()
{
	cat s/samples/current/stats/notes
	grep -qE "names of code made at run time: .*: refused: $1" \
		s/samples/current/stats/notes
	[ ! -e s/samples/current/jit ]
}

# The namespace has to outlast the process until its names were read, for its mounts go
# with it.
linger='timeout 900 head -n 1 <&8 >/dev/null 2>&1 3>&- & '

@test "what is mounted over a map is not read" {
	need_namespaces_of_others
	as_root '(umask 077; echo "$at 80 secret" >secret)'
	as_nobody unshare -Urm "$jit" 0.3 "$hook$linger"'F=/tmp/perf-$JIT_PID.map
		touch $F; mount --bind secret $F; ! cat $F 2>/dev/null && echo >mounted'
	[ -e mounted ]
	is_refused 'something is mounted over it'
}

@test "a tmpfs of a user namespace may be the /tmp" {
	need_namespaces_of_others
	touch ready
	as_nobody unshare -Urm sh -c 'exec 9<"$0"; mount -t tmpfs none /tmp
		exec /proc/self/fd/9 "$@"' "$jit" 0.3 \
		"cd /; $linger"'echo "$JIT_AT 80 own" >/tmp/perf-$JIT_PID.map'
	opfs cat current/report | grep -qE '\[jit\] .*own$'
}

@test "a directory that is closed to the user, mounted as its /tmp, is not read" {
	need_namespaces_of_others
	mkdir -m 700 closed
	as_root 'echo "$at 80 secret" >closed/${map#/tmp/}'
	as_nobody unshare -Urm "$jit" 0.3 "$hook$linger"'mount --bind closed /tmp
		! cat /tmp/perf-$JIT_PID.map 2>/dev/null && echo >mounted'
	[ -e mounted ]
	is_refused "it is root's, where the process's user may not look"
}

@test "a map of root's is read if everybody may read it" {
	as_root '(umask 077; echo "$at 80 secret" >$map)'
	as_nobody "$jit" 0.3 "$hook"
	is_refused "it is root's, and not for the process's user to read"
	rm -rf s at ready "/tmp/perf-$(<number).map"
	as_root 'echo "$at 80 open" >$map; chmod 644 $map'
	as_nobody "$jit" 0.3 "$hook"
	opfs cat current/report | grep -qE '\[jit\] .*open$'
	rm -rf s at ready "/tmp/perf-$(<number).map"
	as_root '(umask 077; echo "$at 80 theirs" >$map)'
	record --session-dir s -- "$jit" 0.3 "$hook"
	opfs cat current/report | grep -qE '\[jit\] .*theirs$'
}

@test "a jitdump of root's is read if everybody may read it" {
	touch jit-9.dump
	as_root 'python3 "$progs/jitdump.py" jit-9.dump $at dumped
		until grep -q jit-9.dump /proc/$(<number)/maps; do
			[ -e ready ] || touch ready
			sleep 0.02
		done
		chmod 600 jit-9.dump'
	as_nobody "$jit" 1 "$hook" "$PWD/jit-9.dump"
	is_refused "it is root's, and not for the process's user to read"
	rm -rf s at ready
	as_root 'python3 "$progs/jitdump.py" jit-9.dump $at dumped; chmod 644 jit-9.dump'
	as_nobody "$jit" 0.3 "$hook" "$PWD/jit-9.dump"
	opfs cat current/report | grep -qE '\[jit\] .*dumped$'
}

# Numbers of files begin anew in each tmpfs.
@test "of two jitdumps with the same number the one that is mapped is read" {
	need_mount_namespace
	cat >inside <<-END
		mount -t tmpfs none m
		cd m
		"$jit" 100 'echo \$JIT_AT >../at
			python3 "$progs/jitdump.py" jit-1.dump \$JIT_AT true' \
			"\$PWD/jit-1.dump" &
		until grep -q jit-1.dump /proc/\$!/maps; do sleep 0.02; done
		stat -c %i jit-1.dump >../numbers
		mount -t tmpfs none "$PWD/m"
		cd "$PWD/m"
		python3 "$progs/jitdump.py" jit-1.dump "\$(cat ../at)" false
		stat -c %i jit-1.dump >>../numbers
		echo \$! >../running
		wait
	END
	mkdir m
	busy_start unshare -m sh "$PWD/inside"
	wait_for test -s running
	[ "$(sort -u numbers | wc -l)" = 1 ]
	record_begins --symbols=0 -p "$(<running)"
	wait_for eval '[ "$(figure total_samples)" -ge 20 ]'
	kill -TERM "$collector"
	record_ends
	D=oprofile_data opfs cat current/report >got
	cat got
	grep -qE '\[jit\] .*true$' got
	run ! grep false got
}

# root_with_link TARGET: a root directory r, in which /tmp is a link, and $away another
# directory than ours.
root_with_link()
{
	away=$(mktemp -d /var/tmp/opfs-away.XXXXXX)
	cat >inside <<-END
		mount -t tmpfs none r
		cd r
		mkdir -p usr proc w ".$away"
		mount --bind /usr usr
		mount --rbind /proc proc
		mount --bind "$PWD" w
		for d in bin lib lib64; do ln -s usr/\$d \$d; done
		cp "$jit" jit
		ln -s "$1$away" tmp
		exec chroot . /jit "\$@"
	END
	mkdir r
}

@test "a /tmp that is a link leads to where it leads the process" {
	need_mount_namespace
	root_with_link ""
	as_root 'echo "$at 80 outside" >$away/${map#/tmp/}'
	record --session-dir s -- unshare -m sh "$PWD/inside" 0.3 "cd /w; $hook"'
		echo "$JIT_AT 80 within" >/tmp/perf-$JIT_PID.map'
	[ -e "$away/perf-$(<number).map" ]
	opfs cat current/report | grep -qE '\[jit\] .*within$'
	run ! grep -r outside s/samples/current/jit
}

@test "a /tmp that is a link into another root directory is not followed, and told of" {
	need_mount_namespace
	root_with_link /proc/self/root
	as_root 'echo "$at 80 outside" >$away/${map#/tmp/}'
	record --session-dir s -- unshare -m sh "$PWD/inside" 0.3 "cd /w; $hook"
	is_refused 'it leads through links that are not followed'
}
