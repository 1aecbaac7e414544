# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 120
# Somebody executes code in more new files than the table of images has room for, has
# callers in them, or does so as all the users of a namespace: this fills no more than an
# eighth of the table, and new images of others are told, every one.
. /guest/lib.sh
here=/tmp/test

namespace()
{
	for i in 1 2 3 4 5 6 7 8; do
		open_to_all "$1/$i"
		flood 1000:$i 0 files "$1/$i" 40
	done
}

# withstand NAME COMMAND...: the command attacks, with files below ./NAME.
withstand()
{
	name=$1
	shift
	open_to_all "$name" "$name.root" "$name.other"
	start -i
	"$@" >/dev/null
	held=$(get stats/images)
	flood 0 1 files "$here/$name.root" 16 32 >/dev/null
	flood 1001 1 files "$here/$name.other" 16 32 >/dev/null
	stop >told
	root=$(told_below "$here/$name.root") other=$(told_below "$here/$name.other")
	attacker=$(told_below "$here/$name")
	beside=$(told_beside "$here/$name" "$here/$name.root" "$here/$name.other")
	echo "$name: $held images, $beside of them of nobody here; then told: root's" \
		"$root of 16, another's $other of 16, $(cat told)"
	[ "$root" = 16 ] || wrong="$wrong; $name: $root of root's 16 images"
	[ "$other" = 16 ] || wrong="$wrong; $name: $other of another's 16 images"
	[ "$held" -le $((32 + beside)) ] || wrong="$wrong; $name holds $held of 256"
	[ "$name" = chains ] || [ "$attacker" -ge 16 ] ||
		wrong="$wrong; $name: few images of its own, $attacker"
}

load images=256
put timer_hz 1000
put backtrace_depth 128
wrong=
withstand files flood 1000 0 files $here/files 400
withstand chains flood 1000 0 chains $here/chains 4
withstand namespace namespace $here/namespace
[ -z "$wrong" ] || fail "${wrong#; }"
unload
