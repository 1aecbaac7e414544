#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A mount open to other users shows a binary only to those who could open it, and a
# session's slices as the session's own permissions say.

bats_require_minimum_version 1.5.0
load ../lib/opfs
load ../lib/mount
load ../lib/users

setup() {
	users_setup
	build_open_and_closed
}

teardown() {
	[ -z "${swapper-}" ] || { kill "$swapper" && wait "$swapper" || true; }
	users_teardown
}

@test "a binary of mode 0711 is itself for a user, and its symbols for root" {
	shared_session
	for round in 1 2 3; do
		run cat "$M/saved/report"
		[[ $output == *hidden_work* && $output == *plain_work* ]]
		run -0 as_nobody cat "$M/saved/report"
		[[ $output == *plain_work* ]]
		[[ $output != *hidden_work* ]]
		[[ $output == *"20 "*"$W/closed"* || $output == *"20 "*closed* ]]
	done
}

@test "users read side by side and none sees the other's report" {
	shared_session
	readers=()
	for i in 1 2 3 4 5 6 7 8; do
		for j in 1 2 3 4 5 6; do cat "$M/saved/report"; done >"$W/root.$i" 2>&1 \
			3>&- &
		readers+=($!)
		for j in 1 2 3 4 5 6; do as_nobody cat "$M/saved/report"; done \
			>"$W/nobody.$i" 2>&1 3>&- &
		readers+=($!)
	done
	wait "${readers[@]}"
	[ "$(cat "$W"/root.* | grep -c hidden_work)" = 48 ]
	[ "$(cat "$W"/nobody.* | grep -c plain_work)" = 48 ]
	[ "$(cat "$W"/nobody.* | grep -c hidden_work)" = 0 ]
}

@test "sizes are exact for each user" {
	shared_session
	mkdir "$W/nobody"
	chown 65534 "$W/nobody"
	for f in report report.tsv summary status; do
		[ "$(stat -c %s "$M/saved/$f")" = "$(cat "$M/saved/$f" | wc -c)" ]
		[ "$(as_nobody stat -c %s "$M/saved/$f")" = \
			"$(as_nobody cat "$M/saved/$f" | wc -c)" ]
		as_nobody cp "$M/saved/$f" "$W/nobody/$f"
		as_nobody cmp "$M/saved/$f" "$W/nobody/$f"
	done
}

@test "a handle that root opened shows root's report, whoever reads it" {
	shared_session
	as_nobody cat "$M/saved/report" >/dev/null
	exec 5<"$M/saved/report"
	as_nobody cat "$M/saved/report" >/dev/null
	run as_nobody cat <&5
	exec 5<&-
	[[ $output == *hidden_work* ]]
}

@test "a symbol of a binary that may not be read cannot be asked for" {
	shared_session
	[ "$(stat -c %s "$M/saved/symbol:hidden_work")" = 20 ]
	run as_nobody stat "$M/saved/symbol:hidden_work"
	[ "$status" != 0 ]
	run as_nobody ls "$M/saved/symbol:/"
	[[ $output == *plain_work* ]]
	[[ $output != *hidden_work* ]]
	run ls "$M/saved/symbol:/"
	[[ $output == *hidden_work* ]]
	run as_nobody ls "$M/saved/symbol:/"
	[[ $output != *hidden_work* ]]
	as_nobody stat "$M/saved/symbol:plain_work"
	[ "$(stat -c %s "$M/saved/symbol:hidden_work")" = 20 ]
}

@test "a session closed to others is closed here as well" {
	shared_session
	chmod 700 "$D/samples/saved"
	wait_for refused as_nobody cat "$M/saved/report"
	run as_nobody ls "$M/saved"
	[ "$status" != 0 ]
	grep -q hidden_work "$M/saved/report"
	chmod 755 "$D/samples/saved"
	wait_for as_nobody cat "$M/saved/report"
}

@test "a link swapped between check and open never shows what it should not" {
	at=$(offset_of "$W/closed" hidden_work)
	[ "$at" = "$(offset_of "$W/open" plain_work)" ]
	python3 - "$W" "$at" >"$W/links.json" <<-'END'
	import json, sys
	w, at = sys.argv[1:]
	print(json.dumps([{"session": "saved", "app": "%s/links/l%d" % (w, i),
	                   "samples": {at: 1 + i}} for i in range(150)]))
	END
	mkdir "$W/links"
	timeout 1200 python3 - "$W" 3>&- <<-'END' &
	import os, sys
	w = sys.argv[1]
	links = [os.path.join(w, "links", "l%d" % i) for i in range(150)]
	turn = 0
	while True:
	    for l in links:
	        os.symlink(os.path.join(w, ("open", "closed")[turn]), l + ".new")
	        os.rename(l + ".new", l)
	    if not turn:
	        open(os.path.join(w, "swapping"), "w").close()
	    turn = 1 - turn
	END
	swapper=$!
	mksession "$W/links.json"
	wait_for test -e "$W/swapping"
	shared_mount
	as_nobody sh -c 'cat "$1"/saved/image:/*/report' sh "$M" >"$W/seen"
	[ "$(wc -l <"$W/seen")" -ge 300 ]
	[ -z "$(grep hidden_work "$W/seen")" ]
	kill $swapper
	wait $swapper || true
	swapper=
	# the test can fail: root may see it
	ln -sfn "$W/closed" "$W/links/l0"
	unmount "$M"
	shared_mount
	grep -q hidden_work "$M/saved/image:/l0/report"
	[ -z "$(as_nobody grep hidden_work "$M/saved/image:/l0/report")" ]
}

@test "a link to a session leads there only if root, or who mounted, made it" {
	shared_session
	unmount "$M"
	mkdir "$W/private"
	cp -r "$D/samples/saved" "$W/private/saved"
	chown -R 1001 "$W/private"
	chmod 700 "$W/private"
	for maker in 65534 1001 0; do
		ln -s "$W/private/saved" "$D/samples/by$maker"
		chown -h "$maker" "$D/samples/by$maker"
	done
	shared_mount
	for round in 1 2; do
		for maker in 65534 1001; do
			run as_nobody cat "$M/by$maker/summary"
			[ "$status" != 0 ]
			[[ $output != *samples* ]]
			run ! cat "$M/by$maker/summary"
		done
		as_nobody cat "$M/by0/summary" | grep samples
	done
}

@test "sample files that claim much and hold nothing cost nobody anything" {
	shared_session
	for s in hostile current; do
		cp -r "$D/samples/saved" "$D/samples/$s"
		python3 - "$D/samples/$s" <<-'END'
		import os, struct, sys
		files = [os.path.join(d, f) for d, _, fs in os.walk(sys.argv[1])
		         for f in fs if "TIMER" in f or "CPU_CLK" in f]
		assert files
		for path in files:
		    with open(path, "r+b") as f:
		        f.seek(72)
		        f.write(struct.pack("=II", 1 << 27, 1 << 27))
		        f.truncate(104 + (1 << 27) * 20)
		END
	done
	chown -R 65533 "$D/samples/hostile"
	pid=$(mount_pids "$M")
	as_nobody ls -l "$M" >"$W/list"
	as_nobody cat "$M/hostile/summary" "$M/current/summary" "$M/saved/summary"
	grep -q hostile "$W/list"
	# they claim 8 GiB
	[ "$(awk '/^rchar/ { print $2 }' "/proc/$pid/io")" -lt $((1 << 28)) ]
}
