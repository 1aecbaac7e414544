# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 240 6.1-icount 6.12-icount
# How fast samples may come, with default buffers and opcollect filing them on the same
# CPU, until one is lost or not taken; and why.  What passes while interrupts are disabled
# is another matter: it is told beside that.
. /guest/lib.sh

# Why samples are missing: "NAME NUMBER" by the driver's figures, then by the session's.
missing()
{
	for f in $OP/stats/lost_* $OP/stats/throttled \
		data/samples/current/stats/lost_*; do
		[ ! -f "$f" ] || echo "$(basename "$f") $(cat "$f")"
	done | awk '$1 != "lost_missed" && $2 > 0 && !seen[$0]++ {
		printf "%s%s %d", n++ ? ", " : "", $1, $2
	}'
}

# One step: $1 Hz.  Sets taken, why.
step()
{
	rm -rf data
	opcollect record -a --source=kernel -F "$1" -d data -- cost 100000000 >cost \
		2>log ||
		fail "record: $(cat log)"
	taken=$(get stats/received)
	ns=$(cat cost)
	why=$(missing)
	echo "$1 Hz: $taken taken in $((ns / 1000000)) ms, missing: ${why:-none};" \
		"late: $(get stats/lost_missed)"
}

load
hz=5000
good=0
while :; do
	step $hz
	[ -z "$why" ] || break
	good=$hz
	hz=$((hz * 5 / 4))
	[ $hz -le 100000 ] || break
done
[ $good -ge 5000 ] || fail "samples are missing at $hz Hz: $why"
echo "nothing is missing up to $good Hz; at $hz Hz: ${why:-nothing either}"
unload
