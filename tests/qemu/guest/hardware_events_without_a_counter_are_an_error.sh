# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 20 x86
# A machine without counters never samples by something else instead.
. /guest/lib.sh
load
put 0/type 0
put 0/event 0
put 0/count 100000
put 0/enabled 1
start_reading
if echo 1 >$OP/enable 2>/dev/null; then
	fail "enabled"
fi
dmesg | tail -n 5 | grep -q opfs || fail "no message: $(dmesg | tail -n 5)"
[ "$(get enable)" = 0 ] || fail "enabled after all"
unload_now()
{
	kill $reader
	wait $reader || :
	unload
}
unload_now
