#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What a member of --group may give commands for, and what he does not learn by that.

bats_require_minimum_version 1.5.0
load ../lib/record
load ../lib/daemon

setup()
{
	need_others
	can_run_daemon
	cd "$BATS_TEST_TMPDIR"
	daemon_setup
	member=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR" ..
	mkdir -m 700 private
	: >private/file
	ln -s file private/link
	mkdir -m 777 theirs
}

teardown()
{
	daemon_teardown
}

# tell WORD...: a packet to the daemon as it is, from a member; prints the answer.
tell()
{
	python3 - "$sock" "$@" <<-'END'
	import os, socket, sys
	os.setgroups([])
	os.setresgid(65534, 65534, 65534)
	os.setresuid(65534, 65534, 65534)
	s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
	s.settimeout(150)
	s.connect(sys.argv[1])
	s.send(b"".join(w.encode() + b"\0" for w in ["opcollect", "1"] + sys.argv[2:]))
	print(" ".join(w.decode() for w in s.recv(65536).split(b"\0")[2:-1]))
	END
}

settings()
{
	cat "$dir/samples/current/settings"
}

@test "set --image tells nobody which files there are" {
	daemon --group="$(id -gn nobody)" --stopped
	p="$BATS_TEST_TMPDIR/private"
	for path in file none link file/none none/none; do
		[[ "$(tell set "--image=$p/$path")" == "ok now in force:"* ]]
		settings | grep -qx "image $p/$path"
	done
	run ! grep -q 'no such file' "$log"
	run -0 tell set --image=some/where
	[[ "$output" == "failed"*"neither a whole path nor a name"* ]]
	end_daemon
}

@test "the log has one line for a command, however many words it has" {
	daemon --group="$(id -gn nobody)" --stopped
	many=$(seq -s, -f "/none/%g" 1 500)
	[[ "$(tell set "--image=$many" "--image=/none/more" --keep=5)" == \
		"ok now in force:"* ]]
	[ "$(settings | grep -c '^image /none/')" = 501 ]
	end_daemon
	[ "$(grep -c 'opcollect: set ' "$log")" = 1 ]
	run ! grep -q 'no such file' "$log"
}

@test "a link is followed with the rights of who asks" {
	daemon --group="$(id -gn nobody)" --stopped
	: >theirs/prog
	ln -s prog theirs/link
	cd theirs
	set=("${member[@]}" "$OPFS_BIN/opcollect" set --socket "$sock")
	run -0 "${set[@]}" --image=./link,ext4
	settings | grep -qx "image $PWD/prog"
	settings | grep -qx "image ext4"
	run -0 "${set[@]}" --image=/none/at/all
	[[ "$output" == *"no such file here"* ]]
	run ! grep -q 'no such file' "$log"
	run "${set[@]}" --image=../private/link
	[ "$status" != 0 ]
	[[ "$output" == *"Permission denied"* ]]
	end_daemon
}
