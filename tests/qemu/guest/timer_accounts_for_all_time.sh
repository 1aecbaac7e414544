# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 60 smoke
# The timer of every CPU offers a sample a period, by the guest's own clock: taken, idle,
# held back, or missed because its interrupt came too late.
. /guest/lib.sh
hz=10000
cpus=$(grep -c ^processor /proc/cpuinfo)

now_ms()
{
	awk '{ printf "%d\n", $1 * 1000 }' /proc/uptime
}

offered()
{
	echo $(($(get stats/received) + $(get stats/idle) + $(get stats/throttled) +
		$(get stats/lost_missed)))
}

load
put timer_hz $hz
start
before=$(now_ms) first=$(offered) after=$(now_ms)
while [ $(($(now_ms) - after)) -lt 3000 ]; do
	nested 500
done
least=$(($(now_ms) - after)) last=$(offered) most=$(($(now_ms) - before))
stop
offered=$((last - first)) each=$((hz * cpus / 1000))
echo "$offered offered in $least to $most ms, missed $(of lost_missed)"
[ $((offered * 100)) -ge $((least * each * 96)) ] || fail "too few"
[ $((offered * 100)) -le $((most * each * 104)) ] || fail "too many"
[ "$(get stats/lost_missed)" = "$(of lost_missed)" ] ||
	fail "missed: $(get stats/lost_missed)"
unload
