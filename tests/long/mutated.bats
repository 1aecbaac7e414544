#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# 500 damaged binaries, and damaged sample files, read through one mount that lives.
# OPFS_SEED makes other damage than usual.

bats_require_minimum_version 1.5.0
load ../lib/mount

SESSIONS=10
IMAGES=50
SEED=${OPFS_SEED:-1}

setup() {
	need_mount
	make_dirs
	cd "$W" || return
}

teardown() {
	cd /
	remove_dirs
}

lib=$OPFS_TOP/tests/lib

# Binaries of many kinds, undamaged, in ./orig; all have the same number of samples.
originals() {
	local p=$OPFS_TOP/tests/programs

	mkdir -p orig/sub src/sub
	cp "$p"/inlined* src
	g++ -gdwarf-5 -O2 -o orig/cxx5 src/inlined.cc src/inlined_other.cc
	g++ -gdwarf-4 -O2 -gz -o orig/packed src/inlined.cc src/inlined_other.cc
	gcc -gdwarf-4 -O1 -no-pie -fcf-protection -o orig/fixed "$p/weights.c"
	g++ -gdwarf-5 -gdwarf64 -O1 -c -o orig/object.o src/inlined.cc
	gcc -O2 -s -rdynamic -Wl,-z,now -o orig/bare \
		"$OPFS_TOP/tests/cli/symbols/sample.c"
	gcc -gdwarf-5 -O2 -o orig/split "$OPFS_TOP/tests/cli/symbols/sample.c"
	objcopy --only-keep-debug orig/split orig/split.debug
	(cd orig && objcopy -S --add-gnu-debuglink=split.debug split)
	g++ -gdwarf-4 -O1 -o orig/shared src/inlined.cc src/inlined_other.cc
	g++ -gdwarf-4 -O2 -o other src/inlined.cc src/inlined_other.cc
	if command -v dwz >/dev/null; then
		dwz -m orig/common.dwz -M common.dwz orig/shared other
	fi
}

# For each damaged binary of m00 a session with it alone, bNNN, and gNNN with what it was.
pairs() {
	jq --arg top "$W/orig/" '[.[] | select(.session == "m00" and .callee == null) |
		(.app | capture("/(?<nr>[0-9]{3})-(?<name>[^/]*)$")) as $is |
		(.session = "b" + $is.nr),
		(.session = "g" + $is.nr | .app = $top + $is.name)]' s.json >pairs.json
	mksession pairs.json
}

# Damaged binaries and their sessions mNN, each with TOTAL samples.
damaged() {
	local f files=()

	originals
	for f in orig/*; do
		[ -d "$f" ] || files+=("$f")
	done
	python3 "$lib/mutate_elf.py" "$SEED" "$1" "$2" "$W" "${files[@]}" >s.json
	mksession s.json
	TOTAL=$(jq '[.[] | select(.session == "m00" and .callee == null) |
		.samples[]] | add' \
		s.json)
	[ "$TOTAL" -gt $((200 * $2)) ]
}

start() {
	"$OPFS" mount -f --session-dir "$D" "$M" 3>&- 2>mount.err &
	PID=$!
	wait_for test -e "$M/current"
}

# The mount is the process that was started, says nothing, and leaves none behind.
lived() {
	local helpers

	kill -0 $PID
	cat "$M/status" >/dev/null
	mapfile -t helpers < <(family $PID)
	[ ${#helpers[@]} -gt 1 ]
	unmount "$M"
	wait $PID
	for p in "${helpers[@]}"; do
		wait_for gone "$p"
	done
	cat mount.err
	[ ! -s mount.err ]
}

gone() {
	! kill -0 "$1" 2>/dev/null
}

# A process and all that descend from it.
family() {
	local child

	echo "$1"
	for child in $(pgrep -P "$1"); do
		family "$child"
	done
}

@test "500 damaged binaries: every report of each, and no death" {
	damaged $SESSIONS $IMAGES
	start
	python3 "$lib/read_all.py" "$TOTAL" "$M"/m??
	# who has no functions or no lines is named with the reason
	for s in "$M"/m??; do
		awk -F'\t' 'NR > 1 && $8 == "" && $4 == $3 { print $3 }' "$s/report.tsv" |
			sort -u >nameless
		sed -n 's/^unresolved: \([^ ]*\): [0-9]* ([^)]*): .*[a-z].*/\1/p' \
			"$s/status" |
			sort -u >told
		diff nameless told
		cat told
	done >all
	[ "$(wc -l <all)" -ge 50 ]
	[ "$(wc -l <all)" -le 450 ]
	cat "$M"/m??/annotate/no-source | grep -c 'damaged\|missing' >lineless
	[ "$(cat lineless)" -ge 50 ]
	lived
}

@test "each damaged binary alone: the same totals, symbols and gmon.out" {
	damaged 2 50
	start
	python3 "$lib/read_all.py" $((TOTAL / 50)) "$M"/m00/image/*
	lived
}

@test "damaged binaries as both sides of differences" {
	local dirs=() one b g

	damaged 3 50
	pairs
	one=$((TOTAL / 50))
	start
	for g in "$M"/g[0-9]*; do
		b=b${g##*/g}
		dirs+=("$g/diff:$b" "$M/$b/diff:${g##*/}")
	done
	[ ${#dirs[@]} = 100 ]
	python3 "$lib/read_all.py" --base "$one" "$one" "${dirs[@]}"
	python3 "$lib/read_all.py" --base "$TOTAL" "$TOTAL" "$M/m01/diff:m02" \
		"$M/m02/diff:m00"
	# functions that damage left whole are compared
	cat "${dirs[@]/%//report.tsv}" | awk -F'\t' '$5 > 0 && $15 > 0' >rows
	[ "$(wc -l <rows)" -gt 300 ]
	lived
}

@test "damaged sample files of damaged binaries: what can be read is all there" {
	damaged 3 50
	for i in 0 1 2; do
		python3 "$lib/mutate_samples.py" "$SEED$i" "$D/samples/m0$i" >told$i
	done
	start
	for i in 0 1 2; do
		python3 "$lib/read_all.py" "$(head -n 1 told$i)" "$M/m0$i"
		sed 1d told$i | sort >refused
		[ "$(wc -l <refused)" -gt 10 ]
		sed -n 's,^damaged: m0'$i'/\(.*all\.all\.all\): .*[a-z].*,\1,p' \
			"$M/m0$i/status" |
			sort | diff refused -
	done
	[ "$(head -n 1 told0)" != "$TOTAL" ]
	python3 "$lib/read_all.py" --base "$(head -n 1 told0)" "$(head -n 1 told1)" \
		"$M/m01/diff:m00"
	lived
}
