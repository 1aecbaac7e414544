#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# "opcollect record" counts each program, library and function for what it did.

bats_require_minimum_version 1.5.0
load ../lib/record_tests

@test "a program's functions are seen by their weights" {
	run -0 --separate-stderr record -e TIMER -F 4999 -- "$b/weights" 1
	assert_balance
	read -r heavy middle light \
		<<<"$(ask functions oprofile_data "$b/weights" heavy middle light)"
	all=$((heavy + middle + light))
	sampled "$all" "$(worked weights)" 4999 $((taken - stored))
	share "$heavy" "$all" 600
	share "$middle" "$all" 300
	share "$light" "$all" 100
	[ "$(ask sum oprofile_data app=weights)" -ge "$all" ]
}

@test "the shares agree with those of perf in the same run" {
	need_command perf
	run record -e TIMER:200000:0:0:1 -- \
		perf record -B -N -e cpu-clock:u -F 4999 -o p.data -- "$b/weights" 1
	[ "$status" = 0 ] || skip "perf fails here"
	read -r heavy middle light \
		<<<"$(ask functions oprofile_data "$b/weights" heavy middle light)"
	read -r heavy2 middle2 light2 \
		<<<"$(python3 "$progs/perfdata.py" p.data functions \
		"$b/weights" heavy middle light)"
	all=$((heavy + middle + light)) all2=$((heavy2 + middle2 + light2))
	# a busy machine gives fewer; the bounds follow
	echo "$all samples here, $all2 of perf"
	read -r taken stored <<<"$(ask balance oprofile_data)"
	sampled "$all" "$(worked weights)" 4999 $((taken - stored))
	sampled "$all2" "$(worked weights)" 4999 ||
		skip "perf itself took only $all2 samples here"
	share "$heavy" "$all" "$((heavy2 * 1000 / all2))" "$all2"
	share "$middle" "$all" "$((middle2 * 1000 / all2))" "$all2"
	share "$light" "$all" "$((light2 * 1000 / all2))" "$all2"
}

@test "children that execute other programs are filed under those" {
	ln "$b/weights" other 2>/dev/null || cp "$b/weights" other
	run record -F 1999 -- sh -c "'$b/weights' 0.3 & ./other 0.3; wait"
	assert_balance
	assert_sampled weights 1999
	assert_sampled other 1999
	[ "$(ask sum oprofile_data app=sh)" = 0 ]
}

@test "a chain of exec is filed under each program in turn" {
	cp "$b/weights" one
	cp "$b/weights" two
	run record -F 1999 -- sh -c './one 0.2; exec ./two 0.3'
	assert_balance
	assert_sampled one 1999
	assert_sampled two 1999
}

@test "libraries that take each other's place are told apart" {
	run record -F 4999 -e TIMER:200000:0:0:1 -- "$b/dl" 800 "$b/liba.so" "$b/libb.so"
	[ "$status" = 0 ]
	assert_balance
	a=$(ask sum oprofile_data app=dl image=liba.so)
	bb=$(ask sum oprofile_data app=dl image=libb.so)
	a_ns=$(worked liba.so) b_ns=$(worked libb.so)
	sampled "$a" "$a_ns" 4999 $((taken - stored))
	sampled "$bb" "$b_ns" 4999 $((taken - stored))
	# one does twice the work of the other; their times may be others, for what a host
	# takes away from one of them counts as its time and has no samples
	echo "$a and $bb samples, $a_ns and $b_ns ns"
	share "$a" $((a + bb)) 667
	# what is left of a library is its start and end; the first instruction in a page
	# has the time of its fault with interrupts off: 3 to 8 % in virtual machines
	[ "$(ask functions oprofile_data "$b/liba.so" spin)" -ge $((a * 80 / 100)) ]
	[ "$(ask functions oprofile_data "$b/libb.so" spin)" -ge $((bb * 80 / 100)) ]
}

@test "children that live for less than a period are seen" {
	can_record_cpus
	run -0 --separate-stderr record -F 999 --separate=thread -- "$b/storm" 1500 400
	assert_balance
	children=$(ask children oprofile_data)
	c_ns=$(worked children) p_ns=$(worked parent)
	echo "$children of $stored samples, $c_ns ns of $((c_ns + p_ns))"
	sampled "$stored" $((c_ns + p_ns)) 999 $((taken - stored))
	# who lives long takes no part of theirs
	share "$children" "$stored" $((c_ns * 1000 / (c_ns + p_ns)))
}

@test "a profiled program that is killed is still counted" {
	# killed after half a second of CPU time, however long that takes here
	run record -F 1999 -- sh -c "timeout 1200 '$b/weights' 100000 >/dev/null &
		child=
		until child=\$(pgrep -P \$! weights) || ! kill -0 \$!; do sleep 0.05; done
		'$OPFS_TOP/tests/lib/until_used' \$child 500
		echo seen \$(tail -n 1 '$WORKED' | cut -d' ' -f2) >>'$WORKED'
		kill -KILL \$child"
	assert_balance
	assert_sampled seen 1999 weights
}

@test "a program that is deleted and replaced while it runs stays itself" {
	cp "$b/weights" prog
	cp "$b/storm" prog2
	run record -F 1999 -- sh -c \
		'./prog 0.8 & "$1" $! 200; mv prog2 prog; ./prog 0 300000; wait' \
		sh "$OPFS_TOP/tests/lib/until_used"
	assert_balance
	assert_sampled prog 1999
	second=$(find oprofile_data/samples/current -type d -name 'prog#*' | head -n 1)
	[ -n "$second" ]
	sampled "$(ask sum oprofile_data "app=$(basename "$second")")" "$(worked storm)" \
		1999 $((taken - stored))
	grep -q "$(printf '/prog\t.*deleted$')" oprofile_data/samples/current/images ||
		grep -q '/prog	' oprofile_data/samples/current/images
}

@test "two containers' binaries of one path are found and kept apart" {
	need_root
	can_record_cpus
	mkdir -p one/opt two/opt
	${CC:-gcc} -O1 -static -Wl,--build-id -o one/opt/inside "$progs/weights.c"
	${CC:-gcc} -O2 -static -Wl,--build-id -o two/opt/inside "$progs/weights.c"
	touch -d @1000000000 one/opt/inside
	WORKED=/worked run record -F 1999 -- sh -c \
		'chroot one /opt/inside 0.3; chroot two /opt/inside 0.3'
	assert_balance
	sampled "$(ask sum oprofile_data app=/opt/inside)" "$(worked inside one/worked)" \
		1999 $((taken - stored))
	second=$(find oprofile_data/samples/current/{root}/opt -maxdepth 1 \
		-name 'inside#*')
	sampled "$(ask sum oprofile_data "app=/opt/${second##*/}")" \
		"$(worked inside two/worked)" 1999 $((taken - stored))
	images=oprofile_data/samples/current/images
	id() { readelf -n "$1/opt/inside" | sed -n 's/.*Build ID: //p'; }
	cat $images
	grep -qP "^/opt/inside\t/opt/inside\t$(id one)\t1000000000\t.*container [0-9]+$" \
		$images
	grep -qP "^/opt/inside#[0-9a-f]*\t/opt/inside\t$(id two)\t.*container [0-9]+$" \
		$images
}
