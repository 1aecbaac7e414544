# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 60
# Where the buffers are too small for stacks, samples are kept and stacks are not.
. /guest/lib.sh
load
put cpu_buffer_size 4096
put buffer_watershed 256
put buffer_size 16384
put user_stack 65536
put timer_hz 200
start -s 500
until_taken 300 witness 1000
stop
[ "$(get stats/stack_no_room)" -ge 50 ] || fail "room for all: $(tell)"
expect stacks -ge 1
expect_no_loss
unload
