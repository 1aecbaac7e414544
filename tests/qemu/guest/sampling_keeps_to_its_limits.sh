# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 90 x86
# No CPU is sampled more often than kernel.perf_event_max_sample_rate, nor for more than a
# quarter of its time; whatever is not taken for that is counted, and the machine goes on.
. /guest/lib.sh
limit=/proc/sys/kernel/perf_event_max_sample_rate
torture=/sys/module/opfs_torture/parameters
usual=$(cat $limit)

now_ms()
{
	awk '{ printf "%d\n", $1 * 1000 }' /proc/uptime
}

# Every interrupt of the run's source is a sample, or counted for what it is not.
nothing_uncounted()
{
	[ "$(cat $torture/offered)" = $(($(get stats/received) + \
		$(get stats/throttled) + $(get stats/idle))) ] ||
		fail "offered $(cat $torture/offered)," \
		"received $(get stats/received), throttled $(get stats/throttled)," \
		"idle $(get stats/idle)"
}

throttled_above()
{
	[ "$(get stats/throttled)" -gt "$1" ]
}

load
put timer_hz 600
start_reading
echo 500 >$limit
refused enable 1 "Invalid argument"
dmesg | tail -n 3 | grep -q 'timer_hz: at most kernel.perf_event_max_sample_rate, 500' ||
	fail "no message: $(dmesg | tail -n 3)"

# At the very limit nothing is held back, save for the time that it takes on a slow
# machine; when the limit is lowered meanwhile, all beyond it is.  5 Hz is less than a
# busy host lets the guest have.
put timer_hz 500
background twin_1 forever
background twin_2 forever
put enable 1
nested 1000
throttled=$(get stats/throttled)
[ $((throttled * 2)) -le "$(get stats/received)" ] ||
	fail "throttled at the limit: $throttled"
echo 5 >$limit
eventually 20 throttled_above $((throttled + 100))
began=$(now_ms) taken=$(get stats/received)
until_taken 10 usleep 2000000
taken=$(($(get stats/received) - taken)) took=$(($(now_ms) - began))
# Each CPU may have used none of what it is allowed to come early by.
[ $taken -le $((2 * (5 * took / 1000 + 4))) ] ||
	fail "$taken samples in $took ms at 5 Hz"
[ $taken -ge 10 ] || fail "only $taken samples in $took ms at 5 Hz"
stop
[ "$(get stats/throttles)" -ge 1 ] || fail "no throttles"
unload

# A source that knows of no limit: the driver does.
echo 5 >$limit
load
insmod /modules/opfs_torture.ko hz=4000
put source torture
began=$(now_ms)
start
nested 1000
eventually 20 throttled_above 0
stop
took=$(($(now_ms) - began))
[ "$(of told_taken)" -le $((2 * (5 * took / 1000 + 5))) ] ||
	fail "$(of told_taken) samples in $took ms at 5 Hz"
nothing_uncounted
put source auto
rmmod opfs_torture
unload

# Samples that take long: call chains to the limit, one after another.  How often a timer
# expires is up to the host.
echo "$usual" >$limit
load
insmod /modules/opfs_torture.ko hz=50 burst=2000 quiet=1
put source torture
put backtrace_depth 128
start
until_taken 50 deep 128 1000
eventually 20 throttled_above 0
stop
[ "$(get stats/throttles)" -ge 1 ] || fail "throttles: $(get stats/throttles)"
nothing_uncounted
[ "$(samples_of /bin/deep)" -ge 10 ] || fail "few samples: $(cat out)"
put source auto
rmmod opfs_torture
unload
