# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 90 arm64 arm64-icount
# A counter that overflows as often as one can be told to: perf holds it back, the driver
# counts that, and the machine goes on.
. /guest/lib.sh
load
put 0/type 0
put 0/event 0
refused 0/count 499 "Invalid argument"
put 0/count 500
put 0/enabled 1
put backtrace_depth 32
start
nested 1000
stop
[ "$(get stats/throttles)" -ge 1 ] || fail "throttles: $(get stats/throttles)"
echo "received=$(get stats/received) throttles=$(get stats/throttles)" \
	"throttled=$(get stats/throttled) idle=$(get stats/idle)" \
	"limit=$(cat /proc/sys/kernel/perf_event_max_sample_rate)"
[ "$(samples_of /bin/nested)" -ge 50 ] || fail "few samples: $(cat out)"
unload
