# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 120 6.1 debug
# A CPU goes and comes while the daemon takes samples by perf, also too fast to be seen
# away: it is sampled again, what was taken is stored or counted, and status says so.
. /guest/lib.sh
. /guest/daemon_lib.sh
cpu1=/sys/devices/system/cpu/cpu1/online
background twin_1 forever
background twin_1 forever

start_daemon --separate=cpu
eventually 20 cpu1_has 20
echo 0 >$cpu1
eventually 20 grep -q "CPUs 0 are online" log
before=$(of_cpu1)
usleep 500000
[ "$(of_cpu1)" -eq "$before" ] || fail "samples of a CPU that is away"
echo 1 >$cpu1
eventually 20 grep -q "CPUs 0-1 are online" log
eventually 20 cpu1_has $((before + 20))
# never seen away: a slow machine takes longer for it than the daemon waits between two
# looks
kill -STOP $daemon
eventually 20 grep -q "^State:.T" /proc/$daemon/status
echo 0 >$cpu1
echo 1 >$cpu1
kill -CONT $daemon
eventually 30 grep -q "a CPU went and came" log
before=$(of_cpu1)
eventually 20 cpu1_has $((before + 20))
opfs cat --session-dir sessions current/status >status
grep -q "CPUs 0 are online, before it was 0-1" status || fail "$(cat status)"
grep -q "a CPU went and came" status || fail "$(cat status)"
end_daemon
lost=0
for file in sessions/samples/current/stats/lost_* \
	sessions/samples/current/stats/ignored_*; do
	case $file in *lost_bt_* | */lost_stackfile | *\**) continue ;; esac
	lost=$((lost + $(cat "$file")))
done
[ "$(sum_of total_samples)" -eq $(($(sum_of stored_samples) + lost)) ] ||
	fail "$(sum_of total_samples) taken, $(sum_of stored_samples) stored, $lost lost"
