# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 30
# What is written to a file is taken whole, in one notation, or refused: nothing is cut,
# guessed, or stops a run by accident.
. /guest/lib.sh

# rejected FILE FORMAT: what printf makes of it is refused, and changes nothing.
rejected()
{
	local before

	before=$(get "$1" 2>/dev/null) || :
	# shellcheck disable=SC2059 # a format on purpose
	if printf "$2" | cat 2>err >"$OP/$1"; then
		fail "$1 took $2"
	fi
	grep -q "Invalid argument" err || fail "$1: $2: $(cat err)"
	[ "$(get "$1" 2>/dev/null || :)" = "$before" ] || fail "$1: $2 changed it"
}

# takes FILE FORMAT VALUE
takes()
{
	# shellcheck disable=SC2059 # a format on purpose
	printf "$2" >"$OP/$1" || fail "$1: $2"
	[ "$(get "$1")" = "$3" ] || fail "$1: $2 became $(get "$1")"
}

said()
{
	dmesg | tail -n 3 | grep -q "$1" ||
		fail "not in the log: $1: $(dmesg | tail -n 3)"
}

long=$(printf '%05000d' 1)
load
takes timer_hz 10 10
takes timer_hz '0x1f\n' 31
takes timer_hz '0x1F' 31
takes timer_hz '1000\n' 1000
for text in 010 00 0x 0X10 x10 0b11 +5 -5 ' 5' '5 ' '5\n\n' '5\n6' '5\0' '\0' '5\0\n' \
	'\n' 1e3 1_000 5x 0x5g 0x-5 0x+5 0x0x5 18446744073709551616 0x10000000000000001 \
	"$long"; do
	rejected timer_hz "$text"
done
said 'timer_hz: must be a number from 1 to 100000, decimal or with 0x'
# In the middle, nothing at all, and very much.
for file in timer_hz enable source dump; do
	for what in '1 1' '0 0' '4096 1' '0 1048576'; do
		# shellcheck disable=SC2086 # two words
		poke $OP/$file $what >answer || :
		[ "$(cat answer)" = "Invalid argument" ] ||
			fail "$file: $what: $(cat answer)"
	done
done
[ "$(poke $OP/timer_hz 0 3)" = 3 ] && [ "$(get timer_hz)" = 111 ] || fail "poke"
# Every write is one of its own.
(echo 20 && echo 30) >$OP/timer_hz || fail "two writes"
[ "$(get timer_hz)" = 30 ] || fail "timer_hz is $(get timer_hz)"

start
for text in nope yes on off n Y 2 00 01 1x '0 ' ' 0' '0\n\n' '0\0' '\n' "$long"; do
	rejected enable "$text"
	[ "$(get enable)" = 1 ] || fail "$text stopped the run"
done
said 'enable: must be 0 or 1'
for text in 0 2 x 11 '1\n\n' '1\0' "$long"; do
	rejected dump "$text"
done
said 'dump: must be 1'
put dump 1
printf 1 >$OP/dump || fail "dump without a newline"
until_taken 5 nested 500
stop
for text in perf2 ' perf' 'perf ' 'perf\0' 'per' '' "$long"; do
	[ -z "$text" ] || rejected source "$text"
done
rejected source '\n'
put source timer
printf auto >$OP/source || fail "source without a newline"

# refused_start REASON: the counter as it is does not start.
refused_start()
{
	refused enable 1 "Invalid argument"
	said "$1"
}

start_reading
rejected 0/unit_mask 511
put 0/enabled 1
put 0/event 0xffffffffffffffff
refused_start 'counter 0: event is at most'
if [ "$(uname -m)" = x86_64 ]; then
	put 0/event 0x1000
	refused_start 'counter 0: event is at most 0xfff'
	put 0/event 0xfff
	put 0/unit_mask 255
	refused enable 1 "No such"
else
	put 0/event 0x10000
	refused_start 'counter 0: event is at most 0xffff'
	put 0/event 0x11
	put 0/unit_mask 1
	refused_start 'counter 0: unit_mask is at most 0'
fi
put 0/event 0
put 0/type 0
put 0/unit_mask 1
refused_start 'counter 0: unit_mask is at most 0 with type 0'
kill $reader
wait $reader || :
unload
