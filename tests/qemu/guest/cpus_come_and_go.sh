# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 60
. /guest/lib.sh
cpu1=/sys/devices/system/cpu/cpu1/online
load
background twin_1 forever
background twin_1 forever
put timer_hz 2000
start
until_taken 200 usleep 300000
for i in 1 2 3 4 5; do
	echo 0 >$cpu1
	usleep 50000
	echo 1 >$cpu1
	usleep 50000
done
echo 0 >$cpu1
stop
expect cpu0 -ge 10
expect cpu1 -ge 10
expect_no_loss
# A CPU that is away at the start takes part when it comes.
start
usleep 50000
echo 1 >$cpu1
until_taken 200 usleep 500000
stop
expect cpu1 -ge 10
unload
