#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# opfs fetch: debug files that are missing come from debuginfod servers, and only then.

bats_require_minimum_version 1.5.0
load ../lib/need
load ../lib/opfs
load ../lib/busy
load ../lib/typed

setup_file() {
	cd "$BATS_FILE_TMPDIR"
	cat >p.c <<-'END'
	__attribute__((noinline)) int work(int n)
	{
		return n * 3;
	}
	int main(int argc, char **argv)
	{
		return work(argc);
	}
	END
	"${CC:-gcc}" -O1 -g -Wl,--build-id -o full p.c
	sed 's/3/4/' p.c >other.c
	"${CC:-gcc}" -O1 -g -Wl,--build-id -o other other.c
	objcopy --only-keep-debug full full.debug
	objcopy --only-keep-debug other other.debug
	cp full stripped
	strip stripped
}

setup() {
	cd "$BATS_TEST_TMPDIR"
	mkdir home
	cp "$BATS_FILE_TMPDIR"/{full,full.debug,other,other.debug} .
	cp "$BATS_FILE_TMPDIR/stripped" prog
	id=$(build_id full)
	export HOME=$PWD/home
	cache=$HOME/.cache/debuginfod_client/$id
	unset DEBUGINFOD_URLS DEBUGINFOD_CACHE_PATH XDG_CACHE_HOME
	session current
}

teardown() {
	[ -z "${mounted:-}" ] || fusermount3 -uz m
	shell_end
	busy_end
}

# session NAME [FUNCTION]: samples of work() in prog
session() {
	mksession <<-END
	[{"session": "$1", "app": "$PWD/prog", "escape": true,
	  "samples": {"$(($(offset_of full "${2-work}")))": 90}}]
	END
	printf '%s\t%s\t%s\t0\t0\t-\t0\t-\n' "$PWD/prog" "$PWD/prog" "$id" \
		>>"s/samples/$1/images"
}

# serve FILE...: debuginfod itself, until it knows them, in $url
serve() {
	local port

	need_command debuginfod
	mkdir served
	cp "$@" served
	for i in {1..20}; do
		port=$((20000 + RANDOM % 20000))
		busy_start sh -c "exec debuginfod -vvv -d :memory: -F -p $port served \
			>log 2>&1"
		wait_for grep -qE 'started http server|error' log
		! grep -q "started http server" log || break
		busy_end
	done
	url=http://127.0.0.1:$port
	wait_for all_recorded $#
}

all_recorded() {
	[ "$(grep -c "recorded buildid.*file=.*atype" log)" -ge "$1" ]
}

# serve_badly HOW [FILE]
serve_badly() {
	rm -f asked
	busy_start sh -c "exec python3 '$OPFS_TOP/tests/lib/debug_server.py' $* >asked"
	wait_for test -s asked
	url=http://127.0.0.1:$(head -1 asked)
}

# fetch WORD...
fetch() {
	DEBUGINFOD_URLS=$url opfs fetch "$@"
}

# What readers show of the sampled function.
is_named() {
	opfs cat current/with:debug-info/report | grep -q "p.c:[23] .*work\$"
}

nothing_is_stored() {
	[ -z "$(find "$HOME" -path "*$id*" -type f)" ]
}

@test "what is fetched gives functions names and lines, and is asked for once" {
	run ! is_named
	serve full.debug
	run -0 fetch
	[[ $output == "100.00%  $PWD/prog: fetched, "*" MiB" ]]
	cmp "$cache/debuginfo" full.debug
	is_named
	run -0 fetch
	[ "$output" = "100.00%  $PWD/prog: already here, $cache/debuginfo" ]
	[ "$(grep -c "GET /buildid/$id/debuginfo" log)" = 1 ]
}

@test "a binary that is gone is fetched itself, with its code" {
	rm prog
	serve full.debug full
	run -0 fetch
	[[ ${lines[0]} == *"prog: the binary itself is fetched, "* ]]
	is_named
	opfs cat current/symbol:work/asm | grep -q "ret"
	# so does another one that was put in its place
	cp other prog
	is_named
	rm -r "$cache"
	run ! is_named
}

# Two programs whose debug information dwz moves out of both, as far as it is the same.
share_debug_information() {
	cat >q.cc <<-'END'
	#include <string>
	__attribute__((noinline)) int work(int n)
	{
		return std::string(n, 'x').size();
	}
	int main(int argc, char **argv)
	{
		return work(argc);
	}
	END
	g++ -O1 -gdwarf-4 -Wl,--build-id -o full q.cc
	sed "s/'x'/'y'/" q.cc >r.cc
	g++ -O1 -gdwarf-4 -Wl,--build-id -o other r.cc
	dwz -m shared -M /nowhere/shared full other
	objcopy --only-keep-debug full full.debug
	cp full prog
	strip prog
	id=$(build_id full)
	rm -r s
	session current "$(nm full | awk '/work/ { print $3; exit }')"
}

@test "what dwz moved out of a debug file is fetched too" {
	need_command dwz
	share_debug_information
	shared=$HOME/.cache/debuginfod_client/$(build_id shared)/debuginfo
	serve full.debug
	run -1 fetch
	[[ ${lines[0]} == *"prog: fetched, "* ]]
	[ "${lines[1]}" = \
		"100.00%  $PWD/prog: what it shares with others: not on the server" ]
	[ "${#lines[@]}" = 2 ]
	[ ! -e "$shared" ]
	busy_end
	rm -r served
	serve full.debug shared
	run -0 fetch
	[[ $output == "100.00%  $PWD/prog: what it shares with others is fetched, "* ]]
	[ "${#lines[@]}" = 1 ]
	cmp "$shared" shared
	run -0 fetch
	[[ $output == "100.00%  $PWD/prog: already here, "* ]]
}

screen_shows() {
	screen | grep -qF -- "$1"
}

@test "how much has come is told on a terminal, and erased when all has" {
	need_command tmux
	head -c 2M /dev/zero >pad
	objcopy --add-section .pad=pad full.debug big.debug
	serve_badly in_halves "$PWD/big.debug"
	shell bash
	keys "DEBUGINFOD_URLS=$url opfs fetch --session-dir s; echo status \$?" Enter
	wait_for screen_shows "1.0 of 2.0 MiB"
	touch big.debug.rest
	wait_for screen_shows "status 0"
	! screen_shows "of 2.0 MiB"
	screen_shows "fetched, 2.0 MiB"
	rm -r "$cache"
	DEBUGINFOD_URLS=$url opfs fetch 2>told
	[ ! -s told ]
}

@test "a binary, or a build-id, may be named" {
	serve full.debug
	rm -r s
	run -0 fetch ./prog
	[[ $output == "./prog: fetched, "* ]]
	run -0 fetch ./full ./prog
	[ "${lines[0]}" = "./full: already here, $PWD/full" ]
	rm -r "$cache"
	run -0 fetch "$id"
	[[ $output == "$id: fetched, "* ]]
	run -0 fetch "$id"
	[ "$output" = "$id: already here, $cache/debuginfo" ]
	run -1 fetch ./none
	[[ $output == *"./none: failed: "*"No such file"* ]]
}

@test "where caches are is told by the environment, also to reports" {
	serve full.debug
	for v in DEBUGINFOD_CACHE_PATH=$PWD/a/b XDG_CACHE_HOME=$PWD/c/d; do
		run ! is_named
		export "${v?}"
		fetch
		is_named
		unset "${v%%=*}"
	done
	cmp "a/b/$id/debuginfo" full.debug
	cmp "c/d/debuginfod_client/$id/debuginfo" full.debug
	nothing_is_stored
}

@test "what perf keeps by build-id is found too" {
	at=$HOME/.debug$PWD/prog/$id
	mkdir -p "$at" "$HOME/.debug/.build-id/${id:0:2}"
	ln -s "$at" "$HOME/.debug/.build-id/${id:0:2}/${id:2}"
	cp full.debug "$at/debug"
	is_named
	rm "$at/debug" prog
	run ! is_named
	cp full "$at/elf"
	is_named
	cp other "$at/elf"
	run ! is_named
}

@test "a debug file of another user, or of another build, is not taken" {
	mkdir -p "$cache"
	cp full.debug "$cache/debuginfo"
	is_named
	cp other.debug "$cache/debuginfo"
	run ! is_named
	need_root
	cp full.debug "$cache/debuginfo"
	chown 65534 "$cache/debuginfo"
	run ! is_named
}

@test "no other command asks a server" {
	serve_badly status_404
	export DEBUGINFOD_URLS=$url
	opfs cat current/{report,details,summary,status} \
		current/archive.tar >/dev/null
	opfs cat current/with:debug-info/report >/dev/null
	opfs keep || :
	opfs check
	opfs why current
	opfs ls current/annotate || :
	[ "$(wc -l <asked)" = 1 ]
	run -1 fetch
	[ "$(wc -l <asked)" = 2 ]
}

@test "without a server to ask it says how to name one" {
	run -1 opfs fetch
	[[ $output == *"set DEBUGINFOD_URLS, as in DEBUGINFOD_URLS=https://"* ]]
}

@test "without libdebuginfod it says which package to install" {
	need_mount_namespace
	lib=$(ldconfig -p | awk '/libdebuginfod.so.1 / { print $NF; exit }')
	[ -n "$lib" ]
	run private_mounts sh -c "mount --bind /dev/null '$lib' &&
		DEBUGINFOD_URLS=http://127.0.0.1:1 '$OPFS_BIN/opfs' fetch --session-dir s"
	[ "$status" = 1 ]
	[[ $output == *"install the package libdebuginfod1"* ]]
}

@test "a file that no server has, and servers that fail, are told apart" {
	serve_badly status_404
	run -1 fetch
	[ "$output" = "100.00%  $PWD/prog: not on the server" ]
	nothing_is_stored
	# asked again at once, it is asked for again
	run -1 fetch
	[ "$(grep -c "/$id/debuginfo" asked)" = 2 ]
	serve_badly status_500
	run -1 fetch
	[[ $output == *"prog: failed: "*"error: 500"* ]]
	nothing_is_stored
	url=http://127.0.0.1:1
	run -1 fetch
	[[ $output == *"prog: failed: "*"connect"* ]]
	nothing_is_stored
	run -1 fetch none
	[[ $output == *"none"* ]]
}

@test "what is no debug file of the binary is refused and removed" {
	for how in "file $PWD/other.debug" text; do
		# shellcheck disable=SC2086
		serve_badly $how
		run -1 fetch
		[[ $output == *"failed: what the server sent is not it, and was"* ]]
		nothing_is_stored
	done
}

@test "a file cut short, and one without end, leave nothing behind" {
	serve_badly cut_short "$PWD/full.debug"
	run -1 fetch
	[[ $output == *"prog: failed: "*"transfer closed"* ]]
	nothing_is_stored
	serve_badly endless
	run -1 fetch --limit=1M
	[[ $output == *"failed: it is larger than 1 MiB: allow more with --limit" ]]
	nothing_is_stored
	run -2 fetch --limit=much
	[[ $output == *"--limit=2G"* ]]
}

@test "a signal ends it, and removes what was not complete" {
	for signal in INT TERM; do
		serve_badly stalls
		DEBUGINFOD_URLS=$url setsid "$OPFS_BIN/opfs" fetch --session-dir s \
			>out 2>&1 3>&- &
		pid=$!
		wait_for grep -q "/$id/" asked
		kill -s $signal "$pid"
		status=0
		wait "$pid" || status=$?
		[ "$status" = "$((128 + $(kill -l $signal)))" ]
		nothing_is_stored
	done
}

@test "a mount that is running shows what was fetched" {
	need_mount
	mkdir m
	"$OPFS_BIN/opfs" mount --session-dir s m
	mounted=1
	run ! grep -q "work\$" m/current/report
	serve full.debug
	fetch
	wait_for grep -q "work\$" m/current/report
	wait_for grep -q "p.c:[23] " m/current/with:debug-info/report
}

@test "a mount shows lines of a binary with names of its own once they were fetched" {
	need_mount
	mkdir m
	strip -g -o prog full
	"$OPFS_BIN/opfs" mount --session-dir s m
	mounted=1
	grep -q "work\$" m/current/report
	run ! grep -q "p.c:[23] " m/current/with:debug-info/report
	[ "$(ls m/current/annotate)" = no-source ]
	serve full.debug
	fetch
	wait_for grep -q "p.c:[23] " m/current/with:debug-info/report
	wait_for test -e "m/current/annotate$BATS_FILE_TMPDIR/p.c"
}
