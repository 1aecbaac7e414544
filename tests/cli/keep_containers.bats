#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Names of what ran in another mount namespace, or below another root directory.

bats_require_minimum_version 1.5.0
load ../lib/need
load ../lib/opfs
load ../lib/record
load ../lib/daemon

setup() {
	D=s
	cd "$BATS_TEST_TMPDIR"
	can_record_cpus
	need_mount_namespace
	private=(unshare -m --)
	[ "$(id -u)" = 0 ] || private=(unshare -rm --)
	collector= pid= log=
}

teardown() {
	exec 8>&-
	daemon_teardown
	[ -z "$collector" ] || kill -KILL "$collector" 2>/dev/null || true
}

# begin COMMAND...: records it until its program, which goes on, is known.
begin() {
	rm -rf s go
	mkfifo go
	"$OPFS_BIN/opcollect" record -d s -- "$@" <go >out 2>&1 3>&- &
	collector=$!
	exec 8>go
	wait_for known_or_over
	cat out
	grep -q "container [0-9]*$" s/samples/current/images
}

known_or_over() {
	grep -qs "container [0-9]*$" s/samples/current/images && grep -qx "done" out ||
		! kill -0 "$collector"
}

# end: of the program, and then of the recording.
end() {
	exec 8>&-
	wait "$collector"
	collector=
	cat out
}

# program NAME FUNCTION [OPTION...]: works, then waits for the end of its input.
program() {
	local name=$1 function=$2
	shift 2
	cat >"$function.c" <<-END
	#include <unistd.h>
	__attribute__((noinline)) int $function(int n)
	{
		volatile int s = 0;
		for (int i = 0; i < n; i++)
			s += i;
		return s;
	}
	int main(void)
	{
		char c;
		for (int i = 0; i < 400; i++)
			$function(2000000);
		return (int)(write(1, "done\n", 5) - 5 + read(0, &c, 1));
	}
	END
	"${CC:-gcc}" -O1 -g -static -o "$name" "$function.c" "$@"
}

# shown FILE PROGRAM FUNCTION: everything that tells its names.
shown() {
	local at=current/with:debug-info/image:$2
	opfs cat "$at"/{report,details,report.tsv,report.json,report.xml} \
		current/summary "current/image:$2/symbol:$3/source" >"$1"
	grep -q "$3.c:[0-9]* .*$3\$" "$1"
}

@test "what ran in a container reads the same while it lives and when it is removed" {
	program app work
	mkdir in
	begin "${private[@]}" sh -ec 'mount -t tmpfs none in; cp -p app in/app; in/app'
	kill -TERM "$collector"
	wait "$collector" || true
	[ ! -e in/app ]
	mv s/symbols kept
	shown alive app work
	exec 8>&-
	wait_for ended \
		"$(sed -n 's/.*container //p' s/samples/current/images | head -n 1)"
	run -1 opfs cat current/image:app/symbol:work/source
	opfs cat current/status >status
	grep -q "^unresolved: .*/in/app: .* was in a container, .*; copy it" status
	mv kept s/symbols
	shown removed app work
	diff -a alive removed
}

ended() {
	! kill -0 "$1" 2>/dev/null
}

@test "what record started in a container of its own is named when both have ended" {
	program app work
	mkdir in
	begin "${private[@]}" sh -ec 'mount -t tmpfs none in; cp -p app in/app; in/app'
	end
	[ ! -e in/app ]
	shown kept app work
	[ "$(stat -c %a "s/symbols/$(build_id app)")" = 600 ]
	# as if it had been here
	mv s/symbols away
	cp -p app in/app
	shown here app work
	diff -a kept here
	rm in/app
	opfs cat current/image:app/report >r
	run -1 grep -w work r # the kernel has a process_one_work()
}

# One that is not to be told from others but by its inode has the time of another, too.
@test "a program below another root directory is not taken for the one of its path here" {
	need_root
	for id in sha1 none; do
		rm -rf root inside-* app
		program app outer "-Wl,--build-id=$id"
		mkdir -p "root$PWD"
		program "root$PWD/app" inner "-Wl,--build-id=$id"
		touch -r app "root$PWD/app"
		begin chroot root "$PWD/app"
		end
		shown "inside-kept" app inner
		run -1 grep -r outer inside-kept
		rm -r root
		shown "inside-gone" app inner
		diff -a inside-kept inside-gone
		# nor when nothing was kept
		rm -r s/symbols
		opfs cat current/image:app/report >r
		run -1 grep -w "inner\|outer" r
		opfs cat current/status >status
		grep -q "^unresolved: .*/app: .*was in a container" status
	done
}

@test "two programs of one path and time in two containers keep a name each" {
	need_root
	mkdir -p one two
	program one/app inner -Wl,--build-id=none
	program two/app outer -Wl,--build-id=none
	touch -r one/app two/app
	# dash gives what runs behind /dev/null, whatever <&0 says
	begin sh -c 'exec 9<&0; chroot one /app <&9 & chroot two /app <&9 & wait'
	wait_for both_known
	end
	rm -r one two
	opfs cat current/report >r
	grep -qw inner r
	grep -q outer r
	opfs cat current/status >status
	run -1 grep "^unresolved: /app" status
}

both_known() {
	[ "$(grep -c "container [0-9]*$" s/samples/current/images)" = 2 ]
}

@test "a link in a container leads to what is in it, and not out of it" {
	need_root
	program secret outer
	chmod 700 secret
	mkdir -p "root$PWD" root/bin
	program root/bin/app inner
	ln -s "$PWD/secret" root/app
	cp -p root/bin/app "root$PWD/secret"
	begin chroot root /app
	end
	rm -r root
	opfs cat current/report >r
	grep -qw inner r
	run -1 grep outer r
}

@test "the daemon keeps names of a container that has ended, and lets go of its files" {
	need_root
	daemon_setup
	program app work
	mkdir in
	mkfifo go
	daemon
	"${private[@]}" sh -ec 'mount -t tmpfs none in; cp -p app in/app; in/app' \
		<go >out 2>&1 3>&- &
	exec 8>go
	D=$dir
	wait_for grep -qs "/in/app.*container [0-9]*$" "$dir/samples/current/images"
	wait_for holds
	exec 8>&-
	wait "$!"
	wait_for [ -s "$dir/symbols/$(build_id app)" ]
	wait_for holds_nothing
	ctl save saved
	wait_for [ -s "$dir/samples/saved/MANIFEST" ]
	opfs cat saved/image:app/report | grep -qw work
}

holds() {
	[ -n "$(find "/proc/$pid/fd" -lname '*/app' 2>/dev/null)" ]
}

holds_nothing() {
	! holds
}
