/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/table/smart.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"

/*
 * Shorter spellings of C++ names: "std::" and unnamed namespaces go, so do template
 * arguments that have their default value, and types that a standard header names have
 * that name.  Works on the text of a name from left to right; an argument list is
 * rewritten before its template is looked up, so the patterns in the tables below are
 * already short.  In a pattern, T stands for the first argument of the template and U
 * for its second.
 */

/* What goes in front of a name. */
static const struct {
	const char *text;
	bool std;
} scopes[] = {
	{ "std::__1::", true }, /* libc++ */
	{ "std::__ndk1::", true },
	{ "std::", true },
	{ "(anonymous namespace)::", false },
	{ "{anonymous}::", false },
};

/* Arguments that are dropped if only others of these follow them in the list. */
static const struct {
	const char *of; /* template; NULL: any */
	const char *arg;
} defaults[] = {
	{ NULL, "allocator<T>" },
	{ NULL, "allocator<U>" },
	{ NULL, "allocator<pair<T const, U>>" },
	{ NULL, "char_traits<T>" },
	{ NULL, "less<T>" },
	{ NULL, "equal_to<T>" },
	{ NULL, "hash<T>" },
	{ NULL, "default_delete<T>" },
	{ "_Rb_tree", "_Identity<U>" },
	{ "_Rb_tree", "_Select1st<U>" },
	{ "stack", "deque<T>" },
	{ "queue", "deque<T>" },
	{ "priority_queue", "vector<T>" },
	{ "iterator", "long" },
	{ "iterator", "U*" },
	{ "iterator", "U&" },
	{ "istream_iterator", "char" },
	{ "istream_iterator", "char_traits<U>" },
	{ "istream_iterator", "long" },
	{ "ostream_iterator", "char" },
	{ "ostream_iterator", "char_traits<U>" },
	{ "num_get", "istreambuf_iterator<T>" },
	{ "num_put", "ostreambuf_iterator<T>" },
	{ "time_get", "istreambuf_iterator<T>" },
	{ "time_put", "ostreambuf_iterator<T>" },
	{ "money_get", "istreambuf_iterator<T>" },
	{ "money_put", "ostreambuf_iterator<T>" },
	{ "moneypunct", "false" },
	{ "moneypunct_byname", "false" },
};

/* Types of the standard library that another name tells more about. */
static const struct {
	const char *type, *name;
} names[] = {
	{ "_List_iterator<T>", "list<T>::iterator" },
	{ "_List_const_iterator<T>", "list<T>::const_iterator" },
	{ "_Fwd_list_iterator<T>", "forward_list<T>::iterator" },
	{ "_Fwd_list_const_iterator<T>", "forward_list<T>::const_iterator" },
	{ "_Rb_tree_iterator<T>", "_Rb_tree<T>::iterator" },
	{ "_Rb_tree_const_iterator<T>", "_Rb_tree<T>::const_iterator" },
	{ "_Deque_iterator<T, T&, T*>", "deque<T>::iterator" },
	{ "_Deque_iterator<T, T const&, T const*>", "deque<T>::const_iterator" },
	{ "fpos<__mbstate_t>", "streampos" },
};

/* basic_string<char> is string; every basic_X has such a name for the first two. */
static const struct {
	const char *type, *prefix;
	bool strings_only;
} chars[] = {
	{ "char", "", false },       { "wchar_t", "w", false },
	{ "char8_t", "u8", true },   { "char16_t", "u16", true },
	{ "char32_t", "u32", true },
};

enum { MAX_DEPTH = 64 };

struct part { /* of the output */
	size_t at, len;
};

struct level {              /* one open "<" */
	size_t type;        /* where the name in front of it starts in the output */
	struct part arg[2]; /* the first ones; the length is 0 until they end */
	size_t last;        /* where its last argument starts */
	size_t keep;        /* where the output may be cut when it ends; 0: nowhere */
	int keep_args;      /* arguments in front of that */
	int nr_args;        /* that ended */
	int parens; /* that were open then: commas inside others separate nothing here */
	bool std;   /* the name in front is the standard library's */
};

struct smart {
	struct strbuf *out;
	struct level level[MAX_DEPTH];
	size_t std; /* where a name of the standard library starts in the output */
	int depth, parens;
	bool any_std;
	bool failed; /* too deep: leave the name as it is */
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static const char *part_at(const struct smart *s, const struct part *p)
{
	return s->out->data + p->at;
}

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool part_is(const struct smart *s, const struct part *p, const char *word)
{
	return p->len == strlen(word) && !memcmp(part_at(s, p), word, p->len);
}

/* The name in front of the list. */
static struct part template_name(const struct level *l)
{
	return (struct part){ l->type, l->arg[0].at - 1 - l->type };
}

/* What a character of a pattern stands for, or NULL for itself. */
static const struct part *variable(const struct level *l, char c)
{
	return c == 'T' ? &l->arg[0] : c == 'U' ? &l->arg[1] : NULL;
}

/* Is all of @text as the pattern says? */
static bool matches(const struct smart *s, const struct level *l, const char *pattern,
		    const char *text)
{
	for (; *pattern; pattern++) {
		const struct part *v = variable(l, *pattern);

		if (v && (!v->len || strncmp(text, part_at(s, v), v->len) != 0))
			return false;
		if (!v && *text != *pattern)
			return false;
		text += v ? v->len : 1;
	}
	return !*text;
}

/* The last argument of the list, which is not the first one. */
static bool is_default(const struct smart *s, const struct level *l)
{
	struct part name = template_name(l);

	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
		if ((!defaults[i].of || part_is(s, &name, defaults[i].of)) &&
		    matches(s, l, defaults[i].arg, s->out->data + l->last))
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

/* True if a name that starts here is in std, or in a reserved namespace of it. */
static bool in_std(const struct smart *s, size_t start)
{
	const char *at, *end;

	if (!s->any_std)
		return false;
	at = strbuf_str(s->out) + s->std;
	end = strbuf_str(s->out) + start;
	while (at < end && starts(at, "__")) {
		while (is_word(*at))
			at++;
		if (!starts(at, "::"))
			return false;
		at += 2;
	}
	return at == end;
}

/* An argument is complete: notes where the list may be cut. */
static void end_argument(struct smart *s, struct level *l)
{
	if (!l->nr_args || !is_default(s, l))
		l->keep = 0;
	else if (!l->keep) {
		l->keep = l->last;
		l->keep_args = l->nr_args;
	}
	if (l->nr_args < 2)
		l->arg[l->nr_args] = (struct part){ l->last, s->out->len - l->last };
	l->nr_args++;
}

static void open_list(struct smart *s)
{
	size_t type = word_start(s->out);
	struct level *l;

	if (s->depth == MAX_DEPTH) {
		s->failed = true;
		return;
	}
	l = &s->level[s->depth++];
	*l = (struct level){ .type = type, .parens = s->parens, .std = in_std(s, type) };
	strbuf_putc(s->out, '<');
	l->last = l->arg[0].at = s->out->len;
}

static void next_argument(struct smart *s)
{
	struct level *l = &s->level[s->depth - 1];

	end_argument(s, l);
	strbuf_puts(s->out, ", ");
	l->last = s->out->len;
}

static bool name_type(struct smart *s, const struct level *l, struct strbuf *name)
{
	const char *pattern = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !pattern; i++)
		if (matches(s, l, names[i].type, s->out->data + l->type))
			pattern = names[i].name;
	for (const char *at = pattern; at && *at; at++) {
		const struct part *v = variable(l, *at);

		if (v)
			strbuf_add(name, part_at(s, v), v->len);
		else
			strbuf_putc(name, *at);
	}
	return pattern;
}

/* "w" for wchar_t; NULL: no such type, or none that the standard has names for. */
static const char *char_prefix(const struct smart *s, const struct part *type,
			       bool string)
{
	for (size_t i = 0; i < sizeof(chars) / sizeof(chars[0]); i++)
		if (part_is(s, type, chars[i].type) && (string || !chars[i].strings_only))
			return chars[i].prefix;
	return NULL;
}

/* basic_X<char>: X */
static bool name_basic(struct smart *s, const struct level *l, struct strbuf *name)
{
	struct part type = template_name(l);
	size_t skip = strlen("basic_");
	const char *prefix;

	if (l->nr_args != 1 || !starts(part_at(s, &type), "basic_"))
		return false;
	prefix = char_prefix(s, &l->arg[0],
			     part_is(s, &type, "basic_string") ||
				     part_is(s, &type, "basic_string_view"));
	if (!prefix)
		return false;
	strbuf_puts(name, prefix);
	strbuf_add(name, part_at(s, &type) + skip, type.len - skip);
	return true;
}

/* Is the container, U, one of elements of this type? */
static bool holds(const struct smart *s, const struct level *l, const struct part *type)
{
	const char *of = part_at(s, &l->arg[1]);
	const char *end = of + l->arg[1].len;
	const char *list = memchr(of, '<', l->arg[1].len);
	const char *prefix = char_prefix(s, type, true);
	size_t len;

	if (list)
		return (size_t)(end - list) > type->len + 1 &&
		       !memcmp(list + 1, part_at(s, type), type->len) &&
		       strchr(",>", list[1 + type->len]);
	len = prefix ? strlen(prefix) + strlen("string") : SIZE_MAX;
	return l->arg[1].len >= len && starts(end - len, prefix) &&
	       starts(end - strlen("string"), "string");
}

/* __gnu_cxx::__normal_iterator<X*, vector<X>>: vector<X>::iterator */
static bool name_iterator(struct smart *s, struct level *l, struct strbuf *name)
{
	static const char scope[] = "__gnu_cxx::", constant[] = " const";
	struct part type = template_name(l), of = l->arg[0];
	size_t skip = strlen(scope), tail = strlen(constant);
	bool plain;

	if (l->nr_args != 2 || !part_is(s, &type, "__normal_iterator") || !of.len ||
	    part_at(s, &of)[--of.len] != '*')
		return false;
	plain = holds(s, l, &of);
	if (!plain) {
		if (of.len <= tail || !starts(part_at(s, &of) + of.len - tail, constant))
			return false;
		of.len -= tail;
		if (!holds(s, l, &of))
			return false;
	}
	if (l->type >= skip && starts(s->out->data + l->type - skip, scope))
		l->type -= skip;
	strbuf_add(name, part_at(s, &l->arg[1]), l->arg[1].len);
	strbuf_puts(name, plain ? "::iterator" : "::const_iterator");
	return true;
}

static void close_list(struct smart *s)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };
	struct level *l = &s->level[--s->depth];

	end_argument(s, l);
	s->any_std = false;
	if (l->keep) {
		strbuf_truncate(s->out, l->keep - 2); /* with its ", " */
		l->nr_args = l->keep_args;
		if (l->nr_args < 2)
			l->arg[1].len = 0;
	}
	strbuf_putc(s->out, '>');
	if (strbuf_error(s->out))
		return;
	if (!(l->std && (name_type(s, l, &name) || name_basic(s, l, &name))) &&
	    !name_iterator(s, l, &name))
		return;
	strbuf_truncate(s->out, l->type);
	strbuf_add(s->out, name.data, name.len);
	s->failed |= strbuf_error(&name) != 0;
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

/* The length of what is left out here, else 0. */
static size_t skip_scope(struct smart *s, const char *at, const char *text)
{
	for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++) {
		if (!starts(at, scopes[i].text))
			continue;
		if (scopes[i].std && at > text && (is_word(at[-1]) || at[-1] == ':'))
			return 0;
		s->any_std = scopes[i].std;
		s->std = s->out->len;
		return strlen(scopes[i].text);
	}
	return 0;
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
	size_t scope = op ? 0 : skip_scope(s, at, text);

	if (scope)
		return scope;
	s->parens += (*at == '(') - (*at == ')');
	if (op) {
		strbuf_add(s->out, at, op);
		return op;
	}
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
