# SPDX-License-Identifier: GPL-2.0-or-later
# What the tests share that have a collector work on a bad machine: one that is busy,
# whose helpers begin late or are killed, whose file systems do not answer.  Sourced by
# bats files, behind record.bash.

programs="$OPFS_TOP/tests/programs"
# shellcheck source=tests/lib/slowfs.bash
. "$OPFS_TOP/tests/lib/slowfs.bash"

# Builds what runs, once a file.
build_patience() {
	local cc=${CC:-gcc} p
	local flags=(-std=gnu17 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -O1 -g)

	build_programs
	for p in many_maps moves churn; do
		"$cc" "${flags[@]}" -pthread -Wl,--build-id -o "$BATS_FILE_TMPDIR/$p" \
			"$programs/$p.c"
	done
	"$cc" "${flags[@]}" -shared -fPIC -pthread -o "$BATS_FILE_TMPDIR/late_child.so" \
		"$programs/late_child.c"
	build_slowfs
	"$cc" -O1 -g -c -o "$BATS_FILE_TMPDIR/weights.o" "$progs/weights.c"
}

# different DIR PREFIX N: so many programs that only their build-ids tell apart.
different() {
	local i

	mkdir -p "$1"
	for ((i = 1; i <= $3; i++)); do
		${CC:-gcc} -o "$1/$2$i" "$BATS_FILE_TMPDIR/weights.o" \
			-Wl,--build-id="0x$(printf %s "$BATS_TEST_NUMBER$1$2$i" |
				sha1sum | cut -c1-40)"
	done
}

# What a test needs; call it in setup().
patience_setup() {
	b="$BATS_FILE_TMPDIR"
	dir="$BATS_TEST_TMPDIR/sessions" log="$BATS_TEST_TMPDIR/log"
	pids=() slow_pid=
	cd "$BATS_TEST_TMPDIR"
}

kill_background() {
	local p

	for p in "${pids[@]}"; do
		pkill -KILL -P "$p" 2>/dev/null || true
		kill -KILL "$p" 2>/dev/null || true
	done
}

# Whatever happened, nothing runs and nothing is mounted; call it in teardown().
patience_teardown() {
	local p

	kill_background
	# first: who waits for it cannot be killed
	[ -z "$slow_pid" ] || kill -KILL "$slow_pid" 2>/dev/null || true
	for p in "${pids[@]}" $slow_pid; do
		wait "$p" 2>/dev/null || true
	done
	# nothing else can be asked of it: its server is gone
	! grep -qF " $BATS_TEST_TMPDIR/mnt " /proc/mounts ||
		umount -l "$BATS_TEST_TMPDIR/mnt"
	[ ! -s "$log" ] || sed 's/^/# /' "$log" | tail -n 20
}

# background COMMAND...: $! and teardown know it.
background() {
	"$@" 3>&- &
	pids+=($!)
}

spinners() {
	local i

	for ((i = 0; i < $1; i++)); do
		# timeout would make a group of its own, which outlives the test
		background timeout --foreground 1200 sh -c 'while :; do :; done' \
			>/dev/null 2>&1
		disown # bash would tell of each that was killed
	done
}

# Everything that runs in the background ends: the rest need not take long.
spinners_end() {
	kill_background
	pids=()
}

tables() {
	python3 "$OPFS_TOP/tests/lib/tables.py" "$@"
}

# watched COMMAND...: runs the collector and looks at its helpers; $report has what was
# seen.  Its messages are in $log.
watched() {
	report="$BATS_TEST_TMPDIR/report"
	python3 "$OPFS_TOP/tests/lib/boxwatch.py" "$report" "$dir" "$OPFS_BIN/opcollect" \
		"$@" >"$log" 2>&1 3>&-
}

# Helpers were there, held nothing of the session, and went.
helpers_were_good() {
	cat "$report"
	jq -e '.helpers > 0' "$report" >/dev/null || {
		echo "no helper was seen"
		return 1
	}
	jq -e '.held == []' "$report" >/dev/null || {
		echo "helpers held files"
		return 1
	}
	jq -e '.left == []' "$report" >/dev/null || { echo "helpers are left"; return 1; }
}

# found PROGRAM MS: does work() of it have the samples that so much CPU time makes, no
# more (by 4.5 standard deviations), and nine in ten of all but those of warm() and of
# the kernel?  Samples that are filed where the program was not are among the rest.
found() {
	local work warm

	read -r work warm <<<"$(ask functions "$dir" "$1" work warm)"
	sampled "$work" $(($2 * 1000000)) 1999
	awk -v work="$work" -v warm="$warm" -v ms="$2" -v all="$(ask sum "$dir")" \
		-v kernel="$(ask sum "$dir" image=kallsyms)" 'BEGIN {
		n = ms * 1999 / 1000
		all -= warm + kernel
		printf "work: %d of %d samples, %d expected\n", work, all, n
		exit work > n + 4.5 * sqrt(n) + 2 || work < 0.9 * all
	}'
}

# threads_seen N: have three in four of so many threads of churn samples?  Those that have
# few may have lost them to a hypervisor.
threads_seen() {
	local seen

	seen=$(ask threads "$dir" image=churn)
	echo "$seen threads seen of $1"
	((seen * 4 >= $1 * 3))
}

# attached PROGRAM WORD...: records the program, by its process, from before it begins its
# work until it ends; it is told to begin by the file "go" when it is seen to be sampled.
# What it prints is in the file "out".
attached() {
	local program=$1

	rm -f go
	background "$program" "$PWD/go" "${@:2}" >out
	local target=$!
	background "$OPFS_BIN/opcollect" record -e TIMER -F 1999 --separate=thread \
		--session-dir "$dir" -p "$target" >"$log" 2>&1
	local collector=$!
	wait_for is_sampled "$program" || { cat "$log"; return 1; }
	: >go
	wait "$target"
	# by itself: the program has ended
	for ((i = 0; i < 600; i++)); do
		kill -0 "$collector" 2>/dev/null || break
		sleep 0.1
	done
	! kill -0 "$collector" 2>/dev/null || { echo "record goes on"; return 1; }
	wait "$collector"
}

is_sampled() {
	[ -n "$(find "$dir"/samples/current -path "*/${1##*/}/*" -name 'TIMER.*' \
		-size +0 2>/dev/null)" ]
}
