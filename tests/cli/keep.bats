#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# opfs keep: reports stay as they are when a binary is not what it was.

bats_require_minimum_version 1.5.0
load ../lib/need
load ../lib/opfs
load ../lib/record

setup() {
	D=s
	cd "$BATS_TEST_TMPDIR"
}

# program NAME FACTOR: three functions, one of them inlined; "work" grows with FACTOR.
program() {
	cat >p.c <<-END
	static inline int tiny(int x) { return x * 3 + $2; }
	__attribute__((noinline)) int work(int n)
	{
		volatile int s = 0;
		for (int i = 0; i < n * $2; i++)
			s += tiny(i);
		return s;
	}
	__attribute__((noinline)) int more(int n)
	{
		volatile int s = 0;
		for (int i = 0; i < n; i++)
			s ^= i;
		return s;
	}
	int main(void)
	{
		for (int i = 0; i < 40; i++)
			work(500000), more(500000);
		return 0;
	}
	END
	"${CC:-gcc}" -O1 -g -fno-omit-frame-pointer -Wl,--build-id -o "$1" p.c
}

# recording WORD...: with names kept, as it does by itself.
recording() {
	"$OPFS_BIN/opcollect" record "$@"
}

# session NAME FILE FUNCTION=SAMPLES...: one that knows which binary FILE was.
session() {
	local session=$1 file=$PWD/$2 f at
	shift 2
	for f; do
		at=$(offset_of "$file" "${f%=*}")
		printf '"%s": %s\n' "$((at + 4))" "${f#*=}"
	done | paste -sd, >samples
	mksession <<-END
	[{"session": "$session", "app": "$file", "escape": true,
	  "mtime": $(stat -c %Y "$file"), "samples": {$(cat samples)}}]
	END
	printf '%s\t%s\t%s\t%s\t-\t0\t-\n' "$file" "$file" "$(build_id "$file")" \
		"$(stat -c '%Y	%s' "$file")" >>"s/samples/$session/images"
}

# shown: everything that tells names of session "current"
shown() {
	local at=current/with:debug-info
	opfs cat current/with:inlines/{report,report.tsv}
	opfs cat $at/{report,details,callgraph,report.tsv,report.json,report.xml} \
		current/summary \
		current/image:prog/gmon.out "current/annotate$PWD/p.c" \
		current/with:inlines/symbol:work/source
	opfs ls current/annotate
}

kept() {
	find s/symbols -type f ! -name '.*' -printf '%f\n' | sort
}

@test "what is recorded reads as on the first day, whatever becomes of its program" {
	can_record
	program prog 3
	recording -g -d s -- ./prog
	[ -s "s/symbols/$(build_id prog)" ]
	shown >then
	grep -q 'p.c:[0-9]* .*work$' then
	grep -q 's += tiny(i);$' then
	cp -p prog as-built
	cp -p p.c then.c
	strip prog
	shown >stripped
	diff -a then stripped
	rm prog
	shown >removed
	diff -a then removed
	cp /bin/true prog
	shown >replaced
	diff -a then replaced
	program prog 4
	cp -p then.c p.c
	shown >rebuilt
	diff -a then rebuilt
	cp -p as-built prog
	shown >back
	diff -a then back
	# and without what was kept there is no name
	rm -r s/symbols prog
	opfs cat current/report >r
	! grep -qw work r
}

@test "opfs diff finds a sixth after a rebuild in place" {
	program prog 6
	session before prog work=6000 more=4000
	opfs keep before
	program prog 7
	session current prog work=7000 more=4000
	run -1 opfs diff --fail-over=5% before/image:prog current/image:prog
	[[ $output == *$'\nwork\t'* ]]
	[[ $output != *$'\nmore\t'* ]]
	# which was not to be found before
	rm -r s/symbols
	run -3 opfs diff --fail-over=5% before/image:prog current/image:prog
}

@test "names are kept once for each build-id, functions that are sampled later added" {
	program prog 1
	session current prog work=10
	opfs keep
	opfs cat current/with:debug-info/report >work.1
	[ "$(kept)" = "$(build_id prog)" ]
	was=$(stat -c %i "s/symbols/$(kept)")
	opfs keep
	[ "$(stat -c %i "s/symbols/$(kept)")" = "$was" ]
	session other prog more=10
	opfs keep other | grep -qx "other: names of 1 images are kept"
	opfs cat other/with:debug-info/report >more.1
	[ "$(kept)" = "$(build_id prog)" ]
	rm prog
	opfs cat current/with:debug-info/report | cmp - work.1
	opfs cat other/with:debug-info/report | cmp - more.1
	grep -q "p.c:" work.1
	grep -q "p.c:" more.1
	# the binary is gone, and nothing is lost by that
	was=$(cat "s/symbols/$(kept)" | sha256sum)
	opfs keep current other
	[ "$(cat "s/symbols/$(kept)" | sha256sum)" = "$was" ]
}

# opens_in_keep SESSION: how often "prog" is opened while names of it are kept.
opens_in_keep() {
	rm -f calls.*
	# looking for leaks is work of another process
	ASAN_OPTIONS="${ASAN_OPTIONS-}:detect_leaks=0" strace -ff -o calls \
		-e trace=openat,openat2 "$OPFS_BIN/opfs" keep -q --session-dir s "$1"
	cat calls.* | grep -c '[/"]prog".* = [0-9]'
}

@test "a program without debug information is not read again for what is sampled later" {
	need_command strace
	program prog 1
	"${CC:-gcc}" -O1 -g -rdynamic -Wl,--build-id -o prog p.c
	objcopy --only-keep-debug prog prog.debug
	# exported names alone, as most installed programs have
	strip prog
	objcopy --add-gnu-debuglink=prog.debug prog
	mv prog.debug later
	session current prog work=10
	opfs keep
	again=$(opens_in_keep current)
	session other prog more=10
	[ "$(opens_in_keep other)" = "$again" ]
	[ "$again" -gt 0 ]
	mv prog away
	opfs cat other/report | grep -qw more
	mv away prog
	# a debug file that comes tells more
	mv later prog.debug
	opfs keep other | grep -qx "other: names of 1 images are kept"
	rm prog prog.debug
	opfs cat other/with:debug-info/report | grep -q "p.c:"
}

@test "names go with the last session that has them" {
	program prog 1
	session current prog work=10
	session other prog more=10
	program second 2
	session third second work=10
	opfs keep current third
	[ "$(kept | wc -l)" = 2 ]
	rm -r s/samples/current s/samples/third
	echo torn >s/symbols/.tmp.1.1
	opfs keep --prune | grep -q "of 2 images .* removed"
	[ "$(kept)" = "$(build_id prog)" ]
	[ ! -e s/symbols/.tmp.1.1 ]
	rm -r s/samples/other
	opfs keep --prune
	[ -z "$(kept)" ]
	# what cannot be read might need them
	session current prog work=10
	opfs keep
	echo "no table" >s/samples/current/images
	run -1 opfs keep --prune
	[ "$(kept)" = "$(build_id prog)" ]
}

@test "a session that is renamed meanwhile keeps its names" {
	program prog 1
	session zz prog work=10
	opfs keep zz
	mkdir -p s/samples/{1..300}
	python3 - <<-'END' &
	import os
	while not os.path.exists("over"):
	    os.rename("s/samples/zz", "s/samples/yy")
	    os.rename("s/samples/yy", "s/samples/zz")
	END
	for i in {1..20}; do
		run opfs keep --prune 1
		[ "$(kept)" = "$(build_id prog)" ] || break
	done
	touch over
	wait $!
	[ "$(kept)" = "$(build_id prog)" ]
	# what was said, if it was not done
	[ "$status" = 0 ] || [[ $output == *"sessions are being renamed"* ]]
}

@test "a binary without a build-id is told from others by its path and time" {
	program prog 1
	objcopy --remove-section=.note.gnu.build-id prog
	session current prog work=10
	sed -i 's/\t\t/\t-\t/' s/samples/current/images
	opfs cat current/report >then
	grep -qw work then
	opfs keep
	[ "$(kept | wc -l)" = 1 ]
	rm prog
	opfs cat current/report | cmp - then
}

@test "what only some may read is kept for them alone" {
	need_root
	program prog 1
	cp prog private
	objcopy --remove-section=.note.gnu.build-id private
	chmod 700 private
	session current prog work=10
	session other private work=10
	sed -i 's/\t\t/\t-\t/' s/samples/other/images
	chmod 755 "$BATS_RUN_TMPDIR" "${BATS_TEST_TMPDIR%/*}" "$BATS_TEST_TMPDIR"
	opfs keep current other
	[ "$(stat -c %a "s/symbols/$(build_id prog)")" = 644 ]
	[ "$(find s/symbols -type f -name '*.*' ! -name .lock -printf %m)" = 600 ]
	[ "$(stat -c %a s/symbols/.lock)" = 600 ]
}

# inject CALL HOW WORD...: opfs with these words, whose CALLs strace spoils.  Nobody can
# look for leaks beneath it.
inject() {
	ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 strace -f -qq -o /dev/null \
		-e "trace=$1" -e "inject=$1:$2" "$OPFS_BIN/opfs" "${@:3}"
}

# killed_at CALL: opfs keep, killed at each CALL it makes, one after the other.
killed_at() {
	local n=1
	while :; do
		rm -rf s/symbols
		run inject "$1" "signal=KILL:when=$n" keep --session-dir s
		for f in $(kept 2>/dev/null); do
			cmp "s/symbols/$f" "good/$f"
		done
		[ "$status" != 0 ] || break
		[ "$status" = 137 ] && [ "$n" -lt 100 ]
		n=$((n + 1))
	done
	[ "$n" -gt 1 ]
	cmp "s/symbols/$(build_id prog)" "good/$(build_id prog)"
}

@test "killed at any write, it leaves each file whole or none" {
	need_command strace
	program prog 1
	session current prog work=10 more=10
	opfs keep
	cp -r s/symbols good
	killed_at fsync
	killed_at rename,renameat,renameat2
	# and what was left is removed by the next
	[ -z "$(find s/symbols -name '.tmp*')" ]
}

@test "a disk that fails or is full loses names, which is told, and nothing else" {
	need_command strace
	program prog 1
	session current prog work=10
	run -1 --separate-stderr inject fsync error=EIO keep --session-dir s
	[[ $stderr == *"names are not kept: current: "*prog*"Input/output error"* ]]
	[ -z "$(find s/symbols -type f ! -name .lock)" ]
	mkdir small
	private_mounts sh -ec 'mount -t tmpfs -o size=2m small small
		cp -r s small
		! "$1/opfs" keep --session-dir small/s' sh "$OPFS_BIN" >out 2>&1 ||
		skip "no tmpfs here"
	grep -q "less than 64 MiB of the disk would stay free" out
	run -1 --separate-stderr opfs keep --limit=1K
	[[ $stderr == *"would hold more than"*"--limit"* ]]
	opfs keep
}

@test "names that were kept go with an archive" {
	program prog 1
	session current prog work=10
	opfs keep
	rm prog
	opfs cat current/with:debug-info/report >before
	grep -q "p.c:" before
	opfs cat current/archive.tar >a.tar
	mkdir u
	tar -C u -xf a.tar
	rm -r s
	D=u opfs cat current/with:debug-info/report | cmp - before
	D=u opfs cat current/image:prog/archive.tar | tar -tf - | grep "^symbols/"
}

@test "several at once wait for each other" {
	program prog 1
	session current prog work=10
	session other prog more=10
	for i in 1 2 3 4; do
		opfs keep current other >out.$i 2>&1 3>&- &
		pids[i]=$!
	done
	# not for whatever bats runs behind
	wait "${pids[@]}"
	[ "$(cat out.* | grep -c "^other: names of 1 images are kept")" = 4 ]
	rm prog
	opfs cat other/report | grep -q more
}

@test "what was kept and is damaged is not believed, and made anew" {
	program prog 1
	session current prog work=10
	opfs keep
	f=s/symbols/$(kept)
	cp "$f" good
	flip_byte "$f" 300
	mv prog away
	opfs cat current/report | grep -q prog
	opfs cat current/report >r
	run -1 grep -w work r
	mv away prog
	opfs keep
	cmp "$f" good
}

@test "what cannot be kept is told: in the session, and by the exit status" {
	can_record
	program prog 1
	recording -d s -- sh -c './prog; rm prog'
	opfs cat current/status | grep -q "^note: names are not kept: .*prog"
	run -1 opfs keep
	[[ $output == *"names are not kept: current: $PWD/prog: "* ]]
}

@test "recording keeps no names where that is asked" {
	can_record
	program prog 1
	record --symbols=0 -d s -- ./prog
	[ ! -e s/symbols ]
	recording --symbols=1K -d s -- ./prog 2>err
	grep -q "names are not kept: current: $PWD/prog: .*--limit" err
	run -2 recording --symbols=much -d s -- true
}

@test "wrong arguments say what is right" {
	program prog 1
	session current prog work=10
	run -1 opfs keep none
	[[ $output == *none* ]]
	run -2 opfs keep --limit=much
	[[ $output == *"--limit=2G"* ]]
	run -1 "$OPFS_BIN/opfs" keep --session-dir /nowhere
	[[ $output == */nowhere* ]]
}

@test "the running kernel's names are kept once, whatever of it is sampled" {
	need_root
	can_record
	recording -d s -- dd if=/dev/zero of=/dev/null bs=1 count=200000
	id=$(awk '$1 == "/proc/kallsyms" { print $3 }' s/samples/current/images)
	[ "$(stat -c %a "s/symbols/$id")" = 600 ]
	was=$(stat -c %i "s/symbols/$id")
	recording --append -d s -- find /usr -newer /etc/passwd
	[ "$(stat -c %i "s/symbols/$id")" = "$was" ]
}

# A report as it was, and what is opened for it.
opened_for_report() {
	# looking for leaks is work of another process
	ASAN_OPTIONS="${ASAN_OPTIONS-}:detect_leaks=0" strace -f -o calls \
		-e trace=openat "$OPFS_BIN/opfs" cat --session-dir s current/report >now
	diff then now
}

@test "of names that were kept and can be no better the binary is not asked" {
	need_root
	can_record
	need_command strace
	program prog 3
	recording -d s -- sh -c './prog; dd if=/dev/zero of=/dev/null bs=1 count=200000'
	opfs cat current/report >then
	grep -qw work then
	grep -q kallsyms then
	opened_for_report
	run -1 grep -E '"(/proc/kallsyms|prog)", O_' calls
	# and what was kept is not decoded again
	export OPFS_CACHE_DIR=$PWD/cache
	opfs cat current/report >/dev/null
	opened_for_report
	kernel=$(awk '$1 == "/proc/kallsyms" { print $3 }' s/samples/current/images)
	[ -s "s/symbols/$kernel" ]
	run -1 grep -E "$kernel|$(build_id prog)" calls
	# without, these are asked
	export OPFS_CACHE_DIR=
	rm -r s/symbols
	opened_for_report
	grep -q '"/proc/kallsyms", O_' calls
	grep -q '"prog", O_' calls
}

@test "names that a session keeps are decoded once, and answer for no other session" {
	need_command strace
	for name in evil work; do
		cat >$name.c <<-END
		volatile int sum;
		void $name(int n) { while (n--) sum += n; }
		int main(void) { $name(9); return 0; }
		END
		"${CC:-gcc}" -O1 -fno-inline -Wl,--build-id=0x0123456789abcdef \
			-o $name $name.c
	done
	[ "$(stat -c %s evil)" = "$(stat -c %s work)" ]
	# what is kept says of the binary what it is like, and other names
	put() { cat "$1" >prog && touch -d @1500000000 prog; }
	put evil
	session current prog evil=60
	opfs keep current
	put work
	cp -r s other
	rm -r other/symbols
	export OPFS_CACHE_DIR=$PWD/cache
	opfs cat current/report >then
	grep -qw evil then
	opened_for_report
	run -1 grep -F "$(kept)" calls
	D=other opfs cat current/report | grep -qw work
	# another file there is another one's word, and so is another binary
	cp -p "s/symbols/$(kept)" kept.then
	: >"s/symbols/$(kept)"
	opfs cat current/report | grep -qw work
	cp -p kept.then "s/symbols/$(kept)"
	export OPFS_CACHE_DIR=$PWD/cache2
	opfs cat current/report | grep -qw evil
	touch prog
	opfs cat current/report | grep -qw work
}
