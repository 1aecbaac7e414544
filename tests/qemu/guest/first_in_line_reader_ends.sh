# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 120
# A reader of real-time priority on the CPU of a task that is just adding an image does
# not keep the CPU to itself until that is done, for it never will be.  The task adds them
# itself (defer=1), one after another; where the kernel can, it is made to lose its CPU in
# the middle of that.
. /guest/lib.sh
limit=/proc/sys/kernel/sched_rt_runtime_us

ticks()
{
	awk '{ printf "%d\n", $1 * 100 }' /proc/uptime
}

# Waits for so many images; gives up when none comes any more.
wait_for_images()
{
	local now=0 last=0 idle=0

	while [ $now -lt "$1" ] && [ $idle -lt 300 ]; do
		sleep 0.1
		now=$(get stats/images)
		[ "$now" = $last ] || idle=0
		last=$now
		idle=$((idle + 1))
	done
	echo "$now images"
}

load defer=1
# This shell must not wait for the reader's CPU, which is the other one.
taskset -p 1 $$ >/dev/null
insmod /modules/opfs_pause.ko function=opfs_sampler:add ms=5 2>/dev/null ||
	echo "no task is made to lose its CPU"
cp /bin/libtwin_1.so /bin/libtwin_2.so .
# Nobody takes the CPU from the reader, as is usual where real time counts.
usual=$(cat $limit)
echo -1 >$limit
put timer_hz 2000
READ_BY="taskset 2" start_reading -f -n 4000
began=$(ticks)
# Not waited for: what it does on the reader's CPU waits for the reader.
put enable 1 &
background taskset 1 twin_1 forever
background taskset 2 storm images 200 ./libtwin_1.so ./libtwin_2.so
wait_for_images 200
# Its share of a CPU's time, user's and kernel's.
used=$(awk '{ print $14 + $15 }' /proc/$reader/stat)
took=$(($(ticks) - began))
echo "$usual" >$limit
kill -9 $!
wait $! || :
stop
echo "the reader used $used of $took ticks"
[ $((used * 2)) -lt $took ] || fail "the reader used its CPU for $used of $took ticks"
rmmod opfs_pause 2>/dev/null || :
unload
