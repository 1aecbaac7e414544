#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Whose the kernel's samples are: the program's, the kernel's (lib-image:kernel), or those
# of all programs together (merge:kernel).

# shellcheck source=tests/lib/record.bash
. "$OPFS_TOP/tests/lib/record.bash"

bats_require_minimum_version 1.5.0
load ../lib/opfs

OPFS=$OPFS_BIN/opfs

setup() {
	D=data
	cd "$BATS_TEST_TMPDIR"
}

# drawn SEED: the same samples in kernel/ and lib/, filed in these two ways.
drawn() {
	local how

	rm -rf kernel lib
	for how in kernel lib; do
		python3 "$OPFS_TOP/tests/lib/kernel_sessions.py" "$1" $how |
			python3 "$OPFS_TOP/tests/lib/mksession.py" $how
	done
}

# Samples in a report.tsv.
total() {
	awk -F '\t' 'NR > 1 { n += $5 } END { print n + 0 }' "$@"
}

@test "with merge:kernel it makes no difference under what the kernel was filed" {
	select=current/event:CYCLES/unit-mask:0
	for seed in 1 2; do
		drawn $seed
		for words in kernel lib,kernel kernel,unitmask; do
			paths=()
			for file in summary report report.tsv report.json \
				with:callgraph/report.xml details callgraph; do
				paths+=("$select/merge:$words/$file")
			done
			"$OPFS" cat --session-dir kernel "${paths[@]}" >a 2>/dev/null
			"$OPFS" cat --session-dir lib "${paths[@]}" >b 2>/dev/null
			grep -q '\[kernel\]' a
			# but for the order in which images are listed in JSON
			diff <(sed 's/,$//' a | sort) <(sed 's/,$//' b | sort)
		done
		"$OPFS" cat --session-dir kernel $select/report.tsv >a
		"$OPFS" cat --session-dir kernel $select/merge:kernel/report.tsv >b
		[ "$(total a)" = "$(total b)" ]
		run ! cmp a b
	done
}

@test "merge:kernel sums programs, and all of the kernel is one application" {
	mksession <<-'END'
	[{"app": "/bin/a", "samples": {"1": 7}},
	 {"app": "/bin/a", "image": "kern:no-vmlinux", "samples": {"1": 20}},
	 {"app": "/bin/b", "image": "kern:no-vmlinux", "samples": {"1": 30}},
	 {"app": "/bin/b", "image": "kern:ext4", "samples": {"1": 43}}]
	END
	opfs cat current/merge:kernel/summary >text
	grep -E '^ +93 93.0000 \[kernel\]$' text
	grep -E '^	 +50 53.7634 no-vmlinux$' text
	grep -E '^	 +43 46.2366 ext4$' text
	[ "$(opfs cat current/merge:all/summary | grep -c kernel)" = 0 ]
	[ "$(opfs cat current/image:b/lib-image:kernel/summary |
		awk '/^ / && $NF == "b" { print $1 }')" = 73 ]
}

@test "sides that file the kernel in two ways are compared with merge:kernel only" {
	drawn 1
	mkdir -p data/samples
	cp -r kernel/samples/current data/samples/new
	cp -r lib/samples/current data/samples/old
	run -1 opfs cat new/diff:old/report
	[[ $output == *"the newer side files"*"merge:kernel"* ]]
	run -1 opfs cat old/diff:new/image:prog/summary
	[[ $output == *"the older side files"*"lib-image-exclude:kernel"* ]]
	run -1 opfs cat new/image:prog/merge:kernel/diff:old/summary
	run -3 opfs diff old new
	one=event:MISSES
	for path in new/$one/merge:kernel/diff:old new/$one/merge:lib/diff:old \
		new/$one/lib-image-exclude:kernel/diff:old; do
		opfs cat $path/report.json >json
		python3 - json <<-'END'
		import json, sys
		rows = json.load(open(sys.argv[1]))["rows"]
		assert rows
		for r in rows:
		    assert r["samples"] == r["base"]["samples"], r
		END
	done
	opfs cat new/image:prog/$one/lib-image-exclude:kernel/diff:old/report
}

@test "a program's time in the kernel is its own, really" {
	can_record_cpus
	record --session-dir data -- \
		sh -c 'dd if=/dev/zero of=/dev/null bs=1 count=200000' >/dev/null
	opfs cat current/report.tsv >all
	[ "$(opfs cat current/image:dd/lib-image:kernel/report.tsv | total)" -ge 10 ]
	kernel=$(opfs cat current/lib-image:kernel/report.tsv | total)
	[ "$(opfs cat current/merge:kernel/summary |
		awk '/^ / && $NF == "[kernel]" { print $1 }')" = "$kernel" ]
	[ "$(opfs cat current/lib-image-exclude:kernel/report.tsv | total)" = \
		$(($(total all) - kernel)) ]
	opfs ls current/lib-image: | grep -qx kernel
}
