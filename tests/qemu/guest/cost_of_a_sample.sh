# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 120 6.1-icount 6.12-icount
# What a sample costs the program that is interrupted, by a clock that counts executed
# instructions (8 ns each), beside what it costs by perf's interface.
. /guest/lib.sh
rounds=100000000
hz=10000
load
# What the kernel does after it has booted is over then.
cost $rounds >/dev/null
bare=$(cost $rounds)
perf=$(cost $rounds $hz)
put timer_hz $hz
put cpu_buffer_size 1048576
put buffer_size 4194304
start -s 5000
driver=$(cost $rounds)
stop >/dev/null
expect_no_loss
put user_stack 8192
start -s 5000
stacks=$(cost $rounds)
stop >/dev/null
expect_no_loss
copied=$(get stats/stack_stored)
bytes=$(($(of stack_bytes) / (copied ? copied : 1)))

# $1: nanoseconds with sampling; samples came every 1/hz s in that time.
per_sample()
{
	echo $((($1 - bare) / ($1 / (1000000000 / hz))))
}

echo "a sample costs $(per_sample $driver) ns by the driver, $(per_sample $perf) by perf"
echo "with the stack, $bytes bytes of $copied samples, $(per_sample $stacks) ns"
[ $(($(per_sample "$driver") * 10)) -le $((11 * $(per_sample "$perf"))) ] ||
	fail "more than perf's cost"
unload
