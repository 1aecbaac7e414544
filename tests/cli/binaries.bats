#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs of many kinds, compiled here, with a sample on every instruction: symbols,
# names, addresses, instructions and lines against readelf, c++filt, objdump, addr2line.

bats_require_minimum_version 1.5.0
load ../lib/need

programs=$OPFS_TOP/tests/programs
here=$OPFS_TOP/tests/cli/binaries
lib=$OPFS_TOP/tests/lib

setup() {
	need_programs
	cd "$BATS_TEST_TMPDIR" || return
	cp "$programs"/inlined* .
	mkdir sub valid
	nr=0
}

# What agree left is valid, asked once for all.
teardown() {
	[ "${nr:-0}" -gt 0 ] || return 0
	xmllint --noout --huge --schema "$OPFS_TOP/doc/report.xsd" valid/*.xml
	python3 "$lib/check_json.py" "$OPFS_TOP/doc/report.schema.json" valid/*.json
}

# agree FILE [WHOLE]: symbols, names, addresses, instructions; valid XML and JSON as well
agree() {
	rm -rf s
	python3 "$here/agree.py" "$OPFS_BIN/opfs" "$1" s "${2:-$1}"
	for f in xml json; do
		"$OPFS_BIN/opfs" cat --session-dir s \
			"current/with:details,debug-info/report.$f" >r.$f
	done
	nr=$((nr + 1))
	for f in xml json; do
		cp r.$f valid/$nr.$f
	done
}

# lines TOOL FILE: those of annotate/ and of calls of inlined functions are TOOL's
lines() {
	for with in "" with:inlines; do
		rm -rf s
		# shellcheck disable=SC2086 # no word or one
		"$OPFS_TOP/tests/cli/annotate/compare.py" "$OPFS_BIN/opfs" "$PWD/$2" s \
			"$lib/mksession.py" "$1" $with
	done
}

cxx() {
	g++ "$@" inlined.cc inlined_other.cc
}

@test "C++ with templates and lambdas, at any optimisation, PIE and not" {
	for how in "-O0 -pie -fPIE" "-O0 -no-pie" "-O2 -pie -fPIE -g" "-O3 -no-pie -g" \
		"-Os -fcf-protection -Wl,-z,now -g" "-O2 -fno-plt"; do
		echo "$how"
		# shellcheck disable=SC2086 # words on purpose
		cxx $how -o p
		agree p
	done
}

@test "C++ that uses the standard library: long names" {
	cat >p.cc <<-'END'
		#include <algorithm>
		#include <iostream>
		#include <map>
		#include <memory>
		#include <string>
		#include <vector>
		template <class K, class V> struct table : std::map<K, std::vector<V>> {
			V operator()(const K &k, V v) const
			{
				auto at = this->find(k);
				return at == this->end() ? v : at->second.front();
			}
		};
		int main(int argc, char **argv)
		{
			table<std::string, std::unique_ptr<int>> t;
			std::vector<std::pair<std::string, double>> v;
			for (int i = 0; i < argc; i++)
				v.emplace_back(argv[i], i);
			std::sort(v.begin(), v.end());
			for (auto &[name, n] : v)
				t[name].push_back(std::make_unique<int>(n));
			std::cout << t.size() << v.front().first;
		}
	END
	g++ -std=c++17 -O1 -o p p.cc
	agree p
	[ "$(grep -c 'std::' r.xml)" -gt 20 ]
}

@test "C, also with cold and split parts of functions" {
	for how in "-O0" "-O2" "-O2 -g -fno-align-functions -no-pie" \
		"-O2 -freorder-blocks-and-partition"; do
		echo "$how"
		# shellcheck disable=SC2086 # words on purpose
		gcc $how -o p "$programs/weights.c"
		agree p
		# shellcheck disable=SC2086
		gcc $how -o p "$OPFS_TOP/tests/cli/symbols/sample.c"
		agree p
	done
}

@test "static programs, with the indirect functions of libc" {
	gcc -O1 -static -o p "$OPFS_TOP/tests/cli/symbols/sample.c"
	agree p
	gcc -O1 -static-pie -o p "$OPFS_TOP/tests/cli/symbols/sample.c"
	agree p
}

@test "a shared library" {
	gcc -O2 -g -fPIC -shared -o libp.so -Dmain=entry "$programs/weights.c"
	agree libp.so
}

@test "names as rustc mangles them" {
	gcc -nostdlib -o p "$here/rust.s"
	agree p
	"$OPFS_BIN/opfs" cat --session-dir s current/with:no-header/report >report
	grep -q ' mycrate::main::{closure#0}$' report
	grep -q " <Test + 'static as foo::Bar<Test>>::bar$" report
	grep -q ' core::ptr::drop_in_place$' report
	run ! grep -q '_R\|17h' report
}

@test "stripped, with exported functions: those and the PLT" {
	gcc -O2 -rdynamic -o p "$OPFS_TOP/tests/cli/symbols/sample.c"
	strip -o bare p
	agree bare
	grep -q strong_twin r.xml
}

@test "stripped, with the debug file that its link names: as if it were whole" {
	cxx -O2 -gdwarf-4 -o p
	objcopy --only-keep-debug p bare.debug
	strip -o bare p
	objcopy --add-gnu-debuglink=bare.debug bare
	agree bare p
	lines addr2line bare
}

@test "compressed debug information" {
	for how in "-gdwarf-4 -gz" "-gdwarf-5 -gz=zlib" "-gdwarf-4 -gz=zlib-gnu"; do
		echo "$how"
		# shellcheck disable=SC2086 # words on purpose
		cxx $how -O2 -o p
		readelf -tW p | grep -qi 'compressed\|zdebug'
		agree p
		lines llvm-addr2line p
	done
}

@test "debug information that dwz shrank" {
	need_command dwz
	cxx -gdwarf-4 -O2 -o p
	dwz p
	agree p
	lines llvm-addr2line p
	cxx -gdwarf-4 -O1 -o p
	cxx -gdwarf-4 -O2 -o other
	dwz -m common.dwz -M common.dwz p other
	readelf -SW p | grep -q gnu_debugaltlink
	agree p
	lines addr2line p
}

@test "lines of a program at a fixed address, of a static program and of a library" {
	cxx -g -O2 -no-pie -o p
	lines llvm-addr2line p
	cxx -g -O2 -fPIC -shared -o libp.so
	lines llvm-addr2line libp.so
	cxx -g -O1 -static -o p
	lines llvm-addr2line p
}

@test "functions in sections of their own, at high addresses and out of order" {
	cxx -g -O2 -ffunction-sections -no-pie -Wl,--section-start=.text=0x70000000 -o p
	agree p
	lines llvm-addr2line p
}
