# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 60
# A file whose mtime changes from sample to sample, be it root's, is eight images at most,
# and all its samples are told; it takes no room from others.
. /guest/lib.sh
here=/tmp/test
load images=256
put timer_hz 1000
craft roots 1 1
craft theirs 1 1
chown 1000 theirs
open_to_all root
start -i
roots=$(flood 0 0 mtimes $here/roots 150 2)
theirs=$(flood 1000 0 mtimes $here/theirs 150 2)
seen=$((roots + theirs))
held=$(get stats/images)
flood 0 1 files $here/root 16 32
stop
files=$(grep -c "^file .* $here/\(roots\|theirs\)\$" out)
beside=$(($(told_beside $here/root) - files))
told=$(($(samples_of $here/roots) + $(samples_of $here/theirs)))
echo "$files images of two files, $told of $seen samples; $held images, $beside others'"
[ "$(told_below $here/root)" = 16 ] || fail "root: $(told_below $here/root) of 16 images"
[ "$held" -le $((16 + beside)) ] || fail "two files are $((held - beside)) images"
expect lost_no_image -eq 0
# Of 600 that were waited for; the others were taken in the program, or in the kernel.
[ "$told" -ge 150 ] || fail "few samples: $told of $seen"
unload
