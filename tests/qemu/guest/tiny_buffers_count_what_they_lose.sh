# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 60
. /guest/lib.sh
load
put cpu_buffer_size 1024
put buffer_watershed 256
put buffer_size 4096
put backtrace_depth 16
put timer_hz 10000
start -s 3000
for i in $(seq 20); do
	nested 500
	[ "$(get stats/lost_event_overflow)" = 0 ] || break
done
stop
[ "$(lost_after_all)" -ge 1 ] || fail "nothing is lost: $(tell)"
expect samples -ge 1
unload
