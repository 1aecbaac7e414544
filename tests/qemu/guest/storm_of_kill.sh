# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 90
. /guest/lib.sh
load
put timer_hz 4000
start
until_taken 60 storm kill 60 /bin/twin_1 /bin/twin_2
stop
expect user -ge 10
# Nothing shares their address spaces, and they are resolved before they are gone.
expect late -eq 0
expect_no_loss
unload
