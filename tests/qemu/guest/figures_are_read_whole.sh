# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 30
# A figure that changes between two read()s of one reader is the one that it began with,
# not half of either.
. /guest/lib.sh

# expect_whole TEXT FILE COMMAND...: reads a character of FILE, then the rest once COMMAND
# is through.
expect_whole()
{
	local want=$1 name=$2 first

	shift 2
	exec 3<"$OP/$name"
	first=$(dd bs=1 count=1 <&3 2>dd.err) || fail "$(cat dd.err)"
	"$@"
	[ "$first$(cat <&3)" = "$want" ] || fail "$name was not read as $want"
	exec 3<&-
}

sample_some()
{
	start
	until_taken 100 nested 200
}

load
put timer_hz 1000
put cpu_buffer_size 8192
expect_whole 8192 cpu_buffer_size put cpu_buffer_size 16384
[ "$(get cpu_buffer_size)" = 16384 ] || fail "set to $(get cpu_buffer_size)"
expect_whole 0 stats/received sample_some
stop
[ "$(get stats/received)" = $(($(of told_taken) - $(of lost_missed))) ] ||
	fail "received $(get stats/received)"
unload
