#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# "opcollect record --callgraph=dwarf": whole stacks of code without frame pointers.

bats_require_minimum_version 1.5.0
load ../lib/record_tests

bare=(-fomit-frame-pointer -fno-optimize-sibling-calls -pthread)

setup_file() {
	local cc=${CC:-gcc} b=$BATS_FILE_TMPDIR level

	for level in 0 1 2 3; do
		"$cc" -O$level -g "${bare[@]}" -DUNWIND -o "$b/deep$level" "$progs/deep.c"
	done
	"$cc" -O2 -g "${bare[@]}" -static -DUNWIND -o "$b/static" "$progs/deep.c" \
		2>"$b/static.log"
	"$cc" -O2 -g "${bare[@]}" -shared -fPIC -DLIBRARY -o "$b/libdeep.so" \
		"$progs/deep.c"
	chmod 755 "$BATS_RUN_TMPDIR" "$b" 2>/dev/null || true
}

# Of what "record" took with these options of PROGRAM: where stacks are those that the
# program wrote down.
same_stacks() {
	local program=$1

	export PLACES=$PWD/places
	rm -rf oprofile_data places "$WORKED"
	run -0 --separate-stderr record --callgraph=dwarf -F 1999 "${@:2}" -- \
		"$program" "$b/libdeep.so" 100
	assert_balance
	[ "$(figure total_stacks)" = "$stored" ]
	python3 "$progs/same_stacks.py" oprofile_data "$program" places unwound >counts
	cat counts
	echo "$stderr" # where samples were lost
	# at most some that begin or end just then
	[ $(($(awk '$1 == "other" { print $2 }' counts) * 100)) -le "$stored" ]
	# of each kind: 200 if the host takes no time, or counters, away
	[ "$(awk '$1 != "other" && $2 < 5' counts)" = '' ]
}

@test "stacks are those that a program wrote down, at every level of optimization" {
	for level in 0 1 2 3; do
		same_stacks "$b/deep$level"
		[ "$(wc -l <counts)" = 9 ]
	done
}

@test "stacks are those of a stripped program as well" {
	cp "$b/deep2" stripped
	cp "$b/libdeep.so" libdeep.so
	strip stripped libdeep.so
	export PLACES=$PWD/places
	run -0 --separate-stderr record --callgraph=dwarf -F 1999 -- \
		./stripped ./libdeep.so 100
	assert_balance
	cp "$b/deep2" names
	PYTHONPATH=$progs:$OPFS_TOP/tests/lib python3 - "$PWD/stripped" names <<-'END'
	import sys
	import opsamples, same_stacks
	from ask import ranges
	program, names = sys.argv[1:]
	first, behind = ranges(names)["burn"]
	written = [callers for _, callers in same_stacks.written("places")]
	same = other = 0
	for row in opsamples.stacks("oprofile_data"):
	    *frames, (image, off, _) = row["stack"]
	    if image == program and first <= off < behind:
	        found = [(i, o) for i, o, _ in frames[::-1]] in written
	        same += found * row["samples"]
	        other += (not found) * row["samples"]
	print(same, other)
	sys.exit(same < 1000 or other * 100 > same)
	END
}

@test "programs that Debian ships have whole stacks" {
	run -0 --separate-stderr record --callgraph=dwarf -F 1999 -- /usr/bin/python3 -c '
def deep(n):
    return deep(n - 1) + 1 if n else sum(i * i for i in range(40000))
for _ in range(200):
    deep(50)'
	assert_balance
	# in the middle of exec the registers are those of a program that has gone
	cut=0
	for f in oprofile_data/samples/current/stats/stacks_*; do
		[ ! -e "$f" ] || [[ $f == */stacks_no_mapping ]] ||
			cut=$((cut + $(cat "$f")))
	done
	echo "$cut of $stored"
	[ "$stored" -gt 200 ]
	[ $((cut * 100)) -le "$stored" ]
	"$OPFS_BIN/opfs" cat --session-dir oprofile_data \
		current/image:/usr/bin/python3*/stacks.folded >folded
	# from the first function on, through libc's, which has no frame pointers
	awk '{ all += $NF }
		/^_start;__libc_start_main.*;Py_(BytesMain|RunMain);/ { n += $NF }
		/[^;]+_start;/ { n += $NF }
		END { print n, all; exit n < all * 0.9 }' folded
}

@test "with the chain, a stack goes on by frame pointers where unwind tables end" {
	cat >bare.s <<-'END'
	.globl without_table
	.type without_table, @function
	without_table:
	push %rbp
	mov %rsp, %rbp
	call burn
	pop %rbp
	ret
	.size without_table, . - without_table
	.section .note.GNU-stack, "", @progbits
	END
	cat >p.c <<-'END'
	void without_table(void);
	void burn(void);
	__attribute__((noinline)) void burn(void)
	{
		for (volatile long i = 0; i < 400000000; i++);
	}
	__attribute__((noinline)) void caller(void) { without_table(); __asm__(""); }
	int main(void) { caller(); __asm__(""); }
	END
	[ "$(uname -m)" = x86_64 ] || skip "assembly of x86-64"
	${CC:-gcc} -O2 -fomit-frame-pointer -o p p.c bare.s
	run -0 --separate-stderr record --callgraph=dwarf -F 999 -- ./p
	assert_balance
	"$OPFS_BIN/opfs" cat --session-dir oprofile_data current/stacks.folded >folded
	cat folded
	awk '/;main;caller;without_table;burn/ { n += $NF } { all += $NF }
		END { exit n < all * 0.9 }' folded
}

@test "a copy that is too short is told, with what would help" {
	run -0 --separate-stderr record --callgraph=dwarf,512 -F 1999 -- \
		env PLACES="$PWD/places" "$b/deep1" "$b/libdeep.so" 30
	assert_balance
	[ "$(figure stacks_copy_short)" -gt 20 ]
	[[ $stderr = *'up to 512 bytes of each stack are copied'* ]]
	[[ $stderr = *'stacks_copy_short: '*'--callgraph=dwarf,SIZE'* ]]
	grep -q 'up to 512 bytes of each stack are copied' \
		oprofile_data/samples/current/stats/notes
	"$OPFS_BIN/opfs" cat --session-dir oprofile_data current/status >status
	grep 'stacks_copy_short.*--callgraph=dwarf,SIZE' status
	"$OPFS_BIN/opfs" cat --session-dir oprofile_data current/calltree |
		grep -F '[truncated: copy too short]'
}

@test "code with neither unwind tables nor frame pointers is told, with what would help" {
	cat >p.c <<-'END'
	static volatile long n;
	__attribute__((noinline)) void burn(void) { for (n = 0; n < 200000000; n++); }
	__attribute__((noinline)) void caller(void) { burn(); __asm__(""); }
	int main(void) { caller(); __asm__(""); }
	END
	${CC:-gcc} -O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables \
		-fno-unwind-tables -o p p.c
	run -0 --separate-stderr record --callgraph=dwarf -F 1999 -- ./p
	assert_balance
	[ "$(figure stacks_no_unwind)" -gt 20 ]
	[[ $stderr = *'stacks_no_unwind: '*'-fno-omit-frame-pointer'* ]]
	"$OPFS_BIN/opfs" cat --session-dir oprofile_data current/status |
		grep 'stacks_no_unwind.*-fno-omit-frame-pointer'
}

@test "as many frames as were asked for are the innermost ones" {
	export PLACES=$PWD/places
	run -0 --separate-stderr record --call-graph=dwarf,16K,9 -F 1999 -- \
		"$b/deep2" "$b/libdeep.so" 30
	assert_balance
	PYTHONPATH=$OPFS_TOP/tests/lib python3 -c '
import opsamples
rows = list(opsamples.stacks("oprofile_data"))
user = [[f for f in r["stack"] if f[0] and f[0] != "/proc/kallsyms"] for r in rows]
assert max(map(len, user)) == 9, max(map(len, user))
assert any(r["stack"][0] == [None, 5, False] for r in rows)
# with those of the kernel
assert max(len(r["stack"]) for r in rows) == 1 + 9'
	[ "$(figure stacks_depth)" -gt 100 ]
	[[ $stderr = *'stacks_depth: '*'--callgraph=dwarf,SIZE,FRAMES '* ]]
}

@test "libraries come and go while they are sampled" {
	cat >lib.c <<-'END'
	__attribute__((noinline)) void NAME(void (*f)(void)) { f(); __asm__(""); }
	END
	cat >p.c <<-'END'
	#include <dlfcn.h>
	#include <stdio.h>
	static void burn(void) { for (volatile long i = 0; i < 2000000; i++); }
	int main(void)
	{
		for (int i = 0; i < 200; i++) {
			const char *lib = i & 1 ? "./liba.so" : "./libb.so";
			void *l = dlopen(lib, RTLD_NOW);
			void (*through)(void (*)(void)) =
				dlsym(l, i & 1 ? "one" : "other");

			through(burn);
			dlclose(l);
		}
	}
	END
	${CC:-gcc} -O2 -fomit-frame-pointer -shared -fPIC -DNAME=one -o liba.so lib.c
	${CC:-gcc} -O2 -fomit-frame-pointer -shared -fPIC -DNAME=other \
		-DPAD=1 -o libb.so lib.c
	${CC:-gcc} -O2 -fomit-frame-pointer -o p p.c
	run -0 --separate-stderr record --callgraph=dwarf -F 1999 -- ./p
	assert_balance
	"$OPFS_BIN/opfs" cat --session-dir oprofile_data current/stacks.folded >folded
	awk '/;main;(one|other);burn/ { n += $NF } /burn/ { all += $NF }
		/;main;one;burn/ { one += $NF }
		END { print n, all, one
			exit n < all * 0.98 || one < n / 4 || one > n * 3 / 4 }' \
		folded
}

@test "a damaged .eh_frame costs its own stacks only" {
	export PLACES=$PWD/places
	cp "$b/deep2" damaged
	cp "$b/libdeep.so" libdeep.so
	PYTHONPATH=$OPFS_TOP/tests/lib python3 - <<-'END'
	import random, subprocess
	read = subprocess.check_output(["readelf", "-SW", "damaged"], text=True)
	for line in read.split("\n"):
	    words = line.replace("[ ", "[").split()
	    if len(words) > 5 and words[1] == ".eh_frame":
	        at, size = int(words[4], 16), int(words[5], 16)
	data = bytearray(open("damaged", "rb").read())
	data[at:at + size] = random.Random(1).randbytes(size)
	open("damaged", "wb").write(data)
	END
	# it writes down no callers any more, but goes on
	printf 'int backtrace(void **at, int n) { return 0; }' >none.c
	${CC:-gcc} -shared -fPIC -o none.so none.c
	run -0 --separate-stderr record --callgraph=dwarf -F 1999 -- \
		env LD_PRELOAD="$PWD/none.so" ./damaged ./libdeep.so 30
	assert_balance
	[ "$(figure total_stacks)" = "$stored" ]
	# its own are guesses by frame pointers that are none
	PYTHONPATH=$OPFS_TOP/tests/lib python3 -c '
import opsamples
deep = sum(r["samples"] for r in opsamples.stacks("oprofile_data")
           if sum(str(f[0]).endswith("/damaged") for f in r["stack"]) > 3)
print(deep, "are deep")
exit(deep * 10 > '"$stored"')'
	# libraries of others are unwound as before
	same_stacks "$b/deep2"
}

@test "helpers that are killed cost stacks, and no samples" {
	export PLACES=$PWD/places
	(
		while [ ! -e stop ]; do
			pkill -KILL -f 'box=table[s]' || :
			sleep 0.01
		done
	) 3>&- &
	killer=$!
	run -0 --separate-stderr record --callgraph=dwarf -F 1999 -- "$b/deep2" \
		"$b/libdeep.so" 30
	touch stop
	wait "$killer"
	assert_balance
	[ "$(figure total_stacks)" = "$stored" ]
}

@test "who may lock little memory gets small buffers and small copies, and is told" {
	need_others
	local nobody=(setpriv --reuid=nobody --regid=nogroup --clear-groups)

	mkdir theirs
	chmod 777 theirs
	chmod 755 . ..
	cd theirs
	"${nobody[@]}" test -w . || skip "no directory for everyone"
	run -0 --separate-stderr "${nobody[@]}" prlimit --memlock=65536 \
		"$OPFS_BIN/opcollect" \
		record -e TIMER --callgraph=dwarf -F 999 -- \
		env PLACES="$PWD/places" WORKED="$PWD/worked" \
		"$b/deep1" "$b/libdeep.so" 30
	assert_balance
	[[ $stderr = *'rings of '*' KiB instead of 4096'* ]]
	[[ $stderr = *'bytes of each stack are copied'* ]]
	[ "$(figure total_stacks)" = "$stored" ]
	[ "$stored" -gt 50 ]
}

@test "no copy is more than a quarter of a buffer" {
	local most=$(($(getconf PAGESIZE) / 4))

	run -0 record -m 1 --callgraph=dwarf -- true
	[[ $output = *"--callgraph=dwarf: up to $most bytes of each stack are copied"* ]]
	run -0 record -m 1 --callgraph=dwarf,32K -- true
	[[ $output = *"up to $most bytes of each stack are copied instead of 32768: "* ]]
}

@test "how stacks are to be recorded is said right or refused" {
	for how in lbr dwarf,1 dwarf,65536 dwarf,8192,0 dwarf,8192,1,1 fp,0 -1 ''; do
		run -2 record --callgraph="$how" -- true
		[[ $output = 'opcollect record: --callgraph'* ]]
	done
	run -127 record -g dwarf true
	[[ $output = *'dwarf: no such command; '* ]]
	[[ $output = *'-g takes no argument, --callgraph=dwarf does'* ]]
	# no session in "warf", no rate "p"
	for how in dwarf dwarf,8192 fp fp,5; do
		run -2 record "-g$how" -- true
		[[ $output = *"record: -g: takes no argument; --callgraph=$how does"* ]]
	done
	run -0 record -gdarf -- true
	[ -d arf/samples/current ]
}

@test "a program that is interrupted in the middle of its first table is stored" {
	busy_start env PLACES="$PWD/places" "$b/deep2" "$b/libdeep.so" 3000
	run -130 --separate-stderr timeout -s INT --preserve-status 1 \
		"$OPFS_BIN/opcollect" \
		record --symbols=0 --callgraph=dwarf -a -F 999 -- sleep 100
	assert_balance
}
