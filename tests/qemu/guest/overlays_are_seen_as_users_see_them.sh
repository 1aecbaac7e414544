# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 60
# A program of a container: its file lies on another file system than the one it is run
# from.  It is one image, told by the path, inode and build-id that the user finds, and it
# can be unmounted while samples are taken.
. /guest/lib.sh
grep -q overlay /proc/filesystems || skip "this kernel has no overlayfs"
here=/tmp/test
mkdir -p lower upper work merged lower2 merged2
cp /bin/nested lower/below
cp /bin/nested lower/copied_up
cp /bin/nested lower2/below

load
put timer_hz 4000
mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work merged ||
	fail "mount"
# Another one that shares a layer.
mount -t overlay overlay -o lowerdir=lower2:lower merged2 || fail "mount, again"
touch merged/copied_up
start -i
for f in merged/below merged/copied_up merged2/copied_up; do
	until_taken 200 ./$f 200
	stat -c '%i' $f >"inode.${f%/*}.${f#*/}"
done
umount merged || fail "busy while samples are taken"
umount merged2 || fail "busy while samples are taken"
stop
for f in merged/below merged/copied_up merged2/copied_up; do
	[ "$(samples_of $here/$f)" -ge 20 ] || fail "few samples of $f: $(cat out)"
	[ "$(grep -c "^file .* $here/$f\$" out)" = 1 ] || fail "$f is not one: $(cat out)"
	inode=$(cat "inode.${f%/*}.${f#*/}")
	grep -q "^file $(cat /guest/nested.build_id) $inode $here/$f\$" out ||
		fail "$f, inode $inode: $(grep '^file' out)"
done
! grep '^file.*/\(lower\|upper\)' out || fail "told by a path of a layer"
unload
