/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/table/short.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"

/*
 * Goes through the text of a name once, from left to right.  Outside of brackets a blank,
 * "*" or "&" ends what stands in front of the name: the type that is returned.
 */

enum { MAX_DEPTH = 512 }; /* of brackets in each other; deeper names stay whole */

struct scan {
	const char *at;
	struct strbuf *out;
	size_t start; /* where the name begins in the output */
	bool wrapped; /* in the parentheses of "void (*name(int))(char)" */
	bool failed;
};

/* What stands in front of names and says which function it is. */
static const char *const prefixes[] = {
	"non-virtual thunk to ",         "virtual thunk to ",
	"covariant return thunk to ",    "TLS wrapper function for ",
	"TLS init function for ",        "transaction clone for ",
	"non-transaction clone for ",    "guard variable for ",
	"global constructors keyed to ", "global destructors keyed to ",
};

/* Names of operators that look like brackets; the longest first. */
static const char *const operators[] = {
	"<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>", "<=", ">=", "->", "<", ">",
};

#define NR(array) (sizeof(array) / sizeof((array)[0]))
#define OPERATOR "operator"

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (c & 0x80);
}

/* Is the word here that of an operator's name?  @before: the byte in front of it. */
static bool at_operator(const char *at, char before)
{
	return begins(at, OPERATOR) && !in_name(before) && !in_name(at[strlen(OPERATOR)]);
}

/* Behind "operator" and its sign, if it has one. */
static const char *skip_operator(const char *at)
{
	at += strlen(OPERATOR);
	for (size_t i = 0; i < NR(operators); i++)
		if (begins(at, operators[i]))
			return at + strlen(operators[i]);
	return at;
}

static char closing(char open)
{
	return open == '<' ? '>' : open == '(' ? ')' : open == '[' ? ']' : '}';
}

/* Behind the bracket that closes the one here; NULL: none does. */
static const char *skip_brackets(const char *at)
{
	char open[MAX_DEPTH];
	size_t depth = 0;

	do {
		char c = *at;

		if (depth && at_operator(at, at[-1])) {
			at = skip_operator(at);
			continue;
		}
		if (!c || (strchr("<([{", c) && depth == MAX_DEPTH))
			return NULL;
		at++;
		if (strchr("<([{", c)) {
			open[depth++] = closing(c);
		} else if (c == '>') {
			depth -= at[-2] != '-' && open[depth - 1] == c;
		} else if (strchr(")]}", c)) {
			while (depth && open[depth - 1] == '>')
				depth--; /* it was no bracket, but a comparison */
			if (!depth || open[--depth] != c)
				return NULL;
		}
	} while (depth);
	return at;
}

/* Appends @instead for the brackets here. */
static void drop_brackets(struct scan *s, const char *instead)
{
	const char *end = skip_brackets(s->at);

	s->failed = s->failed || !end;
	if (!end)
		return;
	strbuf_puts(s->out, end == s->at + 2 && *s->at == '<' ? "<>" : instead);
	s->at = end;
}

/* Appends the brackets here, with those in them shortened: "{lambda(int)#1}" of C++, and
 * "<T as Trait>" of Rust. */
static void keep_brackets(struct scan *s)
{
	const char *end = skip_brackets(s->at);

	if (!end) {
		s->failed = true;
		return;
	}
	strbuf_putc(s->out, *s->at++);
	while (s->at < end - 1 && !s->failed) {
		if (*s->at == '<')
			drop_brackets(s, "<...>");
		else if (*s->at == '(' && in_name(s->at[-1]))
			drop_brackets(s, "()");
		else
			strbuf_putc(s->out, *s->at++);
	}
	if (s->at == end - 1)
		strbuf_putc(s->out, *s->at++);
	else
		s->failed = true; /* some in it end elsewhere */
}

/* What was taken for the name was what it returns. */
static void begin_again(struct scan *s)
{
	strbuf_truncate(s->out, s->start);
}

/* Types follow "operator" up to the list of arguments: "operator unsigned long". */
static void take_operator(struct scan *s)
{
	const char *end = skip_operator(s->at);

	strbuf_add(s->out, s->at, (size_t)(end - s->at));
	s->at = end;
	while (*s->at && *s->at != '(' && *s->at != ')' && !s->failed) {
		if (*s->at == '<')
			drop_brackets(s, "<...>");
		else if (*s->at == '[' && s->at[1] != ']')
			return;
		else
			strbuf_putc(s->out, *s->at++);
	}
}

/* Behind a list of arguments: " const", "&", and what says of which copy it is. */
static void take_suffix(struct scan *s)
{
	static const char *const words[] = { " const", " volatile", " &&",
					     " &",     " noexcept", " restrict" };

	for (size_t i = 0; i < NR(words); i++)
		if (begins(s->at, words[i])) {
			s->at += strlen(words[i]);
			i = (size_t)-1;
		}
	if (begins(s->at, " [clone ")) {
		strbuf_puts(s->out, s->at);
		s->at += strlen(s->at);
	}
}

/* Parentheses in front of a name: does it return the address of a function? */
static bool wraps(const char *at)
{
	size_t len = strcspn(at + 1, "()");

	return memchr(at + 1, '*', len) || memchr(at + 1, '&', len);
}

static void take_parens(struct scan *s)
{
	static const char anonymous[] = "(anonymous namespace)";
	size_t len = s->out->len - s->start;

	if (begins(s->at, anonymous)) {
		strbuf_puts(s->out, anonymous);
		s->at += strlen(anonymous);
	} else if (!len && !s->wrapped && wraps(s->at)) {
		s->wrapped = true;
		s->at++;
	} else if (len == strlen("decltype") &&
		   !memcmp(s->out->data + s->start, "decltype", len)) {
		drop_brackets(s, "");
		begin_again(s);
	} else if (len && s->at[-1] == '!') {
		drop_brackets(s, "(...)"); /* a template of D */
	} else {
		drop_brackets(s, "");
		take_suffix(s);
		if (len && *s->at == ' ')
			s->at += strlen(s->at); /* what a template requires */
	}
}

static void take_angle(struct scan *s)
{
	if (s->out->len == s->start || begins(s->at, "<impl "))
		keep_brackets(s);
	else
		drop_brackets(s, "<...>");
}

/* "::h0123456789abcdef" ends names of Rust's older mangling. */
static bool at_hash(const char *at)
{
	return begins(at, "::h") && strspn(at + 3, "0123456789abcdef") == 16 && !at[19];
}

static void take(struct scan *s)
{
	char c = *s->at;
	char before = s->out->len > s->start ? s->out->data[s->out->len - 1] : ' ';

	if (at_operator(s->at, before)) {
		take_operator(s);
	} else if (c == '<') {
		take_angle(s);
	} else if (c == '(') {
		take_parens(s);
	} else if (c == '{') {
		keep_brackets(s);
	} else if (at_hash(s->at)) {
		s->at += strlen(s->at);
	} else if (begins(s->at, " [clone ")) {
		take_suffix(s);
	} else if (begins(s->at, "decltype (")) {
		strbuf_puts(s->out, "decltype");
		s->at += strlen("decltype ");
	} else if (c == ' ' || c == '*' || c == '&') {
		begin_again(s);
		s->at++;
	} else {
		strbuf_putc(s->out, c);
		s->at++;
	}
}

static size_t prefix_len(const char *text)
{
	for (size_t i = 0; i < NR(prefixes); i++)
		if (begins(text, prefixes[i]))
			return strlen(prefixes[i]);
	return 0;
}

void sym_short_name(const char *text, struct strbuf *out)
{
	size_t before = out->len, len;
	struct scan s = { .at = text, .out = out };

	while ((len = prefix_len(s.at))) {
		strbuf_add(out, s.at, len);
		s.at += len;
	}
	s.start = out->len;
	while (*s.at && !s.failed && !(s.wrapped && *s.at == ')'))
		take(&s);
	if (!s.failed && out->len > s.start && !strbuf_error(out))
		return;
	strbuf_truncate(out, before);
	strbuf_puts(out, text);
}
