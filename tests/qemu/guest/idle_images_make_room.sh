# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 120
# More programs than the table of images has room for, one after the other: those that
# run no longer make room, so that all are told, and those that do run are not forgotten.
. /guest/lib.sh
here=/tmp/test

# Executes code in the files of directory $1; true if all samples found an image.
visit()
{
	local before

	before=$(get stats/lost_no_image)
	flood 0 1 files "$1" 20 32 >/dev/null
	[ "$(get stats/lost_no_image)" = "$before" ]
}

load images=64
put timer_hz 1000
mkdir forever
start
background flood 0 0 files $here/forever 1 1000000000
for i in 1 2 3 4 5 6 7 8; do
	mkdir $i
	eventually 4 visit $here/$i
done
[ "$(get stats/images)" -le 64 ] || fail "$(get stats/images) images"
end_of $!
stop
for i in 1 2 3 4 5 6 7 8; do
	n=$(told_below $here/$i)
	[ "$n" = 20 ] || fail "$i: $n of 20 images"
done
[ "$(grep -c "^image .* $here/forever/0\$" out)" = 1 ] ||
	fail "the lasting one was forgotten"
unload
