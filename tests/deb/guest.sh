#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh: what the packages do in a machine that boots with systemd.  Runs there as a
# service: the first part when it boots first, the second after a reboot.  /debs/old and
# /debs/new are the packages in two versions; TAP goes to the second serial line.
set -u
exec </dev/null 2>&1
export DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8
sessions=/var/lib/oprofile/samples
results=/dev/ttyS1
stty -F $results raw -echo

# check CLAIM: the function of that name holds.
check()
{
	local output rc

	echo "== $1"
	output=$(set -ex; "$1" 2>&1)
	rc=$?
	{
		[ $rc = 0 ] || printf 'not '
		echo "ok - ${1//_/ }"
		[ $rc = 0 ] || tail -n 40 <<<"$output" | sed 's/^/#   /'
	} >$results
}

# "!" alone fails no claim.
fails()
{
	if "$@"; then return 1; fi
}

no_lines()
{
	[ "$(tee /dev/stderr)" = "" ]
}

# Waits for an event, and long: an emulated machine is slow.
eventually()
{
	local n

	for ((n = 0; n < 600; n++)); do
		! "$@" || return 0
		sleep 1
	done
	echo "in vain: $*"
	return 1
}

report_of()
{
	runuser -u "$1" -- cat /mnt/opfs/last:10s/report
}

has_rows()
{
	report_of member | grep -E '^[0-9]+ +[0-9.]+ +[^ ]'
}

runs()
{
	systemctl is-active opcollect mnt-opfs.mount
}

packages_install()
{
	apt-get install -qy /debs/old/opfs_*.deb /debs/old/opfs-daemon_*.deb
	dpkg --audit | no_lines
}

nothing_is_enabled_or_started_by_installing()
{
	[ "$(systemctl is-enabled opcollect mnt-opfs.mount | sort -u)" = disabled ]
	[ "$(systemctl is-active opcollect mnt-opfs.mount | sort -u)" = inactive ]
}

daemon_and_mount_start()
{
	usermod -aG opfs member
	echo 'frequency = 99' >>/etc/opcollect.conf
	systemctl enable --now opcollect mnt-opfs.mount
	runs
}

members_of_the_group_read_reports()
{
	eventually has_rows
}

others_read_nothing()
{
	fails runuser -u other -- ls /var/lib/oprofile
	fails report_of other
}

dkms_has_built_a_module_that_loads()
{
	local version

	version=$(dpkg-query -W -f '${Version}' opfs-dkms)
	dkms status opfs-sampler/"$version" -k "$(uname -r)" | grep installed
	modprobe opfs_sampler
	[ -d /sys/module/opfs_sampler ]
	opcollect record --source=kernel -d /tmp/driver -- dd if=/dev/zero of=/dev/null \
		bs=1 count=300000
	opfs cat --session-dir=/tmp/driver current/image:dd/report
}

# What is at most normal of a module from elsewhere is not counted.
journal_has_no_complaint()
{
	local kernel

	[ "$(journalctl -b -q -o cat -u opcollect)" != "" ]
	# of the boot before too: how it ended.  A module ("/kvm") that was being loaded
	# when the daemon began has no build-id, and its names are not kept.
	journalctl -q -p warning -o cat -u opcollect -u mnt-opfs.mount |
		grep -v '^names are not kept: [^ ]*: /[a-z0-9_]*: neither a build-id' |
		no_lines
	kernel=$(journalctl -b -q -k -o cat)
	grep -i opfs <<<"$kernel" |
		grep -v 'taints kernel\|tainting kernel\|Command line:\|systemd\[' |
		no_lines
	grep -Ef <(sed '/^#/d; /^! /d' /test/complaints) <<<"$kernel" |
		grep -vEf <(sed -n 's/^! //p' /test/complaints) | no_lines
}

both_are_there_after_a_reboot()
{
	eventually runs
	eventually has_rows
}

nr_sealed()
{
	find $sessions -maxdepth 2 -name MANIFEST | wc -l
}

# is_sealed INODE: the session that was current then.
is_sealed()
{
	[ -e "$(find $sessions -maxdepth 1 -inum "$1")/MANIFEST" ]
}

# The programs that daemon and mount run are those that are installed.
programs_are_new()
{
	local group pid

	for group in opcollect.service mnt-opfs.mount; do
		pid=$(sort -n /sys/fs/cgroup/system.slice/$group/cgroup.procs | head -n 1)
		readlink "/proc/$pid/exe"
	done | tee /dev/stderr | cmp - <(printf '%s\n' /usr/bin/op{collect,fs})
}

an_upgrade_restarts_daemon_and_mount_and_the_session_is_sealed()
{
	local session

	# so that nothing else ends it
	echo 'rotate = "1h"' >>/etc/opcollect.conf
	systemctl restart opcollect
	session=$(stat -c %i $sessions/current)
	apt-get install -qy /debs/new/opfs_*.deb /debs/new/opfs-daemon_*.deb
	runs
	programs_are_new
	[ "$(stat -c %i $sessions/current)" != "$session" ]
	eventually is_sealed "$session"
	eventually has_rows
}

an_upgrade_starts_nothing_that_was_stopped()
{
	systemctl stop opcollect mnt-opfs.mount
	dpkg -i /debs/new/opfs-daemon_*.deb
	[ "$(systemctl is-active opcollect mnt-opfs.mount | sort -u)" = inactive ]
	systemctl start opcollect mnt-opfs.mount
}

an_upgrade_leaves_the_settings()
{
	grep -x 'frequency = 99' /etc/opcollect.conf
	[ "$(systemctl is-enabled opcollect mnt-opfs.mount | sort -u)" = enabled ]
}

sealed_sessions_are_whole()
{
	opfs check --session-dir=/var/lib/oprofile '2*'
}

remove_leaves_sessions_and_settings()
{
	local sealed

	sealed=$(nr_sealed)
	modprobe -r opfs_sampler
	apt-get remove -qy opfs opfs-daemon opfs-dkms
	fails pidof opcollect
	fails mountpoint /mnt/opfs
	[ ! -e /usr/bin/opfs ]
	[ "$(nr_sealed)" -ge "$sealed" ]
	[ -d $sessions/current ]
	[ -e /etc/opcollect.conf ]
	fails modinfo opfs_sampler
	dkms status opfs-sampler | no_lines
}

purge_leaves_sessions_if_not_told_otherwise()
{
	# the only one of which something is left to purge
	apt-get purge -qy opfs-daemon
	dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' 'opfs*' |
		grep -v '^un' | no_lines
	[ ! -e /etc/opcollect.conf ]
	[ ! -e /mnt/opfs ]
	[ -d $sessions/current ]
	find /etc/systemd /var/lib/systemd -name '*opcollect*' | no_lines
}

purge_removes_sessions_if_told_to()
{
	dpkg -i /debs/new/opfs_*.deb /debs/new/opfs-daemon_*.deb
	echo 'opfs-daemon opfs-daemon/remove-sessions boolean true' |
		debconf-set-selections
	apt-get purge -qy opfs-daemon
	[ ! -e /var/lib/oprofile ]
}

first=(packages_install nothing_is_enabled_or_started_by_installing
	daemon_and_mount_start members_of_the_group_read_reports others_read_nothing
	dkms_has_built_a_module_that_loads journal_has_no_complaint)
second=(both_are_there_after_a_reboot
	an_upgrade_restarts_daemon_and_mount_and_the_session_is_sealed
	an_upgrade_starts_nothing_that_was_stopped an_upgrade_leaves_the_settings
	sealed_sessions_are_whole
	remove_leaves_sessions_and_settings journal_has_no_complaint
	purge_leaves_sessions_if_not_told_otherwise purge_removes_sessions_if_told_to)

part=first
if [ -e /test/first ]; then part=second; fi
touch /test/$part
declare -n claims=$part
for claim in "${claims[@]}"; do
	check "$claim"
done
# One more is run.sh's.
[ $part = first ] || echo "1..$((1 + ${#first[@]} + ${#second[@]}))" >$results
sync
if [ $part = first ]; then systemctl reboot; else systemctl poweroff; fi
