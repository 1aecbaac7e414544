# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 60
# Somebody has many files with paths as long as they may be: others' long paths are told
# in full nevertheless.  The driver keeps none of them.
. /guest/lib.sh

# Makes a directory of which the files have paths of 3892 bytes and more, and prints it.
deep()
{
	local dir="/tmp/test/$1" name

	name=$(printf '%0240d' 0)
	while [ ${#dir} -lt 3640 ]; do
		dir=$dir/$name
	done
	dir=$dir/$(printf "%0$((3889 - ${#dir}))d" 0)
	mkdir -p "$dir"
	chmod 777 "$dir"
	echo "$dir"
}

load images=1024
put timer_hz 1000
deep=$(deep attacker) root=$(deep root) other=$(deep other)
start -i
flood 1000 0 files "$deep" 400
flood 0 1 files "$root" 4 100
flood 1001 1 files "$other" 4 100
stop
n=$(told_below "$deep")
echo "${#deep} bytes each, $n of 400 told"
[ "$n" -ge 50 ] || fail "only $n paths"
[ "$(told_below "$root")" = 4 ] || fail "root's paths: $(told_below "$root") of 4"
[ "$(told_below "$other")" = 4 ] || fail "another's paths: $(told_below "$other") of 4"
unload
