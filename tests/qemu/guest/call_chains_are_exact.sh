# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 40
# nested calls outermost, that calls middle, that calls innermost: these follow every
# sample of that, save where it is just being entered or left.
. /guest/lib.sh
load
put backtrace_depth 8
put timer_hz 1000
start -v
until_taken 200 nested 1500
stop
expect_callers nested '^ middle outermost'
unload
