# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 150 x86
# On a machine that does nothing, a daemon that samples 99 times a second makes under five
# wakeups a second, and one that was stopped under two.
. /guest/lib.sh
. /guest/daemon_lib.sh

# Voluntary switches of all its threads and helpers.
switches()
{
	local pid

	for pid in $daemon $(cat /proc/$daemon/task/$daemon/children); do
		cat /proc/$pid/task/*/status
	done | awk '/^voluntary_ctxt_switches/ { n += $2 } END { print n }'
}

# In twenty seconds fewer than $1 of them; measured again while others still work.
rests()
{
	local before

	before=$(switches)
	sleep 20
	now=$(($(switches) - before))
	[ $now -lt "$1" ]
}

start_daemon --frequency=99
eventually 20 is total_samples -ge 0
eventually 60 rests 100
echo "sampling: $now wakeups in 20 s"
opcollect stop --config conf || fail "stop: $(cat log)"
eventually 60 rests 40
echo "stopped: $now wakeups in 20 s"
end_daemon
