#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# "opcollect replay": saved streams of the driver's event buffer, common and rare.

bats_require_minimum_version 1.5.0
load ../lib/busy

setup() {
	cd "$BATS_TEST_TMPDIR"
	D="$BATS_TEST_TMPDIR/data"
	C="$D/samples/current"
	timer=TIMER.10000000.0.all.all.all
	export PYTHONDONTWRITEBYTECODE=1
}

mkstream() {
	python3 "$OPFS_TOP/tests/lib/mkstream.py"
}

replay() {
	"$OPFS_BIN/opcollect" replay -d "$D" "$@"
}

# Replays what is on stdin; options first.
play() {
	mkstream >stream
	run --separate-stderr replay "$@" stream
}

says() {
	[[ $stderr == *"$1"* ]] || { echo "not said: $1"; echo "$stderr"; return 1; }
}

figure() {
	cat "$C/stats/$1" 2>/dev/null || echo 0
}

is() {
	[ "$(figure "$1")" = "$2" ] || { echo "$1 is $(figure "$1"), not $2"; return 1; }
}

# Nothing is lost silently.
balanced() {
	local sum=$(figure stored_samples) f

	for f in "$C"/stats/lost_* "$C"/stats/ignored_*; do
		case $f in
		*/lost_bt_* | */lost_stackfile | *\*) ;;
		*) sum=$((sum + $(cat "$f"))) ;;
		esac
	done
	[ "$sum" = "$(figure total_samples)" ] || {
		echo "$sum of $(figure total_samples)"
		return 1
	}
}

# KEY COUNT lines of a sample file below current/, sorted.
counts() {
	python3 - "$C/$1" <<-'END'
	import struct, sys
	data = open(sys.argv[1], "rb").read()
	used = struct.unpack_from("<I", data, 76)[0]
	sums = {}
	for i in range(1, used):
	    key, value = struct.unpack_from("<QI", data, 104 + 16 * i)
	    sums[key] = sums.get(key, 0) + value
	for key in sorted(sums):
	    print("%#x %d" % (key, sums[key]))
	END
}

count_is() {
	[ "$(counts "$1")" = "$2" ] || { find "$C" -type f; counts "$1"; return 1; }
}

two_images="image 1 /bin/prog inode=5
image 2 /lib/lib.so inode=6
task 10 11 1 comm=prog
cpu 3
user"

@test "samples are filed by image and offset, under their application" {
	play <<-END
	hello hz=1000
	$two_images
	cookie 1
	sample 0x4000 times=10
	sample 0x4010
	cookie 2
	sample 0x500 times=5
	kernel
	sample 0xffffffff81000010 times=3
	bye
	END
	[ "$status" = 0 ]
	says '19 taken, 19 stored, 0 lost'
	count_is '{root}/bin/prog/{dep}/{root}/bin/prog/TIMER.1000000.0.all.all.all' \
		$'0x4000 10\n0x4010 1'
	count_is '{root}/bin/prog/{dep}/{root}/lib/lib.so/TIMER.1000000.0.all.all.all' \
		'0x500 5'
	count_is '{root}/bin/prog/{dep}/{kern}/no-vmlinux/TIMER.1000000.0.all.all.all' \
		'0xffffffff81000010 3'
	balanced
}

@test "--separate files by thread, CPU and kernel as for other sources" {
	stream="hello
	$two_images
	cookie 1
	sample 0x4000
	cpu 2
	sample 0x4000
	task 10 12 1
	sample 0x4000
	kernel
	sample 0xffffffff81000010
	bye"
	play --separate=all <<<"$stream"
	[ "$status" = 0 ]
	p='{root}/bin/prog/{dep}/{root}/bin/prog/TIMER.10000000.0'
	count_is "$p.10.11.3" '0x4000 1'
	count_is "$p.10.11.2" '0x4000 1'
	count_is "$p.10.12.2" '0x4000 1'
	count_is '{root}/bin/prog/{dep}/{kern}/no-vmlinux/TIMER.10000000.0.10.12.2' \
		'0xffffffff81000010 1'
	play --separate=lib <<<"$stream"
	count_is "{kern}/no-vmlinux/{dep}/{kern}/no-vmlinux/$timer" '0xffffffff81000010 1'
	play --separate=thread <<<"$stream"
	count_is '{root}/bin/prog/{dep}/{kern}/no-vmlinux/TIMER.10000000.0.10.12.all' \
		'0xffffffff81000010 1'
	play --separate=none <<<"$stream"
	count_is "{root}/bin/prog/{dep}/{root}/bin/prog/$timer" '0x4000 3'
}

@test "--image lets an application with its libraries pass, and a library alone" {
	stream="hello
	$two_images
	cookie 1
	sample 1
	cookie 2
	sample 2
	bye"
	play --image=/bin/prog <<<"$stream"
	is stored_samples 2
	play --image=/lib/lib.so <<<"$stream"
	is stored_samples 1
	is ignored_by_image 1
	balanced
}

@test "a call chain becomes arcs, through libraries and the kernel" {
	play -g <<-END
	hello
	$two_images
	trace
	kernel
	sample 0xffffffff81000020
	user
	cookie 2
	sample 0x50
	cookie 1
	sample 0x40
	end lost=1
	bye
	END
	[ "$status" = 0 ]
	is total_samples 1
	is total_arcs 2
	is lost_bt_no_mapping 1
	count_is "{root}/bin/prog/{dep}/{root}/lib/lib.so/{cg}/{kern}/no-vmlinux/$timer" \
		"$(printf '%#x 1' $((0x50 << 32 | 0x81000020)))"
	count_is "{root}/bin/prog/{dep}/{root}/bin/prog/{cg}/{root}/lib/lib.so/$timer" \
		"$(printf '%#x 1' $((0x40 << 32 | 0x50)))"
}

@test "samples without a caller are counted, and told in status and callgraph" {
	play -g <<-END
	hello
	$two_images
	cookie 1
	sample 0x50
	trace
	sample 0x50
	sample 0x40
	end
	trace
	sample 0x60
	end
	trace
	sample 0x60
	end lost=1
	bye
	END
	[ "$status" = 0 ]
	is stored_samples 4
	is bt_no_caller 3
	run "$OPFS_BIN/opfs" cat --session-dir "$D" current/status
	[[ $output == *$'\nbt_no_caller: 3 (75 %): '* ]]
	run "$OPFS_BIN/opfs" cat --session-dir "$D" current/callgraph
	[[ $output == *$'\nOf the session\'s 4 samples 3 (75 %) have no caller: '* ]]
	# and where no chains were asked for, none is missing
	play <<<"hello
	$two_images
	cookie 1
	sample 0x50
	bye"
	[ "$status" = 0 ]
	is bt_no_caller 0
}

@test "memory without a file keeps its process and range" {
	play <<-END
	hello
	$two_images
	anon heap 0x1000 0x1fff
	sample 0x10
	anon vdso 0x7fff0000 0x7fff1fff
	sample 0x20
	anon heap 0x1000 0x1fff
	sample 0x10
	cookie 1
	sample 0x10
	bye
	END
	[ "$status" = 0 ]
	# the table says which made-up range stands for which
	range_of() {
		sed -nE "s/.*range:(0x[0-9a-f]+)-(0x[0-9a-f]+)\)\t$1\$/\1.\2/p" \
			"$C/regions"
	}
	a='{root}/bin/prog/{dep}/{anon:'
	count_is "${a}[heap]}/10.$(range_of 0x1000)/$timer" '0x10 2'
	count_is "${a}[vdso]}/10.$(range_of 0x7fff0000)/$timer" '0x20 1'
	balanced
}

@test "exec makes another application of a process, and its number may come again" {
	play <<-END
	hello
	$two_images
	cookie 1
	sample 1
	task 10 10 2 execs=2 comm=other
	cookie 2
	sample 2
	exit 10 10
	task 10 10 1 start=99999 comm=third
	cookie 1
	sample 3
	bye
	END
	[ "$status" = 0 ]
	count_is "{root}/lib/lib.so/{dep}/{root}/lib/lib.so/$timer" '0x2 1'
	[ "$(grep -c $'^10\t' "$C/tasks")" = 3 ]
	grep -q other "$C/tasks"
	grep -q third "$C/tasks"
	balanced
}

@test "the driver's losses are the session's, each under its reason" {
	play <<-END
	hello
	$two_images
	cookie 1
	sample 1
	lost 1 10
	lost 2 20
	lost 3 30
	lost 4 40
	lost 5 50
	lost 6 60
	lost 7 70
	lost 8 80
	lost 9 90
	lost 10 100
	lost 77 5
	bye taken=560 throttles=3 aborted=4
	END
	[ "$status" = 0 ]
	is total_samples 560
	is lost_cpu_buffer 10
	is lost_event_buffer 20
	is lost_no_mapping 30
	is lost_exited 40
	is lost_unresolved 50
	is lost_image_table 60
	is lost_stopped 70
	is lost_bad_address 80
	is lost_nested 90
	is lost_missed 100
	is lost_records_by_kernel 9 # of a reason not known, and what was told by nobody
	is throttle_events 3
	is bt_aborted 4
	balanced
	says 'lost_cpu_buffer: 10:'
	says 'images=N'
	run "$OPFS_BIN/opfs" cat --session-dir "$D" current/status
	[[ $output == *'lost_nested: 90'* ]]
}

@test "late samples are counted as such" {
	play <<-END
	hello
	$two_images
	cookie 1
	sample 1 late=1 times=3
	sample 1
	bye
	END
	is resolved_late 3
	is stored_samples 4
}

@test "counters are called as perf calls them, each with files of its own" {
	play <<-END
	hello hz=0
	counter 0 0 0 100000 type=0
	counter 1 0xc0 0x2 5000
	$two_images
	cookie 1
	sample 1 counter=0
	sample 2 counter=1
	sample 3 counter=7
	bye
	END
	[ "$status" = 0 ]
	count_is '{root}/bin/prog/{dep}/{root}/bin/prog/cycles.100000.0.all.all.all' \
		'0x1 1'
	count_is '{root}/bin/prog/{dep}/{root}/bin/prog/rc0.5000.2.all.all.all' '0x2 1'
	is lost_stream 1 # nobody knows what counter 7 counts
	balanced
}

@test "binaries are taken for those that ran if their build-ids agree" {
	true=$(readlink -f "$(type -P true)")
	play <<-END
	hello
	image 1 $true like=$true
	image 2 $true id=00112233445566778899aabbccddeeff00112233 mtime=5
	task 1 1 1
	user
	cookie 1
	sample 1
	cookie 2
	sample 2
	bye
	END
	[ "$status" = 0 ]
	grep -qP "^$true\t$true\t[0-9a-f]{40}\t" "$C/images"
	local id=00112233445566778899aabbccddeeff00112233
	grep -qP "^$true#00112233\t$true\t$id\t5\t.*gone" \
		"$C/images"
}

@test "kernel samples find the kernel and modules that ran, as they came and went" {
	cat >kallsyms <<-END
	ffffffff81000000 T _stext
	ffffffff81002000 T _etext
	END
	echo 'ext4 4096 0 - Live 0xffffffffc0000000' >modules
	play --kallsyms=kallsyms --modules=modules <<-END
	hello
	task 1 1 0
	kernel
	sample 0xffffffff81000100
	sample 0xffffffffc0000010
	module going ext4 0 0
	sample 0xffffffffc0000010
	module loaded xfs 0xffffffffc0000000 0x1000
	sample 0xffffffffc0000020
	note 6 1 0 0 0 0 0 0 0 0 0 0 0 # some notices were missed
	sample 0xffffffffc0000030
	bye
	END
	[ "$status" = 0 ]
	count_is "{root}/proc/kallsyms/{dep}/{root}/proc/kallsyms/$timer" '0x100 1'
	count_is "{kern}/ext4/{dep}/{kern}/ext4/$timer" $'0x10 1\n0x30 1'
	count_is "{kern}/xfs/{dep}/{kern}/xfs/$timer" '0x20 1'
	is lost_kernel 1
	balanced
}

ibs_stream="hello
$two_images
cookie 1
# completed, the address valid in a 2 MiB page, latency 7
ibs_fetch 0x10 0 0x0034000700000000 0 0
# killed
ibs_fetch 0x20 0 0 0 0
cookie 2
# a load that missed the cache: 100 cycles, from remote DRAM; a taken branch as well
ibs_op 0x30 0xff 0 0 0x2800000000 0x13 0x6400020081 0 0
# its address is not valid
ibs_op 0x40 0xff 0 0 0x4000000000 0 0 0 0
# registers are missing
ibs_op 0x50 0xff 0 0
bye"

@test "IBS samples become the derived events chosen, each in its own files" {
	local fetch=IBS_FETCH_ALL,IBS_FETCH_KILLED,IBS_FETCH_2M_PAGE,IBS_FETCH_LATENCY,
	local op=IBS_OP_ALL,IBS_OP_LOAD,IBS_OP_STORE,IBS_OP_TAKEN_BRANCH
	op+=,IBS_OP_NB_REMOTE_DRAM,IBS_OP_DC_LOAD_LAT
	play --ext-feature="ibs:fetch:$fetch:50000:0|op:$op:250000:1" <<<"$ibs_stream"
	[ "$status" = 0 ]
	p='{root}/bin/prog/{dep}/{root}/bin/prog'
	l='{root}/bin/prog/{dep}/{root}/lib/lib.so'
	count_is "$p/IBS_FETCH_ALL.50000.0.all.all.all" $'0x10 1\n0x20 1'
	count_is "$p/IBS_FETCH_KILLED.50000.0.all.all.all" '0x20 1'
	count_is "$p/IBS_FETCH_2M_PAGE.50000.0.all.all.all" '0x10 1'
	count_is "$p/IBS_FETCH_LATENCY.50000.0.all.all.all" '0x10 7'
	count_is "$l/IBS_OP_ALL.250000.1.all.all.all" '0x30 1'
	count_is "$l/IBS_OP_LOAD.250000.1.all.all.all" '0x30 1'
	[ ! -e "$C/$l/IBS_OP_STORE.250000.1.all.all.all" ]
	count_is "$l/IBS_OP_TAKEN_BRANCH.250000.1.all.all.all" '0x30 1'
	count_is "$l/IBS_OP_NB_REMOTE_DRAM.250000.1.all.all.all" '0x30 1'
	count_is "$l/IBS_OP_DC_LOAD_LAT.250000.1.all.all.all" '0x30 100'
	is total_samples 5
	is stored_samples 3
	is lost_ext 2
	balanced
	grep -q 'ibs: 3 samples, 1 incomplete, 1 without a valid address' "$C/stats/notes"
}

@test "IBS samples that were not asked for are left out, and counted" {
	play <<<"$ibs_stream"
	[ "$status" = 0 ]
	is ignored_by_ext 5
	play --ext-feature=ibs:fetch:IBS_FETCH_KILLED:50000:0 <<<"$ibs_stream"
	is stored_samples 1
	is ignored_by_ext 4
	balanced
}

@test "what an extended feature is not is said, with what it is" {
	mkstream </dev/null >stream
	wrong() {
		run -2 --separate-stderr replay --ext-feature="$1" stream
		says "$2"
	}
	wrong nothing:x 'one of: ibs'
	wrong ibs 'write fetch:EVENT'
	wrong ibs:op:IBS_OP_ALL:250000 'write fetch:EVENT'
	wrong ibs:op:IBS_FETCH_ALL:250000:0 'no IBS op event'
	wrong ibs:op:IBS_OP_ALL:5:0 'from 16'
	wrong ibs:op:IBS_OP_ALL:250000:2 'unit mask'
	wrong ibs:op::250000:0 'no event is chosen'
	local same='same count and unit mask'
	wrong 'ibs:op:IBS_OP_ALL:250000:0|op:IBS_OP_LOAD:300000:0' "$same"
	wrong 'ibs:op:IBS_OP_ALL:250000:0|op:IBS_OP_LOAD:250000:1' "$same"
	run -2 --separate-stderr replay --ext-feature=ibs:fetch:IBS_FETCH_ALL:50000:0 \
		--ext-feature=ibs:op:IBS_OP_ALL:50000:0 stream
	says 'one feature at a time'
}

@test "what is not a stream is refused, and what is newer too" {
	mkstream <<<'word 1 2 3' >stream
	run -1 --separate-stderr replay stream
	says 'does not begin as one'
	mkstream <<<'hello version=2' >stream
	run -1 --separate-stderr replay stream
	says 'has version 2'
	run -1 --separate-stderr replay nothing
	says 'No such file'
	run -2 --separate-stderr replay
}

@test "what is not a stream leaves \"current\" alone" {
	mkstream >good <<-END
	hello
	$two_images
	cookie 1
	sample 1 times=7
	END
	run -0 replay good
	mkstream <<<'hello version=2' >newer
	printf 'OPFS' >short
	mkfifo pipe
	for file in /etc/passwd /dev/null newer short . -; do
		run -1 --separate-stderr replay "$file" < <(echo 'no stream, from a pipe')
		[[ $stderr = "opcollect replay: $file: "* ]]
		[ "$(ls "$D/samples")" = current ]
		is stored_samples 7
	done
	# a pipe that brings it byte by byte is read from its beginning
	head -c 30 good >first
	tail -c +31 good >rest
	(for ((i = 0; i < 30; i++)); do
		head -c 1 <&3
	done 3<first && cat rest) >pipe &
	run -0 replay pipe
	wait
	is stored_samples 7
	[ "$(ls "$D/samples" | wc -l)" = 2 ]
}

@test "a stream that was cut short keeps what it has" {
	mkstream <<-END >whole
	hello
	$two_images
	cookie 1
	sample 1 times=100
	bye
	END
	for n in 8 16 24 1000; do
		head -c -$n whole >stream
		run -0 --separate-stderr replay stream
		balanced
	done
	head -c -40 whole >stream # exactly what the last record took
	run --separate-stderr replay stream
	is stored_samples 100
	is lost_stream 0
	head -c -48 whole >stream # and half of a sample
	run --separate-stderr replay stream
	is stored_samples 99
	is lost_stream 1
	run --separate-stderr replay - <whole
	is stored_samples 100
}

@test "records that are not known, too long or too short cost nothing but themselves" {
	play <<-END
	hello
	$two_images
	cookie 1
	note 999 1 2 3 4
	note 2 5 77 78
	sample 1
	note 1 5 1
	note 15 9
	note 18 1
	sample 2
	cookie 55
	sample 3
	anon other 0x2000 0x1000
	sample 4
	bye
	END
	[ "$status" = 0 ]
	is stored_samples 2
	is lost_stream 5
}

@test "several runs in one stream are added up" {
	play <<-END
	hello
	$two_images
	cookie 1
	sample 1 times=3
	bye
	hello
	image 1 /bin/second inode=9
	task 20 20 1
	user
	cookie 1
	sample 1 times=4
	bye
	END
	[ "$status" = 0 ]
	count_is "{root}/bin/prog/{dep}/{root}/bin/prog/$timer" '0x1 3'
	count_is "{root}/bin/second/{dep}/{root}/bin/second/$timer" '0x1 4'
}

@test "a million samples of two million records read piece by piece are all there" {
	play <<-END
	hello
	$two_images
	repeat 20
	cookie 1
	sample 1 times=49999
	cookie 2
	sample 2
	until
	bye
	END
	[ "$status" = 0 ]
	is stored_samples 1000000
}

@test "a signal ends a replay, and what was read until then is a session" {
	mkstream >stream <<-END
	hello
	$two_images
	cookie 1
	sample 1 times=30
	cookie 2
	sample 2 times=12
	END
	mkfifo pipe
	for sig in INT TERM HUP; do
		rm -rf "$D"
		(exec "$OPFS_BIN/opcollect" replay -d "$D" pipe 2>said 3>&-) &
		pid=$!
		exec {to}>pipe
		cat stream >&$to
		wait_for is total_samples 42
		kill -"$sig" "$pid"
		rc=0
		wait "$pid" || rc=$?
		exec {to}>&-
		cat said
		[ "$rc" = "$((128 + $(kill -l "$sig")))" ]
		is stored_samples 42
		balanced
		grep 'a signal ended the replay' said
		"$OPFS_BIN/opfs" cat --session-dir "$D" current/status |
			grep 'a signal ended the replay'
	done
}

@test "the driver source says what is missing, and what to do" {
	grep -q oprofilefs /proc/filesystems && skip "the driver is loaded here"
	run --separate-stderr "$OPFS_BIN/opcollect" record --source=kernel -d "$D" -- true
	[ "$status" = 1 ]
	says 'opfs_sampler is not loaded'
	says 'modprobe'
	run --separate-stderr "$OPFS_BIN/opcollect" record -d "$D" --save-stream=x -- true
	[ "$status" = 2 ]
	says '--source=kernel'
	run -2 --separate-stderr "$OPFS_BIN/opcollect" record -d "$D" --source=kernel \
		-e IBS_OP_ALL:50000,IBS_OP_LOAD:60000 -- true
	says 'same count and unit mask'
}

@test "\$OPFS_SESSION_DIR is where samples go, unless --session-dir says it" {
	cd "$BATS_TEST_TMPDIR"
	mkstream >nothing <<<$'hello\nbye'
	OPFS_SESSION_DIR=$PWD/named run -0 "$OPFS_BIN/opcollect" replay nothing
	[ -d named/samples/current ]
	OPFS_SESSION_DIR=$PWD/named run -0 "$OPFS_BIN/opcollect" replay \
		--session-dir given nothing
	[ -d given/samples/current ]
	[ ! -e oprofile_data ]
}
