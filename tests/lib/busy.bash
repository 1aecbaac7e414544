# SPDX-License-Identifier: GPL-2.0-or-later
# What keeps tests from depending on how fast the machine is, and how busy: they wait for
# conditions, sampled programs tell the CPU time they used (tests/programs/worked.h), and
# how many samples that should have made follows from it.  Sourced by bats files.

# How long anything may take that only has to happen some time, in seconds.
PATIENCE=${OPFS_PATIENCE:-600}

# wait_for COMMAND...: until it succeeds.
wait_for() {
	local end=$((SECONDS + PATIENCE))

	until "$@"; do
		if [ $SECONDS -ge $end ]; then
			echo "waited $PATIENCE s in vain for: $*" >&2
			return 1
		fi
		sleep 0.05
	done
}

# refused COMMAND...: does it fail?  For wait_for.
refused() {
	! "$@" >/dev/null 2>&1
}

# busy_start COMMAND...: runs it in the background, in a session of its own, for twenty
# minutes at most.  busy_end ends all of them with their children; call it in teardown().
busy_start() {
	setsid timeout -k 1 1200 "$@" >/dev/null 2>&1 3>&- &
	busy_pids+=($!)
}

busy_end() {
	local pid

	for pid in "${busy_pids[@]}"; do
		# timeout makes a group of its own, which has the number of timeout
		kill -KILL -- "-$pid" "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	busy_pids=()
}
busy_pids=()

# spinners N: N processes that want a CPU each, until busy_end.
spinners() {
	local i

	for ((i = 0; i < $1; i++)); do
		busy_start sh -c 'while :; do :; done'
	done
}

# cpu_ns PID: the CPU time that a process of one thread has used, in nanoseconds.
cpu_ns() {
	awk '{ print $1 }' "/proc/$1/schedstat" 2>/dev/null ||
		awk -v hz="$(getconf CLK_TCK)" \
			'{ sub(/.*\) /, ""); print ($12 + $13) * (1000000000 / hz) }' \
			"/proc/$1/stat"
}

# cpu_used PID NS: it has used so many nanoseconds, or is gone, which then is an error
# later.
cpu_used() {
	[ ! -d "/proc/$1" ] || [ "$(cpu_ns "$1")" -ge "$2" ]
}

# worked PART: the CPU time of all that told $WORKED that they are that part, in
# nanoseconds.
worked() {
	awk -v part="$1" '
		$1 == part { n += $2; told = 1 }
		END { printf "%.0f\n", n; exit !told }' "${2:-$WORKED}"
}

# sampled N NS HZ [LOST]: are N samples what NS nanoseconds of CPU time give at HZ, as far
# as chance allows (4.5 standard deviations)?  LOST of any program are known to be lost.
# Where a hypervisor takes the CPU away, and the kernel does not know, timers that should
# have fired meanwhile fire once: half of the samples may be missing for that.
sampled() {
	awk -v n="$1" -v ns="$2" -v hz="$3" -v lost="${4:-0}" 'BEGIN {
		want = ns * hz / 1e9
		least = want / 2 - 4.5 * sqrt(want) - lost
		if (want < 100) {
			print "a test that cannot tell: " ns " ns give " want " samples"
			exit 1
		}
		if (n < least) {
			print n " samples in " ns " ns at " hz " Hz (" want "), " \
				lost " lost"
			exit 1
		}
	}'
}
