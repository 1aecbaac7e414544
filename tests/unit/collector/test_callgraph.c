/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "collector/engine/callgraph.h"

static struct coll_callgraph c;

static int parse(const char *arg)
{
	return coll_callgraph_parse(arg, &c, NULL);
}

Test(callgraph, says_how_and_how_much)
{
	static const struct {
		const char *arg;
		struct coll_callgraph is;
		const char *printed;
	} all[] = {
		{ "0", { COLL_NO_STACKS, 0, 0 }, "0" },
		{ "5", { COLL_BY_FRAME_POINTERS, 5, 0 }, "fp,5" },
		{ "fp", { COLL_BY_FRAME_POINTERS, 0, 0 }, "fp" },
		{ "fp,1", { COLL_BY_FRAME_POINTERS, 1, 0 }, "fp,1" },
		{ "dwarf", { COLL_BY_DWARF, 0, 0 }, "dwarf" },
		{ "dwarf,512", { COLL_BY_DWARF, 0, 512 }, "dwarf,512" },
		{ "dwarf,8K", { COLL_BY_DWARF, 0, 8192 }, "dwarf,8192" },
		{ "dwarf,8k,64", { COLL_BY_DWARF, 64, 8192 }, "dwarf,8192,64" },
		{ "dwarf,65528", { COLL_BY_DWARF, 0, 65528 }, "dwarf,65528" },
		{ "dwarf,513,1024", { COLL_BY_DWARF, 1024, 520 }, "dwarf,520,1024" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		CLEANUP(strbuf_fini) struct strbuf text = { 0 };
		struct coll_callgraph again;

		cr_assert_eq(parse(all[i].arg), 0, "%s", all[i].arg);
		cr_expect(c.how == all[i].is.how && c.frames == all[i].is.frames &&
				  c.copy_bytes == all[i].is.copy_bytes,
			  "%s: %d, %u, %u", all[i].arg, c.how, c.frames, c.copy_bytes);
		coll_callgraph_print(&c, &text);
		cr_expect_str_eq(strbuf_str(&text), all[i].printed);
		cr_assert_eq(coll_callgraph_parse(strbuf_str(&text), &again, NULL), 0);
		cr_expect(!memcmp(&c, &again, sizeof(c)), "%s", strbuf_str(&text));
	}
}

Test(callgraph, alone_means_frame_pointers_unless_something_else_was_said)
{
	cr_assert_eq(parse(NULL), 0);
	cr_expect_eq(c.how, COLL_BY_FRAME_POINTERS);
	cr_assert_eq(parse("dwarf,8192"), 0);
	cr_assert_eq(parse(NULL), 0);
	cr_expect_eq(c.how, COLL_BY_DWARF);
	cr_expect_eq(c.copy_bytes, 8192);
}

Test(callgraph, what_makes_no_sense_changes_nothing_and_is_told)
{
	static const char *const wrong[] = {
		"",
		"lbr",
		"-1",
		"5x",
		"1025",
		"fp,",
		"fp,0",
		"fp,1025",
		"fp,8,9",
		"fp,dwarf",
		"5,6",
		"dwarf,",
		"dwarf,511",
		"dwarf,64K",
		"dwarf,65529",
		"dwarf,64k",
		"dwarf,8h",
		"dwarf,-8",
		"dwarf,8192,",
		"dwarf,8192,0",
		"dwarf,8192,1025",
		"dwarf,8192,64,1",
		"DWARF",
		"dwarf 8192",
	};

	cr_assert_eq(parse("dwarf,8192,64"), 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct err err = { 0 };

		cr_expect_eq(coll_callgraph_parse(wrong[i], &c, &err), -EINVAL, "%s",
			     wrong[i]);
		cr_expect(!strncmp(err.msg, "--callgraph", 11), "%s: %s", wrong[i],
			  err.msg);
		cr_expect(c.how == COLL_BY_DWARF && c.copy_bytes == 8192 &&
			  c.frames == 64);
	}
}
