# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 120 x86
# Real NMIs hit the writing of samples, the resolving of others, and whatever else.
. /guest/lib.sh
torture=/sys/module/opfs_torture/parameters
load
insmod /modules/opfs_torture.ko hz=2000
put source torture
put backtrace_depth 8
echo 0 >/proc/sys/kernel/randomize_va_space
start
storm fork 60 /bin/twin_1 /bin/twin_2
storm dl 60 /bin/libtwin_1.so /bin/libtwin_2.so
storm kill 40 /bin/twin_1 /bin/twin_2
storm mmap 200 /bin/libtwin_1.so /bin/libtwin_2.so
/bin/twin_1 chain 60 /bin/twin_2
while [ "$(cat $torture/nmis)" -lt 600 ]; do
	nested 300
done
stop
nmis=$(cat $torture/nmis)
[ "$nmis" -ge 500 ] || fail "only $nmis NMIs"
expect event0 -ge 100
expect event1 -ge 100
# A task that died between an NMI and the interrupt after it cannot be resolved.
[ $(($(of lost) * 50)) -le "$(of samples)" ] || fail "too many lost"
echo "$nmis NMIs"
put source auto
rmmod opfs_torture
unload
