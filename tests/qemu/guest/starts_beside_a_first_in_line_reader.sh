# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 90
# A reader of real-time priority that looks into the buffer all the time, without waiting,
# while a run starts on its CPU: the start comes to its end, though samples of the other
# CPU come before.
. /guest/lib.sh
limit=/proc/sys/kernel/sched_rt_runtime_us

# Starts a run; gives up after 30 s.
start_soon()
{
	local i=0

	(put enable 1 && : >started) &
	until [ -e started ]; do
		i=$((i + 1))
		if [ $i -ge 300 ]; then
			# Lets others have the reader's CPU.
			echo "$usual" >$limit
			fail "the start waits for the reader"
		fi
		sleep 0.1
	done
	rm started
}

load defer=1
# This shell must not wait for the reader's CPU, which is the other one.
taskset -p 1 $$ >/dev/null
usual=$(cat $limit)
echo -1 >$limit
put timer_hz 4000
background taskset 1 twin_1 forever
for i in $(seq 20); do
	READ_BY="taskset 2" start_reading -f -n 200
	start_soon
	until_taken 20 usleep 10000
	stop >told
done
cat told
unload
