#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Whose samples they are: comm:, cgroup:, numbers that were used again, tasks.tsv.

bats_require_minimum_version 1.5.0
load ../lib/record
load ../lib/opfs

setup()
{
	need_programs
	cd "$BATS_TEST_TMPDIR" || return
}

teardown()
{
	# whatever waits for this ends, and with it the command that is recorded
	: >"$BATS_TEST_TMPDIR/stop"
	[ -z "${recorder-}" ] || wait "$recorder" || true
}

# Two shells, one with the number of the other, a thread of a server, and a stranger.
four_tasks()
{
	mksession <<-'END'
		{"files": [
		  {"app": "/bin/bash", "tgid": 7, "tid": 7, "samples": {"0x1000": 1},
		   "escape": true},
		  {"app": "/bin/bash", "tgid": 4194311, "tid": 4194311,
		   "samples": {"0x1000": 10}},
		  {"app": "/bin/srv", "tgid": 8, "tid": 8, "samples": {"0x1000": 100}},
		  {"app": "/bin/srv", "tgid": 8, "tid": 9, "samples": {"0x1000": 1000}},
		  {"app": "/bin/other", "tgid": 10, "tid": 10,
		   "samples": {"0x1000": 10000}}],
		 "sessions": {"current": {"tasks": [
		  [7, 7, 100, "sh", "sh -c make", "/user.slice/user-0.slice"],
		  [7, 7, 100, "bash", "bash%09x", "-"],
		  [4194311, 4194311, 200, "sh", "sh -c ls", "/user.slice/user-1.slice"],
		  [8, 8, 50, "srv", "srv -d", "/system.slice/srv.service"]]}}}
	END
}

samples()
{
	opfs cat "current/$1/report.tsv" | awk -F'\t' 'NR > 1 { n += $5 } END { print n }'
}

@test "comm: selects processes by name, exact and by pattern" {
	four_tasks
	[ "$(samples comm:bash)" = 1 ]
	[ "$(samples comm:sh)" = 10 ]
	[ "$(samples 'comm:*sh')" = 11 ]
	[ "$(samples comm:srv,sh)" = 1110 ]
	[ "$(samples comm:srv/tid:9)" = 1000 ]
	[ "$(samples comm:all)" = 11111 ]
	[ "$(opfs ls current/comm: | paste -sd' ')" = "bash sh srv" ]
	opfs ls current/ | grep -qx comm
	run -1 opfs why current/comm:nothing
	grep -q 'no comm "nothing" here; there are: bash, sh, srv' <<<"$output"
}

@test "comm: means the name of a thread, where it has one of its own" {
	four_tasks
	printf '8\t9\t60\tHTTP-Dispatcher\t-\t-\n' >>s/samples/current/tasks
	[ "$(samples comm:srv)" = 100 ]
	[ "$(samples 'comm:HTTP*')" = 1000 ]
	[ "$(samples cgroup:srv.service)" = 1100 ]
	[ "$(opfs ls current/comm: | paste -sd' ')" = "HTTP-Dispatcher bash sh srv" ]
	opfs cat current/tasks.tsv | tr '\t' '|' | grep -qxF \
		'current|8|9|60|HTTP-Dispatcher|srv -d|/system.slice/srv.service|1000'
}

@test "cgroup: selects by a path, a name on it, and by pattern" {
	four_tasks
	[ "$(samples cgroup:user.slice)" = 11 ]
	[ "$(samples cgroup:user-1.slice)" = 10 ]
	[ "$(samples 'cgroup:user-?.slice')" = 11 ]
	[ "$(samples cgroup:%2Fsystem.slice%2Fsrv.service)" = 1100 ]
	[ "$(samples 'cgroup:*srv*')" = 1100 ]
	[ "$(samples cgroup:user.slice/comm:sh)" = 10 ]
	for c in $(opfs ls current/cgroup:); do
		opfs cat "current/cgroup:$c/summary" >out
	done
	run -1 opfs why current/cgroup:none.slice
	grep -q 'no cgroup "none.slice" here; there are: ' <<<"$output"
}

@test "a number that was used again is another process, N.2" {
	four_tasks
	[ "$(samples tgid:7)" = 1 ]
	[ "$(samples tgid:7.2)" = 10 ]
	[ "$(samples tgid:7,7.2)" = 11 ]
	[ "$(samples tgid:4194311)" = 10 ]
	[ "$(opfs ls current/tgid: | paste -sd' ')" = "7 7.2 8 10" ]
	opfs cat current/image:bash/split:tgid/report >out
	grep -qx 'Processes with a thread group ID of 7.2' out
	for bad in 7.1 7.0 7. .2 7.x 7.9999 4194304.2; do
		run -1 opfs why "current/tgid:$bad"
		grep -q 'is not a number' <<<"$output"
	done
}

@test "tasks.tsv tells who was sampled, and only sessions have it" {
	four_tasks
	opfs cat current/tasks.tsv >out
	tr '\t' '|' <out >rows
	[ "$(head -1 rows)" = \
		'session|tgid|tid|start_ns|comm|command_line|cgroup|samples' ]
	[ "$(wc -l <out)" = 6 ]
	grep -qxF 'current|7|7|100|bash|bash%09x|/user.slice/user-0.slice|1' rows
	grep -qxF 'current|7.2|7.2|200|sh|sh -c ls|/user.slice/user-1.slice|10' rows
	grep -qxF 'current|8|9|50|srv|srv -d|/system.slice/srv.service|1000' rows
	grep -qxF 'current|10|10|||||10000' rows
	opfs ls current/more: | grep -qx tasks.tsv
	run -1 opfs cat current/comm:sh/tasks.tsv
}

@test "without --separate=thread the processes are told, and comm: says what is missing" {
	mksession <<-'END'
		{"files": [{"app": "/bin/bash", "escape": true}],
		 "sessions": {"current": {"tasks": [[7, 7, 100, "sh", "sh -c make",
		   "-"]]}}}
	END
	opfs cat current/tasks.tsv |
		grep -qxF "$(printf 'current\t7\t7\t100\tsh\tsh -c make\t\t')"
	run -1 opfs why current/comm:sh
	grep -q -- '--separate=thread' <<<"$output"
	run -1 opfs ls current/cgroup:
	opfs ls current/ >out
	run ! grep -qx comm out
}

@test "a damaged table of tasks is told, and the samples stay" {
	four_tasks
	echo garbage >s/samples/current/tasks
	[ "$(samples tgid:7)" = 1 ]
	opfs cat current/status 2>&1 | grep -q '^damaged: current/tasks: does not begin'
}

@test "two processes that had one number one after the other stay apart" {
	can_record
	last=/proc/sys/kernel/ns_last_pid
	[ -w "$last" ] || skip "$last cannot be written"
	cat >two.py <<-'END'
		import os, sys, time
		last = "/proc/sys/kernel/ns_last_pid"
		def burn(number):
		    """A child of that number, which uses the CPU; 0: it is another's."""
		    for _ in range(200):
		        if number:
		            with open(last, "w") as f:
		                f.write(str(number - 1))
		        pid = os.fork()
		        if not pid:
		            if number and os.getpid() != number:
		                os._exit(0)
		            end = time.process_time() + 0.3
		            while time.process_time() < end:
		                pass
		            os._exit(0)
		        os.waitpid(pid, 0)
		        if not number or pid == number:
		            return pid
		    return 0
		number = burn(0)
		print("number:", number, flush=True)
		time.sleep(0.3)
		sys.exit(0 if burn(number) else 3)
	END
	run "$OPFS_BIN/opcollect" record --session-dir s -e TIMER --separate=thread \
		-- python3 two.py
	echo "$output"
	[ "$status" != 3 ] || skip "the number was taken by others"
	[ "$status" = 0 ]
	opfs ls current/tgid: >numbers
	# others may have been used again on the way: by children that were to have this
	# one
	again=$(sed -n 's/^number: //p' <<<"$output").2
	grep -qFx "$again" numbers
	for one in "$again" "${again%.2}"; do
		n=$(opfs cat "current/tgid:$one/report.tsv" |
			awk -F'\t' 'NR > 1 { n += $5 } END { print n + 0 }')
		sampled "$n" 300000000 997 # what each used, by the rate that -e TIMER has
	done
	[ "$(opfs cat current/tasks.tsv |
		awk -F'\t' -v n="$again" '$2 == n && $5 ~ /python3/' | wc -l)" = 1 ]
}

@test "the table is for owner and group, and names the user of each process" {
	need_root
	can_record
	chmod 755 "$BATS_TEST_TMPDIR"
	mkdir -m 2755 s
	chgrp 4321 s
	printf 'while [ ! -e "$1" ]; do :; done\n' >burn.sh
	record --session-dir s -- sh -c 'sh burn.sh /stop/of/root & one=$!
		setpriv --reuid=65534 --regid=65534 --clear-groups sh burn.sh stop
		kill $one' 3>&- &
	recorder=$!
	table=s/samples/current/tasks
	user_of() {
		awk -F'\t' -v line="$1" '$5 == line { print $7 }' $table 2>/dev/null |
			sort -u
	}
	both() {
		[ "$(user_of 'sh burn.sh /stop/of/root')" = 0 ] &&
			[ "$(user_of 'sh burn.sh stop')" = 65534 ]
	}
	wait_for both
	: >stop
	wait $recorder
	[ "$(stat -c '%a %g' $table)" = "640 4321" ]
	# one of before, which all could read
	chmod 644 $table
	record --session-dir s --append -- \
		sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done'
	[ "$(stat -c %a $table)" = 640 ]
}
