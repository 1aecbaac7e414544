#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# debug_kernel.sh: in a directory with the package linux-source-6.1, builds a small kernel
# that checks itself (debug.config), and leaves vmlinuz and build as kernel.sh promises.
# Takes about ten minutes of two processors; kernel.sh keeps what it made.
set -euo pipefail

config=$(dirname "$(realpath "$0")")/debug.config
jobs=${JOBS:-2}

dpkg-deb --fsys-tarfile linux-source-6.1_*.deb | tar -xO --wildcards '*.tar.xz' | tar -xJ
rm -f linux-source-6.1_*.deb
mv linux-source-6.1 build
cd build
{
	make tinyconfig
	scripts/kconfig/merge_config.sh -m .config "$config"
	make olddefconfig
} >../config.log 2>&1
grep -v '^#' "$config" | while read -r option; do
	grep -qx "$option" .config || {
		echo "debug.config: $option was not taken" >&2
		exit 1
	}
done
make -j"$jobs" bzImage modules >../build.log 2>&1 || {
	tail -n 40 ../build.log >&2
	exit 1
}
mv arch/x86/boot/bzImage ../vmlinuz
# What modules are built with stays.
find . -name '*.[oa]' -not -path './scripts/*' -not -path './tools/*' -delete
rm -f vmlinux .tmp_vmlinux*
