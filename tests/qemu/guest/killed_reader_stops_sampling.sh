# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 60
. /guest/lib.sh
disabled()
{
	[ "$(get enable)" = 0 ]
}
load
background twin_1 forever
for i in 1 2 3 4 5; do
	start
	usleep $((i * 30000))
	kill -9 $reader
	wait $reader || :
	eventually 10 disabled
done
start
# Nothing else runs: nearly all are of the program.
until_taken 200 usleep 300000
stop
[ "$(samples_of /bin/twin_1)" -ge 10 ] || fail "few samples: $(cat out)"
unload
