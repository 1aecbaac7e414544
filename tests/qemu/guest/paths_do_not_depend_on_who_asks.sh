# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 60
# A file's path is told as it is below the machine's root, also if the program runs in a
# chroot, and if who has the path taken - by writing `dump`, by reading `buffer`, or by
# being sampled - is in a chroot itself.
. /guest/lib.sh
here=/tmp/test

# Programs of their own, in the directory that will be a root: run there, and from here.
run_some()
{
	local i

	for i in $(seq 25); do
		ln root/bin/nested "root/bin/in$i"
		ln root/bin/nested "root/bin/out$i"
		chroot root "/bin/in$i" 20
		"root/bin/out$i" 20
	done
}

# Every path is known from the machine's root.
all_are_right()
{
	grep '^file ' out | awk '{ print $4 }' >paths
	grep "^$here/root/bin/" paths >right || :
	if grep "^/bin/\(in\|out\|nested\)[0-9]*$" paths >wrong && [ -s wrong ]; then
		grep -v '/bin/nested$' wrong | head -n 5
		fail "$(wc -l <wrong) paths are those of a chroot, $(wc -l <right) not"
	fi
	[ "$(wc -l <right)" -ge 20 ] || fail "few: $(cat paths)"
	rm root/bin/in* root/bin/out*
}

mkdir -p root/bin root/dev/oprofile
cp /bin/busybox /bin/nested /bin/bufdump root/bin
for defer in 0 1; do
	load defer=$defer
	mount --bind $OP root/dev/oprofile
	put timer_hz 4000
	put buffer_watershed 256
	# Who asks most often.
	chroot root /bin/busybox sh -c 'while :; do
		echo 1 >/dev/oprofile/dump
	done' &
	dumper=$!
	echo $dumper >>pids
	READ_BY="chroot root" start -i
	run_some
	stop
	kill -9 $dumper
	wait $dumper || :
	umount root/dev/oprofile
	unload
	all_are_right
done
