# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 60 6.1-single 6.12-single
# A source's module is unloaded while files of its own are in oprofilefs, and are read.
# Either they keep the module, or they cannot be opened without it.
. /guest/lib.sh

umounted()
{
	umount $OP 2>/dev/null
}

insmod /modules/opfs_sampler.ko
background reread $OP/fleeting $OP/source
reading=$!
for i in $(seq 20); do
	insmod /modules/opfs_fleeting.ko || fail "insmod"
	mount -t oprofilefs oprofilefs $OP || fail "mount"
	[ "$(get fleeting)" = here ] || fail "the file says $(get fleeting)"
	if rmmod opfs_fleeting 2>err; then
		! get fleeting >text || fail "without its module: $(cat text)"
		eventually 20 umounted
		continue
	fi
	grep -qi 'busy\|unavailable' err || fail "$(cat err)"
	eventually 20 umounted
	eventually 20 rmmod opfs_fleeting 2>/dev/null
done
kill -9 $reading
wait $reading || :
eventually 10 rmmod opfs_sampler
