# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 60 x86
# Two CPUs of different kinds: a counter of one kind is left out on the other, and no CPU
# goes without a counter unnoticed.
. /guest/lib.sh
cpu1=/sys/devices/system/cpu/cpu1/online

said()
{
	dmesg | tail -n 6 | grep -q "opfs_sampler: $1" ||
		fail "not in the log: $1: $(dmesg | tail -n 6)"
}

cpu1_sampled()
{
	[ "$(get stats/cpu1/received)" -gt "$1" ]
}

insmod /modules/opfs_fake_pmu.ko raw_cpu=0
load
background nested 1000000
background nested 1000000

# One counter for both is not possible.
start_reading
use_fake 0 0
refused enable 1 "No such"
said "counter 0: cpu 1 has no such event of type $(get 0/type)"
said 'cpu 1 cannot be sampled: .*set type to the number in /sys/bus/event_source'
for type in 4 0; do
	put 0/type $type
	refused enable 1 "No such"
	said "counter 0: cpu 1 has no such event of type $type"
	said 'cpu 1 cannot be sampled: .*set type to the number in /sys/bus/event_source'
done
[ "$(get enable)" = 0 ] || fail "enabled after all"

# Nor is one that no CPU has which is there.
use_fake 0 0
use_fake 1 1
echo 0 >$cpu1
refused enable 1 "No such"
said 'counter 1: cpu 0 has no such event'
echo 1 >$cpu1

# Two are.
put enable 1
said 'counter 0: counts on cpu 0$'
said 'counter 1: counts on cpu 1$'
until_taken 50 nested 200
eventually 20 cpu1_sampled 10
# A CPU that comes gets what is its own.
echo 0 >$cpu1
before=$(get stats/cpu1/received)
echo 1 >$cpu1
eventually 20 cpu1_sampled $((before + 10))
[ "$(get stats/hotplug_failed)" = 0 ] || fail "hotplug: $(get stats/hotplug_failed)"
stop
expect event0 -ge 10
expect event1 -ge 10
expect counters -eq 2
[ "$(of cpu0)" = "$(of event0)" ] || fail "cpu 0: $(tell)"
[ "$(of cpu1)" = "$(of event1)" ] || fail "cpu 1: $(tell)"

# One that comes and has no counter at all is told of; the others go on.
put 1/enabled 0
echo 0 >$cpu1
start
echo 1 >$cpu1
[ "$(get stats/hotplug_failed)" = 1 ] || fail "hotplug: $(get stats/hotplug_failed)"
said 'cpu 1 cannot be sampled'
said 'cpu 1 came and is not sampled'
until_taken 50 nested 200
stop
expect cpu1 -eq 0
unload
rmmod opfs_fake_pmu
