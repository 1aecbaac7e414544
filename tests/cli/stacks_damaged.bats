#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Tables of stacks that a disk damaged, or that somebody wrote who means harm.

bats_require_minimum_version 1.5.0
load ../lib/opfs

setup()
{
	cd "$BATS_TEST_TMPDIR" || return
	D=s
}

# table OFFSET NUMBER...: stores 32 bits each in the table of frames.
table()
{
	python3 - "$@" <<-'END'
	import struct, sys
	with open("s/samples/current/stacks/frames", "r+b") as f:
	    f.seek(int(sys.argv[1]))
	    f.write(b"".join(struct.pack("<I", int(n)) for n in sys.argv[2:]))
	END
}

# Of samples in stacks.folded.
sum_of()
{
	opfs cat "$1/stacks.folded" | awk '{ sum += $NF } END { print sum + 0 }'
}

# Node 2 is a frame of libdemo.so that called node 3, which was sampled.
two_frames()
{
	mksession <<-'END'
		[{"app": "/bin/demo", "stacks": [
		  [["/lib/libdemo.so@0x2000", "/bin/demo@0x1000"], 5]]}]
	END
}

@test "samples in an image whose row was lost are in its slices, without callers" {
	two_frames
	sed -i '/bin\/demo/d' s/samples/current/stacks/images
	[ "$(sum_of current)" = 5 ]
	[ "$(sum_of current/symbol:%2Fbin%2Fdemo)" = 5 ]
	opfs cat current/calltree | grep -F '[truncated: lost by the disk]'
}

@test "a frame that a writer found lost is not told to be for want of room" {
	two_frames
	table $((64 + 3 * 16)) 0 0 9 0
	opfs cat current/calltree >tree
	grep -F '[truncated: lost by the disk]' tree
	run -1 grep 'no room' tree
	[ "$(sum_of current/symbol:%2Fbin%2Fdemo)" = 5 ]
}

@test "an archive has the frames that there are, whatever their table says" {
	two_frames
	opfs cat current/calltree >before
	table 16 4294967295
	opfs cat current/archive.tar >a.tar
	mkdir a
	tar -C a -xf a.tar
	D=a opfs cat current/calltree >after
	diff before after
}

@test "addresses of a kernel whose table is not known are the same in every report" {
	mksession <<-'END'
		[{"app": "/bin/demo", "image": "kern:no-vmlinux", "kernel": true,
		  "stacks": [
		  [["/bin/demo@0x1000", "kern:no-vmlinux@0xffffffff81000600",
		    "kern:no-vmlinux@0xffffffff81000500"], 5]]}]
	END
	opfs cat current/details | grep -i ffffffff81000500
	opfs cat "current/calls:[demo]/details" | grep -i ffffffff81000500
	opfs cat current/callgrind.out >out
	grep '^0xffffffff81000500 5$' out
}

# 270,400 nodes, and 64 events: what is kept of each node for each event has a bound.
@test "trees and costs that would take any memory are refused" {
	python3 - >many.json <<-'END'
	import json
	image = ["/lib/l%d" % i for i in range(520)]
	stacks = [[[a + "@0x100", b + "@0x200"], 1] for a in image for b in image[1:]]
	files = [{"app": image[1], "event": "E%d" % i, "samples": {"0x200": 1},
	          "stacks": [[[image[0] + "@0x100", image[1] + "@0x200"], 1]]}
	         for i in range(1, 64)]
	files += [{"app": b, "event": "E0", "stacks": [
	          [[a + "@0x100", b + "@0x200"], 1] for a in image]} for b in image]
	print(json.dumps(files))
	END
	mksession many.json
	run -1 opfs cat current/calltree
	[[ $output == *"too many nodes: choose a part with image:, event:"* ]]
	run -1 opfs cat current/callgrind.out
	[[ $output == *"callgrind.out would be larger than 256 MiB"* ]]
	opfs cat current/event:E0/calltree | grep 270400
	[ "$(opfs ls current/calls: | wc -l)" = 520 ]
}

@test "values with line breaks are not taken for those of another path" {
	mksession <<-'END'
		[{"app": "/bin/demo", "stacks": [
		  [["/lib/libdemo.so@0x2000", "/bin/demo@0x1000"], 5]]},
		 {"app": "/bin/demo", "image": "/lib/libdemo.so", "stacks": [
		  [["/lib/libdemo.so@0x2000"], 3]]}]
	END
	other='current/calls:[libdemo.so],x/through:[demo]/stacks.folded'
	opfs cat "$other" >alone
	for n in {0..40}; do
		opfs cat "current/calls:[libdemo.so],x"$'\n'"$n:%5Bdemo]/stacks.folded" \
			"$other" >both
		diff <(sed 1,2d both) alone
	done
}
