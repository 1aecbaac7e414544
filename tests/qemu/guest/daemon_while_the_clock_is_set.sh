# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 90 6.1 debug
# Somebody sets the clock a year forward and two days back while sessions are rotated: as
# many rotations as there is time for, no session too old at once, each sample once.
. /guest/lib.sh
. /guest/daemon_lib.sh
background twin_1 forever
start_daemon --rotate=2s --keep=1h
eventually 30 is rotations -ge 2
begun=$(cut -d. -f1 /proc/uptime)
before=$(fact rotations)
date -s "@$(($(date +%s) + 31536000))" >/dev/null
eventually 30 is rotations -ge $((before + 2))
date -s "@$(($(date +%s) - 31536000 - 172800))" >/dev/null
eventually 30 is rotations -ge $((before + 4))
rotations=$(($(fact rotations) - before))
passed=$(($(cut -d. -f1 /proc/uptime) - begun))
[ $rotations -le $((passed / 2 + 2)) ] || fail "$rotations rotations in $passed s"
is sessions-removed -eq 0 || fail "sessions were removed: $(cat log)"
opcollect stop --config conf
# What was taken last is rotated away as well; then figures stand still.
eventually 30 is total_samples -eq 0
taken=$(fact past-samples)
all=$(fact rotations)
end_daemon
[ "$(find sessions/samples -maxdepth 1 -name '2*Z*' | wc -l)" -eq "$all" ] ||
	fail "not as many sessions as rotations ($all): $(ls sessions/samples)"
[ "$(sum_of total_samples)" -eq "$taken" ] ||
	fail "$(sum_of total_samples) of $taken taken"
[ "$taken" -ge 100 ] || fail "few samples: $taken"
for s in sessions/samples/2*Z*; do
	opfs check --session-dir sessions "${s##*/}" || fail "$s is not whole"
done
