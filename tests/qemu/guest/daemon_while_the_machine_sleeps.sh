# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 120 6.1 debug
# The machine sleeps and wakes while the daemon takes samples by perf: the CPUs that were
# taken away for it are sampled again.
. /guest/lib.sh
. /guest/daemon_lib.sh
grep -q mem /sys/power/state || skip "this kernel cannot sleep: $(cat /sys/power/state)"
[ -e /sys/power/pm_test ] || skip "no /sys/power/pm_test to be woken by"
background twin_1 forever
background twin_1 forever

start_daemon --separate=cpu
eventually 20 cpu1_has 20
# all of a sleep but the sleep: a second with one CPU
echo 1 >/sys/module/suspend/parameters/pm_test_delay
echo processors >/sys/power/pm_test
echo mem >/sys/power/state || skip "the machine does not sleep: $(dmesg | tail -n 3)"
eventually 30 grep -q "or the machine slept" log
before=$(of_cpu1)
eventually 20 cpu1_has $((before + 20))
[ "$(fact state)" = sampling ] || fail "$(cat log)"
end_daemon
