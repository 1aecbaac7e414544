# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 90 x86
# An NMI copies nothing.  The interrupt that follows it does, if the thread is where the
# NMI found it.
. /guest/lib.sh
load
insmod /modules/opfs_torture.ko hz=1000
put source torture
put user_stack 8192
put backtrace_depth 8
put cpu_buffer_size 131072
put buffer_size 1048576
start
storm fork 10 /bin/twin_1 /bin/twin_2
storm kill 10 /bin/twin_1 /bin/twin_2
while [ "$(get stats/stack_stored)" -lt 1500 ]; do
	witness 500 3
done
stop
expect event1 -ge 50
expect witnesses -ge 20
grep . $OP/stats/stack_*
put source auto
rmmod opfs_torture
unload
