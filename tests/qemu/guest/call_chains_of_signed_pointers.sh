# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 40 arm64
# Return addresses that carry a pointer authentication code (-mbranch-protection=pac-ret):
# the code is no part of what is told.
. /guest/lib.sh
grep -q '^Features.* paca' /proc/cpuinfo || skip "this processor signs no pointers"
load
put backtrace_depth 8
put timer_hz 1000
start -v
until_taken 200 nested_pac 1500
stop
expect_callers nested_pac '^ middle outermost main'
unload
