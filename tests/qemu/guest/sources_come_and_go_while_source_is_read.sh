# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 240 6.1-single debug-single
# A source is chosen and its module unloaded while `source` is read: nobody is told a name
# that is no longer there.  Many readers share a CPU, so that most wait for it in the
# middle of something, and do so until the module is gone.
. /guest/lib.sh
[ "$(cat /guest/race_seconds)" -lt 120 ] && rounds=30 || rounds=1000
load
echo -1 >/proc/sys/kernel/sched_rt_runtime_us
for i in $(seq 20); do
	background taskset 2 reread $OP/source
done
for i in $(seq $rounds); do
	insmod /modules/opfs_fleeting.ko || fail "insmod"
	put source fleeting
	# Now each of them reads that name.
	usleep 100000
	hog during 1 rmmod opfs_fleeting || fail "rmmod"
done
[ "$(get source)" = auto ] || fail "source is $(get source)"
for p in $(cat pids); do
	kill -9 "$p"
	wait "$p" || :
done
unload
