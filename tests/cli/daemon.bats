#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# "opcollect daemon" and its commands.

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

# ---- without a daemon

@test "config prints every option and where its value came from" {
	printf 'rotate = "1h" # how long\nevent = {"TIMER:1000000", "page-faults"}\n' \
		>"$conf"
	run -0 --separate-stderr "$OPFS_BIN/opcollect" config --config "$conf" \
		--keep=7d,10G
	[[ "$output" == *'rotate = "1h"'*"# $conf"* ]]
	[[ "$output" == *'keep = "7d,10G"'*'# command line'* ]]
	[[ "$output" == *'frequency = "99"'*'# default'* ]]
	[[ "$output" == *'event = {"TIMER:1000000", "page-faults"}'* ]]
	[[ "$output" == *'# group ='*'# not set'* ]]
	"$OPFS_BIN/opcollect" daemon --help |
		sed -nE 's/^  (-., |    )--([a-z-]+).*/\2/p' |
		while read -r name; do
			case $name in
			help|usage|version|verbose|config) continue ;;
			esac
			echo "$name"
			grep -qE "^(# )?$name = " <<<"$output"
		done
}

@test "by default sessions of a minute are kept for a week, in 2 GiB at most" {
	run -0 "$OPFS_BIN/opcollect" config --config "$conf"
	while read -r line; do
		grep -qE "^$line +# default$" <<<"$output"
	done <<-'END'
	frequency = "99"
	separate = "kernel"
	rotate = "1m"
	keep = "7d,2G"
	max-files = "1000"
	END
}

@test "what config prints is a file that says the same" {
	"$OPFS_BIN/opcollect" config --config "$conf" --rotate=100M --image='/bin/a"b\c' \
		--event=TIMER --no-vmlinux >first
	run -0 --separate-stderr "$OPFS_BIN/opcollect" config --config first
	[ "$(sed 's/ *#.*//' first | grep .)" = "$(sed 's/ *#.*//' <<<"$output" |
		grep .)" ]
}

@test "the command line takes the place of the file" {
	printf 'event = "TIMER:1000000"\nrotate = 1h\n' >"$conf"
	run -0 "$OPFS_BIN/opcollect" config --config "$conf" --event=page-faults
	[[ "$output" == *'event = "page-faults"'* ]]
	[[ "$output" != *TIMER* ]]
	[[ "$output" == *'rotate = "1h"'* ]]
}

@test "call-graph is another name of callgraph, also in the file and for set" {
	printf 'call-graph = "dwarf,8192"\n' >"$conf"
	run -0 "$OPFS_BIN/opcollect" config --config "$conf"
	[[ "$output" == *'callgraph = "dwarf,8192"'*"# $conf"* ]]
	[[ "$output" != *call-graph* ]]
	run -0 "$OPFS_BIN/opcollect" config --config "$conf" --call-graph=fp
	[[ "$output" == *'callgraph = "fp"'*'# command line'* ]]
	printf '\ncall-graph = many\n' >"$conf"
	run -2 "$OPFS_BIN/opcollect" config --config "$conf"
	[[ "$output" == *"$conf:2: --callgraph: \"many\" is none of"* ]]
	: >"$conf"
	can_run_daemon
	daemon --stopped
	ctl set --call-graph=dwarf,4096
	[ "$(fact callgraph)" = dwarf,4096 ]
	end_daemon
}

@test "faults of the file are told with file and line" {
	while IFS='|' read -r text why; do
		printf '# a comment\n%b\n' "$text" >"$conf"
		run -2 "$OPFS_BIN/opcollect" config --config "$conf"
		echo "$text: $output"
		[[ "$output" == *"$conf:2: "*"$why"* ]]
	done <<-'END'
	rotate = soon|neither a time
	rotate = 5|neither a time
	rotate = 10K|neither a time
	keep = "7x"|neither a number
	nonsense = 1|nonsense: no such option; "opcollect config" prints all
	seperate = "thread"|seperate: no such option: did you mean "separate"?
	Max_File = 5|Max_File: no such option: did you mean "max-files"?
	call-grahp = {"fp", "dwarf"}|did you mean "call-graph"?
	frequency = "fast"|not a number
	event = "nonsense:1"|nonsense
	separate = "nothing"|none of
	callgraph = -1|is none of fp[,FRAMES], dwarf[
	config = "/etc/passwd"|command line
	END
	run -2 "$OPFS_BIN/opcollect" config --config /nonexistent
	[[ "$output" == *"/nonexistent: No such file"* ]]
}

@test "wrong values are refused before anything is done" {
	for option in --rotate=x --rotate=0s --rotate=99999999999999999999s --keep=0 \
		--keep=1x --min-free=x --min-free=1h --checkpoint=1M --callgraph=many \
		--callgraph=9999999 --socket= --log=nowhere --event=nonsense \
		--separate=some \
		--frequency=0 --mmap-pages=0; do
		run -2 "$OPFS_BIN/opcollect" daemon --config "$conf" \
			--session-dir "$dir" \
			--socket "$sock" $option
		echo "$option: $output"
		[[ "$output" == *"${option%%=*}"* || "$output" == *nonsense* ||
			"$output" == *-F* ||
			"$output" == *-m:* ]]
		[ ! -e "$dir" ]
	done
}

@test "without a daemon every command says so" {
	for command in start stop dump reset status 'save x' 'remove x' deinit \
		'set --keep=3'; do
		run -1 ctl $command
		echo "$command: $output"
		[[ "$output" == *"no daemon runs"*"$sock"* ]]
	done
	run -0 ctl shutdown
	[[ "$output" == *"no daemon runs"* ]]
	# a socket that somebody left
	python3 -c 'import sys; from socket import socket, AF_UNIX, SOCK_SEQPACKET
socket(AF_UNIX, SOCK_SEQPACKET).bind(sys.argv[1])' "$sock"
	run -1 ctl start
	[[ "$output" == *"no daemon runs"* ]]
}

@test "wrong usage of commands is told" {
	for command in 'save' 'save a b' 'remove' 'start x' 'status x' 'set' 'set x' \
		'set --socket-dir=x' 'set --session-dir=x' 'set --rotate=x'; do
		run -2 ctl $command
		echo "$command: $output"
	done
}

# ---- with one

@test "a daemon samples the machine until it is told to end" {
	can_run_daemon
	daemon --frequency=997
	load_on
	wait_for is total_samples -ge 50
	ctl dump
	load_off
	[ "$(fact state)" = sampling ]
	run -0 --separate-stderr "$OPFS_BIN/opfs" cat --session-dir "$dir" current/summary
	[[ "$output" == *dash* || "$output" == *"sh"* ]]
	run -0 ctl shutdown
	wait "$pid"
	pid=
	[ ! -e "$sock" ]
	sessions "$dir"
	grep -q closed "$dir/samples/current/stats/live"
}

@test "SIGINT ends a daemon, also one that inherited it as ignored" {
	can_run_daemon
	daemon --stopped
	(("0x$(awk '/^SigIgn/ { print $2 }' "/proc/$pid/status")" & 2))
	kill -INT "$pid"
	wait "$pid"
	pid=
	grep -q 'the daemon ends' "$log"
}

# tells COMMAND PATTERN: the command does it, and says so in one line.
tells() {
	run -0 ctl $1
	echo "$1: $output"
	[[ "$output" == $2 && "$output" != *$'\n'* ]]
}

@test "each command tells what it did, and what is so then" {
	can_run_daemon
	daemon --stopped --frequency=997
	of="session \"current\" of $dir has"
	tells stop "no samples were being taken; $of 0 samples"
	tells start "samples are being taken; $of * samples"
	tells start "samples are being taken already; $of * samples"
	load_on
	wait_for is total_samples -ge 20
	tells dump "$of [1-9]* samples, which can be read (generation [0-9]*)*"
	load_off
	tells 'save one' '*"one" is saved; "current" is a new one*'
	tells reset 'session "current" is empty: *'
	tells stop "no more samples are taken; $of * samples"
	tells reset 'session "current" is empty: *'
	tells stop "no samples were being taken; $of 0 samples"
	tells deinit 'no samples are taken, and counters and buffers are given back*'
	tells 'remove one' 'session "one" is removed'
	tells start "samples are being taken; *"
	load_on
	wait_for is total_samples -ge 20
	load_off
	tells shutdown "the daemon has ended; $of [1-9]* samples"
	taken=$(cat "$dir/samples/current/stats/total_samples")
	[[ "$output" == *"has $taken samples" ]]
	tells shutdown '*no daemon runs*'
	wait "$pid"
	pid=
}

@test "shutdown fails if figures could not be written, and the daemon has ended" {
	can_run_daemon
	daemon
	# it must not write there meanwhile
	kill -STOP "$pid"
	wait_for eval '[ "$(awk "{ print \$3 }" /proc/$pid/task/*/stat | sort -u)" = T ]'
	rm -r "$dir/samples/current/stats"
	: >"$dir/samples/current/stats"
	kill -CONT "$pid"
	run -1 ctl shutdown
	[[ "$output" == *"the daemon has ended; "*"could be written (see the log)" ]]
	local rc=0
	wait "$pid" || rc=$? # not by "run": a subshell cannot wait for what still ends
	[ "$rc" = 1 ]
	pid=
	grep -q stats "$log"
}

@test "commands may be given again" {
	can_run_daemon
	daemon
	for command in start start stop stop start dump dump reset reset stop dump reset \
		deinit deinit start stop start 'set --keep=5' 'set --keep=5' \
		'set --frequency=99' 'set --frequency=99' shutdown shutdown; do
		echo "$command"
		ctl $command
	done
	wait "$pid"
	pid=
}

@test "a stopped daemon takes no samples, and goes on in the same session" {
	can_run_daemon
	daemon --stopped --frequency=997
	[ "$(fact state)" = stopped ]
	[ "$(fact total_samples)" = 0 ]
	ctl start
	load_on
	wait_for is total_samples -ge 20
	ctl stop
	before=$(fact total_samples)
	[ "$(fact state)" = stopped ]
	[ "$(fact total_samples)" = "$before" ]
	grep -q closed "$dir/samples/current/stats/live"
	ctl start
	grep -q live "$dir/samples/current/stats/live"
	wait_for is total_samples -gt "$before"
	load_off
	ctl deinit
	[ "$(fact state)" = deinit ]
	[ "$(fact source)" = none ]
	end_daemon
	sessions "$dir"
	[ -z "$(rotated)" ]
}

@test "save closes the session under a name, and remove removes it" {
	can_run_daemon
	daemon --frequency=997
	load_on
	wait_for is total_samples -ge 20
	run -0 ctl save before
	load_off
	[ -d "$dir/samples/before/{root}" ]
	[ -e "$dir/samples/before/MANIFEST" ] || [[ "$output" == *"MANIFEST yet"* ]]
	wait_for test -e "$dir/samples/before/MANIFEST"
	run -0 --separate-stderr "$OPFS_BIN/opfs" check --session-dir "$dir" before
	grep -q '^# event ' "$dir/samples/before/MANIFEST"
	run -1 ctl save before
	[[ "$output" == *"before already"* ]]
	for name in current README events . .hidden a/b "$(printf 'a\nb')" \
		2026-11-21T09-00-00Z "$(printf '%0300d' 0)"; do
		run -1 ctl save "$name"
		echo "$output"
		[ ! -e "$dir/samples/.hidden" ]
	done
	ctl remove before
	[ ! -e "$dir/samples/before" ]
	run -1 ctl remove before
	[[ "$output" == *"no session before"* ]]
	run -1 ctl remove current
	[[ "$output" == *reset* ]]
	run -1 ctl remove ../samples
	[ -d "$dir/samples" ]
	end_daemon
}

@test "save tells of a session that cannot be completed, and does not wait for it" {
	can_run_daemon
	daemon --stopped
	truncate -s 2M "$dir/samples/current/settings"
	run -0 ctl save big
	[[ "$output" == *'"big" is saved (without a MANIFEST yet: '*'see its log)'* ]]
	[ ! -e "$dir/samples/big/MANIFEST" ]
	grep -q "session big has no manifest yet: settings" "$log"
	# others do not wait for one that waits
	run -0 ctl save more
	[ "$(fact state)" = stopped ]
	end_daemon
}

@test "saves that wait are answered, each with its own name, also at the end" {
	can_run_daemon
	daemon --frequency=997
	load_on
	wait_for is total_samples -ge 20
	for n in 1 2 3 4 5 6; do
		ctl save "s$n" >"out$n" 2>&1 3>&- &
		eval "save$n=$!"
	done
	[ "$(fact state)" = sampling ]
	wait "$save1" "$save2" "$save3" "$save4" "$save5" "$save6"
	ctl save last >out7 3>&- &
	save7=$!
	wait_for test -d "$dir/samples/last"
	load_off
	end_daemon
	wait "$save7"
	for n in 1 2 3 4 5 6; do
		grep -q "^session \"s$n\" is saved.*; \"current\" is a new one$" "out$n"
	done
	grep -q '^session "last" is saved; "current" is a new one$' out7
	all_sealed
}

@test "with the default rate, rotation and bounds, last:10s is a report" {
	local rate keep

	can_run_daemon
	rate=$("$OPFS_BIN/opcollect" config --config "$conf" |
		sed -n 's/^rotate = "\(.*\)".*/\1/p')
	keep=$("$OPFS_BIN/opcollect" config --config "$conf" |
		sed -n 's/^keep = "\(.*\)".*/\1/p')
	daemon --rotate="$rate" --keep="$keep"
	[ "$(fact frequency)" = 99 ]
	load_on
	wait_for is total_samples -ge 20
	ctl dump
	run -0 --separate-stderr "$OPFS_BIN/opfs" cat --session-dir "$dir" \
		last:10s/report
	load_off
	[[ "$output" == *"sh"* ]]
	end_daemon
}

@test "threads beyond --max-files are filed under their program, and counted" {
	can_run_daemon
	daemon --frequency=997 --separate=thread,cpu --max-files=5
	[ "$(fact max-files)" = 5 ]
	load_on
	wait_for is folded -ge 5
	load_off
	ctl dump
	folded=$(fact folded)
	ctl stop
	[ "$(find "$dir/samples/current" -path '*{dep}*' -type f ! -name '*.all.all.all' |
		wc -l)" -le 5 ]
	sessions "$dir"
	"$OPFS_BIN/opfs" cat --session-dir "$dir" current/status |
		grep -E "folded:? +$(fact folded)"
	[ "$(fact folded)" -ge "$folded" ]
	# all of them are in reports of the program
	run -0 --separate-stderr "$OPFS_BIN/opfs" cat --session-dir "$dir" current/summary
	[[ "$output" == *sh* ]]
	end_daemon
}

@test "set tells what is in force after it" {
	can_run_daemon
	daemon --event=TIMER:10000000
	run -0 ctl set --event=TIMER:20000000 --separate=thread --rotate=5m --keep=9
	echo "$output"
	[[ "$output" == *"now in force"* ]]
	ctl status >status
	for fact in 'events: TIMER:20000000' 'separate: thread,kernel' 'rotate: 5m' \
		'keep: 9' 'max-files: 1000' 'callgraph: 0'; do
		grep -qxF "$fact" <<<"$output"
		grep -qxF "$fact" status
	done
	# in JSON numbers are numbers
	ctl status --json >json
	for fact in nice realtime callgraph frequency; do
		[ "$fact: $(jq ".[\"$fact\"]" json)" = "$(grep "^$fact: " status)" ]
	done
	run -0 ctl set --max-files=7
	grep -qx 'max-files: 7' <<<"$output"
	run -0 ctl set --stack-limit=1M
	grep -qx 'events: TIMER:20000000' <<<"$output"
	end_daemon
}

@test "reset empties the session" {
	can_run_daemon
	daemon --frequency=997
	load_on
	wait_for is total_samples -ge 20
	load_off
	ctl stop
	ctl reset
	[ "$(fact total_samples)" = 0 ]
	[ ! -e "$dir/samples/current/{root}" ]
	end_daemon
	sessions "$dir"
	[ -z "$(ls -d "$dir"/samples/.gone* 2>/dev/null)" ]
}

@test "set changes what is sampled, in another session" {
	can_run_daemon
	daemon --event=TIMER:10000000
	load_on
	wait_for is total_samples -ge 5
	ctl set --event=TIMER:2000000 --separate=thread --callgraph=16
	[ "$(fact events)" = TIMER:2000000 ]
	[ "$(fact separate)" = thread,kernel ]
	[ "$(fact callgraph)" = fp,16 ]
	wait_for is total_samples -ge 5
	ctl set --event=TIMER:4000000 --callgraph=0
	wait_for is total_samples -ge 5
	load_off
	end_daemon
	sessions "$dir"
	[ "$(rotated | wc -l)" = 2 ]
	[ -z "$(find "$dir/samples" -name 'TIMER.*' |
		sed -E 's/.*TIMER\.([0-9]+)\..*/\1/' | sort -u |
		grep -vxE '10000000|2000000|4000000')" ]
	for s in $(rotated); do
		[ "$(find "$dir/samples/$s" -name 'TIMER.*' |
			sed -E 's/.*TIMER\.([0-9]+)\..*/\1/' |
			sort -u | wc -l)" = 1 ]
	done
}

@test "a session has no notes of how another one was sampled" {
	notes() {
		grep -o 'dwarf: up to [0-9]*' "$dir/samples/$1/stats/notes" || true
	}
	can_run_daemon
	daemon --event=page-faults:1000000000 --callgraph=dwarf
	[ "$(notes current)" = "dwarf: up to $(fact stack-copy)" ]
	# buffers for them are as large as those of a run
	run -0 "$OPFS_BIN/opcollect" record -d other -a --callgraph=dwarf -- true
	[[ $output = *"$(notes current) bytes"* ]]
	# neither in one without a sample
	ctl set --callgraph=dwarf,4096
	[ "$(notes current)" = 'dwarf: up to 4096' ]
	load_on
	ctl set --event=TIMER:2000000
	wait_for is total_samples -ge 5
	ctl set --callgraph=dwarf,8192
	[ "$(notes current)" = 'dwarf: up to 8192' ]
	wait_for is total_samples -ge 5
	ctl set --callgraph=fp
	[ "$(notes current)" = '' ]
	[ "$(fact stack-copy)" = null ]
	wait_for is total_samples -ge 5
	ctl stop
	ctl set --callgraph=0
	ctl start
	load_off
	end_daemon
	for s in $(rotated) current; do
		notes "$s"
	done >told
	diff told - <<-'END'
	dwarf: up to 4096
	dwarf: up to 8192
	END
}

@test "a closed session has the arcs that its stacks make, also after a kill" {
	can_run_daemon
	daemon --event=TIMER:2000000 --callgraph=64
	load_on
	wait_for is total_stacks -ge 20
	[ "$(fact total_arcs)" = null ]
	ctl save one
	wait_for is total_stacks -ge 20
	kill -KILL "$pid"
	wait "$pid" || true
	daemon --event=TIMER:2000000 --stopped
	wait_for all_sealed
	wait_for test -e "$dir/samples/one/MANIFEST"
	load_off
	end_daemon
	mkdir -p closed/samples
	for s in one $(rotated); do
		mv "$dir/samples/$s" closed/samples/
		(cd "closed/samples/$s" && grep -v '^#' MANIFEST | sha256sum --quiet -c)
		grep -q '{cg}' "closed/samples/$s/MANIFEST"
		[ "$(cat "closed/samples/$s/stats/total_arcs")" -gt 0 ]
	done
	[ "$(ls closed/samples | wc -l)" = 2 ]
	# the last sample before the kill may be without its stack: one file of stacks has
	# less than that of samples, or is not there yet
	python3 "$OPFS_TOP/tests/lib/opsamples.py" arcs closed >wrong || true
	cat wrong
	run ! grep -vE ' samples, ([0-9]+|None) stacks$' wrong
	[ "$(wc -l <wrong)" -le 1 ]
	rm -r closed/samples/2*
	python3 "$OPFS_TOP/tests/lib/opsamples.py" arcs closed
}

@test "what cannot be set leaves everything as it was" {
	can_run_daemon
	daemon --event=TIMER:10000000 --keep=9
	load_on
	for wrong in --event=nonsense --event=TIMER:1 '--keep=3 --event=nonsense' \
		'--event=TIMER:5000000,TIMER:5000000'; do
		run ctl set $wrong
		echo "$wrong: $output"
		[ "$status" != 0 ]
		[ "$(fact events)" = TIMER:10000000 ]
		[ "$(fact keep)" = 9 ]
		[ "$(fact state)" = sampling ]
	done
	wait_for is total_samples -ge 5
	load_off
	end_daemon
	sessions "$dir"
}

@test "sessions are rotated by time, sealed, and the oldest removed" {
	can_run_daemon
	daemon --frequency=997 --rotate=1s --keep=2
	load_on
	wait_for is rotations -ge 4
	wait_for is sessions-removed -ge 1
	load_off
	run -0 ctl save kept
	end_daemon
	all_sealed
	[ "$(rotated | wc -l)" -le 3 ]
	[ -e "$dir/samples/kept/MANIFEST" ]
	sessions "$dir"
	for s in $(rotated) kept; do
		"$OPFS_BIN/opfs" check --session-dir "$dir" "$s"
	done
}

@test "current is never absent while sessions are rotated" {
	can_run_daemon
	daemon --frequency=997 --rotate=1s
	load_on
	: >absent
	timeout 1200 python3 - "$dir/samples/current" "$PWD/enough" >absent 3>&- \
		<<-'END' &
	import os, sys
	while not os.path.exists(sys.argv[2]):
	    try:
	        fd = os.open(sys.argv[1] + "/stats/live", os.O_RDONLY)
	        os.close(fd)
	    except OSError as e:
	        print(e)
	END
	watcher=$!
	wait_for is rotations -ge 3
	: >enough
	wait "$watcher"
	load_off
	end_daemon
	[ ! -s absent ] || { cat absent; return 1; }
}

@test "two daemons do not share a socket nor a session" {
	can_run_daemon
	daemon
	run -1 "$OPFS_BIN/opcollect" daemon --config "$conf" --session-dir other \
		--socket "$sock"
	[[ "$output" == *"another daemon listens"* ]]
	run -1 "$OPFS_BIN/opcollect" daemon --config "$conf" --session-dir "$dir" \
		--socket "$sock.2"
	[[ "$output" == *"another collector"* ]]
	[ "$(fact state)" = sampling ]
	run -1 "$OPFS_BIN/opcollect" record --session-dir "$dir" -- true
	[[ "$output" == *"another collector"* ]]
	end_daemon
}

@test "two clients may give any two commands at once" {
	can_run_daemon
	daemon --frequency=99
	commands=(start stop dump reset status deinit 'save s' 'remove s'
		'set --frequency=199')
	for a in "${commands[@]}"; do
		for b in "${commands[@]}"; do
			ctl $a >a.out 2>&1 3>&- &
			one=$!
			ctl $b >b.out 2>&1 3>&- &
			two=$!
			for p in "$one" "$two"; do
				rc=0
				wait "$p" || rc=$?
				[ "$rc" -le 1 ] || { cat a.out b.out; return 1; }
			done
			# only a name that is there, or is not, may be in the way
			if [ "${a%% *}" != save ] && [ "${a%% *}" != remove ]; then
				! grep -q opcollect: a.out || { cat a.out; return 1; }
			fi
		done
	done
	kill -0 "$pid"
	ctl start
	[ "$(fact state)" = sampling ]
	end_daemon
	sessions "$dir"
}

@test "any command may meet the daemon's end" {
	can_run_daemon
	for a in start stop dump reset status deinit 'save s' 'remove s' \
		'set --frequency=199' shutdown; do
		echo "$a"
		daemon --frequency=99
		ctl $a >a.out 2>&1 3>&- &
		one=$!
		ctl shutdown >b.out 2>&1 3>&- &
		two=$!
		rc=0
		wait "$one" || rc=$?
		[ "$rc" -le 1 ]
		wait "$two"
		wait "$pid"
		pid=
		rm -rf "$dir"
	done
}

@test "only the owner and the group may command it" {
	can_run_daemon
	need_others
	chmod 755 "$BATS_TEST_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_RUN_TMPDIR"
	daemon
	[ "$(stat -c %a "$sock")" = 600 ]
	run -1 su nobody -s /bin/sh -c "$OPFS_BIN/opcollect status --socket $sock"
	echo "$output"
	[[ "$output" == *"permission denied"*"--group"* ]]
	end_daemon
	daemon --group="$(id -gn nobody)"
	[ "$(stat -c %a,%G "$sock")" = "660,$(id -gn nobody)" ]
	run -0 su nobody -s /bin/sh -c "$OPFS_BIN/opcollect status --socket $sock"
	end_daemon
	run -1 "$OPFS_BIN/opcollect" daemon --config "$conf" --session-dir "$dir" \
		--socket "$sock" --group=no-such-group
	[[ "$output" == *"no such group"* ]]
}

@test "packets that make no sense are answered or dropped, and nothing else happens" {
	can_run_daemon
	daemon
	python3 - "$sock" <<-'END'
	import os, socket, sys
	def ask(data, answers=True):
	    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
	    s.settimeout(150)
	    s.connect(sys.argv[1])
	    if data is not None:
	        s.send(data)
	        if answers:
	            reply = s.recv(65536).split(b"\0")
	            assert reply[0] == b"opcollect" and reply[2] == b"failed", reply
	            return reply[3].decode()
	ask(None)
	for data in (b"x", b"\0", b"opcollect\0", b"opcollect\x001\0",
	             b"opcollect\x001\0start", b"opcollect\x001\0nonsense\0",
	             b"opcollect\x001\0save\0", b"oprofile\x001\0start\0",
	             b"opcollect\x001\0" + b"set\0" * 80,
	             b"opcollect\x001\0save\0" + b"a" * 60000 + b"\0",
	             os.urandom(1000)):
	    ask(data)
	assert "version" in ask(b"opcollect\x002\0start\0")
	idle = []
	for i in range(40):
	    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
	    s.connect(sys.argv[1])
	    idle.append(s)
	END
	[ "$(fact state)" = sampling ]
	end_daemon
}

@test "--detach returns when samples are taken, or with the reason why not" {
	can_run_daemon
	run -0 "$OPFS_BIN/opcollect" daemon --config "$conf" --session-dir "$dir" \
		--socket "$sock" \
		--log "$log" --detach 3>&-
	pid=$(fact pid)
	[ "$(fact state)" = sampling ]
	run -1 "$OPFS_BIN/opcollect" daemon --config "$conf" --session-dir "$dir" \
		--socket "$sock" \
		--detach 3>&-
	[[ "$output" == *"another daemon listens"* ]]
	mv "$log" "$log.1"
	kill -HUP "$pid"
	wait_for test -e "$log"
	ctl stop
	grep -q "sampling ended" "$log"
	ctl shutdown
	! kill -0 "$pid" 2>/dev/null || wait_for eval '! kill -0 "$pid" 2>/dev/null'
	pid=
}

@test "a killed daemon's session is completed by the next" {
	can_run_daemon
	daemon --frequency=4999
	load_on
	wait_for is total_samples -ge 200
	kill -KILL "$pid"
	wait "$pid" || true
	load_off
	held=$(sessions -k "$dir" | awk '$1 == "all" { print $3 }')
	daemon --stopped
	wait_for all_sealed
	end_daemon
	[ "$(rotated | wc -l)" = 1 ]
	sessions "$dir"
	[ "$(sessions "$dir" | awk '$1 == "all" { print $3 }')" = "$held" ]
	"$OPFS_BIN/opfs" check --session-dir "$dir" "$(rotated)"
}

@test "the service manager is told when it is ready" {
	can_run_daemon
	python3 - "$BATS_TEST_TMPDIR/notify" >notified 3>&- <<-'END' &
	import socket, sys
	s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
	s.bind(sys.argv[1])
	s.settimeout(150)
	while True:
	    text = s.recv(4096).decode()
	    print(text, flush=True)
	    if "STOPPING" in text:
	        break
	END
	listener=$!
	wait_for test -S "$BATS_TEST_TMPDIR/notify"
	NOTIFY_SOCKET="$BATS_TEST_TMPDIR/notify" daemon
	wait_for grep -q STATUS=sampling notified
	end_daemon
	wait "$listener"
	grep -qx READY=1 notified
}

@test "systemd finds no fault with the unit file" {
	need_command systemd-analyze
	sed "s|^ExecStart=[^ ]*|ExecStart=$OPFS_BIN/opcollect|" \
		"$OPFS_TOP/doc/opcollect.service" >opcollect.service
	run -0 systemd-analyze verify --man=no ./opcollect.service
	[ -z "$output" ]
}
