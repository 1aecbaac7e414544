# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 60 arm64-icount
. /guest/lib.sh
load
for i in 0 1; do
	put $i/type 0
	put $i/event $i
	put $i/count 500000
	put $i/enabled 1
done
put backtrace_depth 4
start
nested 500
stop
expect event0 -ge 50
expect event1 -ge 50
expect counters -eq 2
[ "$(samples_of /bin/nested)" -ge 50 ] || fail "few samples: $(cat out)"
expect traces -ge 100
unload
# Counters are free again.
load
put 0/type 0
put 0/event 0
put 0/count 500000
put 0/enabled 1
start
nested 100
stop
expect event0 -ge 10
unload
