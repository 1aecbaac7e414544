#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that read files agree byte for byte on every listed file of a saved session,
# and recursive ones come to an end.

bats_require_minimum_version 1.5.0
load ../lib/mount

setup_file() {
	[ -z "$(mount_obstacle)" ] || return 0
	make_dirs
	python3 - "$OPFS_BIN/opfs" >"$W/session.json" <<-'END'
	import json, sys
	def images(names, session="saved", n=1, **more):
	    return [dict({"session": session, "app": name, "event": e, "samples":
	            {hex(0x1000 + 64 * k): 1 + (i + k) % 9 for k in range(n)}}, **more)
	            for i, name in enumerate(names)
	            for e in ("CPU_CLK_UNHALTED", "LLC_MISSES")]
	odd = ["/bin/with space", "/bin/a:b", "/bin/a,b", "/bin/100%", "/bin/report",
	       "/opt/{dep}", "/x/[vdso]", "/bin/-dash", "/bin/\u00fcml\u00e4ut", "/a/b",
	       "/a/b/c", "/bin/*", "/bin/" + "l" * 200]
	files = images([sys.argv[1]], n=3000) + images(odd)
	at = {"0x%x" % (16 * i): i + 1 for i in range(50)}
	files += [dict(f, image="/lib/x.so", samples=at) for f in images(odd)[:6]]
	files += images(["/many/app%d" % i for i in range(1000)], session="many")
	print(json.dumps(files))
	END
	mksession "$W/session.json"
	"$OPFS" mount --session-dir "$D" "$M"
	# what a plain read of every file gives
	mkdir "$W/ref"
	(cd "$M/saved" && find . -type d -exec mkdir -p "$W/ref/{}" \; &&
		find . -type f -exec sh -c 'cat "$1" >"$2/$1"' sh {} "$W/ref" \;)
	(cd "$M/saved" && find . -type f) >"$W/files"
}

teardown_file() {
	remove_dirs
}

setup() {
	need_mount
	cd "$M/saved"
	rm -rf "$W/out"
	mkdir "$W/out"
}

# The copy of all regular files in $W/out is the reference.
same() {
	find "$W/out" -type l -delete
	diff -r --no-dereference "$W/ref" "$W/out"
}

@test "there are many files, with odd names, and none is empty" {
	[ "$(wc -l <"$W/files")" -ge 140 ]
	grep -q 'with space' "$W/files"
	[ -z "$(find . -type f -size 0)" ]
}

@test "opfs cat shows the same without a mount" {
	while IFS= read -r f; do
		"$OPFS" cat --session-dir "$D" "saved/$f" | cmp - "$W/ref/$f" || echo "$f"
	done < <(awk 'NR % 10 == 1' "$W/files") >"$W/out/differ"
	cat "$W/out/differ"
	[ ! -s "$W/out/differ" ]
}

@test "cp -r, and cp of each" {
	cp -r --no-preserve=mode . "$W/out"
	same
	while IFS= read -r f; do
		cp "$f" "$W/one"
		cmp "$W/one" "$W/ref/$f"
	done <"$W/files"
}

@test "tar and untar" {
	tar cf "$W/all.tar" .
	tar xf "$W/all.tar" -C "$W/out"
	chmod -R u+w "$W/out"
	same
}

@test "rsync, and nothing is left to do the second time" {
	rsync -r --no-links ./ "$W/out/"
	same
	run -0 rsync -rn --itemize-changes --checksum --no-links ./ "$W/out/"
	[ -z "$(grep '^>f' <<<"$output")" ]
}

@test "zip and unzip" {
	zip -qry "$W/all.zip" .
	LC_ALL=C.UTF-8 unzip -q "$W/all.zip" -d "$W/out"
	same
}

@test "diff -r finds no difference, md5sum and cksum agree" {
	find . -type f -exec md5sum {} + | sort -k2 >"$W/out/mount"
	(cd "$W/ref" && find . -type f -exec md5sum {} + | sort -k2) >"$W/out/ref"
	cmp "$W/out/mount" "$W/out/ref"
	while IFS= read -r f; do
		diff "$f" "$W/ref/$f" || return 1
	done <"$W/files"
}

@test "ls -lS, stat, wc -c and du see the sizes that reading gives" {
	while IFS= read -r f; do
		size=$(wc -c <"$W/ref/$f")
		[ "$(stat -c %s "$f")" = "$size" ] || return 1
		[ "$(wc -c <"$f")" = "$size" ] || return 1
	done <"$W/files"
	ls -lS | awk '$1 ~ /^-/ { print $5 }' >"$W/out/sizes"
	sort -rn "$W/out/sizes" | cmp - "$W/out/sizes"
	[ "$(du -b report | cut -f1)" = "$(wc -c <"$W/ref/report")" ]
}

@test "head, tail, less, sort, split, dd at offsets" {
	for f in report report.tsv summary README status; do
		r=$W/ref/$f
		cmp <(head -n 3 "$f") <(head -n 3 "$r")
		cmp <(head -c 100 "$f") <(head -c 100 "$r")
		cmp <(tail -n 2 "$f") <(tail -n 2 "$r")
		cmp <(tail -c +17 "$f") <(tail -c +17 "$r")
		cmp <(less -f "$f" | cat) "$r"
		cmp <(sort "$f") <(sort "$r")
		cmp <(tac "$f") <(tac "$r")
		cmp <(dd if="$f" bs=7 skip=3 status=none) \
			<(dd if="$r" bs=7 skip=3 status=none)
		split -n 3 "$f" "$W/out/part."
		cat "$W"/out/part.* | cmp - "$r"
		rm "$W"/out/part.*
	done
}

@test "grep -r ends and finds every line once" {
	timeout 1000 grep -r '' . | wc -l >"$W/out/found"
	[ "$(cat "$W/out/found")" = "$(grep -r '' "$W/ref" | wc -l)" ]
}

@test "mmap, pread and SEEK_END in Python" {
	python3 - "$W/ref" "$W/files" <<-'END'
	import mmap, os, sys
	ref, files = sys.argv[1:]
	for name in open(files, "rb").read().splitlines():
	    want = open(os.path.join(os.fsencode(ref), name), "rb").read()
	    with open(name, "rb") as f:
	        with mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ) as m:
	            assert m[:] == want, name
	        assert f.seek(0, 2) == len(want), name
	        middle = len(want) // 2
	        assert os.pread(f.fileno(), 1 << 20, middle) == want[middle:], name
	        assert os.pread(f.fileno(), 10, len(want)) == b"", name
	END
}

@test "symbolic links lead to what exists" {
	find "$M" -maxdepth 3 -type l >"$W/out/links"
	[ -s "$W/out/links" ]
	while IFS= read -r link; do
		[ -d "$link/" ] || { echo "$link"; return 1; }
		[ -n "$(ls "$link/")" ] || { echo "$link"; return 1; }
	done <"$W/out/links"
}

@test "globs through links reach the reports" {
	set -- image/*/report
	[ $# -ge 13 ]
	head -n 1 "$@" >/dev/null
}

@test "find over 1,000 images meets at most 15 entries a directory" {
	find "$M/many" >"$W/out/met"
	dirs=$(find "$M/many" -type d | wc -l)
	[ "$dirs" -ge 2000 ]
	[ "$dirs" -le 2100 ]
	[ "$(wc -l <"$W/out/met")" -le $((dirs * 15)) ]
	awk -F/ '{ NF--; n[$0]++ }
		END { for (d in n) if (d !~ /image$/ && n[d] > 15) bad = 1; exit bad }' \
		OFS=/ "$W/out/met"
}

@test "grep -r over 1,000 images ends" {
	timeout 1000 grep -rl nothing-like-this "$M/many" || [ $? = 1 ]
}
