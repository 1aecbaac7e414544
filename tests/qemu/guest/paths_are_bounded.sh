# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 60 x86
# Somebody has files with paths as long as they may be: these take an eighth of the memory
# for paths at most, and others' long paths are told in full.
. /guest/lib.sh
images=1024

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

load images=$images
put timer_hz 4000
deep=$(deep attacker) root=$(deep root) other=$(deep other)
start -i
flood 1000 0 files "$deep" 400
bytes=$(get stats/image_bytes 2>/dev/null || echo unknown)
flood 0 1 files "$root" 4 16
flood 1001 1 files "$other" 4 16
stop
told=$(awk -v dir="$deep/" '$1 == "file" && index($NF, dir) == 1 { n += length($NF) }
	END { print n + 0 }' out)
echo "${#deep} bytes each, $told told; kept: $bytes"
[ "$(told_below "$root")" = 4 ] || fail "root's paths: $(told_below "$root") of 4"
[ "$(told_below "$other")" = 4 ] || fail "another's paths: $(told_below "$other") of 4"
[ "$bytes" != unknown ] || fail "nobody knows how many bytes of $told are kept"
# No path is longer than 4000 bytes, and those of others are short.
[ "$bytes" -le $((images * 4000 / 8 + 4000)) ] || fail "$bytes bytes of paths"
unload
