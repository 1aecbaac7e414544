#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Code made at run time appears by the names that its runtime wrote down for perf.

bats_require_minimum_version 1.5.0
load ../lib/record
load ../lib/opfs

setup_file()
{
	need_programs
	can_record
	cd "$BATS_FILE_TMPDIR"
	chmod 755 "$BATS_RUN_TMPDIR" .
	"${CC:-gcc}" -O1 -o jit "$progs/jit.c"
	cat >work.js <<-'END'
		function hotLoop(n) {
			let s = 0;
			for (let i = 0; i < n; i++)
				s += Math.sqrt(i) % 7;
			return s;
		}
		let t = 0;
		for (let i = 0; i < 400; i++)
			t += hotLoop(100000);
		if (!t) throw "none";
	END
}

setup()
{
	cd "$BATS_TEST_TMPDIR"
	jit=$BATS_FILE_TMPDIR/jit
}

# What one process writes, another one's file of that name is not.
write_map()
{
	echo 'echo "$JIT_AT 80 '"$1"'" >/tmp/perf-$JIT_PID.map'
}

notes()
{
	cat s/samples/current/stats/notes 2>/dev/null || true
}

@test "a map names code, also after the process and the map are gone" {
	record --session-dir s -- "$jit" 0.3 "$(write_map 'py::hot loop:/x.py')"
	opfs cat current/report >first
	grep -qE '\[jit\] .*py::hot loop:/x.py$' first
	rm -f /tmp/perf-"$(ls s/samples/current/jit)".map
	opfs cat current/report >second
	cmp first second
	[ "$(stat -c %a s/samples/current/jit/*)" = 640 ]
	opfs check
}

@test "a name leads to its reports" {
	record -g --session-dir s -- "$jit" 0.3 "$(write_map 'hot')"
	opfs cat current/symbol:hot/report | grep -qE '\[jit\] .*hot$'
	opfs cat current/symbol:hot/details | grep -qE '\[jit\] .*hot$'
	opfs cat current/stacks.folded | grep -qE '(^|;)hot_\[j\] [0-9]+$'
	opfs cat current/flamegraph.svg >svg
	grep -q 'made at run time' svg
	grep -qE '<rect class="j[0-6]"' svg
	opfs cat current/callgrind.out | grep -qE '^c?fn=\([0-9]+\) hot$'
	opfs cat current/profile.pb.gz | gzip -dc | grep -qa hot
	opfs cat current/calls:hot/report || opfs cat current/through:hot/report
	rm -f /tmp/perf-"$(ls s/samples/current/jit)".map
}

@test "every file calls the image [jit] that report calls so" {
	local f

	record -g --session-dir s -- "$jit" 0.3 "$(write_map hot)"
	rm -f /tmp/perf-"$(ls s/samples/current/jit)".map
	for f in summary report report.tsv report.json report.xml details callgraph \
		calltree callertree hot-paths flamegraph.svg callgrind.out; do
		opfs cat current/$f >got
		grep -qF '[jit]' got || { echo $f; false; }
		run ! grep -F 'anon (tgid' got
	done
	opfs cat current/profile.pb.gz | gzip -dc >got
	grep -qaF '[jit]' got
	run ! grep -aF 'anon (tgid' got
}

@test "with merge:lib functions of the same name are one, whichever process made them" {
	record --session-dir s -g -- sh -c '"$0" 0.3 "$1" & "$0" 0.3 "$1"; wait' \
		"$jit" "$(write_map hot)"
	opfs cat current/with:no-header/report >apart
	[ "$(grep -cE '\[jit\] .*hot$' apart)" = 2 ]
	opfs cat current/merge:lib/with:no-header/report >joined
	[ "$(grep -cE '\[jit\] .*hot$' joined)" = 1 ]
	[ "$(awk '/hot$/ { n += $1 } END { print n }' apart)" = \
		"$(awk '/hot$/ { print $1 }' joined)" ]
	opfs cat current/merge:lib/with:no-header/callgraph >calls
	[ "$(grep -cE '^[0-9].*\[jit\] .*hot$' calls)" = 1 ]
	for f in $(ls s/samples/current/jit); do rm -f "/tmp/perf-$f.map"; done
}

@test "a jitdump names code, also where it was moved to" {
	py="python3 $progs/jitdump.py"
	record --session-dir s -- "$jit" 0.3 \
		"$py jit-1.dump \$JIT_AT 'py::dumped:/x.py'" jit-1.dump
	rm jit-1.dump
	opfs cat current/report | grep -qE '\[jit\] .*py::dumped:/x.py$'
	record --session-dir s2 -- "$jit" 0.3 \
		"$py jit-2.dump 0 moved \$JIT_AT" jit-2.dump
	rm jit-2.dump
	D=s2 opfs cat current/report | grep -qE '\[jit\] .*moved$'
}

@test "a garbage jitdump is told of, and names nothing" {
	record --session-dir s -- "$jit" 0.3 "head -c 8192 /dev/urandom >jit-3.dump" \
		jit-3.dump
	notes | grep -q 'jit-3.dump: not a jitdump of this machine'
	opfs cat current/report | grep -q 'anon (tgid'
	[ ! -e s/samples/current/jit ]
}

@test "links, FIFOs, files of others and old ones are refused, and told of" {
	local why

	for why in 'a symbolic link|ln -s /etc/passwd $F' 'not a regular file|mkfifo $F' \
		'not a regular file|mkdir $F' \
		'older than the process|echo "$JIT_AT 8 x" >$F; touch -d 1999-1-1 $F'; do
		rm -rf s
		record --session-dir s -- "$jit" 0.2 \
			"F=/tmp/perf-\$JIT_PID.map; ${why#*|}"
		rm -rf /tmp/perf-"$(sed -nE 's/.*perf-([0-9]+).map.*/\1/p' \
			s/samples/current/stats/notes | head -1)".map
		notes | grep -qE "perf-[0-9]+.map: refused: .*${why%%|*}"
		[ ! -e s/samples/current/jit ]
	done
}

@test "a map that a process of that number left is not one that ended at once" {
	for _ in 1 2 3; do
		rm -rf s
		record --session-dir s -- "$jit" 0.02 \
			'F=/tmp/perf-$JIT_PID.map; echo "$JIT_AT 8 x" >$F
			touch -d 1999-1-1 $F; echo $F >file'
		rm -f "$(<file)"
		[ ! -e s/samples/current/jit ]
	done
}

@test "a map of another user is refused" {
	need_others
	record --session-dir s -- "$jit" 0.2 \
		'F=/tmp/perf-$JIT_PID.map; echo "$JIT_AT 80 x" >$F; chown 4321 $F'
	rm -f /tmp/perf-"$(sed -nE 's/.*perf-([0-9]+).map.*/\1/p' \
		s/samples/current/stats/notes)".map
	notes | grep -q 'refused: it belongs to another user than the process'
	[ ! -e s/samples/current/jit ]
}

@test "of a huge map only the beginning is read, and that is told" {
	record --session-dir s -- "$jit" 0.3 \
		"$(write_map first); truncate -s 1T /tmp/perf-\$JIT_PID.map"
	rm -f /tmp/perf-"$(ls s/samples/current/jit)".map
	notes | grep -q 'only its first 64 MiB were read'
	opfs cat current/report | grep -qE '\[jit\] .*first$'
}

@test "ten million lines cost the collector a bounded amount of memory" {
	record --session-dir s -- "$jit" 0.3 \
		"$(write_map first); seq -f '%.0f 1 line' 10000000 19999999 \
		>>/tmp/perf-\$JIT_PID.map"
	rm -f /tmp/perf-"$(ls s/samples/current/jit)".map
	notes | grep -q 'only its first 64 MiB were read'
	notes | grep -qE '[0-9]+ entries behind the first million were left out'
	notes | grep -qE '[0-9]+ entries left out, as no sample was taken near them'
	opfs cat current/report | grep -qE '\[jit\] .*first$'
	[ "$(stat -c %s s/samples/current/jit/*)" -lt 1000 ]
}

@test "the last of overlapping entries wins, control bytes are replaced" {
	record --session-dir s -- "$jit" 0.3 \
		"$(write_map older); printf '%s 80 new\\033[2Jer\\n' \$JIT_AT \
		>>/tmp/perf-\$JIT_PID.map"
	rm -f /tmp/perf-"$(ls s/samples/current/jit)".map
	opfs cat current/report | grep -qE '\[jit\] .*new\?\[2Jer$'
	notes | grep -q '1 entries overlap later ones, which win'
}

@test "the map of a process in another mount and PID namespace is found" {
	need_mount_namespace
	# the program lies in the /tmp that is hidden
	cat >inside <<-END
		exec 9<"$jit"
		mount -t tmpfs none /tmp
		exec /proc/self/fd/9 0.5 'echo "\$JIT_AT 80 contained" >/tmp/perf-1.map'
	END
	record --session-dir s -- unshare --mount --pid --fork sh "$PWD/inside"
	opfs cat current/report | grep -qE '\[jit\] .*contained$'
}

@test "others are told no names, as they are not told where memory is" {
	need_others
	record --session-dir s -- "$jit" 0.3 "$(write_map secret)"
	rm -f /tmp/perf-"$(ls s/samples/current/jit)".map
	chmod 755 . s
	setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$OPFS_BIN/opfs" cat --session-dir s current/report >seen
	grep -q 'anon (tgid' seen
	run ! grep -q secret seen
	opfs cat 'current/lib-image:[jit]/report' | grep -q secret
	run -1 setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$OPFS_BIN/opfs" cat --session-dir s 'current/lib-image:[jit]/report'
}

@test "archives hold the names" {
	record --session-dir s -- "$jit" 0.3 "$(write_map archived)"
	rm -f /tmp/perf-"$(ls s/samples/current/jit)".map
	opfs cat current/archive.tar | tar tf - | grep -qE 'samples/current/jit/[0-9]+$'
}

@test "opfs check names damaged files of names" {
	record --session-dir s -- "$jit" 0.2 "$(write_map x)"
	f=$(ls s/samples/current/jit)
	rm -f /tmp/perf-"$f".map
	echo "no entry" >>s/samples/current/jit/"$f"
	run -1 opfs check
	[[ $output == *"jit/$f: 1 of its lines are no entries"* ]]
	echo other >s/samples/current/jit/"$f"
	run -1 opfs check
	[[ $output == *'does not begin with "# opfs jit 1"'* ]]
}

@test "node's functions appear by name: --perf-basic-prof" {
	need_command node
	record --session-dir s -- node --perf-basic-prof "$BATS_FILE_TMPDIR/work.js"
	rm -f /tmp/perf-"$(ls s/samples/current/jit)".map
	opfs cat current/report | grep -qE '\[jit\] .*[A-Za-z]+:.*hotLoop'
}

@test "node's functions appear by name: --perf-prof" {
	need_command node
	record --session-dir s -- node --perf-prof "$BATS_FILE_TMPDIR/work.js"
	rm -f jit-*.dump
	opfs cat current/report | grep -qE '\[jit\] .*[A-Za-z]+:.*hotLoop'
}

@test "java's methods appear by name, of a map that it writes at its exit" {
	need_command javac
	cat >Hot.java <<-'END'
		class Hot {
			static long hotLoop(int n) {
				long x = 1;
				for (int i = 0; i < n; i++)
					x = x * 3 + i % 7;
				return x;
			}
			public static void main(String[] args) {
				long x = 0;
				for (int i = 0; i < 3000; i++)
					x += hotLoop(100000);
				System.out.println(x);
			}
		}
	END
	javac Hot.java
	record --session-dir s -- java -XX:+UnlockDiagnosticVMOptions \
		-XX:+DumpPerfMapAtExit Hot
	rm -f /tmp/perf-"$(ls s/samples/current/jit)".map
	opfs cat current/report | grep -qE '\[jit\] .*.*hotLoop'
}

# ---- .jo files of OProfile

# jo_session: one of OProfile, with samples in a process's memory at 0x7f0000000000, and
# the ELF file that opjitconv makes of it.
jo_session()
{
	python3 "$OPFS_TOP/tests/lib/mksession.py" s <<-'END'
		[{"app": "/usr/bin/java", "tgid": 77, "tid": 77,
		  "image": "anon:anon:77:7f0000000000:7f0000000fff",
		  "samples": {"0x10": 30, "0x42": 5, "0x100": 7}}]
	END
	jo="s/samples/current/{root}/usr/bin/java/{dep}/{anon:anon}/77.jo"
	cat >jo.s <<-'END'
		.text
		.globl hot
		.type hot, @function
		hot: .fill 64, 1, 0x90
		.size hot, 64
		.globl cold
		.type cold, @function
		cold: .fill 16, 1, 0x90
		.size cold, 16
	END
	"${CC:-gcc}" -c -o jo.o jo.s
	ld -Ttext=0x7f0000000000 -e 0 -o jo jo.o
	[ -d "${jo%/*}" ]
}

@test "a .jo file of OProfile names the memory of its process" {
	jo_session
	cp jo "$jo"
	opfs cat current/with:no-header/report >got
	cat got
	grep -qE '^30 .*\[jit\] +hot$' got
	grep -qE '^5 .*\[jit\] +cold$' got
	grep -qE '^7 .*\[jit\] +\(no symbol\)$' got
}

@test "a .jo file that is none, or is a link, names nothing" {
	jo_session
	echo hello >"$jo"
	opfs cat current/with:no-header/report | grep -qE '^42 .*anon \(tgid:77'
	opfs cat current/status | grep -F '77.jo'
	rm "$jo"
	cp jo away
	ln -s "$PWD/away" "$jo"
	opfs cat current/with:no-header/report | grep -qE '^42 .*anon \(tgid:77'
}

@test "[jit] selects what reports call so, and no other memory" {
	jo_session
	run -1 opfs cat 'current/lib-image:[jit]/report'
	[[ $output == *'no library, kernel image or memory "[jit]" here'* ]]
	cp jo "$jo"
	D=s python3 "$OPFS_TOP/tests/lib/mksession.py" s <<-'END'
		[{"app": "/usr/bin/java", "tgid": 78, "tid": 78,
		  "image": "anon:anon:78:7f0000000000:7f0000000fff",
		  "samples": {"0x10": 20}}]
	END
	opfs cat current/with:no-header/report |
		awk '$3 == "[jit]" { print $1, $NF }' >all
	[ "$(wc -l <all)" = 3 ]
	for path in 'lib-image:[jit]' '[jit]' 'image:java/lib-image/[jit]' \
		'lib-image:%5Bjit%5D,none'; do
		opfs cat "current/$path/with:no-header/report" |
			awk '{ print $1, $NF }' | diff all - || { echo "$path"; false; }
	done
	opfs cat 'current/lib-image-exclude:[jit]/with:no-header/report' >got
	[ "$(wc -l <got)" = 1 ]
	grep -q '^20 .*anon (tgid:78' got
	run -1 opfs cat 'current/image:[jit]/report'
	[[ $output == *'no application "[jit]" here'*'lib-image:'* ]]
}

@test "functions of one name at the same places of two processes' memory are told apart" {
	python3 "$OPFS_TOP/tests/lib/mksession.py" s <<-'END'
		[{"app": "/usr/bin/java", "tgid": 77, "tid": 77,
		  "image": "anon:anon:77:7f0000000000:7f0000000fff",
		  "samples": {"0x10": 30, "0x42": 5}},
		 {"app": "/usr/bin/java", "tgid": 78, "tid": 78,
		  "image": "anon:anon:78:7f0000000000:7f0000000fff",
		  "samples": {"0x10": 20, "0x42": 4}}]
	END
	printf '%s\n' .text '.type hot, @function' 'hot: .fill 64, 1, 0x90' \
		'.size hot, 64' >twin.s
	"${CC:-gcc}" -c -o a.o twin.s
	"${CC:-gcc}" -c -o b.o twin.s
	ld -Ttext=0x7f0000000000 -e 0 -o jo a.o b.o
	for tgid in 77 78; do
		cp jo "s/samples/current/{root}/usr/bin/java/{dep}/{anon:anon}/$tgid.jo"
	done
	opfs ls current/symbol: >names
	[ "$(wc -l <names)" = 4 ]
	for f in $(cat names); do
		opfs cat "current/symbol:$f/with:no-header/report"
	done | awk '{ print $1, $3 }' | sort -n >got
	printf '%s [jit]\n' 4 5 20 30 | diff - got
}

# ---- many names

@test "names of many pieces take bounded room, and what is left out is told" {
	# a name of 512 bytes, and moves into each other, each of which is two pieces
	cat >nested.py <<-'END'
		import os, struct, sys
		at, n, pid = int(sys.argv[1], 16), 200000, int(sys.argv[2])
		name = b"A" * 512 + b"\0"
		out = [struct.pack("=IIIIIIQQ", 0x4a695444, 1, 40, 62, 0, pid, 0, 0),
		       struct.pack("=IIQIIQQQQ", 0, 56 + len(name), 0, pid, pid, at, at,
				   1 << 23, 7), name]
		out += [struct.pack("=IIQIIQQQQQ", 1, 64, 0, pid, pid, at, at,
				    at + 64 + i, 2 * (n - i) + 2, 7) for i in range(n)]
		open("jit-4.dump", "wb").write(b"".join(out))
	END
	sed 's/LEN = 4096/LEN = 1 << 23/' "$progs/jit.c" >large.c
	"${CC:-gcc}" -O1 -o large large.c
	record --session-dir s -- ./large 0.3 \
		'python3 nested.py $JIT_AT $JIT_PID' jit-4.dump
	notes | grep -qE ': process [0-9]+: [0-9]+ entries left out: a million are kept'
	[ "$(stat -c %s s/samples/current/jit/*)" -gt $((127 << 20)) ]
	opfs cat current/report | grep -qE '\[jit\] .*AAAA'
	opfs check
}
