# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 60 x86
# The collector reads a program of a container where the container's users find it, while
# the file itself lies on another file system.
. /guest/lib.sh
grep -q overlay /proc/filesystems || skip "this kernel has no overlayfs"
mkdir lower upper work merged
cp /bin/nested lower/below
load
mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work merged ||
	fail "mount"
opcollect record --source=kernel -d data -- merged/below 1000 || fail "record"
opfs cat --session-dir data current/image:"$PWD"/merged/below/report >report ||
	fail "report"
umount merged || fail "busy after recording"
awk '$NF == "innermost" { n = $1 } END { exit !(n >= 10) }' report ||
	fail "innermost has few samples: $(cat report)"
unload
