# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 120
# Somebody executes code in files that take long to look at, and makes new ones of them
# all the time: samples of another CPU, on which it does not run, are told nevertheless,
# and so are new images there.
. /guest/lib.sh
here=/tmp/test

taken_beyond()
{
	[ "$(get stats/cpu0/received)" -gt "$1" ]
}

load
put timer_hz 1000
open_to_all root
start
attackers=
for i in 1 2 3 4; do
	craft crafted$i 64 341
	chown 1000 crafted$i
	background flood 1000 0 mtimes $here/crafted$i 0
	attackers="$attackers $!"
done
eventually 20 taken_beyond 100
flood 0 1 files $here/root 100 80
for i in $attackers; do
	end_of "$i"
done
stop
taken=$(get stats/cpu1/received)
missing=$((taken - $(of cpu1)))
echo "CPU 1: $taken taken, $missing not told; $(told_below $here/root) of 100 images"
[ "$(told_below $here/root)" = 100 ] || fail "$(told_below $here/root) of 100 images"
[ $((missing * 100)) -le "$taken" ] || fail "$missing of $taken samples are missing"
unload
