#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# tests/golden/REPORT/CASE/: "path" is what "opfs cat" is asked for in the reference
# session, "expected" what it prints.  "make bless" writes "expected" anew.  A file
# "session" names another one, which mksession.py makes of that file in tests/data.

bats_require_minimum_version 1.5.0
load ../lib/opdemo
load ../lib/opfs

setup()
{
	need_programs
	need_mount_namespace
}

# session_of CASE: the session directory
session_of()
{
	[ -e "$1/session" ] || {
		echo s1
		return
	}
	local D=$BATS_TEST_TMPDIR/$(cat "$1/session")

	[ -e "$D" ] || mksession "$OPFS_TOP/tests/data/${D##*/}"
	echo "$D"
}

@test "every golden case prints what is expected" {
	local dir got=$BATS_TEST_TMPDIR/got bad=0 cases=0
	for dir in "$OPFS_TOP"/tests/golden/*/*/; do
		cases=$((cases + 1))
		opdemo "$OPFS_BIN/opfs" cat --session-dir "$(session_of "$dir")" \
			"$(cat "$dir/path")" >"$got" || {
			echo "$dir: opfs cat failed"
			bad=1
			continue
		}
		if [ -n "${BLESS-}" ]; then
			cp "$got" "$dir/expected"
		else
			diff -u "$dir/expected" "$got" || bad=1
		fi
	done
	[ $cases -gt 0 ]
	[ $bad = 0 ]
}

# The names of the reports in the list.
reports()
{
	local id

	cd "$OPFS_TOP/opfs"
	for id in $(sed -n 's/^REPORT(\(.*\))$/\1/p' report_list.h); do
		find report -name "report_$id.c" -exec \
			sed -n 's/^\t\.name = "\(.*\)",$/\1/p' {} +
	done
}

@test "every report has a golden case" {
	local name
	[ "$(reports | wc -l)" = "$(grep -c '^REPORT(' "$OPFS_TOP/opfs/report_list.h")" ]
	for name in $(reports); do
		echo "$name"
		# no text: archive.bats and exports.bats compare these
		[ "$name" = archive.tar ] || [ "$name" = profile.pb.gz ] ||
			ls "$OPFS_TOP/tests/golden/$name"/*/path
	done
}
