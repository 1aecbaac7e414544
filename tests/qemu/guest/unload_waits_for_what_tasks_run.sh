# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 90 x86
# Works in tasks linger in the driver's text after all their samples are accounted for:
# it is not unloaded under them.  The NMIs' user samples are resolved in tasks.
. /guest/lib.sh
for i in 1 2 3; do
	load test_delay_ms=20
	insmod /modules/opfs_torture.ko hz=500
	put source torture
	background twin_1 forever
	one=$!
	background twin_2 forever
	two=$!
	start
	usleep 400000
	kill -9 $reader
	wait $reader || :
	put source auto
	rmmod opfs_torture
	unload
	usleep 100000
	kill -9 $one $two
	wait
done
