# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 60
# As on PREEMPT_RT: the driver's threads copy the stacks, and none of a thread that went
# on before.
. /guest/lib.sh
load defer=1
put timer_hz 1000
put user_stack 16384
start -v
until_taken 300 witness 1000 3
while [ "$(get stats/stack_stored)" -lt 100 ]; do
	witness 500 3
done
stop
expect witnesses -ge 50
[ "$(get stats/resolved_irq)" = 0 ] || fail "in interrupts: $(get stats/resolved_irq)"
expect_callers witness '^ middle outermost'
unload
