#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# opfs check: what is whole, and what is not.

bats_require_minimum_version 1.5.0
load ../lib/need
load ../lib/opfs

setup()
{
	need_programs
	cd "$BATS_TEST_TMPDIR" || return
}

mksession()
{
	python3 "$OPFS_TOP/tests/lib/mksession.py" s "$@"
}

check()
{
	"$OPFS_BIN/opfs" check --session-dir s "$@"
}

# A closed session "run" with a MANIFEST.
closed_session()
{
	mksession <<-'END'
		{"files": [
		  {"session": "run", "app": "/bin/ls", "samples": {"0x1000": 4}},
		  {"session": "run", "app": "/bin/ls", "image": "/lib/libc.so",
		   "samples": {"0x2000": 3}}],
		 "sessions": {"run": {
		  "live": [9, 1795251900000000000, "closed"],
		  "stats": {"total_samples": 10, "stored_samples": 7,
		    "lost_no_mapping": 2,
		            "ignored_by_image": 1},
		  "manifest": [["session", "run"], ["start", "2026-11-21T09:00:00Z"]]}}}
	END
}

@test "a closed session is whole, and sha256sum says so too" {
	closed_session
	check run >out
	grep -qx 'run: whole: 7 samples in 2 files, all 7 files as the MANIFEST says' out
	(cd s/samples/run && sha256sum --strict --quiet -c MANIFEST)
}

@test "any changed, missing or added file is told with its path, and the status is 1" {
	closed_session
	f='s/samples/run/{root}/bin/ls/{dep}/{root}/bin/ls/'
	f+='CPU_CLK_UNHALTED.100000.0.all.all.all'
	for n in 0 50 104 200 2000 $(($(stat -c %s "$f") - 1)); do
		cp "$f" kept
		flip_byte "$f" "$n"
		run -1 check run
		echo "$output"
		grep -q '^run/{root}/bin/ls.*: has changed$' <<<"$output"
		grep -q '^run: NOT whole: ' <<<"$output"
		cp kept "$f"
		check run
	done
	mv "$f" kept
	run -1 check run
	grep -q '^run/{root}.*: is missing$' <<<"$output"
	mv kept "$f"
	touch s/samples/run/added
	run -1 check run
	grep -qx 'run/added: is not in the MANIFEST' <<<"$output"
	grep -qx 'run: NOT whole: 1 fault' <<<"$output"
	rm s/samples/run/added
	rm s/samples/run/stats/lost_no_mapping
	run -1 check run
	grep -qx 'run/stats/lost_no_mapping: is missing' <<<"$output"
	grep -q '^run: taken samples (10) are not stored (7), lost (0)' <<<"$output"
}

@test "a MANIFEST that was changed or cut short is told" {
	closed_session
	cp s/samples/run/MANIFEST kept
	sed -i 's/09:00/09:01/' s/samples/run/MANIFEST
	run -1 check run
	grep -q '^run: MANIFEST: not as it was written' <<<"$output"
	head -c -1 kept >s/samples/run/MANIFEST
	run -1 check run
	: >s/samples/run/MANIFEST
	run -1 check run
	cp kept s/samples/run/MANIFEST
	check run
}

@test "without a MANIFEST it is said what was checked" {
	closed_session
	rm s/samples/run/MANIFEST
	check run |
		grep -q 'run: whole: 7 samples in 2 files, readable; without a MANIFEST'
	mksession <<-'END'
		[{"app": "/bin/true"}]
	END
	check current | grep -q 'current: whole: .*readable; without a MANIFEST'
	mksession <<-'END'
		{"files": [{"app": "/bin/true"}],
		 "live": [2, 1700000000000000000, "live"]}
	END
	check current | grep -q 'current: whole: .*not closed: it is being recorded, or'
	printf 'garbage' >"$(find s/samples/current -type f -name 'CPU*' | head -1)"
	run -1 check current
	grep -q '^current/{root}/bin/true.*CPU_CLK_UNHALTED' <<<"$output"
}

@test "figures that do not add up are told" {
	closed_session
	rm s/samples/run/MANIFEST
	printf 8 >s/samples/run/stats/stored_samples
	run -1 check run
	grep -q 'stored_samples says 8, the sample files hold 7' <<<"$output"
}

@test "sessions by pattern, all of them, none of them" {
	closed_session
	mksession <<-'END'
		[{"session": "rum"}, {"session": "other"}]
	END
	[ "$(check 'ru*' | wc -l)" = 2 ]
	[ "$(check | wc -l)" = 3 ]
	run -1 --separate-stderr check nothing
	grep -q 'opfs check: nothing: no such session' <<<"$stderr"
	mkdir e
	run -1 --separate-stderr "$OPFS_BIN/opfs" check --session-dir e
	[ -n "$stderr" ]
}

@test "an archive is checked as a whole, and the session in it" {
	closed_session
	"$OPFS_BIN/opfs" cat --session-dir s run/archive.tar >a.tar
	mkdir u
	tar -C u -xf a.tar
	"$OPFS_BIN/opfs" check --session-dir u >out
	grep -q '^archive: whole' out
	grep -q '^run: whole.*as the MANIFEST says' out
	printf x >>u/LEFT_OUT
	run -1 "$OPFS_BIN/opfs" check --session-dir u
	grep -q '^/LEFT_OUT: has changed' <<<"$output"
}

# A session that was recorded with -g: 7 samples with their stacks, and one without.
session_of_stacks()
{
	mksession <<-'END'
		{"files": [{"app": "/bin/ls", "stacks": [
		   [["/bin/ls@0x1000", "/bin/ls@0x2000"], 4],
		   [["/bin/ls@0x2000"], 3]], "samples": {"0x2000": 8}}],
		 "live": [9, 1795251900000000000, "closed"],
		 "stats": {"total_samples": 8, "stored_samples": 8, "total_stacks": 7,
		           "lost_stackfile": 1}}
	END
	file='{root}/bin/ls/{dep}/{root}/bin/ls/CPU_CLK_UNHALTED.100000.0.all.all.all'
}

# poke FILE OFFSET NUMBER: stores 32 bits.
poke()
{
	python3 - "$@" <<-'END'
	import struct, sys
	with open(sys.argv[1], "r+b") as f:
	    f.seek(int(sys.argv[2]))
	    f.write(struct.pack("<I", int(sys.argv[3])))
	END
}

@test "stacks: a sample may lack one, and none has two" {
	session_of_stacks
	check
	poke "s/samples/current/stacks/$file" $((104 + 16 + 8)) 6
	run -1 check
	[[ $output == *"$file: its stacks hold more samples (9) than itself (8)"* ]]
}

@test "stacks: frames that make no sense, and counts of frames that are not there" {
	session_of_stacks
	poke s/samples/current/stacks/frames $((64 + 3 * 16)) 9
	run -1 check
	[[ $output == *"stacks/frames: 2 of its frames make no sense"* ]]
	[[ $output == *"samples have stacks that stacks/frames does not hold"* ]]
	"$OPFS_BIN/opfs" cat --session-dir s current/threshold:0/calltree >tree
	[ "$(awk '/^[0-9]/ { sum += $3 } END { print sum }' tree)" = 8 ]
	grep -F '[truncated: lost by the disk]' tree
}

@test "stacks: a figure that is not what the files hold is told" {
	session_of_stacks
	echo -n 6 >s/samples/current/stats/total_stacks
	run -1 check
	[[ $output == *"total_stacks says 6, the files of stacks hold 7"* ]]
}

@test "stacks: what is no table is told, and samples are shown without" {
	session_of_stacks
	echo hello >s/samples/current/stacks/frames
	run -1 check
	[[ $output == *"stacks/frames: is no table of stacks"* ]]
	"$OPFS_BIN/opfs" cat --session-dir s current/report | grep -w 8
	run -1 "$OPFS_BIN/opfs" cat --session-dir s current/calltree
	"$OPFS_BIN/opfs" cat --session-dir s current/status | grep stacks/frames
}
