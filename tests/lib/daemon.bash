# SPDX-License-Identifier: GPL-2.0-or-later
# What the tests of "opcollect daemon" share.  Sourced by bats files, behind record.bash.

# Whoever may not sample whole CPUs has no daemon.
can_run_daemon() {
	can_record_cpus
	rm -rf "$BATS_TEST_TMPDIR/can"
}

# ctl COMMAND...: a command for the test's daemon.
ctl() {
	timeout 1000 "$OPFS_BIN/opcollect" "$1" --socket "$sock" "${@:2}"
}

# daemon OPTION...: starts one in the background of the test; $log has its messages.  It
# does not rotate unless it is told to: how long a test takes is nothing to go by.
daemon() {
	case " $* " in
	*" --keep"*) ;;
	*) set -- --keep=all "$@" ;;
	esac
	"$OPFS_BIN/opcollect" daemon --config "$conf" --session-dir "$dir" \
		--socket "$sock" --rotate=never --log stderr "$@" >"$log" 2>&1 3>&- &
	pid=$!
	wait_for listens || { cat "$log"; return 1; }
}

listens() {
	ctl status >/dev/null 2>&1 || ! kill -0 "$pid" 2>/dev/null
}

# What a test of the daemon needs; call it in setup().
daemon_setup() {
	dir="$BATS_TEST_TMPDIR/sessions" sock="$BATS_TEST_TMPDIR/sock"
	log="$BATS_TEST_TMPDIR/log" conf="$BATS_TEST_TMPDIR/conf" pid=
	: >"$conf"
}

# Whatever happened, no daemon and no load stays; call it in teardown().
daemon_teardown() {
	busy_end
	[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true
	[ -z "$pid" ] || wait "$pid" 2>/dev/null || true
	[ ! -s "$log" ] || sed 's/^/# /' "$log" | tail -n 20
}

# Ends it as a service manager does, and fails if it fails.
end_daemon() {
	kill -TERM "$pid"
	wait "$pid"
	pid=
}

fact() {
	ctl status --json | jq -r --arg key "$1" '.[$key]'
}

# is KEY OP NUMBER: compares a fact of the status.
is() {
	test "$(fact "$1")" "$2" "$3"
}

rotated() {
	(cd "$dir/samples" && ls -d 2*Z* 2>/dev/null) || true
}

# Sessions that were rotated, at least so many.
rotated_at_least() {
	[ "$(rotated | wc -l)" -ge "$1" ]
}

all_sealed() {
	local s

	for s in $(rotated); do
		[ -e "$dir/samples/$s/MANIFEST" ] ||
			[ ! -d "$dir/samples/$s" ] || return 1
	done
}

sessions() {
	python3 "$progs/sessions.py" "$@"
}

# Something to sample, until load_off or the end of the test.
load_on() {
	busy_start sh -c \
		'while :; do i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done
		/bin/true; done'
}

load_off() {
	busy_end
}
