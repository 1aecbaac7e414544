#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Where memory without a file is, is told to the owner and the group of a session only.

bats_require_minimum_version 1.5.0
load ../lib/record
load ../lib/opfs

setup_file()
{
	need_programs
	need_others
	can_record
	cd "$BATS_FILE_TMPDIR"
	chmod 755 "$BATS_RUN_TMPDIR" .
	"${CC:-gcc}" -O1 -o region "$progs/region.c"
	mkdir -m 2755 s
	chgrp 4321 s
	record --session-dir s -- ./region 0.3 >where
}

setup()
{
	cd "$BATS_FILE_TMPDIR"
	start=$(cat where)
	others=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	members=(setpriv --reuid=65534 --regid=65534 --groups=4321)
}

# region_in COMMAND...: the first address of the memory in the report that it can make.
region_in()
{
	"$@" "$OPFS_BIN/opfs" cat --session-dir s current/report |
		sed -nE 's/.*anon \(tgid:[0-9]+ range:0x([0-9a-f]+)-.*/\1/p' | sort -u
}

@test "names of sample files have made-up addresses, which OProfile can read" {
	[ "$(stat -c '%a %g' s/samples/current/regions)" = "640 4321" ]
	find s/samples/current >names
	run ! grep -q "$start" names
	run ! grep -q "$start" s/samples/current/images
	grep -qE '\{anon:anon\}/[0-9]+\.0x[0-9a-f]+000\.0x[0-9a-f]+fff/' names
	# the header tells where it is, too
	f=$(grep -m1 -E '\{anon:anon\}/.*\.all$' names)
	[[ $f == *".0x$(od -An -tx8 -j56 -N8 "$f" | tr -d ' ' | sed 's/^0*//').0x"* ]]
}

@test "owner and group are told the true range, others one that is made up" {
	[ "$(region_in env)" = "$start" ]
	[ "$(region_in "${members[@]}")" = "$start" ]
	run -0 region_in "${others[@]}"
	[ -n "$output" ]
	[ "$output" != "$start" ]
	# a label finds it for each
	"${others[@]}" "$OPFS_BIN/opfs" cat --session-dir s current/lib-image:anon/summary
	for file in report.json report.xml details status; do
		"${others[@]}" "$OPFS_BIN/opfs" cat --session-dir s "current/$file"
	done >all
	grep -q 'anon (tgid' all
	run ! grep -q "$start" all
}

@test "a region has one row, and without rows the range in the name is shown" {
	[ "$(grep -c "^anon" s/samples/current/regions)" = 1 ]
	D=old
	mksession <<-END
		{"files": [{"app": "/bin/x", "image": "anon:anon:7:1000:1fff",
		  "samples": {"0x10": 1}}]}
	END
	opfs cat current/report >all
	grep -qF 'anon (tgid:7 range:0x1000-0x1fff)' all
}
