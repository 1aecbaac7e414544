# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 90 x86
# The daemon takes samples from the driver: rotated and saved sessions, stop and start,
# and every sample is stored or counted.
. /guest/lib.sh
load
cat >conf <<'END'
socket = "/tmp/opcollect.sock"
END
mkdir -p sessions
opcollect daemon --config conf --session-dir sessions --source=kernel --frequency=500 \
	--log=stderr 2>log &
daemon=$!
echo $daemon >>pids
eventually 20 opcollect status --config conf
nested 700
opcollect save first --config conf || fail "save: $(cat log)"
opcollect stop --config conf || fail "stop: $(cat log)"
[ "$(get enable)" = 0 ] || fail "stopped, and still enabled"
opcollect start --config conf || fail "start: $(cat log)"
nested 700
opcollect status --config conf
opcollect shutdown --config conf || fail "shutdown: $(cat log)"
wait $daemon || fail "the daemon: $(cat log)"
for s in first current; do
	opfs cat --session-dir sessions $s/image/nested/report >report ||
		fail "$s: $(cat log)"
	awk '$NF == "innermost" { n = $1 } END { exit !(n >= 10) }' report ||
		fail "$s: innermost has few samples: $(cat report)"
	opfs cat --session-dir sessions $s/status >status
	awk -F'[: (]+' '$1 == "taken" { taken = $2 } $1 == "stored" { stored = $2 }
		$1 == "lost" { lost = $2 } $1 == "ignored" { ignored += $2 }
		END { exit !(taken > 0 && stored + lost <= taken) }' status ||
		fail "$s: $(cat status)"
done
opfs check --session-dir sessions first || fail "first is not whole"
[ "$(get enable)" = 0 ] || fail "still enabled"
unload
