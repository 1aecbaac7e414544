# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 90
# A thread works on while another one of its process calls exec.
. /guest/lib.sh
load
put timer_hz 4000
start
until_taken 100 /bin/twin_1 chain 150 /bin/twin_2
stop
[ "$(samples_of /bin/twin_1)" -ge 10 ] || fail "few samples: $(cat out)"
[ "$(samples_of /bin/twin_2)" -ge 10 ] || fail "few samples: $(cat out)"
# exec kills the other thread and waits for it: what that ran is resolved before.
expect late_trapped -eq 0
expect_no_loss
unload
