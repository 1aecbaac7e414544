#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What bash and zsh complete where somebody types in a terminal.

bats_require_minimum_version 1.5.0
load ../lib/mount
load ../lib/typed

setup() {
	need_command tmux zsh
	make_dirs
	cd "$W"
	mksession <<-'END2'
	[{"app": "/bin/kate", "event": "TIMER", "samples": {"0x10": 7}},
	 {"app": "/bin/one $two", "event": "TIMER", "samples": {"0x10": 3}}]
	END2
	export OPFS_SESSION_DIR=$D
}

teardown() {
	shell_end
	cd /
	remove_dirs
}

# What README tells to put into ~/.bashrc.
colon_line() {
	grep -xE ' +COMP_WORDBREAKS=.*' "$OPFS_TOP/README.md"
}

# The paths of opfs: the same in both shells, but for a closing quote.
completes_paths() {
	completes 'opfs cat current/image:k' 'opfs cat current/image:kate'
	completes 'opfs cat current/event:TI' 'opfs cat current/event:TIMER'
	completes 'opfs why current/event:TIMER/image:k' \
		'opfs why current/event:TIMER/image:kate'
	completes 'opfs cat current/image:kate/summ' 'opfs cat current/image:kate/summary'
	completes 'opfs ls current/thre' 'opfs ls current/threshold:'
	completes 'opfs diff current current/image:k' \
		'opfs diff current current/image:kate'
	completes 'opfs cat current/image:o' 'opfs cat current/image:one\ \$two'
	completes 'opfs cat current/image:one\ \$two/summ' \
		'opfs cat current/image:one\ \$two/summary'
	completes 'opfs check cur' 'opfs check current'
}

@test "bash completes tags, values and files of opfs, with colons in the path" {
	shell bash
	completes_paths
	completes 'opfs cat "current/image:k' 'opfs cat "current/image:kate"'
	shell_end
	shell bash "$(colon_line)"
	completes_paths
}

@test "zsh completes tags, values and files of opfs, with colons in the path" {
	shell zsh
	completes_paths
	completes 'opfs cat "current/image:k' 'opfs cat "current/image:kate'
}

@test "in a mount, and of paths into one, opfs completes what is there" {
	need_mount
	"$OPFS" mount "$D" "$M"
	unset OPFS_SESSION_DIR
	for s in bash zsh; do
		shell $s
		completes "opfs ls $W/mn" "opfs ls $M/"
		completes "opfs ls $M/cur" "opfs ls $M/current"
		completes "opfs cat $M/current/image:k" "opfs cat $M/current/image:kate"
		line_clear
		keys "cd $M/current" Enter
		completes 'opfs cat image:k' 'opfs cat image:kate'
		completes 'opfs cat summ' 'opfs cat summary'
		shell_end
	done
}

@test "other commands complete a mount's files: image/, and image: as README tells" {
	need_mount
	"$OPFS" mount "$D" "$M"
	shell bash "cd $M"
	completes 'cat current/image/k' 'cat current/image/kate/'
	shell_end
	shell bash "cd $M" "$(colon_line)"
	completes 'cat current/image:k' 'cat current/image:kate'
	completes 'cat current/event:TI' 'cat current/event:TIMER'
	completes 'cat current/image:kate/summ' 'cat current/image:kate/summary'
	shell_end
	shell zsh "cd $M"
	completes 'cat current/image/k' 'cat current/image/kate/'
	completes 'cat current/image:k' 'cat current/image:kate/'
	completes 'cat current/event:TI' 'cat current/event:TIMER/'
}

# offers_options: every long option of --help, of each command
offers_options() {
	local p c options

	for p in opfs opcollect; do
		for c in $("$OPFS_BIN/$p" --help | sed -nE 's/^  ([a-z]+)  +.*/\1/p'); do
			[ "$c" != help ] || continue
			echo "$p $c"
			options=$("$OPFS_BIN/$p" "$c" --help |
				sed -nE 's/^ +(-., )?(--[a-z-]+).*/\2/p')
			[ -n "$options" ]
			# shellcheck disable=SC2086
			offers "$p $c --" $options
		done
	done
}

@test "bash completes every option of every command" {
	shell bash
	offers_options
}

@test "zsh completes every option of every command" {
	shell zsh
	offers_options
}

@test "commands, and values of options, are completed by both shells" {
	for s in bash zsh; do
		shell $s
		offers 'opfs ' mount ls cat diff why check keep fetch help
		offers 'opcollect re' record replay rename remove reset
		completes 'opfs help fe' 'opfs help fetch'
		completes 'opfs cat --color=nev' 'opfs cat --color=never'
		completes 'opcollect record -F m' 'opcollect record -F max'
		completes "opcollect record -o $W/dat" "opcollect record -o $W/data/"
		completes 'opcollect remove cur' 'opcollect remove current'
		completes "opcollect rename -d $D cur" "opcollect rename -d $D current"
		completes "opcollect record --source=k" "opcollect record --source=kernel"
		shell_end
	done
}
