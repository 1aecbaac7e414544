# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 30
# Another module's source adds files to oprofilefs, which keep that module loaded.
. /guest/lib.sh
insmod /modules/opfs_sampler.ko
insmod /modules/opfs_torture.ko hz=1000 quiet=1
mount -t oprofilefs oprofilefs $OP || fail "mount"
[ "$(get torture/hello)" = hello ] || fail "hello: $(get torture/hello)"
[ "$(get torture/hz)" = 1000 ] || fail "hz is $(get torture/hz)"
put torture/hz 1500
[ "$(get torture/hz)" = 1500 ] || fail "hz is $(get torture/hz)"
refused torture/hz 100001 "Invalid argument"
put source torture
start
refused torture/hz 1000 busy
until_taken 100 nested 300
stop
put source auto
if rmmod opfs_torture 2>err; then
	fail "unloaded while its files were there"
fi
grep -qi 'temporarily unavailable\|busy' err || fail "$(cat err)"
umount $OP
rmmod opfs_torture || fail "it stays loaded"
mount -t oprofilefs oprofilefs $OP || fail "mount"
[ ! -e $OP/torture ] || fail "its files are left"
# A source that comes when oprofilefs is mounted has no files, and goes when it likes.
insmod /modules/opfs_torture.ko
[ ! -e $OP/torture ] || fail "files came late"
rmmod opfs_torture
unload
