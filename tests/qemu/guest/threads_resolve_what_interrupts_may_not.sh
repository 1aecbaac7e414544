# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 90
# As on PREEMPT_RT, where an interrupt may not try the lock of an address space: samples
# of user code are resolved by the driver's threads, before the sampled ones go on and
# however these end.  Another CPU may take one over, which goes on there: such samples,
# few, are marked late.
. /guest/lib.sh
load defer=1
echo 0 >/proc/sys/kernel/randomize_va_space
put timer_hz 2000
put backtrace_depth 8
start
storm fork 100 /bin/twin_1 /bin/twin_2
storm dl 100 /bin/libtwin_1.so /bin/libtwin_2.so
storm kill 50 /bin/twin_1 /bin/twin_2
nested 500
while [ "$(get stats/resolved_thread)" -lt 250 ]; do
	nested 500
done
stop
[ "$(get stats/resolved_irq)" = 0 ] && [ "$(get stats/resolved_page)" = 0 ] ||
	fail "in interrupts: $(get stats/resolved_irq), $(get stats/resolved_page)"
[ $(($(of late) * 20)) -le "$(get stats/resolved_thread)" ] || fail "late: $(of late)"
[ $(($(lost_after_all) * 100)) -le "$(of user)" ] || fail "too many lost"
echo "worst delay: $(get stats/worst_delay_ns) ns"
unload
