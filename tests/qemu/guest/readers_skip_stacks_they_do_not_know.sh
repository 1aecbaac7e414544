# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 40
# A reader from before there were stacks skips them, and has all samples.
. /guest/lib.sh
load
put user_stack 65536
put timer_hz 1000
start -k
until_taken 200 witness 1000
stop
expect stacks -eq 0
expect skipped -ge 50
stored=$(get stats/stack_stored)
[ "$(of skipped)" = "$stored" ] || fail "stored: $stored"
expect_no_loss
unload
