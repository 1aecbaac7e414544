#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# "opcollect events": what can be sampled, for people and for programs.

bats_require_minimum_version 1.5.0
load ../lib/need

events() {
	"$OPFS_BIN/opcollect" events "$@"
}

@test "the machine is told, and where it has no counters that it has none" {
	events >"$BATS_TEST_TMPDIR/out"
	head -n 1 "$BATS_TEST_TMPDIR/out"
	grep -q '^TIMER: (counter: none: the kernel counts it)' "$BATS_TEST_TMPDIR/out"
	if ls /sys/bus/event_source/devices |
		grep -qE '^(cpu|cpu_core|cpu_atom|armv.*)$'; then
		head -n 1 "$BATS_TEST_TMPDIR/out" | grep -q 'counters$'
	else
		head -n 1 "$BATS_TEST_TMPDIR/out" | grep -q 'no performance counters'
		grep -q '(perf/generic): not here' "$BATS_TEST_TMPDIR/out"
	fi
}

# Every event of a type with its minimum count, and with each of its unit masks by number
# and by name, is a specification that means what JSON tells of it.  $2: the JSON.
all_are_taken() {
	local -a specs

	jq -r '.events[] | .name as $e | (.minimum | tostring) as $m |
		(.unit_masks // { default: 0, masks: [] }) |
		"\($e):\($m) \(.default)", (.masks[] | "\($e):\($m):\(.mask) \(.mask)",
			(select(.name) | "\($e)::\(.name):0:1 \(.mask)"))' "$2" >specs
	mapfile -t specs < <(cut -d' ' -f1 specs)
	events -c "$1" --unit-mask "${specs[@]}" | diff - <(cut -d' ' -f2 specs)
}

@test "every processor type is told alike in every form, and -e takes all of it" {
	cd "$BATS_TEST_TMPDIR"
	events --list-cpu-types >types
	for want in arm/armv8-pmuv3 i386/arch_perfmon perf/generic perf/software timer \
		x86-64/family17h x86-64/family19h; do
		grep -qxF "$want" types
	done
	# with sanitizers, which are slow, some of each vendor
	[ -z "$OPFS_SAN" ] || sed -i -n '1~5p' types
	while read -r type; do
		events --cpu-type "$type" >text
		grep -q '(min count: ' text
		events --cpu-type "$type" --json >"${type//\//_}.json"
		events --cpu-type "$type" --xml >"${type//\//_}.xml"
		all_are_taken "$type" "${type//\//_}.json"
	done <types
	python3 "$OPFS_TOP/tests/lib/check_events.py" "$OPFS_TOP/doc/events.schema.json" \
		*.json
	xmllint --noout --schema "$OPFS_TOP/doc/events.xsd" *.xml
	events --xml >here.xml
	xmllint --noout --schema "$OPFS_TOP/doc/events.xsd" here.xml
}

# A processor type with all that a table can say.
one_of_each() {
	export OPROFILE_EVENTS_DIR="$BATS_TEST_TMPDIR/tables"
	mkdir -p "$OPROFILE_EVENTS_DIR/my/cpu"
	cat >"$OPROFILE_EVENTS_DIR/my/cpu/events" <<-'E'
		event:0x3c counters:0,1,2,3 minimum:6000 name:CYC : cycles
		event:0x29 counters:1 um:ls minimum:500 name:LS : "loads" & stores
		event:0x2a um:one minimum:5 name:ONE : one of two
		event:0x0 ext:ibs_op minimum:16 name:IBS : tagged <ops>
	E
	cat >"$OPROFILE_EVENTS_DIR/my/cpu/unit_masks" <<-'E'
		name:ls type:bitmask default:0x12
		 0x2 loads
		 0x10 extra: stores stores to memory
		name:one type:exclusive default:bursts
		 0x1 extra: plain all of them
		 0x1 extra:edge,cmask=1 bursts when they begin
	E
}

@test "XML has the elements and attributes of OProfile, in order, and decimal numbers" {
	one_of_each
	events -c my/cpu -X >"$BATS_TEST_TMPDIR/got"
	diff "$OPFS_TOP/tests/data/events.xml" "$BATS_TEST_TMPDIR/got"
}

@test "the XML schema refuses what is wrong" {
	local wrong n=0

	one_of_each
	cd "$BATS_TEST_TMPDIR"
	events -c my/cpu -X >good.xml
	while read -r wrong; do
		sed "$wrong" good.xml >bad.xml
		! cmp -s good.xml bad.xml
		run ! xmllint --noout --schema "$OPFS_TOP/doc/events.xsd" bad.xml
		[[ $output = *'fails to validate'* ]] || { echo "$wrong"; return 1; }
		n=$((n + 1))
	done <<-'E'
		s/ schemaversion="2.0"//
		s/schemaversion="2.0"/schemaversion="1.1"/
		s/mask="16"/mask="0x10"/
		s/counter_mask="15"/counter_mask="0xf"/
		s/ min_count="5"//
		s/ desc="cycles"/ & cpu_type="my"/
		s/bitmask/sum/
		s/ mask="16"/ mask="2"/
		/<header/d
		/<event event_name="CYC"/s/event_name/name/
	E
	[ "$n" = 10 ]
}

@test "tables of libpfm4's processors were generated" {
	[ "$(uname -m)" = x86_64 ] || skip "libpfm4 knows those of x86 on x86"
	events --list-cpu-types | grep -qx i386/skylake
	events -c i386/skylake --search offcore | grep -q '^OFFCORE_RESPONSE_0: '
	events -c i386/skylake OFFCORE_RESPONSE_0 | grep -q '(name=DMND_DATA_RD) '
}

@test "JSON tells how perf is asked, as perf stat tells it" {
	need_command perf
	for e in cycles instructions cache-misses branch-misses L1-dcache-loads \
		L1-dcache-load-misses LLC-loads dTLB-load-misses page-faults cpu-clock \
		context-switches; do
		perf stat -vv -e "$e" true >"$BATS_TEST_TMPDIR/perf" 2>&1 || true
		grep -q '^perf_event_attr:' "$BATS_TEST_TMPDIR/perf" ||
			skip "perf stat does not tell its attributes"
		events --json "$e" | python3 -c '
import json, re, sys
perf = open(sys.argv[1]).read().split("perf_event_attr:")[1].split("-----")[0]
def of(name):
    m = re.search(r"^ +%s +(\S+)" % name, perf, re.M)
    return int(m.group(1), 0) if m else 0
ours = json.load(sys.stdin)["events"][0]["perf"]
assert ours["type"] == of("type"), (ours, perf)
assert int(ours["config"], 16) == of("config"), (ours, perf)
assert int(ours["config1"], 16) == 0, ours
' "$BATS_TEST_TMPDIR/perf" || { echo "$e"; return 1; }
	done
}

@test "one event is described with its unit masks" {
	run -0 events -c x86-64/family19h OP_CACHE_HIT_MISS
	[ "${lines[2]}" = 'OP_CACHE_HIT_MISS: (counter: 0-5)' ] ||
		[ "${lines[1]}" = 'OP_CACHE_HIT_MISS: (counter: 0-5)' ]
	[[ $output = *'Unit masks (exclusive, default all_oc_access)'* ]]
	[[ $output = *'0x04: (name=oc_miss) misses'* ]]
}

@test "a specification is checked" {
	run -2 events -c x86-64/family19h RETIRED_OPS:100
	[[ $output = *'the least is 50000'* ]]
	run -2 events -c x86-64/family19h LS_DISPATCH:50000:0x10
	[[ $output = *'0x1 (ld_dispatch)'* ]]
	run -2 events -c x86-64/family19h RETIRD_OPS
	[[ $output = *'did you mean RETIRED_OPS'* ]]
	run -0 events -c x86-64/family19h LS_DISPATCH:50000:stOre_dispatch:sys
}

# answers WANT OPTION...: what is printed, blanks instead of ends of lines
answers() {
	local want=$1

	shift
	run -0 --separate-stderr events "$@"
	[ "${output//$'\n'/ }" = "$want" ] || { echo "$*: $output, not $want"; return 1; }
}

@test "unit masks, extra bits and codes are told as decimal numbers" {
	one_of_each
	answers '18' -c my/cpu -u LS
	answers '16' -c my/cpu --unit-mask LS:500:STORES
	answers '17039616' -c my/cpu -u ONE
	answers '1 18 0' -c my/cpu -u ONE::plain LS::18 CYC
	answers '17039360 0 0 0' -c my/cpu -E ONE ONE::plain LS CYC
	answers '60 41 42 0' -c my/cpu --code CYC LS ONE IBS
	answers '450' --code r1c2
	answers '65' -u r1c2::0x41
	# what is printed is what -e takes
	answers '17039616' -c my/cpu -u "ONE::$(events -c my/cpu -u ONE)"
}

@test "the counters that events get are told, and which get none" {
	one_of_each
	answers '0 1' -c my/cpu -e CYC LS
	answers '1 0 ibs_op N/A' -c my/cpu -e LS CYC IBS ONE
	answers '1' -c my/cpu --check-events LS:500:0x10:0:1
	answers 'N/A perf_software' -e r1c2 TIMER
	run -1 events -c my/cpu -e LS LS:1000
	[[ $output = *'LS cannot be counted together with LS'* ]]
	run -2 events -c my/cpu -e LS:499
	[[ $output = *'the least is 500'* ]]
}

@test "with call chains counts are fifteen times as high" {
	one_of_each
	answers '1' -c my/cpu -e --callgraph=8 LS:7500
	answers '1' -c my/cpu -e --callgraph=8 LS
	answers '1' -c my/cpu -e --callgraph=0 LS:500
	run -2 events -c my/cpu -e --callgraph=8 LS:7499
	[[ $output = *'event LS:7499: with call chains '*'the least is 7500'* ]]
}

@test "the default event is told as -e takes it, of each kind of processor" {
	answers 'CPU_CLK_UNHALTED:100000:0:1:1' -c i386/arch_perfmon -d
	answers 'CPU_CYCLES:100000:0:1:1' -c arm/armv8-pmuv3 --get-default-event
	answers 'cycles:100000:0:1:1' -c perf/generic -d
	answers 'TIMER:1003009:0:1:1' -c timer -d
	one_of_each
	run -1 events -c my/cpu -d
	[[ $output = *'my/cpu has no event that counts cycles or time'* ]]
	unset OPROFILE_EVENTS_DIR
	answers '60' -c i386/arch_perfmon --code default
	run -0 --separate-stderr events -d
	[[ $output = cycles:100000:0:1:1 || $output = TIMER:1003009:0:1:1 ]]
	events -e "$output"
}

@test "the processor type and its frequency are told" {
	answers i386/arch_perfmon -c i386/arch_perfmon -r
	answers i386/arch_perfmon -c 41 -r
	answers TIMER:1003009:0:1:1 -c 4 -d
	run -2 events -c 9999 -r
	[[ $output = *'--cpu-type: 9999 is no number of a processor type'* ]]
	type=$(events --json TIMER | jq -r '.machine.cpu_type // empty')
	if [ -n "$type" ]; then
		answers "$type" --get-cpu-type
	else
		run -1 events --get-cpu-type
		[[ $output = *'no processor type is known'* ]]
	fi
	if grep -q '^cpu MHz' /proc/cpuinfo; then
		run -0 --separate-stderr events --get-cpu-frequency
		[[ $output =~ ^[1-9][0-9]*\.[0-9][0-9]$ ]]
	else
		run -1 events --get-cpu-frequency
		[[ $output = *'does not tell the frequency'* ]]
	fi
}

@test "-e default samples what is sampled without -e" {
	cd "$BATS_TEST_TMPDIR"
	for by in "" "-e default" "-e default::0:0:1"; do
		rm -rf oprofile_data
		# shellcheck disable=SC2086
		"$OPFS_BIN/opcollect" record -V $by -- true >out 2>err ||
			{ cat err; skip "this user may not record here"; }
		grep -hE 'a sample every' err | tee -a said
	done
	[ "$(wc -l <said)" = 3 ]
	[ "$(sort -u said | wc -l)" = 1 ]
	grep -qE ' (TIMER|cycles): ' said
}

@test "a search looks into names, descriptions and unit masks, in any case" {
	events -c x86-64/family19h --search l2_dtlb >"$BATS_TEST_TMPDIR/none" && return 1
	events -c x86-64/family19h --search 'l2 dtlb' | grep -q '^L1_DTLB_MISS: '
	events -c x86-64/family19h --search MISPREDICTED >"$BATS_TEST_TMPDIR/out"
	grep -q '^RETIRED_SERIALIZING_OPS: ' "$BATS_TEST_TMPDIR/out"
	grep -q '^RETIRED_NEAR_RETURNS_MISPREDICTED: ' "$BATS_TEST_TMPDIR/out"
	grep -q '^RETIRED_NEAR_RETURNS: ' "$BATS_TEST_TMPDIR/out" && return 1
	run -1 events --search no-such-thing-at-all
	[[ $output = *'no event has "no-such-thing-at-all"'* ]]
}

@test "what is wrong is told, with exit status 2" {
	run -2 events -u
	[[ $output = *'--unit-mask: of which EVENT?'* ]]
	run -2 events --get-cpu-type TIMER
	[[ $output = *'--get-cpu-type takes no EVENT'* ]]
	run -2 events --xml --code TIMER
	[[ $output = *'--xml and --code exclude each other'* ]]
	run -2 events -e --callgraph=many TIMER
	[[ $output = *'--callgraph: "many" is not a number from 0 to'* ]]
	run -2 events -e TIMER:1:2
	[[ $output = *'has no unit masks'* ]]
	run -2 events -e TIMER TIMER:1000 TIMER
	[[ $output = *'TIMER is given twice'* ]]
	run -2 events --cpu-type no/such
	[[ $output = *'--list-cpu-types'* ]]
	run -2 events --cpu-type ../../etc
	[[ $output = *'no processor type'* ]]
	run -2 events --no-such-option
	run -2 events r1c2
	[[ $output = *'in no table'* ]]
}

@test "tables of a directory of one's own come first, and their faults are told" {
	export OPROFILE_EVENTS_DIR="$BATS_TEST_TMPDIR/tables"
	mkdir -p "$OPROFILE_EVENTS_DIR/my/cpu"
	echo 'event:0x1 minimum:10 name:MINE : my own' \
		>"$OPROFILE_EVENTS_DIR/my/cpu/events"
	events -c my/cpu | grep -q 'my own (min count: 10)'
	events --list-cpu-types | grep -qx my/cpu
	echo 'event:0x2 minimum:x name:YOURS : not mine' \
		>>"$OPROFILE_EVENTS_DIR/my/cpu/events"
	run -1 events -c my/cpu
	[[ $output = *"$OPROFILE_EVENTS_DIR/my/cpu/events:2: "* ]]
	[[ $output = *'/my/cpu/events:2: minimum "x" is not a number'* ]]
	events -c timer TIMER
}

@test "programs without their tables know those kept by hand" {
	mkdir "$BATS_TEST_TMPDIR/alone"
	cp "$OPFS_BIN/opcollect" "$BATS_TEST_TMPDIR/alone"
	"$BATS_TEST_TMPDIR/alone/opcollect" events -c arm/armv8-pmuv3 CPU_CYCLES
	"$BATS_TEST_TMPDIR/alone/opcollect" events --list-cpu-types | grep -c . |
		grep -qx 7
}

@test "what is listed can be recorded, and samples are called so" {
	cd "$BATS_TEST_TMPDIR"
	"$OPFS_BIN/opcollect" record -e page-faults:1:user -- ls / >/dev/null 2>err ||
		{ cat err; skip "this user may not record here"; }
	[ "$("$OPFS_BIN/opfs" cat current/report.tsv 2>/dev/null |
		awk 'NR == 2 { print $1 }')" = page-faults:1 ]
	"$OPFS_BIN/opfs" cat current/report |
		grep -q '^Counted page-faults events (page faults) '
}

@test "a full disk is an error" {
	need_dev_full
	"$OPFS_BIN/opcollect" events --json >/dev/full \
		2>"$BATS_TEST_TMPDIR/err" && return 1
	grep -q 'No space left' "$BATS_TEST_TMPDIR/err"
}
