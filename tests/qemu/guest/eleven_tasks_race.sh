# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 100 arm64 6.1-single 6.12-single debug-single
# Eleven tasks at once do all that can be done to the driver, beside storms of tasks and
# mappings.  Afterwards each of them ends, no stream had a mistake, the figures add up,
# and the driver works on and can be unloaded.
. /guest/lib.sh
seconds=$(cat /guest/race_seconds)
cpu1=/sys/devices/system/cpu/cpu1/online

# ---- the tasks: what each does again and again.  That something is busy is no fault.

pause()
{
	usleep $((RANDOM % $1 * 1000))
}

# set_to FILE VALUE
set_to()
{
	echo "$2" >"$OP/$1"
}

fault()
{
	echo "$*" >>faults
}

starts_and_stops()
{
	set_to enable 1
	pause 300
	set_to enable 0
	pause 20
}

writes_settings()
{
	set_to timer_hz $((RANDOM % 8000 + 1))
	set_to buffer_size $((4096 << RANDOM % 8))
	set_to buffer_watershed $((256 << RANDOM % 4))
	set_to cpu_buffer_size $((1024 << RANDOM % 6))
	set_to backtrace_depth $((RANDOM % 32))
	pause 50
}

reads_every_file()
{
	find $OP -type f ! -name buffer ! -name dump -exec cat {} +
}

mounts_another()
{
	unshare -m sh -c "mount -t oprofilefs oprofilefs /mnt && cat /mnt/stats/received
		umount /mnt"
}

takes_a_cpu_away()
{
	echo 0 >$cpu1
	pause 100
	echo 1 >$cpu1
	pause 300
}

# A source with samples, where there is one, or one without.
loads_a_source()
{
	local name=fleeting

	[ ! -e /modules/opfs_torture.ko ] || [ $((RANDOM % 2)) = 0 ] || name=torture
	insmod /modules/opfs_$name.ko
	set_to source $name
	pause 500
	set_to source auto
	rmmod opfs_$name
}

reads_source()
{
	timeout -s KILL 1 reread $OP/source $OP/fleeting
}

unloads_the_driver()
{
	! rmmod opfs_sampler || fault "the driver was unloaded while it was mounted"
	pause 50
}

writes_dump()
{
	set_to dump 1
	pause 5
}

# Reads before everybody else, waiting or not, to the end of a run or to its own.
reads_first()
{
	local how=-f

	[ $((RANDOM % 2)) = 0 ] || how="-f -n 500"
	# shellcheck disable=SC2086 # words on purpose
	bufdump $TRAPS $how >out.first &
	reader=$!
	pause 600
	kill $reader
	wait $reader
	grep -q '^hellos' out.first || return
	cp out.first out
	{ [ "$(of mistakes)" = 0 ] && [ "$(of trapped)" = 0 ]; } ||
		fault "$(grep -v '^[a-z_0-9]* [0-9]*$' out | head -n 20)"
}

gets_stuck()
{
	local ms=

	[ $((RANDOM % 2)) = 0 ] || ms=$((RANDOM % 30 + 1))
	stuck $ms &
	reader=$!
	pause 300
	kill -9 $reader
	wait $reader
}

storms()
{
	storm fork 2 /bin/twin_1 /bin/twin_2
	storm dl 2 /bin/libtwin_1.so /bin/libtwin_2.so
	storm kill 2 /bin/twin_1 /bin/twin_2
	storm mmap 5 /bin/libtwin_1.so /bin/libtwin_2.so
	leave 8 1 2
}

# ---- the race

racers="starts_and_stops writes_settings reads_every_file mounts_another
	takes_a_cpu_away loads_a_source reads_source unloads_the_driver writes_dump
	reads_first gets_stuck storms"

race()
{
	set +e
	exec 2>"log.$1" >&2
	until [ -e over ]; do
		"$1"
		echo >>"rounds.$1"
	done
	: >"ended.$1"
}

# Have all been through it some times?
all_raced()
{
	local name

	for name in $racers; do
		[ "$(wc -l <"rounds.$name")" -ge 3 ] || return 1
	done
}

# Those that have not ended, and what is waiting in the kernel.
tell_who_is_left()
{
	local name p

	for name in $racers; do
		[ -e "ended.$name" ] || echo "$name has not ended"
	done
	for p in /proc/[0-9]*; do
		grep -q '^State:.D' "$p/status" 2>/dev/null || continue
		echo "waiting: ${p#/proc/} $(tr '\0' ' ' <"$p/cmdline")"
		cat "$p/stack"
	done
}

all_ended()
{
	local name

	for name in $racers; do
		[ -e "ended.$name" ] || return 1
	done
}

load
echo 0 >/proc/sys/kernel/randomize_va_space
# Nobody takes the CPU from who reads first.
echo -1 >/proc/sys/kernel/sched_rt_runtime_us
for name in $racers; do
	: >"rounds.$name"
	race "$name" &
done
sleep "$seconds"
i=0
until all_raced; do
	i=$((i + 1))
	[ $i -lt 300 ] || break
	sleep 1
done
: >over
i=0
until all_ended; do
	i=$((i + 1))
	[ $i -lt 300 ] || {
		tell_who_is_left
		fail "not all have ended"
	}
	sleep 1
done
wait
[ ! -s faults ] || fail "$(cat faults)"
for name in $racers; do
	echo "$name $(wc -l <"rounds.$name")"
done
all_raced || fail "not all have raced"

# ---- and afterwards

for name in opfs_torture opfs_fleeting; do
	! grep -q "^$name " /proc/modules || rmmod $name || fail "rmmod $name"
done
[ "$(get enable)" = 0 ] || fail "still enabled"
lost=$(cat $OP/stats/lost_* | awk '{ n += $1 } END { print n }')
[ $(($(get stats/received) + $(get stats/lost_missed))) = \
	$(($(get stats/stored) + lost)) ] ||
	fail "received $(get stats/received), stored $(get stats/stored), lost $lost"
put source auto
put timer_hz 1000
put buffer_size 262144
put cpu_buffer_size 16384
start
until_taken 100 nested 300
stop
unload
