#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# time: and last:, and sums of sessions.

bats_require_minimum_version 1.5.0
load ../lib/need
load ../lib/opfs

setup()
{
	need_programs
	cd "$BATS_TEST_TMPDIR" || return
	export TZ=UTC
}

# rotation NAME SAMPLES START END [STATE]: a session of one image, from START to END (as
# date -d takes them)
rotation()
{
	local start end

	start=$(date -d "$3" +%s)
	end=$(date -d "$4" +%s)
	mksession <<-END
		{"files": [{"session": "$1", "app": "/bin/$1", "samples": {"0x1000": $2}},
		           {"session": "$1", "app": "/bin/all",
		            "samples": {"0x1000": $2}},
		           {"session": "$1", "app": "/bin/all", "callee": "/bin/all",
		            "samples": {"0x200000001000": 1}}],
		 "sessions": {"$1": {"started": $start, "live": [1, ${end}000000000,
		   "${5:-closed}"],
		  "stats": {"total_samples": $((2 * $2)),
		    "stored_samples": $((2 * $2))}}}}
	END
}

# Three whole hours of one day.
three_hours()
{
	rotation 2026-11-20T09-00-00Z 1 "2026-11-20 09:00:00Z" "2026-11-20 09:59:59Z"
	rotation 2026-11-20T10-00-00Z 10 "2026-11-20 10:00:00Z" "2026-11-20 10:59:59Z"
	rotation 2026-11-20T11-00-00Z 100 "2026-11-20 11:00:00Z" "2026-11-20 11:59:59Z"
}

# samples PATH: of the image that is in every session
samples()
{
	opfs cat "$1/image:all/report.tsv" |
		awk -F'\t' '!/^#/ && NR > 1 { n += $5 } END { print n }'
}

@test "a span sums the whole sessions that overlap, and says which span that is" {
	three_hours
	[ "$(samples time:2026-11-20T09:10..2026-11-20T09:20)" = 1 ]
	[ "$(samples time:2026-11-20T09:10..2026-11-20T10:00)" = 11 ]
	[ "$(samples time:2026-11-20T10:59:59..2026-11-20T11:00)" = 110 ]
	[ "$(samples time:2026-11-20)" = 111 ]
	[ "$(samples time:2026-11-20T10:30)" = 10 ]
	[ "$(samples time:..2026-11-20T10:30)" = 11 ]
	[ "$(samples time:2026-11-20T10:30..)" = 110 ]
	[ "$(samples time:..)" = 111 ]
	span=time:2026-11-20T09:10..2026-11-20T10:05
	from='from 2026-11-20 09:00:00 to 10:59:59 +0000'
	for f in summary report details callgraph; do
		opfs cat "$span/$f" >out
		grep -qx "Sessions of $span: 2, whole, $from" out
	done
	opfs cat time:2026-11-20/status | grep -q '^span: Sessions of time:2026-11-20: 3,'
	opfs cat time:2026-11-20/with:no-header/report >out
	run ! grep Sessions out
	opfs cat session:2026-11-20T09-00-00Z,2026-11-20T10-00-00Z/report >out
	run ! grep Sessions out
}

@test "times are of the local zone, and of UTC with a Z" {
	three_hours
	export TZ=Europe/Berlin
	[ "$(samples time:2026-11-20T10:10..2026-11-20T10:20)" = 1 ]
	[ "$(samples time:2026-11-20T10:10Z..2026-11-20T10:20Z)" = 10 ]
	opfs cat time:2026-11-20T10:10Z/report |
		grep -q 'from 2026-11-20 11:00:00 to 11:59:59 +0100'
}

@test "a time without a date is the last one, and its end comes after it" {
	now=$(date +%s)
	rotation recent 3 "@$((now - 7200))" "@$((now - 3600))"
	rotation old 40 "@$((now - 7200 - 86400))" "@$((now - 3600 - 86400))"
	a=$(date -d "@$((now - 5400))" +%H:%M)
	b=$(date -d "@$((now - 5000))" +%H:%M)
	[ "$(samples "time:$a..$b")" = 3 ]
	[ "$(samples "time:$a")" = 3 ]
	[ "$(samples "time:${a}Z")" = 3 ]
	[ "$(samples "time:$(date -d "@$((now - 5400 - 86400))" +%FT%H:%M)..$b")" = 40 ]
}

@test "ages count from now" {
	now=$(date +%s)
	# far apart: the test may take minutes
	rotation first 1 "@$((now - 180000))" "@$((now - 120000))"
	rotation second 10 "@$((now - 120000))" "@$((now - 60000))"
	rotation current 100 "@$((now - 60000))" "@$now" live
	[ "$(samples time:-40h..-35h)" = 1 ]
	[ "$(samples time:-50h..-20h)" = 11 ]
	[ "$(samples time:-40h..)" = 111 ]
	[ "$(samples last:300m)" = 100 ]
	[ "$(samples last:20h)" = 110 ]
	[ "$(samples last:3d)" = 111 ]
	[ "$(samples last:2d90m)" = 111 ]
	[ "$(samples time:-20h..now)" = 110 ]
	[ "$(samples last/5h)" = 100 ]
	opfs ls last: | grep -qx 1h
	[ "$(opfs ls time: | wc -l)" = 3 ]
	while read -r span; do
		opfs cat "time:$span/report" >out
	done < <(opfs ls time:)
}

@test "a session whose collector was killed ends with its last drain" {
	now=$(date +%s)
	rotation current 100 "@$((now - 10000))" "@$((now - 5000))" live
	[ "$(samples last:2h)" = 100 ]
	run -1 opfs cat last:1m/report
	grep -q 'no session overlaps it; there are 1, from ' <<<"$output"
}

@test "sessions that tell no time are left out" {
	mksession <<-'END'
		[{"session": "oprofile", "app": "/bin/all"}]
	END
	run -1 opfs cat time:../report
	grep -q 'no session tells when it was' <<<"$output"
	three_hours
	[ "$(samples time:..)" = 111 ]
	rm s/samples/2026-11-20T10-00-00Z/stats/started
	[ "$(samples time:2026-11-20T10:30)" = 10 ] # from its name
}

@test "what is no span is refused with what would be one" {
	three_hours
	for bad in time:x time: time:9..10 time:25:00..26:00 time:09:00-10:00 last:5 \
		last:x \
		time:2026-13-01 time:2026-02-30 time:2026-11-20T10:00..2026-11-20T09:00 \
		time:..x last:99999999999999999999d time:all last:all; do
		run -1 opfs cat "$bad/report"
		echo "$bad: $output"
		grep -qE 'FROM..TO|an age|ends before|no such|values of a tag|directory' \
			<<<"$output"
	done
	run -1 opfs why current/time:09:00
	grep -q 'time: comes first' <<<"$output"
}

@test "a span goes on with tags, exclusions and comparisons" {
	three_hours
	[ "$(opfs ls time:2026-11-20/image: | wc -l)" = 4 ]
	[ "$(samples time:2026-11-20/session-exclude:2026-11-20T10-00-00Z)" = 101 ]
	[ "$(samples 'time:2026-11-20/session-exclude:*T1*')" = 1 ]
	run -1 opfs cat 'time:2026-11-20/session-exclude:*/report'
	opfs cat time:2026-11-20T11:30/diff:2026-11-20T09-00-00Z/summary >out
	grep -q 'Differences of time:2026-11-20T11:30 to 2026-11-20T09-00-00Z' out
	local older='session:2026-11-20T09-00-00Z,2026-11-20T10-00-00Z (older)'
	local span=time:2026-11-20T09:30..2026-11-20T10:30
	opfs cat time:2026-11-20T11:30/diff:$span/summary >out
	grep -qF "Differences of time:2026-11-20T11:30 to $older" out
	[ "$(samples session:time:2026-11-20T09:30)" = 1 ]
	[ "$(samples time:2026-11-20/session-exclude:time:2026-11-20T09:30)" = 110 ]
	opfs why time:2026-11-20T09:30/image:all | grep -q 'samples  *1 of 2'
}

@test "sessions of a list and of patterns are summed, and some left out" {
	three_hours
	[ "$(samples session:2026-11-20T09-00-00Z,2026-11-20T11-00-00Z)" = 101 ]
	[ "$(samples 'session:*T1*')" = 110 ]
	[ "$(samples session:all/session-exclude:current,2026-11-20T11-00-00Z)" = 11 ]
	[ "$(samples 'session:2026*/session-exclude:*T09*')" = 110 ]
	run -1 opfs cat session:nothing/report
}

@test "another binary under the same path in another session is an image of its own" {
	mksession <<-'END'
		[{"session": "a", "app": "/bin/ls", "samples": {"0x1000": 1}},
		 {"session": "b", "app": "/bin/ls", "samples": {"0x1000": 10}},
		 {"session": "b", "app": "/bin/ls#aaaaaaaa", "samples": {"0x1000": 100}},
		 {"session": "b", "app": "/bin/unknown", "samples": {"0x1000": 1000}}]
	END
	row() { printf '%s\t/bin/ls\t%s\t0\t0\t-\t0\t-\n' "$1" "$2"; }
	{ echo "# opfs images 1"; row /bin/ls aaaaaaaa01; } >s/samples/a/images
	{ echo "# opfs images 1"; row /bin/ls bbbbbbbb02; row '/bin/ls#aaaaaaaa' \
		aaaaaaaa01; } \
		>s/samples/b/images
	opfs cat session:a,b/report.tsv | awk -F'\t' 'NR > 1 { print $3, $5 }' | sort >out
	diff -u - out <<-'END'
		/bin/ls 101
		/bin/ls#bbbbbbbb 10
		/bin/unknown 1000
	END
	opfs cat session:a,b/image:%2Fbin%2Fls#bbbbbbbb/report.tsv | grep -q '	10	'
	[ "$(opfs cat b/report.tsv | awk -F'\t' 'NR > 1 { print $3, $5 }' | sort |
		head -1)" = "/bin/ls 10" ]
}
