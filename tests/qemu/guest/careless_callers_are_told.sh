# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 40
# A caller that has another number in its frame pointer, as libc's start code does, ends
# the call chain: it is told itself, and nothing behind it.
. /guest/lib.sh
load
put backtrace_depth 8
put timer_hz 1000
start -v
until_taken 200 careless 1500
stop
expect_callers careless '^ careless$'
[ "$(of aborted)" -ge 50 ] || fail "only $(of aborted) chains were cut"
unload
