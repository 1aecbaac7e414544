# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 90
. /guest/lib.sh
for i in 1 2 3 4 5 6 7 8; do
	load
	put timer_hz 5000
	put backtrace_depth 8
	background twin_1 forever
	spinner=$!
	background storm fork 1000 /bin/twin_1 /bin/twin_2
	storm=$!
	start
	usleep 200000
	if rmmod opfs_sampler 2>/dev/null; then
		fail "unloaded while mounted"
	fi
	kill -9 $reader
	wait $reader || :
	unload
	# Were there work left in a task, it would now run into freed text.
	usleep 50000
	kill -9 $spinner $storm
	wait
done
