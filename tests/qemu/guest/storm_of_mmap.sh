# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 90
# Three threads of a process keep the lock of its address space busy.  What could not be
# resolved in the interrupt may be late, is told so, and is rarely wrong.
. /guest/lib.sh
load
put timer_hz 4000
start
until_taken 100 storm mmap 400 /bin/libtwin_1.so /bin/libtwin_2.so
# On a kernel that checks itself few samples are of user code.
while [ $(($(get stats/resolved_irq) + $(get stats/resolved_page) +
	$(get stats/resolved_thread))) -lt 100 ]; do
	storm mmap 400 /bin/libtwin_1.so /bin/libtwin_2.so
done
stop
one=$(samples_of /bin/libtwin_1.so)
two=$(samples_of /bin/libtwin_2.so)
[ "$one" -ge 5 ] && [ "$two" -ge 5 ] || fail "few samples: $one, $two"
[ "$(get stats/resolved_late)" = "$(of late)" ] || fail "late: $(get stats/resolved_late)"
[ $(($(of late_trapped) * 20)) -le "$(of user)" ] || fail "wrong: $(of late_trapped)"
[ $(($(lost_after_all) * 50)) -le "$(of samples)" ] || fail "too many lost"
echo "worst delay: $(get stats/worst_delay_ns) ns"
unload
