# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 600 6.1-single
. /guest/lib.sh
before=$(awk '$1 == "Slab:" { print $2 }' /proc/meminfo)
for i in $(seq 1000); do
	insmod /modules/opfs_sampler.ko || fail "insmod, $i"
	rmmod opfs_sampler || fail "rmmod, $i"
done
after=$(awk '$1 == "Slab:" { print $2 }' /proc/meminfo)
echo "slab $before kB before, $after kB after"
[ $((after - before)) -lt 20000 ] || fail "memory leaks"
