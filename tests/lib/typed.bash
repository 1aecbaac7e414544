# SPDX-License-Identifier: GPL-2.0-or-later
# An interactive shell in a terminal, which tmux draws.  Whoever sources this sources
# busy.bash too, and calls shell_end in teardown().

# shell bash|zsh [LINE]...: starts one that has our completions, and LINEs in its rc file.
# Its prompt is "P>".
shell() {
	local dir=$BATS_TEST_TMPDIR/$1 words
	local -A start=([bash]="bash --noprofile --rcfile '$dir/rc' -i"
		[zsh]="ZDOTDIR='$dir' zsh -d -i")

	words=${start[$1]}
	typed_in=$BATS_TEST_TMPDIR/tmux
	mkdir -p "$dir"
	{
		printf '%s\n' "PS1='P> '" "PATH=$OPFS_BIN:\$PATH"
		if [ "$1" = zsh ]; then
			echo "fpath=($OPFS_TOP/doc/completion/zsh \$fpath)"
			echo 'autoload -Uz compinit; compinit -u -D'
		else
			printf 'source %s\n' "$OPFS_TOP"/doc/completion/bash/*
		fi
		printf '%s\n' "${@:2}"
	} >"$dir/rc"
	cp "$dir/rc" "$dir/.zshrc"
	INPUTRC=/dev/null LC_ALL=C.UTF-8 tmux -S "$typed_in" -f /dev/null \
		new-session -d -x 150 -y 60 "$words" 3>&-
	wait_for screen_is 'P>'
}

shell_end() {
	[ -z "${typed_in-}" ] || tmux -S "$typed_in" kill-server || true
	typed_in=
}

# keys KEY...: as tmux calls them; what is no name of a key is typed.
keys() {
	tmux -S "$typed_in" send-keys -- "$@"
}

screen() {
	tmux -S "$typed_in" capture-pane -p | sed '/^ *$/d'
}

screen_is() {
	[ "$(screen)" = "$1" ]
}

# The line is as if nothing had been typed.
line_clear() {
	keys C-u C-l
	wait_for screen_is 'P>'
}

# types TEXT: at the prompt
types() {
	line_clear
	tmux -S "$typed_in" send-keys -l -- "$1"
	wait_for screen_is "P> ${1% }" # tmux tells no blank at the end
}

# completes TYPED LINE: with a tab the shell makes LINE of what was typed.
completes() {
	types "$1"
	keys Tab
	wait_for screen_is "P> $2" || {
		screen
		return 1
	}
}

# offers TYPED WORD...: with tabs the shell shows all these words.
offers() {
	types "$1"
	keys Tab Tab
	wait_for screen_has "${@:2}" || {
		screen
		return 1
	}
}

screen_has() {
	local word text

	text=$(screen)
	for word; do
		grep -qwF -- "$word" <<<"$text" || return
	done
}
