# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 40 arm64
# libcfi unwinds a stack at each instruction of a program with frame pointers, of one
# without, and of one whose return addresses are signed.
. /guest/lib.sh
for program in unwound_fp unwound unwound_pac; do
	out=$($program) || fail "$program: $out"
	echo "$out"
	case $out in
	*", 0 wrong,"*) ;;
	*) fail "$program: $out" ;;
	esac
done
