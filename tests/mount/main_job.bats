#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The main job, end to end: a real program recorded, mounted, its report read.

bats_require_minimum_version 1.5.0
load ../lib/mount

setup()
{
	need_mount
	make_dirs
	export WORKED=$W/worked
}

teardown()
{
	[ -z "${recorder-}" ] || kill -TERM "$recorder" 2>/dev/null || true
	busy_end
	cd / || return
	remove_dirs
}

can_sample()
{
	mkdir -p "$W/try"
	"$OPFS_BIN/opcollect" record --session-dir "$W/try" -e TIMER -- true \
		>/dev/null 2>&1
}

# What the collector counted as lost.
lost()
{
	(cd "$D/samples/current/stats" &&
		echo $(($(cat total_samples) - $(cat stored_samples))))
}

# total FILE: the sum of column "samples" of a report.tsv
total()
{
	awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "samples") c = i; next }
		{ n += $c } END { print n + 0 }' "$1"
}

@test "cat MNT/current/event:CPU_CLK_UNHALTED/image:/bin/ls/report, letter by letter" {
	real=$(readlink -f /bin/ls)
	python3 "$OPFS_TOP/tests/lib/mksession.py" "$D" <<-END
		[{"app": "$real", "event": "CPU_CLK_UNHALTED", "cpu_type": 41, "code": 60,
		  "samples": {"0x5000": 40, "0x5010": 2},
		  "mtime": $(stat -c %Y "$real")},
		 {"app": "/usr/bin/other", "event": "LLC_MISSES", "samples": {"0x1": 9}}]
	END
	"$OPFS" mount --session-dir "$D" "$M"
	cat "$M/current/event:CPU_CLK_UNHALTED/image:/bin/ls/report" >"$W/report"
	head -n 3 "$W/report"
	grep -q '^Counted CPU_CLK_UNHALTED events' "$W/report"
	grep -Eq '^42 +100\.000 ' "$W/report"
	run ! grep -q other "$W/report"
}

@test "50 functions of known weight: samples read through the mount tell every share" {
	can_sample || skip "perf_event_open is not permitted here"
	${CC:-cc} -O2 -o "$W/weights" "$OPFS_TOP/tests/programs/weights.c"
	mkdir -p "$D"
	"$OPFS_BIN/opcollect" record --session-dir "$D" -e TIMER -F 10000 -- \
		"$W/weights" 2.4 >"$W/said" 2>&1
	"$OPFS" mount --session-dir "$D" "$M"
	python3 "$OPFS_TOP/tests/lib/weights.py" "$M/current/report.tsv" "$W/n"
	sampled "$(cat "$W/n")" "$(worked weights)" 10000 "$(lost)"
}

@test "totals of report, report.tsv, summary, sample files and the collector agree" {
	can_sample || skip "perf_event_open is not permitted here"
	${CC:-cc} -O2 -o "$W/weights" "$OPFS_TOP/tests/programs/weights.c"
	mkdir -p "$D"
	"$OPFS_BIN/opcollect" record --session-dir "$D" -e TIMER -F 5000 -- \
		sh -c '"$1" 0.3; i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done
			ls -lR /usr/share/doc' \
		sh "$W/weights" >/dev/null 2>"$W/said"
	"$OPFS" mount --session-dir "$D" "$M"
	cd "$M/current"
	stored=$(cat "$D/samples/current/stats/stored_samples")
	taken=$(cat "$D/samples/current/stats/total_samples")
	sampled "$stored" "$(worked weights)" 5000 $((taken - stored))
	grep -q "samples: $taken taken, $stored stored" "$W/said"
	[ "$(total report.tsv)" = "$stored" ]
	[ "$(awk 'NR > 3 { n += $1 } END { print n }' report)" = "$stored" ]
	[ "$(awk -F'\t' '!/^\t/ { split($0, f, " "); if (f[1] ~ /^[0-9]+$/) n += f[1] }
		END { print n }' summary)" = "$stored" ]
	[ "$(stat -c %s .)" = "$stored" ]
	[ "$(stat -c %s image/* | awk '{ n += $1 } END { print n }')" = "$stored" ]
	python3 "$OPFS_TOP/tests/lib/opsamples.py" check "$D"
	[ "$(python3 "$OPFS_TOP/tests/lib/opsamples.py" totals "$D" | python3 -c '
import json, sys
print(sum(f["samples"] for f in json.load(sys.stdin)))')" = "$stored" ]
}

@test "what perf says of the same program, opfs says within the error of sampling" {
	can_sample || skip "perf_event_open is not permitted here"
	need_command perf
	${CC:-cc} -O2 -o "$W/weights" "$OPFS_TOP/tests/programs/weights.c"
	cd "$W"
	perf record -B -q -e cpu-clock:u -F 9999 -o perf.data -- ./weights 1.2
	perf report -q -n --stdio --no-children -s sym -i perf.data 2>/dev/null |
		awk 'BEGIN { print "symbol\tsamples" } NF > 3 { print $NF "\t" $2 }' \
			>perf.tsv
	python3 "$OPFS_TOP/tests/lib/weights.py" perf.tsv n
	echo "perf: $(cat n)"
	rm "$WORKED"
	mkdir -p "$D"
	"$OPFS_BIN/opcollect" record --session-dir "$D" -e TIMER:::0:1 -F 9999 -- \
		./weights 1.2 >said 2>&1
	"$OPFS" mount --session-dir "$D" "$M"
	python3 "$OPFS_TOP/tests/lib/weights.py" "$M/current/report.tsv" "$W/n"
	sampled "$(cat "$W/n")" "$(worked weights)" 9999 "$(lost)"
}

@test "files of one generation of a live session agree" {
	can_sample || skip "perf_event_open is not permitted here"
	${CC:-cc} -O2 -o "$W/weights" "$OPFS_TOP/tests/programs/weights.c"
	mkdir -p "$D"
	"$OPFS_BIN/opcollect" record --session-dir "$D" -e TIMER -F 10000 -- \
		timeout 1200 "$W/weights" 100000 >"$W/said" 2>&1 3>&- &
	recorder=$!
	"$OPFS" mount --session-dir "$D" "$M"
	wait_for grep -q '^state: being recorded' "$M/current/status"
	# until it was looked at between two drains often enough
	agree()
	{
		local n
		cat "$M/current/status" >"$W/before"
		cat "$M/current/summary" >"$W/summary"
		cat "$M/current/report.tsv" >"$W/tsv"
		cat "$M/current/status" >"$W/after"
		cmp -s "$W/before" "$W/after" || return 1
		n=$(sed -n 's/^samples: //p' "$W/after")
		[ "$n" -gt 0 ] || return 1
		echo "$n $(total "$W/tsv")" \
			"$(awk '!/^\t/ && $1 ~ /^[0-9]+$/ { n += $1 }
				END { print n }' "$W/summary")" \
			"$(sed -n 's/^stored: //p' "$W/after")" >>"$W/agreed"
		[ "$(sort -u "$W/agreed" | wc -l)" -ge 6 ]
	}
	wait_for agree
	kill -TERM "$recorder"
	wait "$recorder" || true
	recorder=
	cat "$W/agreed"
	awk '$1 != $2 || $1 != $3 || $1 != $4 { bad = 1 } END { exit bad }' "$W/agreed"
}
