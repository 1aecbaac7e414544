# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 40
# A build-id is told that comes first among notes, whatever follows it; one that comes
# after 64 KiB of others is not looked for so long, and the program is told without.
. /guest/lib.sh
id=4242424242424242424242424242424242424242
here=/tmp/test
load
put timer_hz 1000
craft first 64 300 first
craft only 1 0 first
craft last 64 300 last
craft none 64 341
start -i
for f in first only last none; do
	./$f
	# most of them may be taken in the kernel, where the host is busy
	flood 0 0 mtimes $here/$f 1 300
done
stop
for f in first only; do
	grep -q "^file $id [0-9]* $here/$f\$" out || fail "$f: $(grep "/$f\$" out)"
done
for f in last none; do
	grep -q "^file  [0-9]* $here/$f\$" out || fail "$f: $(grep "/$f\$" out)"
done
for f in first only last none; do
	[ "$(samples_of $here/$f)" -ge 1 ] || fail "no samples of $f"
done
expect_no_loss
unload
