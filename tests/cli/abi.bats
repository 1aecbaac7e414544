#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Sessions of other kinds of machines: their file abi, and what is known without it.

bats_require_minimum_version 1.5.0
load ../lib/need

MACHINES=("big 64" "little 32" "big 32")

setup()
{
	need_programs
	cd "$BATS_TEST_TMPDIR" || return
}

# session DIR MACHINE [MORE]: flat files, arcs, the kernel, anonymous memory, threads
session()
{
	mkdir -p "$1"
	python3 - "$2" "${3:-{\}}" <<-'END' |
	import json, os, sys
	here = int(os.stat("/bin/true").st_mtime)
	many = {hex(0x2000 + 4 * i): i % 7 + 1 for i in range(2500)}
	print(json.dumps({"machine": sys.argv[1], "files": [
	    {"app": "/bin/true", "samples": many, "mtime": here, "mhz": 2399.123},
	    {"app": "/bin/true", "samples": {"0x2000": 4294967295, "0x2010": 4294967295},
	     "mtime": here, "event": "LLC_MISSES", "count": 6000, "um": 0x41,
	     "cpu_type": 80, "code": 46, "mhz": 2399.123},
	    {"app": "/bin/true", "callee": "/bin/true", "mtime": here,
	     "samples": {"0x200000002010": 3, "0x201000002400": 70000}},
	    {"app": "/bin/true", "image": "kern:ext4", "kernel": True,
	     "samples": {"0x7fffffffff": 9}},
	    {"app": "/bin/true", "image": "anon:[heap]:77:0x55aa00000000:0x55aa00001000",
	     "samples": {"0x123": 5}},
	    {"session": "other", "app": "/bin/false", "tgid": 5, "tid": 6, "cpu": 1,
	     "samples": {"0x2000": 4}}], **json.loads(sys.argv[2])}))
	END
		python3 "$OPFS_TOP/tests/lib/mksession.py" "$1/s"
}

# every DIR: what each file of its sessions shows
every()
(
	cd "$1" || return
	for f in current/{report,report.tsv,details,callgraph,report.xml} \
		session:other,current/{summary,status,report.json} \
		other/tasks.tsv current/event:CPU_CLK_UNHALTED/gmon.out; do
		echo "== $f"
		"$OPFS_BIN/opfs" cat --session-dir s "$f" 2>&1 || true
	done
)

@test "reports of other kinds of machines are those of this one, with abi and without" {
	session native "little 64"
	every native >want
	grep -q '8589944' want # sums of 64 bits
	for m in "${MACHINES[@]}"; do
		session "$m" "$m"
		every "$m" >got
		cmp want got
		rm "$m/s/abi"
		every "$m" >got
		cmp want got
	done
	rm native/s/abi
	every native >got
	cmp want got
}

@test "an independent reader finds the same in them" {
	${CC:-gcc} -std=gnu17 -D_GNU_SOURCE ${OPFS_SAN:+-fsanitize=$OPFS_SAN} \
		-I"$OPFS_TOP" -o samples "$OPFS_TOP/tests/tools/samples.c" \
		"$OPFS_BIN/../lib/libspec.a" "$OPFS_BIN/../lib/base.a"
	session native "little 64"
	python3 "$OPFS_TOP/tests/lib/opsamples.py" totals native/s >want
	./samples totals native/s >want.ours
	for m in "${MACHINES[@]}"; do
		session "$m" "$m"
		python3 "$OPFS_TOP/tests/lib/opsamples.py" check "$m/s"
		python3 "$OPFS_TOP/tests/lib/opsamples.py" totals "$m/s" >got
		diff want got
		./samples totals "$m/s" >got.ours
		diff want.ours got.ours
	done
	# the file that mksession wrote for this machine is the one that we write
	mkdir ours
	./samples abi ours
	diff native/s/abi ours/abi
}

@test "check says what kind of machine a session is from" {
	session x "big 32"
	"$OPFS_BIN/opfs" check --session-dir x/s >out
	grep -q '^current: whole: .* files, big endian, 32 bit, readable' out
	rm x/s/abi
	"$OPFS_BIN/opfs" check --session-dir x/s other |
		grep '^other: whole: 4 samples in 1 files, big endian, 32 bit'
	session y "big 64"
	"$OPFS_BIN/opfs" check --session-dir y/s |
		grep '^current: whole: .* files, big endian, readable'
	session z "little 64"
	run ! grep -q endian <("$OPFS_BIN/opfs" check --session-dir z/s)
}

@test "a file that is cut short, or of another machine than abi says, is named once" {
	session x "big 32"
	f=$(find x/s/samples/other -name 'CPU_CLK*')
	truncate -s 110 "$f"
	"$OPFS_BIN/opfs" cat --session-dir x/s other/status >status
	[ "$(grep -c '^damaged: ' status)" = 1 ]
	grep -q '^damaged: other/.*: cut short: 110 bytes, the samples need 128' status
	run -1 "$OPFS_BIN/opfs" check --session-dir x/s other
	[[ $output == *": cut short: "*"other: NOT whole: 1 fault"* ]]
	# without abi nothing is certain any more, and the file is not taken for empty
	rm x/s/abi
	"$OPFS_BIN/opfs" cat --session-dir x/s other/status >status
	grep -q '^damaged: other/.*: its byte order is not that of this machine' status
	session y "little 32"
	rm y/s/abi
	truncate -s 110 "$(find y/s/samples/other -name 'CPU_CLK*')"
	"$OPFS_BIN/opfs" cat --session-dir y/s other/status >status
	grep '^damaged: other/.*kind of machine whose file abi is not here' status
	session z "little 64"
	sed -i 's/little_endian 1/little_endian 0/' z/s/abi
	"$OPFS_BIN/opfs" cat --session-dir z/s other/status |
		grep "^damaged: other/.*byte order is not that of the file abi"
}

# bad_abi PATTERN: status of a sum and check name x/s/abi once, and files are still read
bad_abi()
{
	local status
	status=$("$OPFS_BIN/opfs" cat --session-dir x/s session:other,current/status)
	[ "$(grep -c '^damaged: ' <<<"$status")" = 1 ]
	grep -q "^damaged: abi: $1" <<<"$status"
	grep -q '^samples: 8589944' <<<"$status"
	run -1 "$OPFS_BIN/opfs" check --session-dir x/s
	[ "$(grep -c '^abi: ' <<<"$output")" = 1 ]
	grep -q "^abi: $1" <<<"$output"
	grep -q '^other: whole: ' <<<"$output"
}

@test "a damaged abi is named once, and files are what they look like" {
	for m in "little 64" "big 32"; do
		rm -rf x # a link of the last round leads nowhere
		session x "$m"
		cp x/s/abi good
		head -c 200 good >x/s/abi
		bad_abi 'line [0-9]* is no NAME NUMBER: \|sizeof_.* is missing'
		: >x/s/abi
		bad_abi 'sizeof_double is missing'
		grep -v little_endian good >x/s/abi
		bad_abi 'little_endian is missing'
		cat good good >x/s/abi
		bad_abi 'sizeof_double is given twice, in lines 1 and 32'
		sed 's/sizeof_u32 4/sizeof_u32 8/' good >x/s/abi
		bad_abi 'sizeof_u32 is 8: only 4 is known'
		sed 's/header_mtime .*/header_mtime 69/' good >x/s/abi
		bad_abi 'offsetof_header_mtime is 69: 8 bytes from there on do not fit'
		sed 's/header_mtime .*/header_mtime 4294967290/' good >x/s/abi
		bad_abi 'offsetof_header_mtime is 4294967290: 8 bytes'
		sed 's/header_mtime .*/header_mtime -1/' good >x/s/abi
		bad_abi 'line [0-9]* is no NAME NUMBER: offsetof_header_mtime -1'
		sed 's/odb_node_t .*/odb_node_t 0/' good >x/s/abi
		bad_abi 'sizeof_odb_node_t is 0: not within 1 and 1024'
		sed 's/opd_header .*/opd_header 4000000000/' good >x/s/abi
		bad_abi 'sizeof_struct_opd_header is 4000000000: not within'
		printf 'a\0b\n' >x/s/abi
		bad_abi 'is no text'
		head -c 100000 /dev/zero | tr '\0' '\n' >x/s/abi
		bad_abi 'holds more than'
		rm x/s/abi
		mkfifo x/s/abi
		run -1 "$OPFS_BIN/opfs" check --session-dir x/s
		grep -q '^abi: ' <<<"$output"
		rm x/s/abi
		ln -s "$PWD/good" x/s/abi
		bad_abi '.*symbolic links'
	done
}

@test "names in abi that are not known are passed over, in any order of lines" {
	session x "big 32"
	every x >want
	{ echo "offsetof_header_new 7" && tac x/s/abi; } >abi
	cp abi x/s/abi
	every x >got
	diff want got
}

@test "archive.tar carries abi, and gives the same reports again" {
	for m in "${MACHINES[@]}"; do
		session x "$m"
		every x >want
		mkdir -p u/s
		"$OPFS_BIN/opfs" cat --session-dir x/s session:other,current/archive.tar |
			tar -C u/s -x
		cmp x/s/abi u/s/abi
		(cd u/s && sha256sum --strict --quiet -c MANIFEST)
		diff -r x/s/samples u/s/samples
		every u >got
		# which package a binary is of is not known of an archive
		diff <(sed 's/; package .*opfs fetch/; or opfs fetch/' want) got
		"$OPFS_BIN/opfs" check --session-dir u/s | grep -q 'big endian\|32 bit'
		rm -r u x
	done
}

@test "an archive of oparchive has its abi in its session directory" {
	session x "big 32"
	every x >want
	mkdir -p u/s/var/lib
	mv x/s u/s/var/lib/oprofile
	every u >got
	diff want got
}

@test "a single file is recognised" {
	session x "big 32"
	session native "little 64"
	for at in x native; do
		"$OPFS_BIN/opfs" cat --sample-file \
			"$(find $at/s/samples/other -name 'CPU_CLK*')" report >$at.out
	done
	diff x.out native.out
}

@test "opcollect does not add to sessions of another kind of machine" {
	session x "big 32"
	find x/s -type f -exec sha256sum {} + >was
	for append in --append ''; do
		# shellcheck disable=SC2086 # none, if it is empty
		run -1 "$OPFS_BIN/opcollect" record --session-dir x/s $append \
			-e TIMER -- true
		[[ $output == *"another kind of machine (big endian, 32 bit)"* ]]
		[[ $output == *"--session-dir"* ]]
	done
	find x/s -type f -exec sha256sum {} + >is
	diff was is
}
