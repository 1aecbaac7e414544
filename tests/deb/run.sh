#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh: builds the packages in two versions, boots a Debian 12 under QEMU, whose first
# process is systemd, and reports what guest.sh found there as TAP.  Needs root.
#
# DKMS builds the module in the guest's root before it boots: emulated, that takes many
# minutes.  What the packages depend on is downloaded then as well, for the guest has no
# network.  All is written below $O/packages.
# shellcheck disable=SC2317 # step runs them
set -eEuo pipefail
top=$(dirname "$(realpath "$0")")/../..
cd "$top"
work=$(realpath -m "${O:-build}")/packages
root=$work/root share=$work/share
# shellcheck source=tests/lib/debian.bash
. tests/lib/debian.bash

give_up()
{
	echo "not ok - $1"
	[ $# -lt 2 ] || tail -n 40 "$2" | sed 's/^/#   /'
	echo "1..1"
	exit 1
}

trap 'give_up "line $LINENO of run.sh works"' ERR

# step CLAIM NAME: make_NAME does what is claimed; where a command fails, all ends.
step()
{
	local rc

	trap - ERR
	set +e
	(
		set -e
		"make_$2"
	) >"$work/$2.log" 2>&1
	rc=$?
	set -e
	[ $rc = 0 ] || give_up "$1" "$work/$2.log"
}

make_guest()
{
	local packages=systemd-sysv,udev,dbus,kmod,initramfs-tools,dkms,apt-utils

	packages+=,linux-image-cloud-amd64,linux-headers-cloud-amd64
	# what opfs recommends: the guest has no network
	packages+=,libdebuginfod1
	cached_debian "$share" "$root" deb-guest "$packages"
}

make_build()
{
	NEXT=$(sed '1s/.*(\(.*\)).*/\1+next/; q' debian/changelog) \
		tests/deb/build.sh "$work/debs"
}

# DKMS builds the old version, and the new one when that is upgraded to it.
make_module()
{
	local old

	mkdir -p "$root"/debs/{old,new}
	cp "$work"/debs/*.deb "$root/debs/old"
	cp "$work"/debs/next/*.deb "$root/debs/new"
	in_root "$root" apt-get update
	in_root "$root" sh -c 'apt-get install -qy --no-install-recommends \
		/debs/old/opfs-dkms_*.deb'
	old=$(in_root "$root" dkms status opfs-sampler)
	echo "$old"
	[[ $old == *": installed" ]]
	in_root "$root" sh -c 'apt-get install -qy --no-install-recommends \
		/debs/new/opfs-dkms_*.deb'
	in_root "$root" dkms status opfs-sampler | tee "$work/dkms"
	[ "$(wc -l <"$work/dkms")" = 1 ]
	grep '+next.*: installed' "$work/dkms"
	in_root "$root" sh -c 'apt-get install -qy --no-install-recommends \
		--download-only /debs/old/opfs_*.deb /debs/old/opfs-daemon_*.deb'
}

make_disk()
{
	local kernel

	in_root "$root" useradd -m member
	in_root "$root" useradd -m other
	mkdir -p "$root/test" "$root/var/log/journal"
	install -m 755 tests/deb/guest.sh "$root/test/"
	cp tests/qemu/complaints "$root/test/"
	cat >"$root/etc/systemd/system/opfs-test.service" <<-'END'
		[Unit]
		Description=Tests of packages
		After=multi-user.target

		[Service]
		ExecStart=/test/guest.sh
		StandardOutput=journal+console
		TimeoutStopSec=5

		[Install]
		WantedBy=graphical.target
	END
	ln -sf /lib/systemd/system/graphical.target \
		"$root/etc/systemd/system/default.target"
	in_root "$root" systemctl enable opfs-test
	# Its own timers would only compete.
	in_root "$root" systemctl mask apt-daily.timer apt-daily-upgrade.timer \
		systemd-networkd-wait-online e2scrub_all.timer fstrim.timer
	# fuse3 would have it made anew, which takes minutes there.
	echo 'update_initramfs=no' >"$root/etc/initramfs-tools/update-initramfs.conf"
	echo '/dev/vda / ext4 defaults 0 1' >"$root/etc/fstab"
	kernel=$(echo "$root"/boot/vmlinuz-*)
	cp "$kernel" "$work/vmlinuz"
	cp "$root"/boot/initrd.img-* "$work/initrd"
	rm -f "$work/disk"
	mke2fs -q -t ext4 -d "$root" "$work/disk" 3G
}

# One CPU: where QEMU emulates several, a kernel that patches itself may run stale code.
boot()
{
	timeout -k 10 5400 qemu-system-x86_64 -cpu qemu64,-cx16 -smp 1 \
		-accel tcg -m 1536 -nic none -display none -monitor none \
		-drive "file=$work/disk,format=raw,if=virtio,cache=unsafe" \
		-serial "file:$work/console" -serial "file:$work/results" \
		-kernel "$work/vmlinuz" -initrd "$work/initrd" \
		-append "root=/dev/vda console=ttyS0 panic=-1 oops=panic no_timer_check \
			rcupdate.rcu_cpu_stall_timeout=105 watchdog_thresh=50 \
			sysctl.kernel.hung_task_timeout_secs=600 \
			systemd.default_timeout_start_sec=900 \
			systemd.default_device_timeout_sec=900" \
		>"$work/qemu.log" 2>&1 </dev/null || cat "$work/qemu.log" >&2
}

main()
{
	local program guest rc=0

	for program in qemu-system-x86_64 mmdebstrap mke2fs lintian; do
		command -v $program >/dev/null ||
			give_up "$program is missing: run 'make deps'"
	done
	[ "$(id -u)" = 0 ] || give_up "root makes the machine"
	rm -rf --one-file-system "${work:?}"
	mkdir -p "$share"
	step "mmdebstrap makes a Debian" guest &
	guest=$!
	step "the packages can be built" build &
	wait $! || rc=1
	wait $guest || rc=1
	[ $rc = 0 ] || exit 1
	step "DKMS builds the module, and anew at an upgrade" module
	echo "ok - DKMS builds the module, and anew at an upgrade"
	step "a disk for the guest can be made" disk
	rm -rf --one-file-system "$root"
	boot
	tr -d '\r' <"$work/results" >"$work/tap"
	grep -q '^1\.\.' "$work/tap" || {
		echo "not ok - the guest comes to its end"
		tail -n 40 "$work/console" | sed 's/^/#   /'
	}
	cat "$work/tap"
	rm -f "$work/disk"
	! grep -q '^not ok' "$work/tap"
}

# All of this file has been read by now: it may be edited while this runs.
main; exit
