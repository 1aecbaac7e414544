/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TAG(id, name, kind, what a person is told), in the order of a canonical path */
TAG(SESSION, "session", SPEC_TAG_SESSIONS,
	"sum of sessions: list of names and globs; first in a path")
TAG(SESSION_EXCLUDE, "session-exclude", SPEC_TAG_SESSIONS,
	"leave sessions out of that sum")
TAG(TIME, "time", SPEC_TAG_SPAN,
	"sum of the sessions in a span: 09:00..09:05, -10m..-5m, 2026-11-21; first in a "
	"path")
TAG(LAST, "last", SPEC_TAG_SPAN,
	"sum of the sessions of the last 30s, 5m, 1h ...; first in a path")
TAG(DEFAULT, "", SPEC_TAG_IMAGES,
	"a name without a tag: application or library of that name")
TAG(EVENT, "event", SPEC_TAG_NAMES, "list of event names")
TAG(COUNT, "count", SPEC_TAG_NUMBERS, "list of counts (events per sample)")
TAG(UNIT_MASK, "unit-mask", SPEC_TAG_NUMBERS, "list of unit masks, also as 0x41")
TAG(IMAGE, "image", SPEC_TAG_IMAGES, "applications: list of names, paths and globs")
TAG(IMAGE_EXCLUDE, "image-exclude", SPEC_TAG_IMAGES,
	"leave applications, libraries and kernel images out")
TAG(LIB_IMAGE, "lib-image", SPEC_TAG_IMAGES,
	"where in an application samples fell: library, kernel image, memory")
TAG(LIB_IMAGE_EXCLUDE, "lib-image-exclude", SPEC_TAG_IMAGES,
	"leave libraries, kernel images and memory out")
TAG(TGID, "tgid", SPEC_TAG_NUMBERS,
	"list of process ids, N.2 the second one of that number (sessions recorded with "
	"--separate=thread)")
TAG(TID, "tid", SPEC_TAG_NUMBERS,
	"list of thread ids (sessions recorded with --separate=thread)")
TAG(COMM, "comm", SPEC_TAG_TASKS,
	"processes by name: list of names and globs (--separate=thread)")
TAG(CGROUP, "cgroup", SPEC_TAG_TASKS,
	"processes by cgroup: list of names on its path, paths and globs "
	"(--separate=thread)")
TAG(CPU, "cpu", SPEC_TAG_NUMBERS, "list of CPUs (sessions recorded with --separate=cpu)")
TAG(SYMBOL, "symbol", SPEC_TAG_SYMBOL, "list of functions, mangled or not, and globs")
TAG(CALLS, "calls", SPEC_TAG_FRAMES,
	"samples whose stack begins with these functions: calls:main/parse")
TAG(CALLERS, "callers", SPEC_TAG_FRAMES,
	"samples in a function, by who called it: callers:malloc/parse")
TAG(THROUGH, "through", SPEC_TAG_FRAMES,
	"samples in a function and all that it called, followed from its outermost "
	"call on: through:parse/lex")
/* presenting tags: how, not what */
TAG(MERGE, "merge", SPEC_TAG_WORDS,
	"join what differs only in: cpu, tid, tgid, unitmask, lib, kernel; or all")
TAG(SPLIT, "split", SPEC_TAG_WORDS, "a column for each: cpu, tid or tgid")
TAG(SORT, "sort", SPEC_TAG_WORDS,
	"order of rows: sample, image, app-name, symbol, debug, vma, diff")
TAG(THRESHOLD, "threshold", SPEC_TAG_PERCENT,
	"leave out what has less than so many percent")
TAG(INCLUDE_SYMBOLS, "include-symbols", SPEC_TAG_PATTERNS,
	"only these symbols: names, mangled or not, and globs")
TAG(EXCLUDE_SYMBOLS, "exclude-symbols", SPEC_TAG_PATTERNS, "all but these symbols")
TAG(DEMANGLE, "demangle", SPEC_TAG_WORDS, "names of symbols: none, normal or smart")
TAG(WITH, "with", SPEC_TAG_WORDS, "switches, all that are given come together")
TAG(SYNTAX, "syntax", SPEC_TAG_TEXT, "assembly as objdump -M: intel, att ...")
TAG(IMAGE_PATH, "image-path", SPEC_TAG_PATHS,
	"directories where binaries are looked for that are not where they were")
TAG(ROOT, "root", SPEC_TAG_PATHS, "directory that paths of binaries are below")
TAG(SEARCH_DIRS, "search-dirs", SPEC_TAG_PATHS,
	"directories where sources are looked for")
TAG(BASE_DIRS, "base-dirs", SPEC_TAG_PATHS,
	"beginnings of source paths to be taken off before")
TAG(INCLUDE_FILE, "include-file", SPEC_TAG_PATTERNS,
	"annotate only source files of these names or in these directories")
TAG(EXCLUDE_FILE, "exclude-file", SPEC_TAG_PATTERNS,
	"annotate all but these source files")
TAG(DIFF, "diff", SPEC_TAG_DIFF,
	"compare with the same of another session, the older side")
