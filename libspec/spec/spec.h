/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_SPEC_SPEC_H
#define LIBSPEC_SPEC_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "libspec/name/glob.h"

/*
 * A profile specification: at most one value a tag.  Immutable; a refinement is a new
 * object that shares nothing but reference counts.  Rows of tags: tag_list.h.
 */
enum spec_tag_kind {
	SPEC_TAG_IMAGES,   /* list of paths and globs; spans path components */
	SPEC_TAG_NAMES,    /* list of exact names */
	SPEC_TAG_NUMBERS,  /* list of numbers, or all */
	SPEC_TAG_SYMBOL,   /* list of symbol names and globs */
	SPEC_TAG_SESSIONS, /* list of session names and globs */
	SPEC_TAG_TASKS,    /* list of names and globs, of what processes are */
	SPEC_TAG_FRAMES, /* functions, each a path component: a list of names and globs */
	SPEC_TAG_SPAN,   /* a span of time, see span.h: sums the sessions that overlap */
	/* presenting: they select nothing */
	SPEC_TAG_WORDS,    /* list of words of word_list.h */
	SPEC_TAG_PERCENT,  /* a number from 0 to 100, also with % behind it */
	SPEC_TAG_PATTERNS, /* list of names and globs */
	SPEC_TAG_PATHS,    /* list of host paths: for the user who mounted only */
	SPEC_TAG_TEXT,     /* as it is */
	SPEC_TAG_DIFF,     /* a session, or the path of a session directory */
};

enum spec_tag_id { /* a tag's slot in struct spec */
#define TAG(id, name, kind, doc) SPEC_##id,
#include "libspec/spec/tag_list.h"
#undef TAG
		   SPEC_NR_TAGS
};

struct spec_tag {
	const char *name; /* "image"; "": the default tag */
	enum spec_tag_kind kind;
	enum spec_tag_id id;
	const char *doc; /* one line for README and opfs(5) */
};
extern const struct spec_tag spec_tags[SPEC_NR_TAGS];

/* Does it say how to show samples, and not which? */
static inline bool spec_tag_presents(const struct spec_tag *tag)
{
	return tag->kind >= SPEC_TAG_WORDS;
}

enum spec_word_id { /* rows of word_list.h */
#define WORD(tag, id, name, doc) SPEC_WORD_##tag##_##id,
#include "libspec/spec/word_list.h"
#undef WORD
		    SPEC_NR_WORDS
};

struct spec_known_word {
	enum spec_tag_id tag;
	const char *name;
	const char *doc;
};
extern const struct spec_known_word spec_words[SPEC_NR_WORDS]; /* word_list.h */

/* A tag by its name; NULL: none is called so (nor is the default tag). */
const struct spec_tag *spec_tag_find(const char *name, size_t len);

/* A word of a path that begins with a tag: TAG, TAG: or TAG:VALUE. */
struct spec_word {
	const struct spec_tag *tag;
	bool colon;
	const char *value; /* behind the colon, in the word itself; NULL: nothing there */
	size_t value_len;
};
/* False if the text before the first ":" is no tag. */
bool spec_word_parse(const char *word, size_t len, struct spec_word *out);

/* A component of a value of SPEC_TAG_FRAMES. */
struct spec_frame {
	char *raw;  /* as typed */
	char *text; /* the name it spells if it is no list */
	struct spec_items items;
};

/* One value, parsed.  Immutable, by reference count. */
struct spec_value {
	int refs;   /* atomic */
	char *raw;  /* as typed */
	char *text; /* the name it spells if it is no list */
	bool exact; /* something is called @text: it stands for that alone */
	bool all;   /* the word all is in the list: anything matches */
	struct spec_items items;
	double percent; /* SPEC_TAG_PERCENT */
	enum spec_word_id
		*words; /* SPEC_TAG_WORDS: nr_words of them, as they were given */
	size_t nr_words;
	struct spec_frame *frames; /* SPEC_TAG_FRAMES: nr_frames of them, not empty */
	size_t nr_frames;
	uint64_t *numbers; /* SPEC_TAG_NUMBERS: items.nr of them, but for all */
	size_t nr_numbers;
};

/**
 * spec_value_new - parses a value
 * @raw: as typed
 * @exact: something that exists is called as the whole of @raw spells
 * Returns 0, -EINVAL for a malformed number or escape, -E2BIG, -ENOMEM.
 */
int spec_value_new(const struct spec_tag *tag, const char *raw, bool exact,
		   struct spec_value **out, struct err *err);
struct spec_value *spec_value_get(struct spec_value *v);
void spec_value_put(struct spec_value *v);
static inline void spec_value_putp(struct spec_value **v)
{
	spec_value_put(*v);
}

struct spec {
	int refs;        /* atomic */
	char **sessions; /* sessions to sum; never empty */
	size_t nr_sessions;
	struct spec_value *values[SPEC_NR_TAGS]; /* NULL: free */
};

/* A specification of sessions only; the names are copied.  NULL if out of memory. */
struct spec *spec_new(char *const *sessions, size_t nr);
/* @s with one more value (referenced); @value NULL gives a plain copy. */
struct spec *spec_with(const struct spec *s, const struct spec_tag *tag,
		       struct spec_value *value);
/* @s with other sessions. */
struct spec *spec_with_sessions(const struct spec *s, char *const *sessions, size_t nr);
struct spec *spec_get(struct spec *s);
void spec_put(struct spec *s);
static inline void spec_putp(struct spec **s)
{
	spec_put(*s);
}

/* The tag of the span of time that the sessions of @s, which may be NULL, were found by,
 * or NULL. */
const struct spec_tag *spec_span_tag(const struct spec *s);

/**
 * spec_format - appends a path that means the same, "current/event:X/image:%2Fbin%2Fls"
 * Tags in the order of the table, so that equal specifications read the same.  A span of
 * time stands for its sessions, which are others at another time.
 */
void spec_format(const struct spec *s, struct strbuf *out);
/* One component of that, "/TAG:VALUE". */
void spec_format_value(const struct spec_tag *tag, const struct spec_value *v,
		       struct strbuf *out);

/* Numbers as tags take them: decimal; with @any_base also 0x41 and 041.  False: none. */
bool spec_number(const char *text, bool any_base, uint64_t *out);

#endif
