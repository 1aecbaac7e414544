# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 240
# A source is chosen and its module unloaded while `source` is read: nobody is told a name
# that is no longer there.  Readers lose their CPU in the middle of it, for as long as it
# takes to unload.
. /guest/lib.sh
[ -e /modules/opfs_fleeting.ko ] || skip "no source for this machine"
load
background taskset 2 reread $OP/source
background hog pulse 1 150
for i in $(seq 1000); do
	insmod /modules/opfs_fleeting.ko || fail "insmod"
	put source fleeting
	rmmod opfs_fleeting || fail "rmmod"
done
[ "$(get source)" = auto ] || fail "source is $(get source)"
for p in $(cat pids); do
	kill -9 "$p"
	wait "$p" || :
done
unload
