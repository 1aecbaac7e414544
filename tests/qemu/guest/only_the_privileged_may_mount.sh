# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 20
. /guest/lib.sh
load
mkdir m
if unshare -U -r -m mount -t oprofilefs oprofilefs m 2>err; then
	fail "mounted in a user namespace"
fi
grep -qi 'permitted\|denied' err || fail "$(cat err)"
chmod 755 /tmp/test
for file in enable buffer timer_hz stats/received; do
	if su -s /bin/sh nobody -c "cat $OP/$file" 2>err; then
		fail "$file can be read by anybody"
	fi
done
unload
