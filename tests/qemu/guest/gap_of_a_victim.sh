# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 120 6.1-icount 6.12-icount
# How long a program is held up at most, by a clock that counts executed instructions (8
# ns each): alone, beside somebody who makes images that take long to look at, beside a
# thread of its own that forks a process of 300 MB, and beside both, with 100 MB; not
# sampled and sampled.  Others have their turns on the only CPU, as well: what the driver
# itself holds up is the worst delay.
. /guest/lib.sh
here=/tmp/test

alone()
{
	gap 2000
}

crafted()
{
	background flood 1000 0 mtimes $here/crafted 0
	gap 2000
	end_of $!
}

forking()
{
	gap 2000 300
}

both()
{
	background flood 1000 0 mtimes $here/crafted 100 >/dev/null
	gap 1000 100
	wait $!
}

# The longest gap, in microseconds, while a command runs.
longest()
{
	"$1" >gaps
	awk '{ printf "%d us", $1 / 1000 }' gaps
}

measure()
{
	bare=$(longest "$1")
	start
	sampled=$(longest "$1")
	stop >told
	echo "$1, $how: $bare not sampled, $sampled sampled," \
		"worst delay $(($(get stats/worst_delay_ns) / 1000)) us," \
		"$(of lost) of $(of told_taken) samples lost"
}

craft crafted 64 341
chown 1000 crafted
for how in defer=0 defer=1; do
	load $how
	put timer_hz 1000
	measure alone
	measure crafted
	measure forking
	measure both
	unload
done
