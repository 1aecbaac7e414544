# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 60 smoke x86
# The whole way in one machine: the driver takes samples, opcollect files them, opfs shows
# them.
. /guest/lib.sh
load
opcollect record --source=kernel -F 1000 -d data -- nested 1500
mkdir m
opfs mount data m || fail "opfs mount"
cat m/current/image/nested/report
# The program's own function is what it spent its time in, and a file's size is true.
awk '$NF == "innermost" { n = $1 } END { exit !(n >= 10) }' \
	m/current/image/nested/report || fail "innermost has few samples"
report=m/current/report
[ "$(stat -c %s $report)" = "$(wc -c <$report)" ] || fail "st_size"
cat m/current/status
umount m
[ "$(get enable)" = 0 ] || fail "still enabled"
unload
