#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What is written about the programs agrees with the programs.

bats_require_minimum_version 1.5.0
load ../lib/need

setup() {
	cd "$OPFS_TOP"
	opfs="$OPFS_BIN/opfs"
	opcollect="$OPFS_BIN/opcollect"
	[ -x "$opfs" ] && [ -x "$opcollect" ]
	manuals=(doc/opcollect.1 doc/opfs.1 doc/opfs.5)
}

# Subcommands as "PROGRAM --help" lists them: two blanks, the name, blanks, what it does.
subcommands() {
	"$1" --help | awk '/Commands:$/ { on = 1; next } /^[^ ]/ { on = 0 }
		on && /^  [a-z]/ { print $1 }'
}

# Long options of a program and all its subcommands, a line each, as --name.
long_options() {
	local sub

	{
		"$1" --help
		for sub in $(subcommands "$1"); do
			"$1" "$sub" --help
		done
	} | sed -nE 's/^  (-., |    )(--[a-z-]+).*/\2/p' | sort -u
}

short_options() {
	local sub

	{
		"$1" --help
		for sub in $(subcommands "$1"); do
			"$1" "$sub" --help
		done
	} | sed -nE 's/^  (-.), --.*/\1/p' | sort -u
}

manual() {
	MANWIDTH=200 mandoc -T utf8 "$1" | col -bx
}

# What a completion script knows, as --name.
completion_options() {
	grep -oE -- '--[a-z][a-z-]*' "$1" | sort -u
}

# Fails with the difference unless both lists are the same.
assert_same() {
	diff <(printf '%s\n' "$2") <(printf '%s\n' "$3") || {
		echo "(<: $1 only in --help, >: only in what is written)"
		return 1
	}
}

@test "manual pages are free of mandoc's warnings" {
	mandoc -T lint -W warning "${manuals[@]}"
}

@test "every subcommand has help, and stands in the manual page and both completions" {
	for p in opfs opcollect; do
		subs=$(subcommands "$OPFS_BIN/$p")
		[ -n "$subs" ]
		for s in $subs; do
			echo "$p $s"
			"$OPFS_BIN/$p" "$s" --help | grep -q "^Usage: $p $s"
			grep -qE "^\.(It|Ic|Cm).* $s( |\$)" "doc/$p.1"
			grep -qw -- "$s" "doc/completion/bash/$p"
			grep -qw -- "$s" "doc/completion/zsh/_$p"
		done
	done
}

@test "the long options of --help are exactly those of the manual page" {
	for p in opfs opcollect; do
		written=$(manual "doc/$p.1" | grep -oE -- '--[a-z][a-z-]*' | sort -u)
		assert_same "$p" "$(long_options "$OPFS_BIN/$p")" "$written"
	done
}

@test "every short option of --help is in the manual page" {
	for p in opfs opcollect; do
		for o in $(short_options "$OPFS_BIN/$p"); do
			echo "$p $o"
			manual "doc/$p.1" | grep -qF -- "$o"
		done
	done
}

@test "the long options of --help are exactly those of both completions" {
	for p in opfs opcollect; do
		have=$(long_options "$OPFS_BIN/$p")
		assert_same "$p" "$have" "$(completion_options "doc/completion/bash/$p")"
		assert_same "$p" "$have" "$(completion_options "doc/completion/zsh/_$p")"
	done
}

@test "every tag is told in opfs(5)" {
	for tag in $(sed -nE 's/^TAG\([A-Z_]+, "([a-z-]+)".*/\1/p' \
		libspec/spec/tag_list.h); do
		echo "$tag"
		grep -qE "^\.It Cm $tag : " doc/opfs.5
	done
}

@test "every tag is completed by bash and zsh" {
	for tag in $(sed -nE 's/^TAG\([A-Z_]+, "([a-z-]+)".*/\1/p' \
		libspec/spec/tag_list.h); do
		echo "$tag"
		grep -qE "(^|[ 	'(])$tag([ ')]|\$)" doc/completion/bash/opfs
		grep -qE "(^|[ 	'(])$tag([ ')]|\$)" doc/completion/zsh/_opfs
	done
}

@test "every word of a tag is told in opfs(5)" {
	for word in $(sed -nE 's/^WORD\([A-Z_]+, [A-Z_]+, "([a-z-]+)".*/\1/p' \
		libspec/spec/word_list.h); do
		[ "$word" != library ] || continue # another name of lib
		echo "$word"
		grep -qE "^\.Cm.* $word( |$)" doc/opfs.5
	done
}

@test "every tag of opfs(5) exists" {
	for tag in $(sed -nE 's/^\.It Cm ([a-z-]+) : .*/\1/p' doc/opfs.5); do
		echo "$tag"
		grep -q "\"$tag\"" libspec/spec/tag_list.h
	done
}

@test "every file of a profile directory is told in opfs(5)" {
	for name in $(find opfs -name "report_*.c" -exec \
		sed -nE 's/^\t\.name = "([^"]+)".*/\1/p' {} +); do
		echo "$name"
		grep -qE "^\.It Pa $name\$" doc/opfs.5
	done
}

@test "every figure of stats/ is told in doc/internals.md as status tells it" {
	while IFS=$'\t' read -r name doc; do
		echo "$name"
		grep -F "| \`$name\` | $doc" doc/internals.md
	done < <(tr '\n' ' ' <libspec/session/stat_list.h |
		sed 's/"[ \t]*"//g; s/STAT(/\n&/g' |
		sed -nE 's/^STAT\([A-Z_]+, "([a-z_]+)", [A-Z]+,\s*"(.*)"\) *$/\1\t\2/p')
}

@test "every path and target that README, CONTRIBUTING and doc/ name exists" {
	folders='base|libspec|libsym|events|collector|opfs|tests|bench|doc'
	for f in README.md CONTRIBUTING.md doc/*.md; do
		for link in $(grep -oE '\]\([^)#]+' "$f" | cut -c3- | grep -v ://); do
			echo "$f: $link"
			[ -e "$(dirname "$f")/$link" ]
		done
		for path in $(grep -oE "\`($folders)/[A-Za-z0-9_./-]*\`" "$f" |
			tr -d '`'); do
			case $path in
			*NAME*|*FOLDER*|*MODULE*) continue ;;
			esac
			echo "$f: $path"
			[ -e "$path" ]
		done
		for target in $(grep -oE '(^|^    |`)make [a-z][a-z-]*' "$f" |
			sed 's/.*make //'); do
			echo "$f: make $target"
			grep -qE "^([a-z-]+ )*$target( [a-z-]+)*:" Makefile
		done
	done
}

@test "every section of doc/ that a comment names exists" {
	while IFS=$'\t' read -r file section; do
		echo "$file: $section"
		grep -qixE "(#+|\.S[hs]) $section" "$file"
	done < <(grep -rhoE 'doc/[a-z.0-9]+ "[^"]+"' --include='*.[ch]' \
		base libspec libsym events collector opfs |
		sed -E 's/^(.*) "(.*)"$/\1\t\2/' | sort -u)
}

@test "every source file begins with its licence" {
	find base libspec libsym events collector opfs tests bench doc \
		\( -name '*.[ch]' -o -name '*.sh' -o -name '*.bats' -o -name '*.bash' -o \
		-name '*.mk' -o -name '*.[15]' -o -name '*.py' \) -type f -print0 |
		xargs -0 awk '
			FNR == 1 { at[n++] = FILENAME }
			/SPDX-License-Identifier: GPL-2.0-or-later/ { has[FILENAME] }
			FNR == 3 { nextfile }
			END {
				for (i = 0; i < n; i++)
					if (!(at[i] in has)) { print at[i]; bad = 1 }
				exit bad || n < 100
			}'
}

@test "documents do not mention what only the developers' machines have" {
	run ! grep -rnE '/work/|\.library|/shared/' README.md CHANGELOG.md \
		CONTRIBUTING.md doc
}

# ---- completions

# complete_bash WORD...: what bash offers for the last word (which may be empty).
complete_bash() {
	bash --norc -c '
		words=("$@")
		source "$OPFS_TOP/doc/completion/bash/${1##*/}"
		COMP_WORDBREAKS=${BREAKS-$COMP_WORDBREAKS}
		COMP_LINE="${words[*]}"
		COMP_POINT=${#COMP_LINE}
		# split as readline does: at colons and equal signs, if they break words
		COMP_WORDS=()
		for w in "${words[@]}"; do
			case $COMP_WORDBREAKS in
			*:*)
				while [[ $w == ?*[:=]* || $w == [:=]?* ]]; do
					head=${w%%[:=]*}
					if [ -n "$head" ]; then
						COMP_WORDS+=("$head")
						w=${w#"$head"}
					else
						COMP_WORDS+=("${w:0:1}")
						w=${w:1}
					fi
				done
				;;
			esac
			COMP_WORDS+=("$w")
		done
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		COMPREPLY=()
		f=$(complete -p "${1##*/}" | sed "s/.*-F \([^ ]*\).*/\1/")
		compopt() { :; }
		"$f" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
		printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}

# A session with samples of bash in current/.
tiny_session() {
	session="$BATS_TEST_TMPDIR/s"
	mkdir -p "$session/samples"
	"$opcollect" record --session-dir "$session" -- bash -c \
		'while read -r ns _ </proc/$$/schedstat && [ "$ns" -lt 300000000 ]; do
			for ((i = 0; i < 10000; i++)); do :; done
		done' >/dev/null 2>&1 ||
		skip "this user may not record here"
}

@test "completions are valid scripts" {
	for f in doc/completion/bash/*; do
		bash -n "$f"
	done
	need_command zsh
	for f in doc/completion/zsh/*; do
		zsh -n "$f"
	done
}

@test "bash completes subcommands" {
	run -0 complete_bash "$opfs" ca
	[ "$output" = cat ]
	run -0 complete_bash "$opcollect" rec
	[ "$output" = record ]
}

@test "bash completes options of a subcommand" {
	run -0 complete_bash "$opcollect" record --sep
	[[ "$output" == --separate* ]]
	run -0 complete_bash "$opfs" mount --session
	[[ "$output" == --session-dir* ]]
}

@test "bash completes the words of --separate, also in a list" {
	run -0 complete_bash "$opcollect" record --separate thr
	[ "$output" = thread ]
	run -0 complete_bash "$opcollect" record --separate lib,c
	[ "$output" = lib,cpu ]
}

@test "bash completes paths of the tree without a mount" {
	tiny_session
	run -0 complete_bash "$opfs" cat --session-dir "$session" current/repo
	[[ "$output" == *current/report* ]]
	[[ "$output" != *summary* ]]
}

@test "bash completes tags and their values" {
	tiny_session
	run -0 complete_bash "$opfs" cat --session-dir "$session" current/thre
	[ "$output" = current/threshold: ]
	run -0 complete_bash "$opfs" cat --session-dir "$session" current/sort:app
	echo "$output"
	[ "$output" = app-name ]
	run -0 complete_bash "$opfs" cat --session-dir "$session" \
		current/with:debug-info/repo
	[[ "$output" == *debug-info/report* ]]
}

@test "bash completes behind a colon, whether it breaks words or not" {
	tiny_session
	run -0 complete_bash "$opfs" cat --session-dir "$session" current/image:bash/repo
	echo "$output"
	[[ "$output" == bash/report* ]]
	BREAKS=' ' run -0 complete_bash "$opfs" cat --session-dir "$session" \
		current/image:bash/repo
	echo "$output"
	[[ "$output" == current/image:bash/report* ]]
}

@test "the driver's manual names every file of stats" {
	local name

	names=$(sed -nE 's/.*\] = "([a-z_]+)",$/\1/p' kernel/stats.c)
	[ "$(wc -w <<<"$names")" -ge 20 ]
	for name in $names; do
		grep -q "^|.*\`$name\`" doc/driver.md || { echo "$name"; return 1; }
	done
}
