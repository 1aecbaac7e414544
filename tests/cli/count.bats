#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# "opcollect count" as a command: its usage, its output, its end.

bats_require_minimum_version 1.5.0
load ../lib/count

@test "what a command does is counted from its exec on, with its children" {
	run -0 --separate-stderr count -e page-faults -- "$pages" 5000 </dev/null
	[ -z "$stderr" ]
	[[ "${lines[0]}" =~ ^[0-9]+\ 5000$ ]]
	[ "${lines[1]}" = "done" ]
	[[ "${lines[2]}" =~ ^event\ +count\ +counted$ ]]
	[[ "${lines[3]}" =~ ^page-faults\ +(5,[0-9]{3})\ +100.00\ %$ ]]
	near "${BASH_REMATCH[1]/,/}" 5000
	[[ "${lines[4]}" =~ ^[0-9]+\.[0-9]{6}\ seconds\ elapsed$ ]]

	count -e page-faults --json -f one -- sh -c ":" </dev/null
	count -e page-faults --json -f three -- \
		sh -c "'$pages' 3000 </dev/null >list & '$pages' 2000 </dev/null; wait"
	rows one
	sh=$(sum page-faults)
	rows three
	[ "$(sum page-faults)" -ge $((5000 + sh)) ]
	[ "$(sum page-faults)" -le $((6000 + sh)) ]
}

@test "intervals follow each other without gaps, to the last part of one" {
	# it ends when three intervals were printed: in the middle of another one
	cat >long.sh <<-'END'
		until [ "$(grep -c begin_ns out)" -ge 3 ]; do sleep 0.02; done
		exec "$1" 4000 </dev/null >list
	END
	run -0 count -e page-faults,task-clock -i 0.1 --json -f out -- sh long.sh "$pages"
	[ "$(grep -c begin_ns out)" -ge 4 ]
	rows
	[ "$(sum page-faults)" -ge 4000 ]
	# one that is longer than the command is the command
	count -e page-faults -i 1000 --json -f out -- "$pages" 1000 </dev/null >list
	[ "$(grep -c begin_ns out)" = 1 ]
	rows
	near "$(sum page-faults)" 1000
	run -0 count -e page-faults -i 1000 -- true
	[[ "${lines[0]}" =~ ^\ +seconds\ +event\ +count\ +counted$ ]]
	[[ "${lines[1]}" =~ ^\ +[0-9]+\.[0-9]{3}\ +page-faults\ +[0-9]+\ +100.00\ %$ ]]
	[ "${#lines[@]}" = 2 ]
}

@test "so many intervals end the output, not the command" {
	cat >long.sh <<-'END'
		until [ "$(grep -c ^timestamp out)" -ge 3 ]; do sleep 0.02; done
		"$1" 4000 </dev/null >list
		exit 7
	END
	run -7 count -e page-faults,faults:0:1:1 -i 0.05:3 -b -f out -- \
		sh long.sh "$pages"
	[ "$(grep -cE '^timestamp,[0-9]+\.[0-9]{3}$' out)" = 3 ]
	[ "$(grep -cE '^page-faults,[0-9]+,100\.00$' out)" = 3 ]
	[ "$(grep -cE '^faults:0:1:1,[0-9]+,100\.00$' out)" = 3 ]
	[ "$(wc -l <out)" = 9 ]
	grep -q done list
	whole_cpus
	run -0 count -a -c -e page-faults -i 0.05:2 -b
	[ "$(grep -c ^timestamp <<<"$output")" = 2 ]
	grep -qE '^0,page-faults,[0-9]+,100\.00$' <<<"$output"
}

@test "the command's exit status is passed on" {
	run -7 count -e page-faults -- sh -c 'exit 7'
	[[ "$output" == *"page-faults"* ]]
	run -137 count -e page-faults -- sh -c 'kill -KILL $$'
	run -127 count -- nosuchcommand
	[[ "$output" == *"nosuchcommand: command not found"* ]]
	run -126 count -- /etc/passwd
	[[ "$output" == *"/etc/passwd"*"ermission denied"* ]]
	printf '#!/nosuch/interpreter\n' >broken
	chmod +x broken
	run -127 count -- ./broken
	[[ "$output" == *"./broken: cannot be executed"* ]]
}

@test "without events, those are counted that there are" {
	run -0 count -- true
	for e in 'task-clock (ns)' page-faults context-switches cpu-migrations; do
		[[ "$output" == *"$e "* ]]
	done
	if [ -e /sys/bus/event_source/devices/cpu ]; then
		[[ "$output" == *"cycles "*"instructions "* ]]
	else
		[[ "$output" != *"cycles"* ]]
	fi
}

@test "a hardware event without a PMU says so and names what there is" {
	[ ! -e /sys/bus/event_source/devices/cpu ] || skip "this machine has counters"
	run -1 count -e page-faults,instructions -- touch ran
	[[ "$output" == *"instructions: "*"no performance counters"*"-e task-clock"* ]]
	[ ! -e ran ]
}

@test "wrong usage says what is wrong and exits with 2" {
	while IFS='|' read -r words what; do
		# shellcheck disable=SC2086
		run count $words
		[ "$status" = 2 ] || { echo "$words: $status"; return 1; }
		[[ "$output" == *"$what"* ]] || { echo "$words: $output"; return 1; }
	done <<-'END'
		|what shall be counted
		-a -p 1|exclude each other
		-r 1 -C 0|exclude each other
		-b --json true|exclude each other
		-c true|-c needs -a or -C
		-c -p 1|-c needs -a or -C
		-t true|-t needs -p or -r
		-t -a|-t needs -p or -r
		-e page-fault true|did you mean page-faults
		-e page-faults:1000 true|a COUNT is for samples
		-e page-faults:0:1:1:1 true|more than four fields
		-e page-faults,page-faults true|given twice
		-i 0 true|-i: "0"
		-i 1: true|-i: "1:"
		-i 1:0 true|-i: "1:0"
		-i x true|-i: "x"
		-i -1 true|-i: "-1"
		-i 1.2.3 true|-i: "1.2.3"
		-p 0|-p: "0"
		-r x|-r: "x"
		-C 3-1|-C: "1"
		-C ,|-C: ""
		-f|-f: needs FILE
		--nonsense|--nonsense
	END
}

@test "an event that can only be sampled is refused" {
	"$opcollect" events IBS_OP_ALL >/dev/null 2>&1 || skip "this processor has no IBS"
	run -2 count -e IBS_OP_ALL -- true
	[[ "$output" == *"IBS takes samples"* ]]
}

@test "what is not there is an error, before the command runs" {
	sh -c 'exit 0' &
	gone=$!
	wait $gone
	run -1 count -p $gone -- touch ran
	[[ "$output" == *"-p $gone: there is no such process"* ]]
	run -1 count -r $gone -- touch ran
	[[ "$output" == *"-r $gone: there is no such thread"* ]]
	run -1 count -C 8000 -- touch ran
	[[ "$output" == *"CPU 8000 is not online"* ]]
	run -1 count -f nosuch/file -- touch ran
	[[ "$output" == *"nosuch/file: No such file"* ]]
	[ ! -e ran ]
}

@test "a full disk is an error, and the command goes on" {
	need_dev_full
	run -1 count -e page-faults -f /dev/full -- sh -c 'touch ran; exit 7'
	[[ "$output" == *"/dev/full: No space left on device"* ]]
	[ -e ran ]
	run -1 sh -c '"$0" count -e page-faults -i 0.01 -- true >/dev/full' "$opcollect"
	[[ "$output" == *"standard output: No space left on device"* ]]
	# without a command there is no reason to go on
	run -1 count -e page-faults -i 0.01 -p $$ -f /dev/full
	# nor where nobody reads
	run -0 bash -c '"$0" count -e page-faults -i 0.01 -p $$ | head -1' "$opcollect"
	[[ "$output" == *seconds*event* ]]
}

@test "what the kernel refuses names the sysctl" {
	need_others
	level=$(cat /proc/sys/kernel/perf_event_paranoid)
	[ "$level" -ge 1 ] || skip "needs paranoid level 1 or more"
	others=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	run -1 "${others[@]}" "$opcollect" count -a -e page-faults
	[[ "$output" == *"sysctl kernel.perf_event_paranoid=0"* ]]
	run -1 "${others[@]}" "$opcollect" count -e page-faults -p $$
	[[ "$output" == *"process $$ may not be looked at"* ||
		"$output" == *"sysctl kernel.perf_event_paranoid"* ]]
	[ "$level" = 2 ] || return 0
	run -0 "${others[@]}" "$opcollect" count -e page-faults -- true
	[[ "$output" == *"page-faults: no right to count in the kernel"*paranoid=1* ]]
	[[ "$output" != *refused* ]]
	"${others[@]}" "$opcollect" count -e page-faults --json -- true >out
	rows
	grep -q '"kernel": false' out
}

@test "what was counted in user mode only is called so, in every format" {
	need_others
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" = 2 ] ||
		skip "needs paranoid level 2"
	count=(setpriv --reuid=65534 --regid=65534 --clear-groups "$opcollect" count
		-e context-switches)
	run -0 --separate-stderr "${count[@]}" -- true
	[[ "$output" == *"context-switches:u "*" 0 "* ]]
	[[ "$stderr" == *"context-switches: no right"* ]]
	run -0 --separate-stderr "${count[@]}" -b -- true
	[[ "$output" == "context-switches:u,0,"* ]]
	"${count[@]}" --json -- true >out
	[ "$(jq -r '.events[0].label, .intervals[0].counts[0].event' out | uniq)" = \
		context-switches:u ]
	# and "-f", where user mode alone was asked for, and both
	out=$(mktemp /tmp/opfs-count.XXXXXX)
	chmod 666 "$out"
	"${count[@]}" -f "$out" -e page-faults:u,page-faults -- true
	cp "$out" out
	rm "$out"
	grep '^context-switches:u ' out
	[ "$(grep -c '^page-faults:u ' out)" = 1 ]
	[ "$(grep -c '^page-faults ' out)" = 1 ]
	# root counts the kernel too
	need_root
	run -0 --separate-stderr "$opcollect" count -e context-switches -- true
	[[ "$output" != *:u* ]]
}
