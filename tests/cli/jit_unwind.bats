#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Stacks through code made at run time, as its makers say that it is unwound.

bats_require_minimum_version 1.5.0
load ../lib/record
load ../lib/opfs
load ../lib/daemon

setup_file()
{
	need_programs
	can_record
	[ "$(uname -m)" = x86_64 ] || skip "code of x86-64"
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR"
	"${CC:-gcc}" -O1 -g -fomit-frame-pointer -fno-optimize-sibling-calls \
		-o "$BATS_FILE_TMPDIR/jit_stack" "$progs/jit_stack.c"
}

setup()
{
	cd "$BATS_TEST_TMPDIR"
	daemon_setup
	jit=$BATS_FILE_TMPDIR/jit_stack
	py="python3 $progs/jitdump.py"
	map='/tmp/perf-$JIT_PID.map'
	trampolines='printf "%s b py::one:/x.py\n" $JIT_AT >'$map'; '
	second='printf "%x b py::two:/x.py\n" $((0x$JIT_AT + 16)) >>'$map'; '
	dump="$py --frame=40,11 jit-1.dump \$JIT_CODE dumped"
}

teardown()
{
	daemon_teardown
	[ ! -d s/samples/current/jit ] ||
		rm -f /tmp/perf-"$(ls s/samples/current/jit)".map
}

# leads STACK: is that how leaf() is called, but in a sample of fifty?
leads()
{
	opfs cat current/stacks.folded | cut -c1-200 >folded
	grep -F ';leaf ' folded
	awk -v want="$1" '/;leaf [0-9]+$/ { all += $NF }
		index($0, want " ") { n += $NF }
		END { print n, "of", all; exit all < 100 || n < all * 0.98 }' folded
}

@test "stacks go through trampolines as CPython's, and code with unwinding information" {
	record --session-dir s --callgraph=dwarf -F 1999 -- "$jit" 0.5 \
		"$trampolines$second$dump" jit-1.dump
	leads ';main;py::one:/x.py_[j];one;py::two:/x.py_[j];two;dumped_[j];leaf'
}

@test "trampolines that are not told yet are unwound as those beside them" {
	record --session-dir s --callgraph=dwarf -F 1999 -- "$jit" 0.5 \
		"$trampolines$dump" jit-1.dump
	leads ';main;py::one:/x.py_[j];one;[[jit]]_[j];two;dumped_[j];leaf'
}

@test "where nobody tells, a stack ends, and says why" {
	record --session-dir s --callgraph=dwarf -F 1999 -- "$jit" 0.5
	opfs cat current/stacks.folded >folded
	grep -qF '[truncated: no unwind table]' folded
	[ "$(cat s/samples/current/stats/stacks_no_unwind)" -gt 100 ]
}

# has_whole SESSION: are its stacks whole, but for one in twenty, of enough samples?  All
# but these say that they are cut, or the session that it ended before names were read:
# on a busy machine helpers may have no time.
has_whole() {
	local whole=';main;py::one:.*_[[]j];one;py::two:.*_[[]j];two;dumped_[[]j];leaf '
	local n cut all

	# it may have had no time itself
	D=$dir opfs cat "$1/image:jit_stack/stacks.folded" >folded || return 1
	read -r n cut all < <(awk '/;leaf [0-9]+$/ { all += $NF }
		/;leaf [0-9]+$/ && /[[]truncated: / { cut += $NF }
		$0 ~ whole { n += $NF }
		END { print n + 0, cut + 0, all + 0 }' whole="$whole" folded)
	echo "$1: $n whole, $cut cut, of $all"
	[ "$all" -ge 50 ] || return 1
	[ $((n * 100)) -lt $((all * 95)) ] || return 0
	[ $(((n + cut) * 100)) -ge $((all * 95)) ] ||
		grep -qs 'names that could not be read in time$' \
			"$dir/samples/$1/stats/notes" || echo "$1" >>untold
	return 1
}

@test "a daemon that rotates has names and stacks in each session" {
	local seen=0 done=0

	can_run_daemon
	busy_start "$jit" 1000 "echo \$JIT_PID >number; $trampolines$second$dump" \
		jit-1.dump
	wait_for test -e jit-1.dump
	daemon -e TIMER --frequency=997 --callgraph=dwarf --rotate=2s
	while [ $seen -lt 2 ]; do
		wait_for rotated_at_least $((done + 1))
		session=$(rotated | sed -n $((done + 1))p)
		wait_for test -s "$dir/samples/$session/MANIFEST"
		! has_whole "$session" || seen=$((seen + 1))
		done=$((done + 1))
		[ $done -lt 100 ]
	done
	busy_end
	end_daemon
	all_sealed
	[ ! -e untold ]
	rm -f "/tmp/perf-$(<number).map"
}

# Ends a session: has it the names, or else a note that they are missing?
save_another()
{
	nr=$((nr + 1))
	ctl save "s$nr"
	[ ! -e "$dir/samples/s$nr/jit/$(<number)" ] || return 0
	grep -qE '^names of code .* had names that could not be read in time$' \
		"$dir/samples/s$nr/stats/notes" || echo "s$nr" >>untold
	return 1
}

@test "names that nobody can read before the session ends are told of" {
	local helpers nr=0

	can_run_daemon
	busy_start "$jit" 1000 "echo \$JIT_PID >number; $trampolines$second$dump" \
		jit-1.dump
	wait_for test -e jit-1.dump
	daemon -e TIMER --frequency=997 --callgraph=dwarf
	wait_for is total_samples -ge 500
	helpers=$(pgrep -P "$pid" -f box=questions)
	pkill -STOP -g "$helpers"
	! save_another || false
	[ ! -e untold ]
	pkill -CONT -g "$helpers"
	wait_for save_another
	cat "$dir"/samples/s*/stats/notes
	busy_end
	end_daemon
	[ ! -e untold ]
	rm -f "/tmp/perf-$(<number).map"
}
