# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 20 6.1 6.12
# Landlock alone, without the filter of system calls, keeps a helper from changing and
# executing files, and not from reading.  Reports come through a mount as ever.
. /guest/lib.sh

# tries WORD...: what came of them, in a new directory.
tries()
{
	rm -rf d
	mkdir -p d/dir
	echo text >d/file
	(cd d && landlocked "$@")
}

tries free >free || fail "nobody is confined"
cat free
[ "$(grep -c ' done$' free)" = 16 ] || fail "what nobody forbids is not done"
tries >confined || fail "cannot be confined"
cat confined
# the kernel learned to forbid truncating later
case $(uname -r) in
6.1.*) done='read list truncate' denied=13 ;;
*) done='read list' denied=14 ;;
esac
[ "$(awk '$2 == "done" { print $1 }' confined | xargs)" = "$done" ] ||
	fail "not only $done"
[ "$(grep -c ' EACCES$' confined)" = $denied ] || fail "not by Landlock"
[ "$(ls d | xargs)" = "dir file" ] || fail "changed: $(ls d)"

# as any user, with the sandbox as it is
load
opcollect record --source=kernel -F 1000 --symbols=0 -d data -- bare 500
unload
mkdir m
chmod 755 . m
opfs mount data m -o allow_other || fail "opfs mount"
profile=$PWD/m/current/image:bare
su nobody -s /bin/sh -c "cat $profile/report $profile/symbol:innermost/source" >text ||
	fail "no reports"
cat text
grep -q 'bare  *innermost$' text || fail "the debug file was not read"
grep -q 'innermost(' text || fail "the source was not read"
umount m
