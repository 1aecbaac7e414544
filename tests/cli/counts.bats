#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What large sessions cost, counted in system calls, allocations and bytes.

bats_require_minimum_version 1.5.0
load ../lib/need
load ../lib/opfs

setup() {
	cd "$BATS_TEST_TMPDIR"
}

# files NUMBER: a session of this name, with so many sample files in two directories.
files() {
	python3 - "$1" <<-'END' | mksession
	import json, sys
	name = sys.argv[1]
	print(json.dumps([{"session": name, "image": "/lib/x%d" % (i % 2),
	                   "tgid": 10 + i // 2, "tid": 10 + i // 2}
	                  for i in range(int(name))]))
	END
}

# calls WORD...: how many system calls opfs makes.  Nobody can look for leaks beneath
# strace.
calls() {
	ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 strace -f -qq -c -U calls,name \
		-o calls "$OPFS_BIN/opfs" "$1" --session-dir s "${@:2}" >out
	awk '$2 == "total" { print $1 }' calls
}

@test "a sample file takes five system calls to be found and summed" {
	need_command strace
	files 100
	files 1100
	few=$(calls ls 100)
	many=$(calls ls 1100)
	# and some for memory, and for long directories
	echo "$few $many"
	[ $((many - few)) -ge 5000 ]
	[ $((many - few)) -lt 6000 ]
}

@test "a directory of a session takes four system calls to be walked" {
	need_command strace
	for n in 50 550; do
		python3 - $n <<-'END' | mksession
		import json, sys
		print(json.dumps([{"session": sys.argv[1], "app": "/x%d" % i}
		                  for i in range(int(sys.argv[1]))]))
		END
	done
	dirs=$(($(find s/samples/550 -type d | wc -l) -
		$(find s/samples/50 -type d | wc -l)))
	[ $dirs -ge 2000 ]
	few=$(calls ls 50)
	many=$(calls ls 550)
	echo "$dirs: $few $many"
	# and five for each file
	[ $((many - few - 5 * 500)) -ge $((4 * dirs)) ]
	[ $((many - few - 5 * 500)) -lt $((4 * dirs + dirs / 10)) ]
}

@test "figures that a session that has ended does not have are not looked for" {
	need_command strace
	files 10
	mkdir -p s/samples/10/stats
	echo 30 >s/samples/10/stats/total_samples
	ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0 strace -f -qq -o trace \
		-e trace=openat2 "$OPFS_BIN/opfs" cat --session-dir s 10/status >out
	grep -q '^taken: 30$' out
	grep -q '"total_samples"' trace
	run ! grep '"lost_' trace
}

# functions NUMBER LENGTH: a program "code" of so many functions with names of so many
# bytes, and a session with samples in each of them, in two columns.
functions() {
	python3 - "$1" "$2" <<-'END' | "${CC:-gcc}" -x assembler -nostdlib -static \
		-Wl,-e0 -o code -
	import sys
	print(".text")
	for i in range(int(sys.argv[1])):
	    name = ("f%d_" % i).ljust(int(sys.argv[2]), "x")
	    print(".globl %s\n.type %s,@function\n%s: .skip 16\n.size %s,16"
	          % (name, name, name, name))
	END
	python3 - "$1" "$PWD/code" "$(offset_of code f0_"$(printf '%*s' $(($2 - 3)) |
		tr ' ' x)")" <<-'END' | mksession
	import json, sys
	at = int(sys.argv[3], 16)
	samples = {hex(at + 16 * i): 1 + i % 7 for i in range(int(sys.argv[1]))}
	print(json.dumps([{"app": sys.argv[2], "event": e, "samples": samples}
	                  for e in ("CYCLES", "MISSES")]))
	END
}

# allocations FILE: how many are made for it by opfs, which knows what helpers say
allocations() {
	export OPFS_CACHE_DIR=$PWD/cache
	opfs cat "current/$1" >out
	OPFS_TEST_ALLOCATIONS=number LD_PRELOAD="$PWD/allocations.so" \
		"$OPFS_BIN/opfs" cat --session-dir s "current/$1" >out
	cat number
}

@test "rows of reports are not allocated one by one" {
	can_preload
	"${CC:-gcc}" -O2 -shared -fPIC -o allocations.so \
		"$OPFS_TOP/tests/programs/allocations.c"
	declare -A few
	functions 1000 20
	for name in report details report.tsv report.json report.xml; do
		few[$name]=$(allocations $name)
		[ "${few[$name]}" -gt 50 ]
		grep -q f999_ out
	done
	functions 21000 20
	for name in "${!few[@]}"; do
		many=$(allocations "$name")
		grep -q f20999_ out
		echo "$name: ${few[$name]} $many"
		# blocks, and arrays that double
		[ $((many - few[$name])) -lt 50 ]
	done
}

@test "cat writes a long text once, by large pieces, and to no other file" {
	need_command strace
	functions 2000 9000
	# nobody can look for leaks beneath strace
	OPFS_CACHE_DIR='' ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0 \
		strace -f -y -qq -o calls \
		-e trace=write,writev,pwrite64,pwritev,sendfile,copy_file_range,splice \
		-e signal=none "$OPFS_BIN/opfs" cat --session-dir s current/report >out
	size=$(stat -c %s out)
	[ "$size" -gt $((16 << 20)) ]
	# a call that another process interrupts is told in two lines
	awk -v out="$PWD/out" -v size="$size" '
		/unfinished/ { on[$1] = $0; next }
		/resumed/ { $0 = on[$1] " " $0 }
		match($0, /[a-z0-9]+\([0-9]+<\/[^>]*>/) {
			file = substr($0, RSTART, RLENGTH)
			sub(/^[^<]*</, "", file)
			sub(/>$/, "", file)
			if (file ~ /^\/(dev|proc)\//)
				next
			bytes[file] += $NF
			calls[file]++
		}
		END {
			for (file in bytes)
				print file, bytes[file], calls[file]
			for (file in bytes)
				if (file != out) # helpers keep symbols in one
					others += bytes[file]
			exit others > size / 100 || bytes[out] != size ||
			     calls[out] > size / 65536 + 2
		}' calls
}
