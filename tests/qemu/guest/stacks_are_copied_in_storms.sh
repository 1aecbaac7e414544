# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 120
# Programs, libraries and mappings come and go while stacks are copied: every copy says
# what was mapped at the sampled place then.
. /guest/lib.sh
load
echo 0 >/proc/sys/kernel/randomize_va_space
put timer_hz 2000
put user_stack 8192
put cpu_buffer_size 131072
put buffer_size 1048576
start
background witness 3000 2
storm fork 40 /bin/twin_1 /bin/twin_2
storm dl 40 /bin/libtwin_1.so /bin/libtwin_2.so
storm kill 20 /bin/twin_1 /bin/twin_2
until_taken 100 storm mmap 200 /bin/libtwin_1.so /bin/libtwin_2.so
until_taken 100 witness 300 2
stop
expect stacks -ge 100
expect witnesses -ge 20
[ $(($(lost_after_all) * 50)) -le "$(of samples)" ] || fail "too many lost"
grep . $OP/stats/stack_*
unload
