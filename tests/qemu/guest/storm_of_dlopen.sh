# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 90 smoke
# Two libraries whose code comes to lie at the same addresses by turns.
. /guest/lib.sh
load
echo 0 >/proc/sys/kernel/randomize_va_space
put timer_hz 4000
start
until_taken 200 storm dl 300 /bin/libtwin_1.so /bin/libtwin_2.so >storm
stop
cat storm
grep -q '^coinciding [1-9]' storm || fail "the libraries never took each other's place"
expect late -eq 0
expect_no_loss
one=$(samples_of /bin/libtwin_1.so)
two=$(samples_of /bin/libtwin_2.so)
[ "$one" -ge 10 ] && [ "$two" -ge 10 ] || fail "few samples: $one, $two"
# They work equally long, as far as so many samples can tell: 4.5 deviations.
[ $(((one - two) * (one - two))) -le $((21 * (one + two))) ] || fail "unequal: $one, $two"
unload
