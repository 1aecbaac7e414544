# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 60
# A reader whose read() does not end, since a page of its memory does not come, holds up
# itself and nobody else: a run is stopped, the files are read, the reader can be killed,
# and the next run has all its samples.
. /guest/lib.sh

# Is process $1 gone, or waited for?
gone()
{
	! kill -0 "$1" 2>/dev/null || grep -q '^State:.Z' "/proc/$1/status"
}

# goes WHAT PID: waits until it is gone.
goes()
{
	local i=0

	until gone "$2"; do
		i=$((i + 1))
		if [ $i -ge 300 ]; then
			grep State "/proc/$2/status"
			cat "/proc/$2/stack"
			fail "$1 is held up by the reader"
		fi
		sleep 0.1
	done
}

# ends WHAT PID: the same, and that it went well.
ends()
{
	goes "$@"
	wait "$2" || fail "$1"
}

load
put timer_hz 1000
for how in stop kill; do
	stuck >stuck &
	reader=$!
	echo $reader >>pids
	eventually 10 grep -q open stuck
	put enable 1 &
	ends "start" $!
	background twin_1 forever
	spinner=$!
	eventually 10 grep -q stuck stuck
	cat $OP/enable $OP/stats/[a-z]*[_v]* >/dev/null &
	ends "who reads figures" $!
	put dump 1 &
	ends "dump" $!
	if [ $how = stop ]; then
		put enable 0 &
		ends "stop" $!
	fi
	kill -9 $reader
	goes "the reader's end" $reader
	wait $reader || :
	kill -9 $spinner
	wait $spinner || :
	[ "$(get enable)" = 0 ] || fail "still enabled"
	lost=$(cat $OP/stats/lost_* | awk '{ n += $1 } END { print n }')
	[ $(($(get stats/received) + $(get stats/lost_missed))) = \
		$(($(get stats/stored) + lost)) ] ||
		fail "received $(get stats/received), stored $(get stats/stored)," \
		"lost $lost"
done
start
until_taken 50 nested 200
stop
unload
