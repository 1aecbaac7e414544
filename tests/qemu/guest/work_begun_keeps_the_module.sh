# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 120 x86
# A thread sleeps in the middle of its work, in the driver's text (see
# work_not_begun_keeps_the_module.sh for the other case): it keeps the module, and nobody
# waits for it; its sample is counted as lost, a new start and rmmod say that it is busy.
. /guest/lib.sh
load defer=1 test_hold_ms=15000
# Rarely, for every process that is sampled waits.
put timer_hz 20
background twin_1 forever
start
until_taken 1 usleep 1000000
stop
expect lost -ge 1
[ "$(get stats/lost_stopped)" = "$(of lost)" ] || fail "lost: $(of lost), $(tell)"
start_reading
refused enable 1 "Device or resource busy"
kill $reader
wait $reader || :
umount $OP
if rmmod opfs_sampler 2>err; then
	fail "unloaded under a task's work"
fi
grep -q 'temporarily unavailable\|busy' err || fail "$(cat err)"
eventually 60 rmmod opfs_sampler 2>/dev/null
