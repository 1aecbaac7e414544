#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# CPython 3.13, of Debian 13: its functions are in stacks by what it writes down.

bats_require_minimum_version 1.5.0
load ../lib/record
load ../lib/opfs

setup_file()
{
	need_programs
	need_root
	need_command mmdebstrap
	can_record
	[ "$(uname -m)" = x86_64 ] || skip "a root of amd64"
	cd "$BATS_FILE_TMPDIR"
	mmdebstrap --quiet --mode=root --variant=extract \
		--include=python3.13-minimal,libpython3.13-minimal,libpython3.13-stdlib \
		--include=libc6,zlib1g,libexpat1,libssl3t64,libbz2-1.0,liblzma5,libffi8 \
		trixie root
	for d in lib lib64; do
		[ -e "root/$d" ] || ln -s "usr/$d" "root/$d"
	done
	mkdir -p root/tmp
	cat >root/work.py <<-'END'
		import time
		def leaf(n):
		    s = 0
		    for i in range(n):
		        s += i * i
		    return s
		def middle(n):
		    return leaf(n) + 1
		def outer(n):
		    return middle(n) + 1
		end = time.process_time() + 1.0
		while time.process_time() < end:
		    outer(20000)
	END
}

setup()
{
	cd "$BATS_TEST_TMPDIR"
}

# python OPTION: whole stacks of it, with its functions.
python()
{
	record --callgraph=dwarf -F 999 --session-dir s -- \
		chroot "$BATS_FILE_TMPDIR/root" /usr/bin/python3.13 -X "$1" /work.py
	opfs cat current/stacks.folded >folded
	awk '{ n += $NF }
		/truncated/ { cut += $NF }
		/;py::<module>:.*;py::outer:.*;py::middle:.*;py::leaf:/ { whole += $NF }
		END { print n, cut + 0, whole
			exit n < 200 || cut * 50 > n || whole < n * 0.8 }' folded
}

@test "python 3.13 -X perf" {
	python perf
}

@test "python 3.13 -X perf_jit" {
	python perf_jit
}
