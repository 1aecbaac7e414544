# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 120 6.1-icount 6.12-icount arm64-icount
# A thread forks a process of 300 MB, again and again, which keeps the address space
# locked: a sampled thread beside it does not wait for that.  The machine's clock counts
# instructions, for a busy host holds up everything.
. /guest/lib.sh

# So many samples found the address space locked.
found_locked()
{
	[ $(($(get stats/resolved_page) + $(get stats/resolved_thread) +
		$(get stats/lost_busy))) -ge "$1" ]
}

load
put timer_hz 1000
for i in 1 2 3 4 5; do
	start
	while :; do
		gap 200 300
		! found_locked 4 || break
	done
	stop
	worst=$(get stats/worst_delay_ns)
	echo "worst delay: $worst ns"
	if [ "$worst" -le 8000000 ]; then
		unload
		exit 0
	fi
done
fail "held up for $worst ns"
