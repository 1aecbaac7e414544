# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 120 x86
# A thread was sampled and lost its processor before its work began, as happens in life
# (see work_begun_keeps_the_module.sh for the other case): stopping counts the sample as
# lost, unloading is refused, nothing hangs, and both work once the thread has run.
. /guest/lib.sh

held()
{
	[ "$(awk '$1 == "opfs_sampler" { print $3 }' /proc/modules)" -ge 1 ]
}

caught=
hog idle 1 twin_1 forever &
echo $! >>pids
for i in $(seq 12); do
	load defer=1
	put timer_hz 10000
	start
	usleep 100000
	hog 1 $((20000 + i * 37)) 60 &
	hog=$!
	echo $hog >>pids
	usleep 200000
	put enable 0
	wait $reader || fail "the stream: $(tail -n 20 out)"
	umount $OP
	if held; then
		caught=yes
		expect lost_stopped -ge 1
		if rmmod opfs_sampler 2>err; then
			fail "unloaded under a thread's work"
		fi
		cat err
	fi
	kill -9 $hog || :
	wait $hog || :
	eventually 10 rmmod opfs_sampler
	[ -z "$caught" ] || break
done
[ -n "$caught" ] || skip "no thread lost its processor just then"
[ "$(of told_taken)" -eq $(($(of samples) + $(of lost))) ] ||
	fail "taken is not told and lost"
tell
