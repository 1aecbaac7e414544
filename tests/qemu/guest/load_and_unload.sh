# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 20 smoke
. /guest/lib.sh
load
[ "$(uname -m)" != x86_64 ] || [ "$(get cpu_type)" = timer ] ||
	fail "cpu_type is $(get cpu_type)"
[ "$(get pointer_size)" = 8 ] || fail "pointer_size is $(get pointer_size)"
[ "$(get enable)" = 0 ] || fail "enabled from the start"
unload
[ ! -e $OP/enable ] || fail "files are left"
load
unload
