#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# "make install": where things go, and that "make uninstall" takes all of them away.

setup() {
	dest="$BATS_TEST_TMPDIR/dest"
	mkdir "$dest"
}

# The programs are there already, so nothing is built.
make_target() {
	make -C "$OPFS_TOP" --no-print-directory -o all O="${OPFS_BIN%/bin}" \
		SAN="$OPFS_SAN" DESTDIR="$dest" "$@"
}

@test "install puts programs, manual pages and completions below DESTDIR and PREFIX" {
	make_target PREFIX=/opt/x install
	for f in bin/opfs bin/opcollect share/man/man1/opfs.1 share/man/man1/opcollect.1 \
		share/man/man5/opfs.5 share/bash-completion/completions/opfs \
		share/bash-completion/completions/opcollect \
		share/zsh/site-functions/_opfs share/zsh/site-functions/_opcollect; do
		[ -s "$dest/opt/x/$f" ] || { echo "$f is not there"; return 1; }
	done
	[ "$(ls "$dest")" = opt ]
}

@test "everything in doc/ that is to be installed is installed as it is" {
	make_target PREFIX=/usr install
	for f in "$OPFS_TOP"/doc/*.[1-8]; do
		cmp "$f" "$dest/usr/share/man/man${f##*.}/${f##*/}"
	done
	for f in "$OPFS_TOP"/doc/completion/bash/*; do
		cmp "$f" "$dest/usr/share/bash-completion/completions/${f##*/}"
	done
	for f in "$OPFS_TOP"/doc/completion/zsh/*; do
		cmp "$f" "$dest/usr/share/zsh/site-functions/${f##*/}"
	done
	for f in "$OPFS_TOP"/doc/*.xsd "$OPFS_TOP"/doc/*.schema.json; do
		cmp "$f" "$dest/usr/share/opfs/${f##*/}"
	done
}

@test "installed programs run, data files cannot be executed" {
	make_target PREFIX=/usr install
	"$dest/usr/bin/opfs" --version
	"$dest/usr/bin/opcollect" --version
	[ -z "$(find "$dest/usr/share" -type f -perm /111)" ]
	[ -z "$(find "$dest" -perm /022 ! -type l)" ]
}

@test "without PREFIX it is /usr/local" {
	make_target install
	[ -x "$dest/usr/local/bin/opfs" ]
}

@test "a second install replaces the first" {
	make_target install
	echo broken >"$dest/usr/local/share/man/man1/opfs.1"
	make_target install
	cmp "$OPFS_TOP/doc/opfs.1" "$dest/usr/local/share/man/man1/opfs.1"
}

@test "uninstall leaves no file" {
	make_target install
	make_target uninstall
	[ -z "$(find "$dest" ! -type d)" ]
}

@test "debian/ has the version and the libraries of the Makefile" {
	version=$(sed -n 's/^VERSION := //p' "$OPFS_TOP/Makefile")
	[[ "$(head -n 1 "$OPFS_TOP/debian/changelog")" == "opfs ($version) "* ]]
	libraries=$BATS_TEST_TMPDIR/libraries
	sed -n '/^DEPS_BUILD :=/,/[^\\]$/p' "$OPFS_TOP/Makefile" |
		grep -o '[a-z0-9]*-dev' | grep -v '^libc6-dev$' >"$libraries"
	[ "$(wc -l <"$libraries")" -gt 5 ]
	while read -r library; do
		grep -qE "[ ,]$library(,|\$)" "$OPFS_TOP/debian/control" ||
			{ echo "debian/control does not name $library"; return 1; }
	done <"$libraries"
}
