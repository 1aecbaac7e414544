# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 20
# kernel.perf_event_max_sample_rate limits the timer whoever starts a run: also from where
# /proc is not seen.
. /guest/lib.sh
limit=/proc/sys/kernel/perf_event_max_sample_rate

# Writes 1 to `enable` by way of the command; prints what it says.
starts()
{
	"$@" /bin/busybox sh -c 'echo 1 >/dev/oprofile/enable' 2>&1
}

without_proc()
{
	# shellcheck disable=SC2016 # for the other shell
	unshare -m sh -c 'umount /proc && exec "$@"' sh "$@"
}

load
mkdir -p root/bin root/dev/oprofile
cp /bin/busybox root/bin
mount --bind $OP root/dev/oprofile
put timer_hz 600
start_reading
echo 500 >$limit
for how in env "chroot root" without_proc; do
	! starts $how >said || fail "600 Hz of at most 500 was taken by way of: $how"
	grep -qi "invalid argument" said || fail "$how: $(cat said)"
	[ "$(get enable)" = 0 ] || fail "enabled after all"
done
# And all can start what is allowed.
put timer_hz 500
kill $reader
wait $reader || :
for how in "chroot root" without_proc; do
	start_reading
	starts $how || fail "500 Hz of at most 500 was refused by way of: $how"
	[ "$(get enable)" = 1 ] || fail "not enabled"
	stop
done
umount root/dev/oprofile
unload
