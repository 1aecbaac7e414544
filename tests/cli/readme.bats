#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# README of a directory: short and narrow, whatever names are in it.

bats_require_minimum_version 1.5.0
load ../lib/opfs

setup() {
	cd "$BATS_TEST_TMPDIR"
}

# fits FILE: at most 24 lines of at most 79 columns
fits() {
	cat "$1"
	[ "$(wc -l <"$1")" -le 24 ]
	[ "$(LC_ALL=C.UTF-8 wc -L <"$1")" -le 79 ]
}

@test "README has at most 24 lines of 79 columns, of a session and of a slice" {
	mksession "$OPFS_TOP/tests/data/stacks.json"
	opfs cat current/README >got
	fits got
	opfs cat "current/event:$(opfs ls current/event: | head -n 1)/README" >got
	fits got
}

@test "README fits with long names, and cuts the path in a character's middle nowhere" {
	long=$(printf 'ä%.0s' {1..100})
	mksession <<<"[{\"app\": \"/bin/$long\", \"samples\": {\"0x10\": 3}},
		{\"app\": \"/bin/x\", \"samples\": {\"0x10\": 2}}]"
	for path in "image:$long" "image:$long/event:CPU_CLK_UNHALTED" \
		"image:x/threshold:0" 'image:*'; do
		opfs cat "current/$path/README" >got
		fits got
		iconv -f UTF-8 got >/dev/null
		grep -q 'of 5 samples' got
	done
}

@test "README's example of lib-image: is a library, if there is one" {
	mksession <<<'[{"app": "/bin/kate", "samples": {"0x10": 9}},
		{"app": "/bin/kate", "image": "/lib/few.so", "samples": {"0x10": 1}},
		{"app": "/bin/kate", "image": "/lib/many.so", "samples": {"0x10": 2}}]'
	opfs cat current/README >got
	grep -qxF "  cat 'image:kate/report'" got
	grep -qxF "  cat 'lib-image:many.so/report'" got
	opfs cat current/lib-image:many.so/report >/dev/null
	rm -r s
	mksession <<<'[{"app": "/bin/kate", "samples": {"0x10": 9}}]'
	opfs cat current/README >got
	grep -qxF "  cat 'lib-image:kate/report'" got
}
