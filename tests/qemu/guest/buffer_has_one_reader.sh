# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 30
. /guest/lib.sh
load
refused enable 1 "Invalid argument"
start_reading
if bufdump >second; then
	fail "a second reader"
fi
grep -qi busy second || fail "$(cat second)"
put enable 1
nested 100
stop
# Less than the longest record.
if dd if=$OP/buffer bs=4096 count=1 of=/dev/null 2>err; then
	fail "a read that is too small for a record"
fi
grep -q "Invalid argument" err || fail "$(cat err)"
unload
