/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/table/smart.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"

/*
 * Shorter spellings of C++ names: "std::" goes, and so do template arguments that have
 * their default value.  Works on the text of a name from left to right; an argument list
 * is rewritten before its template is looked up, so the names in the tables below are
 * already short.
 */

/* Arguments that are dropped if only others of these follow them in the list. */
static const char *const defaults[] = {
	"allocator<", "char_traits<", "less<", "equal_to<", "hash<", "default_delete<",
};

/* Types that have a name of their own once their defaults were dropped. */
static const struct {
	const char *type, *name;
} names[] = {
	{ "basic_string<char>", "string" },
	{ "basic_string<wchar_t>", "wstring" },
	{ "basic_string<char8_t>", "u8string" },
	{ "basic_string<char16_t>", "u16string" },
	{ "basic_string<char32_t>", "u32string" },
	{ "basic_string_view<char>", "string_view" },
	{ "basic_string_view<wchar_t>", "wstring_view" },
	{ "basic_ios<char>", "ios" },
	{ "basic_ios<wchar_t>", "wios" },
	{ "basic_istream<char>", "istream" },
	{ "basic_istream<wchar_t>", "wistream" },
	{ "basic_ostream<char>", "ostream" },
	{ "basic_ostream<wchar_t>", "wostream" },
	{ "basic_iostream<char>", "iostream" },
	{ "basic_iostream<wchar_t>", "wiostream" },
	{ "basic_streambuf<char>", "streambuf" },
	{ "basic_streambuf<wchar_t>", "wstreambuf" },
	{ "basic_filebuf<char>", "filebuf" },
	{ "basic_ifstream<char>", "ifstream" },
	{ "basic_ofstream<char>", "ofstream" },
	{ "basic_fstream<char>", "fstream" },
	{ "basic_stringbuf<char>", "stringbuf" },
	{ "basic_istringstream<char>", "istringstream" },
	{ "basic_ostringstream<char>", "ostringstream" },
	{ "basic_stringstream<char>", "stringstream" },
	{ "istreambuf_iterator<char>", "istreambuf_iterator" },
	{ "ostreambuf_iterator<char>", "ostreambuf_iterator" },
};

enum { MAX_DEPTH = 64 };

struct level {       /* one open "<" */
	size_t type; /* where the name in front of it starts in the output */
	size_t last; /* where its last argument starts */
	size_t keep; /* where the output may be cut when it ends; 0: nowhere */
	int parens;  /* that were open then: commas inside others separate nothing here */
};

struct smart {
	struct strbuf *out;
	struct level level[MAX_DEPTH];
	int depth, parens;
	bool failed; /* too deep: leave the name as it is */
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool is_default(const char *text)
{
	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
		if (!strncmp(text, defaults[i], strlen(defaults[i])))
			return true;
	return false;
}

/* Where the last name of the output starts: "vector" of "a::vector". */
static size_t word_start(const struct strbuf *out)
{
	size_t at = out->len;

	while (at && is_word(out->data[at - 1]))
		at--;
	return at;
}

/* An argument is complete: notes where the list may be cut. */
static void end_argument(struct smart *s, struct level *l, bool first)
{
	if (first || !is_default(s->out->data + l->last))
		l->keep = 0;
	else if (!l->keep)
		l->keep = l->last;
}

static void open_list(struct smart *s)
{
	struct level *l;

	if (s->depth == MAX_DEPTH) {
		s->failed = true;
		return;
	}
	l = &s->level[s->depth++];
	l->parens = s->parens;
	l->type = word_start(s->out);
	strbuf_putc(s->out, '<');
	l->last = s->out->len;
	l->keep = 0;
}

static void next_argument(struct smart *s)
{
	struct level *l = &s->level[s->depth - 1];
	bool first = s->out->data[l->last - 1] == '<';

	end_argument(s, l, first);
	strbuf_puts(s->out, ", ");
	l->last = s->out->len;
}

static void close_list(struct smart *s)
{
	struct level *l = &s->level[--s->depth];

	end_argument(s, l, s->out->data[l->last - 1] == '<');
	if (l->keep)
		strbuf_truncate(s->out, l->keep - 2); /* with its ", " */
	strbuf_putc(s->out, '>');
	if (strbuf_error(s->out))
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(s->out->data + l->type, names[i].type) != 0)
			continue;
		strbuf_truncate(s->out, l->type);
		strbuf_puts(s->out, names[i].name);
		return;
	}
}

/* The length of an operator's name with "<" or ">" in it at @text, else 0. */
static size_t operator_length(const char *text, const char *start)
{
	size_t len = strlen("operator");

	if (strncmp(text, "operator", len) != 0 || (text > start && is_word(text[-1])) ||
	    !strchr("<>-", text[len]) || !text[len])
		return 0;
	if (text[len] == '-' && text[len + 1] != '>')
		return 0;
	/* operator< of a template is "operator< <...>" */
	return len + strspn(text + len, text[len] == '-' ? "->*" : "<>=");
}

static bool is_std(const char *at, const char *text)
{
	return !strncmp(at, "std::", 5) &&
	       (at == text || (!is_word(at[-1]) && at[-1] != ':'));
}

/* A "<" after an expression in parentheses compares; any other one opens a list. */
static bool opens_list(const char *at, const char *text)
{
	static const char call[] = "operator()";
	size_t len = strlen(call);

	if (*at != '<' || at == text)
		return false;
	return at[-1] != ')' ||
	       ((size_t)(at - text) >= len && !memcmp(at - len, call, len));
}

/* True if a comma or ">" here belongs to the innermost open list. */
static bool in_list(const struct smart *s)
{
	return s->depth && s->level[s->depth - 1].parens == s->parens;
}

static size_t step(struct smart *s, const char *at, const char *text)
{
	size_t op = operator_length(at, text);

	s->parens += (*at == '(') - (*at == ')');

	if (op) {
		strbuf_add(s->out, at, op);
		return op;
	}
	if (is_std(at, text))
		return 5;
	if (opens_list(at, text)) {
		open_list(s);
		return 1;
	}
	if (*at == '>' && in_list(s) && at[-1] != '-') {
		close_list(s);
		return 1;
	}
	if (!strncmp(at, ", ", 2) && in_list(s)) {
		next_argument(s);
		return 2;
	}
	if (*at == ' ' && at[1] == '>' && in_list(s))
		return 1;
	strbuf_putc(s->out, *at);
	return 1;
}

void sym_demangle_smart(const char *text, struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf mine = { 0 };
	struct smart s = { .out = &mine };

	for (const char *at = text; *at && !s.failed && !strbuf_error(&mine);)
		at += step(&s, at, text);
	if (s.failed || strbuf_error(&mine))
		strbuf_puts(out, text);
	else
		strbuf_puts(out, strbuf_str(&mine));
}
