# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 60
# A counter that is taken away during a run is missed: counted once, told in the log, and
# sampled with again when it is free.
. /guest/lib.sh
taken=/sys/module/opfs_fake_pmu/parameters/taken
cpus=$(grep -c ^processor /proc/cpuinfo)

failed_are()
{
	[ "$(get stats/counters_failed)" = "$1" ]
}

# All CPUs gave samples since there were $1.
sampled_since()
{
	local cpu

	for cpu in $(seq 0 $((cpus - 1))); do
		[ "$(get stats/cpu$cpu/received)" -gt \
			$(($(eval "echo \$$1$cpu") + 5)) ] || return 1
	done
}

remember()
{
	local cpu

	for cpu in $(seq 0 $((cpus - 1))); do
		eval "$1$cpu=$(get stats/cpu$cpu/received)"
	done
}

insmod /modules/opfs_fake_pmu.ko
load
for cpu in $(seq 0 $((cpus - 1))); do
	use_fake "$cpu" "$cpu"
	background nested 1000000
done
put 15/type "$(get 0/type)"
put 15/count 7000000
put 15/enabled 1
start
remember begin
eventually 20 sampled_since begin
failed_are 0 || fail "failed from the start: $(get stats/counters_failed)"
echo 1 >$taken
# Cpu 0 has two.
eventually 20 failed_are $((cpus + 1))
[ "$(get stats/cpu0/counters_failed)" = 2 ] || fail "cpu0: not 2"
dmesg | grep -q 'opfs_sampler: counter 0 of cpu 0 was taken away' ||
	fail "counter 0 is not in the log"
dmesg | grep -q 'opfs_sampler: counter 15 of cpu 0 was taken away' ||
	fail "counter 15 is not in the log"
remember stuck
sleep 3
for cpu in $(seq 0 $((cpus - 1))); do
	[ "$(get stats/cpu$cpu/received)" = "$(eval "echo \$stuck$cpu")" ] ||
		fail "samples without a counter"
done
failed_are $((cpus + 1)) || fail "counted again: $(get stats/counters_failed)"
echo 0 >$taken
eventually 20 sampled_since stuck
failed_are $((cpus + 1)) || fail "failed again: $(get stats/counters_failed)"
# And a second time; what fails at the very end counts too.
echo 1 >$taken
put enable 0
failed_are $(((cpus + 1) * 2)) || fail "at the end: $(get stats/counters_failed)"
echo 0 >$taken
wait $reader || fail "the stream: $(cat out)"
start
remember begin
failed_are 0 || fail "a new run begins with $(get stats/counters_failed)"
stop

# While CPUs come and go.
cpu1=/sys/devices/system/cpu/cpu1/online
if [ -e $cpu1 ]; then
	start
	for i in 1 2 3 4 5 6; do
		echo 1 >$taken
		echo 0 >$cpu1
		usleep $((i * 200000))
		echo 0 >$taken
		echo 1 >$cpu1
		usleep $((i * 100000))
	done
	remember hotplug
	eventually 20 sampled_since hotplug
	[ "$(get stats/hotplug_failed)" = 0 ] || fail "a CPU came and was not sampled"
	stop
fi
unload
rmmod opfs_fake_pmu
