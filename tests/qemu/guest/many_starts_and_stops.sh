# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 120
. /guest/lib.sh
load
background twin_1 forever
for i in $(seq 25); do
	put timer_hz $((i * 100))
	put buffer_size $((4096 * (1 + i % 3)))
	put buffer_watershed 256
	put cpu_buffer_size $((1024 << i % 3))
	put backtrace_depth $((i % 4 * 2))
	start
	[ $((i % 2)) = 0 ] || usleep $((i * 3000))
	[ $((i % 5)) = 0 ] || put dump 1
	stop >told
done
cat told
unload
