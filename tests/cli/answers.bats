#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# opfs ls, why and check --json: what they say, for programs.

bats_require_minimum_version 1.5.0
load ../lib/need
load ../lib/opfs

setup() {
	cd "$BATS_TEST_TMPDIR"
	D=$PWD/data
	mksession <<-'END2'
	[{"app": "/bin/kate", "event": "TIMER", "samples": {"0x10": 7}},
	 {"app": "/bin/two", "event": "TIMER", "samples": {"0x10": 3}},
	 {"session": "saved", "app": "/bin/kate", "event": "TIMER",
	  "samples": {"0x10": 2}}]
	END2
}

# answer STATUS COMMAND WORD...: $json, which the schema of COMMAND allows; with stdout
# alone
answer() {
	run --separate-stderr "-$1" opfs "$2" --json "${@:3}"
	json=$output
	python3 -c 'import json, jsonschema, sys
schema, answer = json.load(open(sys.argv[1])), json.load(sys.stdin)
jsonschema.Draft202012Validator.check_schema(schema)
jsonschema.validate(answer, schema)' "$OPFS_TOP/doc/$2.schema.json" <<<"$json"
}

# is FILTER [JQ-OPTION]...: does jq find it so?
is() {
	jq -e "${@:2}" "$1" <<<"$json" || {
		echo "$1: $json"
		return 1
	}
}

@test "ls --json has the names of ls, and with -l their kinds, sizes and times" {
	answer 0 ls current
	[ "$(jq -r '.paths[0].entries[].name' <<<"$json")" = "$(opfs ls current)" ]
	is '.paths[0].path == "current" and .session_dir == $d' --arg d "$D"
	is '[.paths[0].entries[] | select(.name == "report" or .name == "image").kind]
		== ["file", "link"]'
	is '[.paths[].entries[] | .samples, .bytes, .time, .target] | unique == [null]'
	answer 0 ls -l current/event: current/report current
	is '.paths[0].entries[0] | .name == "TIMER" and .samples == 10 and .bytes == null'
	is '.paths[1] | .kind == "file" and .entries == null and .bytes == $n' \
		--argjson n "$(opfs cat current/report | wc -c)"
	is '.paths[2].entries[] | select(.name == "image") | .target == "image:"'
	is '[.paths[].entries | arrays | .[].time] | all(. != null)'
}

@test "ls --json of several paths is one document, which lacks what is not there" {
	answer 1 ls current nosuch saved
	is '[.paths[].path] == ["current", "saved"]'
	[[ $stderr = *nosuch* ]]
	answer 0 ls
	is '.paths[0] | .path == "/" and (.entries | map(.name) | contains(["saved"]))'
}

@test "why --json tells what a path selects, and which component of one fails" {
	answer 0 why current/image:kate/report
	is '.paths[0] | .exists and .file == "report" and .error == null'
	is '.paths[0].selection | .samples == 7 and .samples_of == 10 and
		.sessions == ["current"]'
	is '.paths[0].selection.tags == [{tag: "image", value: "kate", exact: true}]'
	answer 1 why current/imag:x current/image: current/image:kate/diff:saved
	is '.paths[0] | .exists == false and .selection == null'
	is '.paths[0].error | .component == "imag:x" and .at == 8 and
		(.message | contains("did you mean \"image\"?"))'
	is '.paths[1].selection.open == {tag: "image", value: ""}'
	is '.paths[2].selection.compared_with.sessions == ["saved"]'
}

@test "why --json tells of a path whose tags contradict each other that it exists" {
	run -1 opfs why current/sort:diff/report
	[[ $output = *'cannot be opened'* ]]
	answer 1 why current/sort:diff/report
	is '.paths[0] | .exists and .error.component == null and .error.message != ""'
}

@test "check --json tells whole sessions, faults of others, and what is no session" {
	answer 0 check
	is '[.sessions[] | .session, .whole, .samples]
		== ["current", true, 10, "saved", true, 2]'
	truncate -s 10 "$(find data/samples/saved -path '*kate*' -type f)"
	answer 1 check
	is '[.sessions[] | .whole] == [true, false]'
	is '.sessions[1].faults | length == 1 and (.[0].path | contains("kate"))'
	answer 1 check nosuch 'cur*'
	is '[.sessions[] | .session, .whole] == ["nosuch", false, "current", true]'
	is '.sessions[0] | .samples == null and (.faults | length == 1)'
}

@test "check --json compares with a MANIFEST, of an archive too" {
	opfs cat saved/archive.tar | tar -x --one-top-level=arc
	D=$PWD/$(dirname "$(find arc -maxdepth 2 -name MANIFEST)")
	answer 0 check
	is '.sessions[0] | .session == null and .whole and .manifest_files > 0'
	echo >>"$(find "$D" -path '*kate*' -type f | head -n 1)"
	answer 1 check
	is '.sessions[0] | .whole == false and (.faults | length == 1)'
}

@test "bytes that are no UTF-8 are characters from U+EF00 on" {
	run -0 env D="$D" python3 - <<-'END2'
	import os
	d = os.environb[b"D"] + b"/samples/"
	os.rename(d + b"saved", d + b"s\xff\n")
	END2
	answer 0 ls
	is '.paths[0].entries | map(.name) | contains(["s%FF%0A"])' # as a path has it
	answer 0 check
	is '.sessions | map(.session) | contains(["s\uefff\n"])'
	answer 1 why $'nosuch\xff'
	is '.paths[0].error.component == "nosuch\uefff"'
}

@test "without a session directory there is an error and no answer" {
	D=$PWD/nosuch
	for c in ls why check; do
		run --separate-stderr -1 opfs "$c" --json current
		[ -z "$output" ]
		[[ $stderr = "opfs $c: $D: no such session directory"* ]]
	done
}
