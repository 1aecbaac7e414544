#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh KERNEL SUITE: boots KERNEL under QEMU with the driver built for it, our programs
# and those of programs/, runs tests of guest/ and reports them as TAP.  KERNEL is one of
# kernel.sh's, as 6.1; with -single, its CPUs are emulated by turns; with -icount it has
# one CPU, and a clock that counts instructions.  SUITE is "all", "smoke", or names of
# tests with commas between.
#
# A test is guest/NAME.sh: a script that fails by exiting with other than 0, or with 77
# and a reason as its last line to be skipped.  A line in it says for what it is meant:
#
#   # qemu: SECONDS [smoke] [x86] [arm64] [KERNEL]...
#
# SECONDS is its time limit on a machine that does nothing else, a tenth of what it gets.
# A test without a machine or KERNEL runs on all but -single and -icount, where only those
# run that name them: those that make the kernel patch itself all the time, for QEMU 7.2
# runs stale code then if it has a thread for each CPU (see stale_breakpoint); and those
# that measure, or count exactly.  Whatever the kernel complains of (see complaints) fails
# the test that was running.
#
# Everything is written below $O/qemu; set V=1 to see what tests print that pass, and
# RACE_SECONDS to have eleven_tasks_race last longer than 20 s.
set -eEuo pipefail
# What make was called with is not for the builds here.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL

kernel=$1 suite=$2
here=$(dirname "$(realpath "$0")")
top=$(realpath "$here/../..")
cd "$top"
out=$(realpath -m "${O:-build}")
work=$out/qemu/$kernel
bin=${OPFS_BIN:-$out/bin}
jobs=${JOBS:-2}
fetch=${kernel%%-*} machine=x86 cross='' cc=gcc kmake=() more=''
# Without cmpxchg16b, by which the kernel allocates: after one that fails QEMU 7.2 has
# wrong flags, VM and TF among them, and an interrupt just then ends the kernel.
qemu=(qemu-system-x86_64 -cpu qemu64,-cx16) console=ttyS0
cpus=(-smp "2,sockets=2") accel=tcg
case $kernel in
arm64*)
	machine=arm64 cross=aarch64-linux-gnu- cc=${cross}gcc
	kmake=(ARCH=arm64 "CROSS_COMPILE=$cross")
	qemu=(qemu-system-aarch64 -M virt -cpu max) console=ttyAMA0
	;;
esac
# What Debian's kernels do not do unless they are told to: leave a task anywhere.
[ "$fetch" != 6.12 ] || more+=" preempt=full"
case $kernel in
*-icount) cpus=(-smp 1 -icount "shift=3,sleep=off") ;;
*-single) accel+=",thread=single" ;;
*-*)
	echo "run.sh: $kernel: a kernel's name goes on with -single or -icount only" >&2
	exit 2
	;;
esac

give_up()
{
	echo "not ok 1 $kernel: $1"
	[ $# -lt 2 ] || tail -n 40 "$2" | sed 's/^/#   /'
	echo "1..1"
	exit 1
}

trap 'give_up "line $LINENO of run.sh works"' ERR

# "SECONDS WORDS" of test $1.
traits()
{
	sed -n 's/^# qemu: *//p' "$here/guest/$1.sh"
}

# Is a test with these traits meant for this machine?
is_meant()
{
	local words

	read -r _ words <<<"${1/ smoke/}"
	[[ " $words " != *" $kernel "* ]] || return 0
	[[ $kernel != *-* && (-z $words || " $words " == *" $machine "*) ]]
}

# The tests of the suite that are meant for this machine, as /guest/list wants them.
list_tests()
{
	local file name words

	for file in "$here"/guest/*.sh; do
		name=$(basename "$file" .sh)
		case $name in lib | *_lib) continue ;; esac
		words=$(traits "$name")
		[ -n "$words" ] || give_up "$name.sh says where it runs"
		is_meant "$words" || continue
		words=" $words "
		case $suite in
		all) ;;
		smoke) case $words in *" smoke "*) ;; *) continue ;; esac ;;
		*) case ",$suite," in *",$name,"*) ;; *) continue ;; esac ;;
		esac
		words=${words# }
		echo "$name $((${words%% *} * 10))"
	done
}

# Makes module $1 in $work/$1; the other words go to make.
build_module()
{
	local name=$1

	shift
	make -j"$jobs" "$@" "${kmake[@]}" >"$work/$name.log" 2>&1 ||
		give_up "module $name can be built" "$work/$name.log"
	if grep -E 'warning:|WARNING:' "$work/$name.log" |
		grep -v 'BTF\|compiler differs' \
		>"$work/$name.warnings"; then
		give_up "module $name is built without warnings" "$work/$name.warnings"
	fi
}

# The driver as everybody builds it, and the tests' sources of samples beside it.
build_modules()
{
	rm -rf "${work:?}"/{driver,torture}
	mkdir -p "$work/torture"
	build_module driver -C "$top" driver O="$work" KDIR="$kdir/build"
	cp "$here"/torture/* "$work/torture"
	build_module torture -C "$kdir/build" M="$work/torture" \
		OPFS_KERNEL="$work/driver" \
		KBUILD_EXTRA_SYMBOLS="$work/driver/Module.symvers" modules
}

# Offsets in the file of program $1, and sizes, of what call chains should show.
list_symbols()
{
	${cross}nm -S "$work/programs/$1" |
		awk '$4 ~ /^(innermost|middle|outermost|careless|main)$/ {
			print $4, substr($1, length($1) - 4), substr($2, length($2) - 4)
		}' >"$work/$1.symbols"
}

# unwound.c, as $1 with the flags that follow.
build_unwound()
{
	$cc "${flags[@]}" -D_FILE_OFFSET_BITS=64 -static -pthread "${@:2}" \
		-finstrument-functions \
		-finstrument-functions-exclude-file-list=libcfi/,base/ \
		-o "$to/$1" $from/unwound.c libcfi/*.c base/{err,file,map,strbuf,utf8}.c
}

build_programs()
{
	local flags=(-O2 -g -std=gnu17 -D_GNU_SOURCE -I. -Wall -Wextra -Werror
		-fno-omit-frame-pointer -fno-toplevel-reorder)
	local from=tests/qemu/programs to=$work/programs t

	mkdir -p "$to"
	for t in as bufdump careless craft deep flood gap leave nested poke reread \
		retire stuck; do
		$cc "${flags[@]}" -static -pthread -Wl,--build-id -o "$to/$t" $from/$t.c
	done
	$cc "${flags[@]}" -fomit-frame-pointer -static -pthread -o "$to/witness" \
		$from/witness.c
	list_symbols witness
	list_symbols nested
	list_symbols careless
	readelf -n "$to/nested" | sed -n 's/.*Build ID: //p' >"$work/nested.build_id"
	[ $machine != arm64 ] || {
		build_unwound unwound_fp -fno-omit-frame-pointer
		build_unwound unwound -fomit-frame-pointer
		build_unwound unwound_pac -fomit-frame-pointer \
			-mbranch-protection=pac-ret
		$cc "${flags[@]}" -static -mbranch-protection=pac-ret \
			-o "$to/nested_pac" $from/nested.c
		list_symbols nested_pac
	}
	$cc "${flags[@]}" -o "$to/cost" $from/cost.c
	$cc "${flags[@]}" -o "$to/hog" $from/hog.c
	for t in 1 2; do
		$cc "${flags[@]}" -DTWIN=$t -fPIC -shared -o "$to/libtwin_$t.so" \
			$from/twin_lib.c
		$cc "${flags[@]}" -DTWIN=$t -static -pthread -o "$to/twin_$t" \
			$from/twin_prog.c
	done
	$cc "${flags[@]}" -pthread -o "$to/storm" $from/storm.c
	[ $machine = x86 ] || return 0
	# Its names and lines are in a debug file, its source is where it was compiled.
	strip -o "$to/bare" "$to/nested"
	$cc "${flags[@]}" -o "$to/landlocked" $from/landlocked.c \
		base/box/sandbox.c base/{err,file,strbuf,utf8}.c -lseccomp
}

# Where twin_trap is in the file of each twin: the options of bufdump.
list_traps()
{
	local t at

	for t in "$work"/programs/{lib,}twin_*; do
		at=$(${cross}nm "$t" | sed -n 's/ T twin_trap$//p')
		printf -- '-t /bin/%s=%x ' "$(basename "$t")" $((0x$at & 0xfffff))
	done
}

# The libraries of program $1 and its loader, as "PATH FILE": where in the guest a copy of
# which file goes.
libraries_of()
{
	local lib

	if [ $machine = x86 ]; then
		# A static program has none.
		{ ldd "$1" 2>/dev/null || :; } |
			sed -n 's|^[^/]*\(/[^ ]*\) (.*|\1 \1|p'
		return
	fi
	# Programs that need more are not built for this machine.
	for lib in libc.so.6 ld-linux-aarch64.so.1; do
		echo "/lib/$lib $($cc -print-file-name=$lib)"
	done
}

# Copies programs and the libraries they need into the guest's root.
install_programs()
{
	local file lib from

	for file; do
		install -m 755 "$file" "$root/bin/"
		[ "$(stat -c %s "$file")" -lt 1000000 ] ||
			${cross}strip -g "$root/bin/$(basename "$file")"
		libraries_of "$file" |
			while read -r lib from; do
				[ -e "$root$lib" ] ||
					install -D -m 755 "$from" "$root$lib"
			done
	done
}

# Installs the debug information of program $1, and its source.
install_debug()
{
	local id from=tests/qemu/programs/$1.c

	id=$(cat "$work/$1.build_id")
	mkdir -p "$root/usr/lib/debug/.build-id/${id:0:2}" "$root$top"
	objcopy --only-keep-debug "$work/programs/$1" \
		"$root/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
	install -D -m 644 "$from" "$root$top/$from"
}

build_root()
{
	root=$work/root
	rm -rf "$root"
	mkdir -p "$root"/{bin,sbin,usr/bin,modules,guest,proc,sys,dev,etc,var/lib}
	install -m 755 "$kdir/busybox" "$root/bin/"
	ln -s busybox "$root/bin/sh"
	find "$work"/{driver,torture} -name '*.ko' -exec cp {} "$root/modules/" \;
	${cross}strip -g "$root"/modules/opfs_*.ko
	find "$kdir" -maxdepth 1 -name '*.ko' -exec cp {} "$root/modules/" \;
	install -m 755 "$here/guest/init" "$root/init"
	install -m 644 "$here"/guest/*.sh "$root/guest/"
	list_tests >"$root/guest/list"
	[ -s "$root/guest/list" ] || give_up "suite $suite has tests"
	list_traps >"$root/guest/traps"
	echo "${RACE_SECONDS:-20}" >"$root/guest/race_seconds"
	cp "$work"/*.symbols "$work"/nested.build_id "$root/guest/"
	printf '%s\n' 'root:x:0:0::/root:/bin/sh' 'nobody:x:65534:65534::/:/bin/sh' \
		>"$root/etc/passwd"
	echo 'root:x:0:' >"$root/etc/group"
	ln -s /proc/self/mounts "$root/etc/mtab"
	install_programs "$work"/programs/*
	if [ $machine = x86 ]; then
		install_programs "$bin/opcollect" "$bin/opfs"
		install_debug nested
	fi
	(cd "$root" && find . | cpio -o -H newc -R 0:0 --quiet) >"$work/initramfs"
}

# The time that all listed tests may take.
patience()
{
	awk '{ s += $2 } END { print s + 60 }' "$root/guest/list"
}

# The kernel's watchdogs wait five times as long as usual: a busy host lets an emulated
# CPU stand still.  One that never goes on ends the guest.
boot()
{
	local patient="rcupdate.rcu_cpu_stall_timeout=105 watchdog_thresh=50"

	patient+=" softlockup_panic=1 sysctl.kernel.hung_task_timeout_secs=600"
	# x86 panics if the timer does not tick within 40 ms of the host's time
	patient+=" no_timer_check"
	timeout -k 10 "$(patience)" "${qemu[@]}" "${cpus[@]}" -accel "$accel" -m 1024 \
		-nic none -display none -monitor none -no-reboot \
		-serial "file:$work/console" \
		-kernel "$kdir/vmlinuz" -initrd "$work/initramfs" \
		-append "console=$console panic=-1 oops=panic quiet $patient$more" \
		>"$work/qemu.log" 2>&1 </dev/null || cat "$work/qemu.log" >&2
}

# Did a CPU run into a breakpoint that the kernel no longer had there?  While it patches
# its own code, as for tracepoints when a module comes or goes, emulated CPUs (QEMU 7.2)
# now and then execute what stood there before.
stale_breakpoint()
{
	sed -n '/int3: 0000/,/end trace/p' "$work/console" >"$work/int3"
	[ -s "$work/int3" ] && ! grep -q '\[opfs_' "$work/int3"
}

main()
{
	local program try

	for program in cpio qemu-system-x86_64; do
		command -v $program >/dev/null ||
			give_up "$program is missing: run 'make deps'"
	done
	if [ $machine = arm64 ]; then
		for program in qemu-system-aarch64 $cc; do
			command -v "$program" >/dev/null ||
				give_up "$program is missing: run 'make deps'"
		done
	fi
	mkdir -p "$work"
	kdir=$("$here/kernel.sh" "$fetch" 2>"$work/fetch.log") ||
		give_up "the kernel can be fetched" "$work/fetch.log"
	build_modules
	build_programs >"$work/programs.log" 2>&1 ||
		give_up "the guest's programs can be built" "$work/programs.log"
	build_root
	for try in 1 2 3; do
		rm -f "$work/console"
		boot
		stale_breakpoint || break
		cp "$work/console" "$work/console.$try"
		echo "# $kernel: QEMU ran patched code, see $work/console.$try"
	done
	awk -v kernel="$kernel" -v complaints="$here/complaints" -v verbose="${V-}" \
		-f "$here/console.awk" "$work/console" | tee "$work/tap"
	if grep -q '^not ok' "$work/tap"; then exit 1; fi
}

# All of this file has been read by now: it may be edited while this runs.
main; exit
