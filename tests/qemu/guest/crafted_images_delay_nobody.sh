# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 60 6.1-icount 6.12-icount arm64-icount
# Somebody executes code in a file that takes long to look at, and is another one all the
# time: no thread is held up by that, be it resolved by its page or by the driver's thread
# because one beside it has the address space locked, or because all are.  The machine's
# clock counts instructions, so the host cannot hold it up either.
. /guest/lib.sh

# So many samples could not be resolved in the interrupt.
put_off()
{
	[ $(($(get stats/resolved_page) + $(get stats/resolved_thread) +
		$(get stats/lost_busy))) -ge "$1" ]
}

# withstand OPTION [MB]: of the driver, and of gap.
withstand()
{
	load "$1"
	put timer_hz 1000
	start
	while :; do
		background flood 1000 0 mtimes /tmp/test/crafted 40
		# shellcheck disable=SC2086 # may be missing
		gap 300 ${2-}
		wait $!
		! put_off 2 || break
	done
	worst=$(get stats/worst_delay_ns)
	stop
	echo "$1: worst delay: $worst ns"
	[ "$worst" -le 20000000 ] || wrong="$wrong; $1: held up for $worst ns"
	unload
}

craft crafted 64 341
chown 1000 crafted
wrong=
withstand defer=0 100
withstand defer=1
[ -z "$wrong" ] || fail "${wrong#; }"
