# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 60
# witness keeps counters both in registers and on its stack: in every copy of that they
# agree, also of samples in system calls.  It has no frame pointers, and its callers are
# found in the copy.
. /guest/lib.sh
load
put timer_hz 1000
put user_stack 32768
start -v
until_taken 200 witness 1000
until_taken 200 witness 1000 3
stop
expect_callers witness '^ middle outermost'
expect witnesses -ge 50
expect kernel_witnesses -ge 5
expect stacks_cut -eq 0
# What is refused is so where the lock was taken: little, of programs like this one, but
# for a kernel that checks itself.
[ $(($(of stacks_refused) * 4)) -le "$(of stacks)" ] ||
	fail "stacks are refused: $(grep . $OP/stats/stack_*)"
stored=$(get stats/stack_stored)
[ "$stored" = "$(of stacks)" ] || fail "stored: $stored"
[ $(($(of stacks_whole) * 10)) -ge $(($(of stacks) * 9)) ] || fail "few are whole"
unload
