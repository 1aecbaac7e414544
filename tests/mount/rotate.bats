#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A mount while a daemon exchanges "current" for an empty one, again and again.

bats_require_minimum_version 1.5.0
load ../lib/mount

setup() {
	need_mount
	make_dirs
	export TZ=UTC
}

teardown() {
	[ ! -s "$W/pid" ] || kill -KILL "$(cat "$W/pid")" 2>/dev/null || true
	remove_dirs
}

# fresh NAME: a new empty session, as a daemon prepares it
fresh() {
	mkdir -p "$D/samples/$1/stats"
	echo "# opfs images 1" >"$D/samples/$1/images"
	date +%s >"$D/samples/$1/stats/started"
	live "$1" live
}

# live NAME STATE: the time of the last drain is now
live() {
	echo "$((++GENERATION)) $(date +%s%N) $2" >"$D/.live"
	mv "$D/.live" "$D/samples/$1/stats/live"
}

# fill NAME N: one more image with N samples
fill() {
	python3 "$MKSESSION" "$D" <<-END
		[{"session": "$1", "app": "/bin/all", "samples": {"0x1000": $2}}]
	END
	live "$1" live
}

# What the daemon does: "current" closed as NAME, an empty one in its place, by exchange.
rotate_to() {
	fresh ".next"
	mv "$D/samples/.next" "$D/samples/$1"
	python3 - "$D/samples/current" "$D/samples/$1" <<-'END'
		import ctypes, sys
		libc = ctypes.CDLL(None, use_errno=True)
		a, b = (s.encode() for s in sys.argv[1:])
		assert libc.renameat2(-100, a, -100, b, 2) == 0, ctypes.get_errno()
	END
	live "$1" closed
}

samples() {
	awk -F'\t' '!/^#/ && $3 == "/bin/all" { n += $5 } END { print n + 0 }' \
		"$1/report.tsv"
}

has_samples() {
	[ "$(samples "$1")" = "$2" ]
}

has_size() {
	[ "$(stat -c %s "$1")" = "$2" ]
}

@test "current is the new one after an exchange, and what was in it is the rotated one" {
	fresh current
	fill current 3
	"$OPFS" mount --session-dir "$D" "$M"
	has_samples "$M/current" 3
	cd "$M/current"
	has_samples . 3
	exec 5<"$M/current/report.tsv"
	rotate_to 2026-11-21T09-00-00Z
	grep -q /bin/all <&5 # one open sees one snapshot
	exec 5<&-
	wait_for has_samples "$M/current" 0
	wait_for has_samples . 0 # a shell that stands in it stays in current
	has_samples "$M/2026-11-21T09-00-00Z" 3
	fill current 5
	wait_for has_samples . 5
	wait_for has_samples "$M/current" 5
	[ "$(cd "$M" && echo 2026*)" = 2026-11-21T09-00-00Z ]
	cd "$W"
}

@test "a span moves on with rotations, and loses and doubles nothing" {
	fresh current
	fill current 1
	"$OPFS" mount --session-dir "$D" "$M"
	cd "$M/last:1h"
	has_samples . 1
	for n in 10 100 1000; do
		rotate_to "2026-11-21T09-00-0${#n}Z"
		wait_for has_samples . $(((n - 1) / 9))
		fill current "$n"
		wait_for has_samples . $(((n * 10 - 1) / 9))
	done
	has_samples "$M/last:1h" 1111
	has_samples "$M/session:2026*,current" 1111
	wait_for has_size "$M/last:1h" 1111
	cd "$W"
}

@test "under constant exchanges no reader sees current absent, nor a sum that is wrong" {
	fresh current
	fill current 7
	"$OPFS" mount --session-dir "$D" "$M"
	(
		for i in {1..15}; do
			rotate_to "2026-11-21T09-00-$((i + 10))Z"
		done
		: >"$W/done"
	) 3>&- &
	writer=$!
	n=0
	while [ ! -e "$W/done" ] || [ "$n" -lt 20 ]; do
		kill -0 "$writer" 2>/dev/null || [ -e "$W/done" ]
		[ "$(cat "$M/last:1h/status" | awk '/^samples: / { print $2 }')" = 7 ]
		ls "$M/current" >"$W/list"
		cat "$M/current/README" >"$W/readme"
		"$OPFS" cat --session-dir "$D" last:1h/report.tsv >"$W/tsv"
		[ "$(awk -F'\t' '!/^#/ && $3 == "/bin/all" { n += $5 }
			END { print n + 0 }' "$W/tsv")" = 7 ]
		n=$((n + 1))
	done
	wait "$writer"
	[ "$(find "$M" -maxdepth 1 -name '2026*' | wc -l)" = 15 ]
}

@test "sessions that --keep removes go from the mount, and spans go on without them" {
	fresh current
	fill current 1
	rotate_to 2026-11-21T09-00-00Z
	fill current 10
	rotate_to 2026-11-21T09-00-01Z
	"$OPFS" mount --session-dir "$D" "$M"
	cd "$M/last:1h"
	has_samples . 11
	rm -r "$D/samples/2026-11-21T09-00-00Z"
	wait_for has_samples . 10
	wait_for [ ! -e "$M/2026-11-21T09-00-00Z" ]
	cd "$W"
}

@test "of sessions that --keep removed a mount keeps nothing open, however it read them" {
	local name

	keeps() {
		mount_pids "$M" | while read -r pid; do
			find "/proc/$pid/fd" -lname "$D/$1" -print -quit
		done
	}
	keeps_none() { [ -z "$(keeps 'samples/*(deleted)')" ]; }
	fresh current
	fill current 1
	"$OPFS" mount --session-dir "$D" "$M"
	for name in 2026-11-21T09-00-0{0..3}Z; do
		cat "$M"/{current,last:1h,'session:*'}/{report,status,summary} >/dev/null
		rotate_to "$name"
		fill current 1
		cat "$M"/{"$name","session:$name",'session:2026*'}/report >/dev/null
	done
	cd "$M/session:*"
	has_samples . 5
	[ -n "$(keeps 'samples/2026*')" ]
	rm -r "$D"/samples/2026*
	for name in 2026-11-21T09-00-0{0..3}Z; do
		wait_for [ ! -e "$M/$name" ]
	done
	wait_for has_samples . 1
	wait_for keeps_none
	mountpoint -q "$M"
	cd "$W"
}

@test "a rotated session that has no name yet belongs to spans already" {
	fresh current
	fill current 3
	"$OPFS" mount --session-dir "$D" "$M"
	has_samples "$M/last:1h" 3
	fresh .next
	python3 - "$D/samples/current" "$D/samples/.next" <<-'END'
		import ctypes, sys
		libc = ctypes.CDLL(None, use_errno=True)
		a, b = (s.encode() for s in sys.argv[1:])
		assert libc.renameat2(-100, a, -100, b, 2) == 0, ctypes.get_errno()
	END
	fill current 20
	has_samples_anew() { [ "$("$OPFS" cat --session-dir "$D" last:1h/report.tsv |
		awk -F'\t' '$3 == "/bin/all" { n += $5 } END { print n }')" = "$1" ]; }
	has_samples_anew 23
	wait_for has_samples "$M/last:1h" 23
	mv "$D/samples/.next" "$D/samples/2026-11-21T09-00-00Z"
	has_samples_anew 23
	wait_for has_samples "$M/last:1h" 23
	[ "$(cd "$M" && echo 2026*)" = 2026-11-21T09-00-00Z ]
}

@test "a real daemon rotates under a mount: spans hold what sessions hold, all whole" {
	"$OPFS_BIN/opcollect" daemon --config /dev/null --session-dir "$D" \
		--socket "$W/sock" \
		--log "$W/log" --rotate=2s -e TIMER 3>&- 2>"$W/err" &
	pid=$!
	echo "$pid" >"$W/pid"
	answers() {
		"$OPFS_BIN/opcollect" status --socket "$W/sock" >"$W/status" 2>&1 ||
			! kill -0 "$pid" 2>/dev/null
	}
	wait_for answers
	if ! kill -0 "$pid" 2>/dev/null; then
		skip "no daemon here: $(tail -1 "$W/err")"
	fi
	"$OPFS" mount --session-dir "$D" "$M"
	three() {
		[ -d "$M/current" ] || { touch "$W/absent"; return 0; }
		cat "$M/last:1h/report" >"$W/report" || true # before the first drain
		[ "$(find "$M" -maxdepth 1 -name '20*Z*' | wc -l)" -ge 3 ]
	}
	wait_for three
	[ ! -e "$W/absent" ]
	grep -q '^Sessions of last:1h: ' "$W/report"
	kill "$pid"
	wait "$pid"
	rm "$W/pid"
	sum=$("$OPFS" cat --session-dir "$D" time:-1h../status |
		awk '/^samples: / { print $2 }')
	each=$("$OPFS" check --session-dir "$D" | tee "$W/check" |
		awk '{ n += $3 } END { print n }')
	cat "$W/check"
	[ "$sum" -gt 0 ]
	[ "$sum" = "$each" ]
	[ "$(grep -c 'as the MANIFEST says' "$W/check")" -ge 2 ]
}
