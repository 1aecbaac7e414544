#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# report.xml, report.json and report.tsv: against OProfile's XML, against their schemas as
# other programs understand them, and with names that mean harm.

bats_require_minimum_version 1.5.0
load ../lib/opdemo
load ../lib/record
load ../lib/opfs

demo=image:/opt/opdemo/bin/demo
cycles=event:CPU_CLK_UNHALTED
all=with:exclude-dependent,details,debug-info
lib=$OPFS_TOP/tests/lib

# show PATH: of the reference session
show() {
	opdemo "$OPFS_BIN/opfs" cat --session-dir s1 "$1"
}

# same TRANSCRIPT PATH: the same elements as OProfile's
same() {
	local d=$BATS_TEST_TMPDIR

	opdemo_transcript "$1" >"$d/want.xml"
	[ -s "$d/want.xml" ]
	show "$2" >"$d/got.xml"
	python3 "$lib/same_xml.py" "$d/want.xml" "$d/got.xml"
	xmllint --noout --schema "$OPFS_TOP/doc/report.xsd" "$d/got.xml"
}

valid_xml() {
	xmllint --noout --schema "$OPFS_TOP/doc/report.xsd" "$@"
}

valid_json() {
	python3 "$lib/check_json.py" "$OPFS_TOP/doc/report.schema.json" "$@"
}

@test "addresses have 16 digits if one that is shown needs them" {
	local d=$BATS_TEST_TMPDIR

	echo '.text; .globl f; .type f, @function; f: .skip 32, 0x90; .size f, 32' \
		>"$d/f.s"
	"${CC:-gcc}" -shared -nostdlib -o "$d/low" "$d/f.s"
	"${CC:-gcc}" -shared -nostdlib -Wl,-Ttext-segment=0x700000000000 \
		-o "$d/high.so" "$d/f.s"
	python3 "$lib/mksession.py" "$d/s" <<-END
	[{"app": "$d/low", "samples": {"0x1000": 5}},
	 {"app": "$d/low", "image": "$d/high.so", "samples": {"0x1000": 5}}]
	END
	"$OPFS_BIN/opfs" cat --session-dir "$d/s" current/report.xml |
		grep 'startingaddr="0000000000001000"'
	"$OPFS_BIN/opfs" cat --session-dir "$d/s" \
		current/with:exclude-dependent/report.xml |
		grep 'startingaddr="00001000"'
}

@test "50: XML of one application without its libraries" {
	need_mount_namespace
	same 50-xml.txt "current/$demo/$cycles/with:exclude-dependent/report.xml"
}

@test "51: XML with details, source lines and bytes" {
	need_mount_namespace
	same 51-xml-details-g.txt \
		"current/$demo/$cycles/$all/report.xml"
}

@test "52: XML of two events" {
	need_mount_namespace
	same 52-xml-2ev.txt "current/$demo/report.xml"
}

@test "53: XML with callers and callees" {
	need_mount_namespace
	same 53-xml-cg.txt "current/$demo/$cycles/with:callgraph/report.xml"
}

@test "the comparison with OProfile's XML sees a difference of one sample" {
	need_mount_namespace
	opdemo_transcript 53-xml-cg.txt >"$BATS_TEST_TMPDIR/a"
	sed '0,/^353</s//354</' "$BATS_TEST_TMPDIR/a" >"$BATS_TEST_TMPDIR/b"
	run ! python3 "$lib/same_xml.py" "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b"
}

@test "be, bf: what XML cannot do is refused, with what can" {
	need_mount_namespace
	for tag in with:accumulated with:global-percent with:no-header with:reverse-sort \
		sort:vma; do
		run ! show "current/$tag/report.xml"
		[[ $output == *"report.xml does not take $tag"* || \
			$output == *"report.xml does not take ${tag%%:*}:"* ]]
	done
	run ! show "current/$cycles/diff:base/with:callgraph/report.json"
	[[ $output == *"with:callgraph show one session"* ]]
}

@test "every slice of the reference session is valid, in XML and in JSON" {
	need_mount_namespace
	local d=$BATS_TEST_TMPDIR n=0
	for path in current current/threshold:5 \
		current/with:callgraph,details,debug-info \
		current/with:callgraph/threshold:3 \
		current/include-symbols:crunch,main/with:callgraph,details \
		current/merge:lib,unitmask/with:details \
		current/symbol:main/with:callgraph \
		current/exclude-symbols:main current/with:exclude-dependent,callgraph \
		"current/image:*shapes/demangle:none" base "current/$cycles/diff:base" \
		current/lib-image:no-vmlinux; do
		n=$((n + 1))
		show "$path/report.xml" >"$d/$n.xml"
		show "$path/report.json" >"$d/$n.json"
	done
	valid_xml "$d"/*.xml
	valid_json "$d"/*.json
	jq -e '[.rows[] | select(.symbol == "crunch") | .samples[0]] == [353, 77]' \
		"$d/1.json"
	jq -e '.rows[.arcs[0].caller].symbol | length > 0' "$d/3.json"
}

@test "the schemas refuse what is wrong" {
	need_mount_namespace
	local d=$BATS_TEST_TMPDIR
	show current/report.xml >"$d/x"
	sed 's/idref="3"/idref="9999"/' "$d/x" >"$d/y"
	run ! valid_xml "$d/y"
	sed 's/class="c1"/class="c7"/' "$d/x" >"$d/y"
	run ! valid_xml "$d/y"
	show current/report.json >"$d/x"
	jq '.rows[0].samples[0] = "1"' "$d/x" >"$d/y"
	run ! valid_json "$d/y"
	jq '.rows[0].percent_error[0] += 0.01' "$d/x" >"$d/y"
	run ! valid_json "$d/y"
}

@test "JSON tells the source lines that addr2line tells" {
	need_mount_namespace
	show "current/$cycles/$demo/$all/report.json" \
		>"$BATS_TEST_TMPDIR/j"
	jq -r '.rows[].hits[] | "\(.vma) \(.file):\(.line)"' "$BATS_TEST_TMPDIR/j" |
		sort >"$BATS_TEST_TMPDIR/got"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/got")" = 9 ]
	cut -d' ' -f1 "$BATS_TEST_TMPDIR/got" >"$BATS_TEST_TMPDIR/at"
	opdemo sh -c 'addr2line -e bin/demo' <"$BATS_TEST_TMPDIR/at" |
		sed 's/ (discriminator.*//' | paste -d' ' "$BATS_TEST_TMPDIR/at" - |
		diff - "$BATS_TEST_TMPDIR/got"
}

@test "TSV, JSON, XML and report agree in every figure" {
	need_mount_namespace
	local d=$BATS_TEST_TMPDIR
	for f in tsv json xml; do
		show "current/with:debug-info/report.$f" >"$d/$f"
	done
	awk -F'\t' \
		'NR > 1 { print $5 "\t" $2 "\t" $3 "\t" $8 "\t" $9 "\t" $10 "\t" $11 }' \
		"$d/tsv" | sort >"$d/a"
	jq -r '.rows[] | . as $r | .samples[] | select(. > 0) |
		[., $r.application, $r.image, $r.mangled, $r.vma, $r.file, $r.line] |
		@tsv' \
		"$d/json" | sort >"$d/b"
	[ "$(wc -l <"$d/a")" -gt 25 ]
	diff "$d/a" "$d/b"
	awk -F'\t' 'NR > 1 { print $5 }' "$d/tsv" | sort >"$d/a"
	xmllint --xpath '//symbol/count/text()' "$d/xml" | awk NF | sort | diff "$d/a" -
	[ "$(awk -F'\t' '{ print NF }' "$d/tsv" | sort -u)" = 18 ]
}

@test "the standard error of a share is that of a binomial sample" {
	need_mount_namespace
	show current/report.tsv | awk -F'\t' '
		NR > 1 { n[$1] += $5; row[NR] = $0 }
		END {
			for (i in row) {
				split(row[i], f, "\t"); p = f[5] / n[f[1]]
				want = sprintf("%.4f", 100 * sqrt(p * (1 - p) / n[f[1]]))
				if (want != f[7]) { print row[i], want; bad = 1 }
			}
			exit bad
		}'
}

@test "a difference is in all three, the older side as base" {
	need_mount_namespace
	local d=$BATS_TEST_TMPDIR
	for f in tsv json xml; do
		show "current/$cycles/diff:base/report.$f" >"$d/$f"
	done
	show "base/$cycles/report.tsv" >"$d/base"
	awk -F'\t' 'NR > 1 { n += $15 } END { print n }' "$d/tsv" >"$d/a"
	awk -F'\t' 'NR > 1 { n += $5 } END { print n }' "$d/base" | diff - "$d/a"
	jq '[.rows[].base.samples[0]] | add' "$d/json" | diff - "$d/a"
	jq '.classes[0].base_samples' "$d/json" | diff - "$d/a"
	xmllint --xpath '//symbol/count/@base' "$d/xml" | tr -dc '0-9\n' |
		awk '{ n += $1 } END { print n }' | diff - "$d/a"
	awk -F'\t' 'NR > 1 && ($17 - ($6 - $16) > 0.0002 || ($6 - $16) - $17 > 0.0002)' \
		"$d/tsv" >"$d/wrong"
	[ ! -s "$d/wrong" ]
	awk -F'\t' '$4 == "crunch" && /\/demo\t/ && $18 == 1' "$d/tsv" | grep -q .
}

@test "names of any bytes come back from XML, JSON and TSV" {
	local d=$BATS_TEST_TMPDIR f
	python3 "$lib/hostile_names.py" session | python3 "$lib/mksession.py" "$d/s"
	for f in xml json tsv; do
		"$OPFS_BIN/opfs" cat --session-dir "$d/s" "current/report.$f" >"$d/$f"
	done
	valid_xml "$d/xml"
	valid_json "$d/json"
	jq -e '.rows | length == 9' "$d/json"
	python3 "$lib/hostile_names.py" check "$d/xml" "$d/json" "$d/tsv"
}

@test "a session without samples is valid, too" {
	local d=$BATS_TEST_TMPDIR
	mkdir -p "$d/s/samples"
	"$OPFS_BIN/opfs" cat --session-dir "$d/s" current/report.xml >"$d/x"
	"$OPFS_BIN/opfs" cat --session-dir "$d/s" current/report.json >"$d/j"
	valid_xml "$d/x"
	valid_json "$d/j"
}

@test "columns of split: and a CPU without a speed are valid" {
	local d=$BATS_TEST_TMPDIR
	echo '[{"tgid": 7, "tid": 7, "cpu": 3}, {"tgid": 8, "tid": 9, "cpu": 0},
		{"event": "TIMER", "cpu_type": 9999, "session": "t"}]' |
		python3 "$lib/mksession.py" "$d/s"
	for path in current/split:cpu current/split:tgid current/split:tid current t; do
		"$OPFS_BIN/opfs" cat --session-dir "$d/s" "$path/report.xml" >"$d/x"
		"$OPFS_BIN/opfs" cat --session-dir "$d/s" "$path/report.json" >"$d/j"
		valid_xml "$d/x"
		valid_json "$d/j"
	done
	"$OPFS_BIN/opfs" cat --session-dir "$d/s" current/split:cpu/report.xml >"$d/x"
	grep -q 'separatedcpus="4"' "$d/x"
	grep -q '<class  name="c1" cpu="3"' "$d/x"
	"$OPFS_BIN/opfs" cat --session-dir "$d/s" current/split:tid/report.tsv >"$d/t"
	[ "$(awk -F'\t' 'NR > 1 { print $13 }' "$d/t" | sort | tr '\n' ' ')" = "7 9 " ]
}

@test "a program that was recorded with its calls: hostile symbols and file names" {
	can_record
	local d=$BATS_TEST_TMPDIR src
	src="$d/a\"<&>$(printf '\001\377')b.c"
	cat >"$src" <<-'END'
		volatile unsigned long sink;
		__attribute__((noinline)) void odd(void)
		{
			for (unsigned long i = 0; i < 300000000; i++)
				sink += i;
		}
		int main(void)
		{
			odd();
			return 0;
		}
	END
	${CC:-gcc} -g -O1 -fno-omit-frame-pointer -c -o "$d/o" "$src"
	objcopy --redefine-sym odd="$(printf 'odd<&">\377\303(]]>')" "$d/o"
	${CC:-gcc} -o "$d/prog<&" "$d/o"
	record -g --session-dir "$d/s" -- "$d/prog<&"
	for f in xml json; do
		"$OPFS_BIN/opfs" cat --session-dir "$d/s" \
			"current/with:callgraph,details,debug-info/report.$f" >"$d/$f"
	done
	valid_xml "$d/xml"
	valid_json "$d/json"
	grep -q 'name="odd&lt;&amp;&quot;&gt;' "$d/xml"
	grep -q ' file="[^"]*a&quot;&lt;&amp;&gt;' "$d/xml"
	jq -e '[.rows[] | select(.symbol | startswith("odd<&\">"))] | length == 1' \
		"$d/json"
	jq -e '.sessions[0].taken == .sessions[0].stored + .sessions[0].lost +
		([.sessions[0].left_out[]] | add // 0)' "$d/json"
}

@test "a report does not depend on what was read before" {
	need_mount_namespace
	need_mount
	local d=$BATS_TEST_TMPDIR slice before f
	# shellcheck disable=SC2016 # of the inner shell
	opdemo sh -c '
		"$1" ls --session-dir s1 "$2/symbol:"
		for f in report.tsv report.json report.xml with:callgraph/report.json \
			with:callgraph/report.xml callgraph status; do
			"$1" cat --session-dir s1 "$2/$f"
		done' sh "$OPFS_BIN/opfs" "current/$demo/$cycles" >"$d/alone"
	for before in callgraph with:details,callgraph/report.json details; do
		# shellcheck disable=SC2016 # of the inner shell
		opdemo sh -c '
			mkdir "$4/m" && "$1" mount s1 "$4/m" || exit
			cat "$4/m/$2/$3" >"$4/before"
			ls "$4/m/$2/symbol:"
			c=with:callgraph
			for f in report.tsv report.json report.xml $c/report.json \
				$c/report.xml callgraph status; do
				cat "$4/m/$2/$f"
			done
			umount "$4/m" && rmdir "$4/m"' \
			sh "$OPFS_BIN/opfs" "current/$demo/$cycles" \
			"$before" "$d" >"$d/after"
		diff "$d/alone" "$d/after"
	done
}

@test "what only arcs know is in none of the files that show no arcs" {
	local s=$BATS_TEST_TMPDIR/s opfs=$OPFS_BIN/opfs f
	python3 "$lib/mksession.py" "$s" <<-'END'
		[{"app": "/gone/demo", "samples": {"0x1000": 5}},
		 {"app": "/gone/demo", "callee": "/gone/lib.so",
		  "samples": {"0x100000002000": 3}}]
	END
	for f in report.json report.xml; do
		"$opfs" cat --session-dir "$s" "current/$f" >"$BATS_TEST_TMPDIR/alone"
		"$opfs" cat --session-dir "$s" current/callgraph >"$BATS_TEST_TMPDIR/both"
		grep -q lib.so "$BATS_TEST_TMPDIR/both"
		cat "$BATS_TEST_TMPDIR/alone" >>"$BATS_TEST_TMPDIR/both"
		"$opfs" cat --session-dir "$s" current/callgraph "current/$f" |
			diff "$BATS_TEST_TMPDIR/both" -
	done
}

# agree DIRECTORY: what a program that was written from the manual reads in all four files
agree() {
	mkdir -p got
	for f in report.tsv report.json with:long-filenames/{report,summary}; do
		"$OPFS_BIN/opfs" cat --session-dir s "$1/$f" >"got/${f##*/}"
	done
	python3 "$lib/manual_reader.py" got
}

@test "what was written from the manual reads the same sums in all files" {
	cd "$BATS_TEST_TMPDIR"
	cat >two.c <<-'END'
	__attribute__((noinline)) int one(int n)
	{
		return n * 3;
	}
	int main(int argc, char **argv)
	{
		return one(argc) + argc;
	}
	END
	"${CC:-gcc}" -O1 -g -o two two.c
	one=$(($(offset_of two one))) main=$(($(offset_of two main)))
	mask='"event": "LLC_MISSES", "count": 6000, "um"'
	D=s mksession <<-END
	[{"app": "$PWD/two", "samples": {"$one": 90, "$main": 5, "16": 2}},
	 {"app": "$PWD/two", $mask: 65, "samples": {"$one": 7}},
	 {"app": "$PWD/two", $mask: 79, "samples": {"$main": 4, "$one": 1}},
	 {"app": "$PWD/two", $mask: 65, "image": "/lib/libx.so", "samples": {"0x10": 3}},
	 {"app": "$PWD/two", "image": "kern:vmlinux", "samples": {"0x10": 11}},
	 {"app": "/bin/odd\u001b%41\u00e4", "image": "$PWD/two", "samples": {"$one": 8}},
	 {"app": "/bin/odd\u001b%41\u00e4", $mask: 79, "samples": {"0x0": 6}}]
	END
	run agree current
	echo "$output"
	[[ $output = *" 3 events, 137 samples" ]]
	run -0 agree current/event:LLC_MISSES/unit-mask:79
	[[ $output = *" 1 events, 11 samples" ]]
	run -0 agree current/lib-image:two
	sed -i '2s/\t90\t/\t91\t/' got/report.tsv
	run -1 python3 "$lib/manual_reader.py" got
}
