# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 60 arm64-icount
# On this machine the counter of instructions counts every one of them: 400 million in a
# program are 400 samples at one a million, give or take the one it began and ended in.
. /guest/lib.sh
load
[ "$(get cpu_type)" = perf ] || fail "cpu_type is $(get cpu_type)"
put 1/type 0
put 1/event 1
put 1/count 1000000
put 1/kernel 0
put 1/enabled 1
start
retire 100000000
stop
n=$(samples_of /bin/retire)
[ "$n" -ge 399 ] && [ "$n" -le 401 ] || fail "$n samples, not 400"
expect event1 -ge "$n"
expect kernel -eq 0
expect lost -eq 0
unload
