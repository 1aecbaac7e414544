# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 90
. /guest/lib.sh
for i in $(seq 8); do
	load
	start
	nested 20
	stop >told
	unload
done
cat told
