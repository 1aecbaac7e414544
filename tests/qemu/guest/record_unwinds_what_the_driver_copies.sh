# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 90 x86
# The whole way of a stack without frame pointers: the driver copies it, opcollect unwinds
# it by the unwind tables of what was mapped then, opfs shows it; kernel's part and all.
. /guest/lib.sh
load
opcollect record --source=kernel -F 1000 --callgraph=dwarf -d data -- witness 1500 2 ||
	fail "record"
opfs cat --session-dir data current/status
opfs cat --session-dir data current/stacks.folded >folded
# of samples in innermost(), and in the kernel for it: from the thread's first function
awk '/;innermost[; ]/ { all += $NF }
	/;work;outermost;middle;innermost[; ]/ { n += $NF }
	/;middle;innermost;.*_\[k\]/ { kernel += $NF }
	END { print n + 0, "of", all + 0 ", kernel:", kernel + 0
		exit all < 100 || n < all * 0.95 || kernel < 10 }' folded || {
	cat folded
	fail "stacks"
}
unload
