# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 40
. /guest/lib.sh
load
put timer_hz 4000
start
for i in 1 2 3; do
	mkdir -p fs
	mount -t tmpfs tmpfs fs
	cp /bin/nested "fs/nested$i"
	until_taken 200 "fs/nested$i" 200
	umount fs || fail "busy while samples are taken"
done
stop
for i in 1 2 3; do
	[ "$(samples_of "/tmp/test/fs/nested$i")" -ge 20 ] || fail "nested$i: $(cat out)"
done
unload
