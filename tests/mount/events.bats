#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The directory "events" of a mount.

bats_require_minimum_version 1.5.0
load ../lib/mount

setup() {
	make_dirs
	mksession <<<'[{"samples": {"0x10": 3}},
		{"session": "events", "samples": {"0x10": 4}}]'
}

teardown() {
	remove_dirs
}

mount_opfs() {
	need_mount
	"$OPFS" mount --session-dir "$D" "$M"
}

@test "every event of the machine is a directory with four files" {
	mount_opfs
	"$OPFS_BIN/opcollect" events --json >"$W/json"
	python3 - "$M/events" "$W/json" <<-'EOF'
		import json, os, sys
		top, want = sys.argv[1], json.load(open(sys.argv[2]))
		first = {}
		for e in want["events"]:
		    first.setdefault(e["name"], e)
		have = set(os.listdir(top)) - {"README"}
		assert have == set(first), have ^ set(first)
		for name, e in first.items():
		    d = os.path.join(top, name)
		    assert sorted(os.listdir(d)) == \
		        ["counters", "description", "minimum", "unit-masks"]
		    text = {}
		    for f in os.listdir(d):
		        path = os.path.join(d, f)
		        text[f] = open(path).read()
		        assert os.stat(path).st_size == len(text[f].encode()), path
		    assert text["description"] == e["description"] + "\n", name
		    assert int(text["minimum"]) == e["minimum"], name
		    for m in e["unit_masks"]["masks"] if e["unit_masks"] else []:
		        told = "(name=%s)" % m["name"]
		        assert m["name"] is None or told in text["unit-masks"]
		    told = "cannot be sampled" in text["counters"]
		    assert told == (not e["available"]), name
	EOF
}

@test "grep finds events that count misses" {
	mount_opfs
	grep -rli miss "$M/events" | grep -qx "$M/events/cache-misses/description"
	grep -ril 'page faults' "$M/events" | grep -q /page-faults/description
}

@test "what is not there says so, and what is near" {
	mount_opfs
	[ ! -e "$M/events/cylces" ]
	[ ! -e "$M/events/cycles/count" ]
	local none='there is no event "cylces" on this machine; did you mean cycles'
	grep -q "events/cylces: $none" "$M/status"
	grep -q 'events/cycles/count: event cycles has description, unit-masks' \
		"$M/status"
	[ ! -e "$M/events/CYCLES2/minimum" ]
	head -n 1 "$M/events/README" | grep -qE 'counters'
}

@test "a session called events is listed escaped, and events are events" {
	mount_opfs
	ls "$M" | grep -qx %65vents
	[ -e "$M/%65vents/report" ]
	[ -e "$M/events/TIMER/description" ]
	[ ! -e "$M/events/report" ]
}

@test "the same without a mount" {
	[ "$("$OPFS" cat --session-dir "$D" events/TIMER/minimum)" = 1 ]
	"$OPFS" ls --session-dir "$D" events/TIMER | grep -qx unit-masks
	run -1 "$OPFS" cat --session-dir "$D" events/TIMR/minimum
	[[ $output = *'did you mean TIMER'* ]]
}
