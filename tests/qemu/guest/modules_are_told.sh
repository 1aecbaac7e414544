# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 30 x86
. /guest/lib.sh
load
start
insmod /modules/opfs_torture.ko
rmmod opfs_torture
stop
expect modules -eq 2
unload
