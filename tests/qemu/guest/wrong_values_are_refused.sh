# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 20
. /guest/lib.sh
load
while read -r file below least most above; do
	refused "$file" "$below" "Invalid argument"
	refused "$file" "$above" "Invalid argument"
	put "$file" "$least"
	[ "$(get "$file")" = "$least" ] || fail "$file is not $least"
	put "$file" "$most"
	[ "$(get "$file")" = "$most" ] || fail "$file is not $most"
done <<END
buffer_size 4095 4096 16777216 16777217
cpu_buffer_size 1023 1024 1048576 1048577
backtrace_depth -1 0 128 129
timer_hz 0 1 100000 100001
0/enabled -1 0 1 2
END
for value in x '' 1x 99999999999999999999 -1; do
	refused timer_hz "$value" "Invalid argument"
done
refused source nonsense "Invalid argument"
refused enable 2 "Invalid argument"
put 0/enabled 1
put 0/count 100000
start_reading
# Software events can overflow where a lock is held that the handler would want.
for type in 1 2 5; do
	put 0/type $type
	refused enable 1 "Invalid argument"
done
kill $reader
wait $reader || :
dmesg | grep -q 'timer_hz' || fail "the kernel's log names no limit"
unload
