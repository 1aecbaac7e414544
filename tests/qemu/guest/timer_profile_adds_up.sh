# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 30 smoke
. /guest/lib.sh
load
put timer_hz 1000
start
until_taken 200 nested 1500
stop
expect samples -ge 100
expect_no_loss
[ "$(samples_of /bin/nested)" -ge 80 ] || fail "nested: $(cat out)"
# What the driver itself counted is what was told.
[ "$(get stats/received)" = $(($(of told_taken) - $(of lost_missed))) ] ||
	fail "received $(get stats/received)"
unload
