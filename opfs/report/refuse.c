/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/refuse.h"

#include <errno.h>

#include "base/cleanup.h"

#define WORD(id) (1ull << SPEC_WORD_##id)

/* Words that contradict each other. */
static const struct {
	uint64_t one, other;
	const char *why;
} conflicts[] = {
	{ WORD(MERGE_CPU) | WORD(MERGE_ALL), WORD(SPLIT_CPU),
	  "split:cpu makes a column of each CPU, and merge: sums them" },
	{ WORD(MERGE_TID) | WORD(MERGE_TGID) | WORD(MERGE_ALL), WORD(SPLIT_TID),
	  "split:tid makes a column of each thread, and merge: sums them" },
	{ WORD(MERGE_TGID) | WORD(MERGE_ALL), WORD(SPLIT_TGID),
	  "split:tgid makes a column of each process, and merge: sums them" },
	{ WORD(MERGE_LIB) | WORD(MERGE_LIBRARY), WORD(WITH_EXCLUDE_DEPENDENT),
	  "merge:lib is meaningless together with with:exclude-dependent" },
};

bool refuse_nothing(const struct report *r)
{
	return r->tags == UINT64_MAX;
}

/* Whatever has names of functions has them short, too. */
static uint64_t words_of(const struct report *r)
{
	return r->words | (r->tags & OPTION_TAG(DEMANGLE) ? OPTION_WITH(SHORT_NAMES) : 0);
}

/* Appends "; report, details do": the files that take all of @tags and @words. */
static void suggest(const struct report_set *set, uint64_t tags, uint64_t words,
		    struct strbuf *out)
{
	const char *last = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < set->nr; i++) {
		const struct report *r = set->all[i];

		if (refuse_nothing(r) || (r->tags & tags) != tags ||
		    (words_of(r) & words) != words)
			continue;
		strbuf_printf(out, "%s%s", nr++ ? ", " : "; ", r->name);
		last = r->name;
	}
	strbuf_puts(out, last ? nr > 1 ? " do" : " does" : "; no file does");
}

static int refuse(const struct report_set *set, const struct report *r, const char *tag,
		  const char *word, uint64_t tags, uint64_t words, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	suggest(set, tags, words, &text);
	return err_set(err, -EINVAL, "%s does not take %s:%s%s", r->name, tag, word,
		       strbuf_str(&text));
}

static int refuse_words(const struct report_set *set, const struct report *r,
			const struct options *o, struct err *err)
{
	for (size_t i = 0; i < SPEC_NR_WORDS; i++) {
		uint64_t bit = 1ull << i;

		if (spec_words[i].tag == SPEC_WITH && (o->words & bit & ~words_of(r)))
			return refuse(set, r, "with", spec_words[i].name,
				      OPTION_TAG(WITH), bit, err);
	}
	return 0;
}

int refuse_options(const struct report_set *set, const struct report *r,
		   const struct options *o, struct err *err)
{
	for (size_t i = 0; i < SPEC_NR_TAGS; i++) {
		uint64_t bit = 1ull << i;

		if (o->tags & bit & ~r->tags)
			return refuse(set, r, spec_tags[i].name, "", bit, 0, err);
	}
	for (size_t i = 0; i < sizeof(conflicts) / sizeof(conflicts[0]); i++)
		if ((o->words & conflicts[i].one) && (o->words & conflicts[i].other))
			return err_set(err, -EINVAL, "%s", conflicts[i].why);
	if ((o->words & WORD(SORT_DIFF)) && !(o->tags & OPTION_TAG(DIFF)))
		return err_set(err, -EINVAL,
			       "sort:diff sorts by what grew: give the older side, as "
			       "diff:BASE");
	return refuse_words(set, r, o, err);
}
