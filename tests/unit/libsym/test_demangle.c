/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "libsym/table/demangle.h"
#include "libsym/table/short.h"
#include "libsym/table/smart.h"

struct name {
	char raw[128], normal[256], smart[128];
};

ParameterizedTestParameters(demangle, names)
{
	static struct name names[] = {
		{ "main", "main", "main" },
		{ "_ZN3geo3BoxIlE4growEl", "geo::Box<long>::grow(long)",
		  "geo::Box<long>::grow(long)" },
		{ "_ZNSt6vectorIiSaIiEE9push_backERKi@plt",
		  "std::vector<int, std::allocator<int> >::push_back(int const&)@plt",
		  "vector<int>::push_back(int const&)@plt" },
		{ "_ZNSt3mapIiSsSt4lessIiESaISt4pairIKiSsEEE5beginEv",
		  "std::map<int, std::string, std::less<int>, "
		  "std::allocator<std::pair<int const, std::string> > >::begin()",
		  "map<int, string>::begin()" },
		{ "_ZlsRSoRK3Foo", "operator<<(std::ostream&, Foo const&)",
		  "operator<<(ostream&, Foo const&)" },
		{ "_ZNSt8functionIFviSaIiEEE4swapERS2_",
		  "std::function<void (int, std::allocator<int>)>::"
		  "swap(std::function<void (int, std::allocator<int>)>&)",
		  "function<void (int, allocator<int>)>::"
		  "swap(function<void (int, allocator<int>)>&)" },
		{ "_ZN3foo3barEi.cold", "foo::bar(int) [clone .cold]",
		  "foo::bar(int) [clone .cold]" },
		{ "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
		  "core::fmt::Write::write_fmt", "core::fmt::Write::write_fmt" },
		{ "_RNvC6_123foo3bar", "123foo::bar", "123foo::bar" },
		{ "_D3std5stdio7writelnFZv", "std.stdio.writeln()",
		  "std.stdio.writeln()" },
		{ "_Zbroken", "_Zbroken", "_Zbroken" },
		{ "_ZN", "_ZN", "_ZN" },
		{ "", "", "" },
		{ "@plt", "@plt", "@plt" },
	};

	return cr_make_param_array(struct name, names, sizeof(names) / sizeof(names[0]));
}

static void expect(const char *raw, enum sym_demangle_style style, const char *want)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };

	sym_demangle(raw, style, &out);
	cr_expect_str_eq(strbuf_str(&out), want);
}

ParameterizedTest(struct name *n, demangle, names)
{
	expect(n->raw, SYM_DEMANGLE_NONE, n->raw);
	expect(n->raw, SYM_DEMANGLE_NORMAL, n->normal);
	expect(n->raw, SYM_DEMANGLE_SMART, n->smart);
}

static void expect_smart(const char *text, const char *want)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };

	sym_demangle_smart(text, &out);
	cr_expect_str_eq(strbuf_str(&out), want, "%s: %s", text, strbuf_str(&out));
}

Test(demangle, short_names_of_the_standard_library)
{
	static const char *const names[][2] = {
		{ "(anonymous namespace)::f()", "f()" },
		{ "a::(anonymous namespace)::b::f()", "a::b::f()" },
		{ "a::{anonymous}::f()", "a::f()" },
		{ "std::__1::vector<int, std::__1::allocator<int> >", "vector<int>" },
		{ "std::stack<int, std::deque<int, std::allocator<int> > >",
		  "stack<int>" },
		{ "std::stack<int, std::deque<long, std::allocator<long> > >",
		  "stack<int, deque<long>>" },
		{ "std::set<int, std::less<long>, std::allocator<int> >",
		  "set<int, less<long>>" },
		{ "std::_Rb_tree<int, int, std::_Identity<int>, std::less<int>, "
		  "std::allocator<int> >",
		  "_Rb_tree<int, int>" },
		{ "std::_Rb_tree<int, int, std::_Identity<int>, order, "
		  "std::allocator<int> >",
		  "_Rb_tree<int, int, _Identity<int>, order>" },
		{ "__gnu_cxx::__normal_iterator<int*, std::vector<int, "
		  "std::allocator<int> > >",
		  "vector<int>::iterator" },
		{ "__gnu_cxx::__normal_iterator<int const* const*, "
		  "std::vector<int const*, std::allocator<int const*> > >",
		  "vector<int const*>::const_iterator" },
		{ "__gnu_cxx::__normal_iterator<char const*, "
		  "std::__cxx11::basic_string<char, std::char_traits<char>, "
		  "std::allocator<char> > >",
		  "__cxx11::string::const_iterator" },
		{ "__gnu_cxx::__normal_iterator<wchar_t*, std::string>",
		  "__gnu_cxx::__normal_iterator<wchar_t*, string>" },
		{ "__gnu_cxx::__normal_iterator<int*, my::row>",
		  "__gnu_cxx::__normal_iterator<int*, my::row>" },
		{ "std::_Deque_iterator<int, int const&, int const*>",
		  "deque<int>::const_iterator" },
		{ "std::basic_ios<char16_t>", "basic_ios<char16_t>" },
		{ "std::basic_ostream<wchar_t, std::char_traits<wchar_t> >", "wostream" },
		/* no name in front of the arguments */
		{ "std::<int, std::allocator<int> >::f()", "<int>::f()" },
		/* only the standard library's own */
		{ "my::basic_string<char>", "my::basic_string<char>" },
		{ "std::vector<my::_List_iterator<int>, std::allocator<int> >"
		  "(fpos<__mbstate_t>)",
		  "vector<my::_List_iterator<int>, allocator<int>>(fpos<__mbstate_t>)" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		expect_smart(names[i][0], names[i][1]);
		expect_smart(names[i][1], names[i][1]);
	}
}

Test(demangle, templates_nested_too_deep_stay_as_they_are)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };

	for (int i = 0; i < 1000; i++)
		strbuf_puts(&text, "std::a<");
	sym_demangle_smart(strbuf_str(&text), &out);
	cr_expect_str_eq(strbuf_str(&out), strbuf_str(&text));
}

static void expect_short(const char *text, const char *want)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };

	sym_short_name(text, &out);
	cr_expect_str_eq(strbuf_str(&out), want, "%s: %s", text, strbuf_str(&out));
}

Test(demangle, names_alone_have_no_arguments_and_nothing_in_templates)
{
	static const char *const names[][2] = {
		{ "main", "main" },
		{ "f(int)", "f" },
		{ "f()::g(char const*)::h()", "f::g::h" },
		{ "std::vector<int, std::allocator<int> >::push_back(int const&)",
		  "std::vector<...>::push_back" },
		{ "std::vector<geo::Box<long>, std::allocator<geo::Box<long> > >::"
		  "operator[](unsigned long) const",
		  "std::vector<...>::operator[]" },
		{ "void std::__introsort_loop<int*, long>(int*, int*, long)",
		  "std::__introsort_loop<...>" },
		{ "std::enable_if<(sizeof (int))>(4), int>::type f<int>(int)", "f<...>" },
		{ "unsigned long const& max<unsigned long>(unsigned long const&)",
		  "max<...>" },
		{ "int* f<>()", "f<>" },
		{ "std::function<void (int)>::operator()(int) const",
		  "std::function<...>::operator()" },
		{ "std::basic_ostream<char, std::char_traits<char> >& std::operator<< "
		  "<std::char_traits<char> >(std::basic_ostream<char>&, char)",
		  "std::operator<< <...>" },
		{ "bool std::operator< <char>(A const&)", "std::operator< <...>" },
		{ "bool operator<(A const&, A const&)", "operator<" },
		{ "a::operator<=>(a const&) const", "a::operator<=>" },
		{ "a<b>::operator->() const", "a<...>::operator->" },
		{ "a::operator->*(int)", "a::operator->*" },
		{ "a::operator>>(int)", "a::operator>>" },
		{ "a::operator()<int>(int) const &", "a::operator()<...>" },
		{ "a::operator,(a)", "a::operator," },
		{ "a::operator&&(a)", "a::operator&&" },
		{ "a::operator*() const", "a::operator*" },
		{ "operator new[](unsigned long, std::align_val_t)", "operator new[]" },
		{ "operator delete(void*)", "operator delete" },
		{ "operator\"\" _km(long double)", "operator\"\" _km" },
		{ "a::operator bool() const", "a::operator bool" },
		{ "a::operator unsigned long() const", "a::operator unsigned long" },
		{ "a::operator char const*()", "a::operator char const*" },
		{ "a::operator std::vector<int, b<c> >() const &&",
		  "a::operator std::vector<...>" },
		{ "my_operator<int>(int)", "my_operator<...>" },
		{ "operators::f(int)", "operators::f" },
		{ "void apply<&a::operator< >(int)", "apply<...>" },
		{ "void apply<(a)1, (b->c)>(int)", "apply<...>" },
		{ "(anonymous namespace)::f(int)", "(anonymous namespace)::f" },
		{ "void (anonymous namespace)::f<int>(int)",
		  "(anonymous namespace)::f<...>" },
		{ "a::(anonymous namespace)::b::f()", "a::(anonymous namespace)::b::f" },
		{ "f(int)::{lambda(char, auto:1)#2}::operator()(char) const",
		  "f::{lambda()#2}::operator()" },
		{ "main::{lambda()#1}::operator()() const::{lambda(int)#1}::_FUN(int)",
		  "main::{lambda()#1}::operator()::{lambda()#1}::_FUN" },
		{ "auto f::{lambda(auto:1)#1}::operator()<int>(int) const",
		  "f::{lambda()#1}::operator()<...>" },
		{ "f()::{unnamed type#1}::g()", "f::{unnamed type#1}::g" },
		{ "main::$_0::operator()(int) const", "main::$_0::operator()" },
		{ "f(int) const::g()", "f::g" },
		{ "void (*pick<int>(int))(char)", "pick<...>" },
		{ "int (a::*pick<int>(int))(char)", "pick<...>" },
		{ "decltype (({parm#1}) < (1)) f<int>(int)", "f<...>" },
		{ "decltype(auto) f<int>(int)", "f<...>" },
		{ "f<int>(int) requires (g<int>)", "f<...>" },
		{ "to_string[abi:cxx11](int)", "to_string[abi:cxx11]" },
		{ "f(int) [clone .isra.0] [clone .cold]",
		  "f [clone .isra.0] [clone .cold]" },
		{ "non-virtual thunk to a::f(int)", "non-virtual thunk to a::f" },
		{ "virtual thunk to a<b>::~a()", "virtual thunk to a<...>::~a" },
		{ "base::internal::Invoker<base::internal::BindState<void (blink::X::*)"
		  "(WTF::Vector<char, 0u, WTF::PartitionAllocator>), "
		  "base::WeakPtr<blink::X> >, void ()>::RunOnce("
		  "base::internal::BindStateBase*)",
		  "base::internal::Invoker<...>::RunOnce" },
		/* Rust */
		{ "core::ptr::drop_in_place<alloc::string::String>",
		  "core::ptr::drop_in_place<...>" },
		{ "<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop",
		  "<alloc::vec::Vec<...> as core::ops::drop::Drop>::drop" },
		{ "<(A, B) as core::fmt::Debug>::fmt",
		  "<(A, B) as core::fmt::Debug>::fmt" },
		{ "core::iter::adapters::map::<u8, fn(u8) -> u16>::next",
		  "core::iter::adapters::map::<...>::next" },
		{ "a::<impl core::fmt::Debug for a::B<C>>::fmt",
		  "a::<impl core::fmt::Debug for a::B<...>>::fmt" },
		{ "main::run::{{closure}}::h0123456789abcdef", "main::run::{{closure}}" },
		{ "a::h0123456789abcdef::b", "a::h0123456789abcdef::b" },
		/* D */
		{ "std.stdio.writeln!(int, char).writeln(int, char)",
		  "std.stdio.writeln!(...).writeln" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		expect_short(names[i][0], names[i][1]);
}

Test(demangle, what_does_not_read_as_a_name_stays_whole)
{
	static const char *const names[] = {
		"",
		" ",
		"(",
		")",
		"<",
		"a<",
		"a<b",
		"a(b",
		"a<(>)",
		"a{b",
		"<>",
		"(int)",
		"a<b(>)",
		"int ",
		"a<b]>",
		"a{(}",
		"void (",
		"*",
		"a<[>",
		"decltype (",
		"operator ()(",
		"virtual thunk to ",
		"{operator<}",
		"<operator<>",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		CLEANUP(strbuf_fini) struct strbuf out = { 0 };

		sym_short_name(names[i], &out);
		cr_expect(out.len || !*names[i], "%s", names[i]);
	}
	expect_short("a<b", "a<b");
	expect_short("int f(<", "int f(<");
	expect_short("(int)", "(int)");
}

/* Texts made of what names are made of, each in a block of its own size. */
Test(demangle, no_text_makes_short_names_read_or_write_beyond_it)
{
	static const char *const parts[] = {
		"<",
		">",
		"(",
		")",
		"{",
		"}",
		"[",
		"]",
		"operator",
		"<<",
		"->",
		"::",
		" ",
		"*",
		"a",
		"decltype (",
		"(anonymous namespace)",
		" const",
		" [clone ",
		"!",
		"&",
		"h",
		"<impl ",
		"\xff",
		"::h0123456789abcdef",
		"virtual thunk to ",
	};
	uint64_t seed = 1;

	for (int i = 0; i < 200000; i++) {
		CLEANUP(strbuf_fini) struct strbuf out = { 0 };
		CLEANUP(strbuf_fini) struct strbuf text = { 0 };
		CLEANUP(free_ptr) char *copy = NULL;

		for (int n = i % 12; n >= 0; n--) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			strbuf_puts(
				&text,
				parts[(seed >> 33) % (sizeof(parts) / sizeof(parts[0]))]);
		}
		copy = strdup(strbuf_str(&text));
		sym_short_name(copy, &out);
		cr_assert(out.len > 0 && out.len <= 2 * text.len + 8, "%s: %s", copy,
			  strbuf_str(&out));
	}
}

Test(demangle, short_names_of_deep_and_long_texts)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };

	for (int i = 0; i < 1000; i++)
		strbuf_puts(&text, "a<");
	for (int i = 0; i < 1000; i++)
		strbuf_putc(&text, '>');
	expect_short(strbuf_str(&text), strbuf_str(&text));
	strbuf_reset(&text);
	for (int i = 0; i < 200000; i++)
		strbuf_puts(&text, "a<b>::");
	strbuf_puts(&text, "f(");
	for (int i = 0; i < 200000; i++)
		strbuf_puts(&text, "int, ");
	strbuf_puts(&text, "int)");
	sym_short_name(strbuf_str(&text), &out);
	cr_expect_eq(out.len, 200000 * strlen("a<...>::") + 1);
}

Test(demangle, styles_of_short_names)
{
	expect("_ZN3geo3BoxIlE4growEl", SYM_DEMANGLE_SHORT, "geo::Box<...>::grow");
	expect("_ZNSt6vectorIiSaIiEE9push_backERKi", SYM_DEMANGLE_SMART_SHORT,
	       "vector<...>::push_back");
	expect("_ZN3geo3BoxIlE4growEl@plt", SYM_DEMANGLE_SHORT,
	       "geo::Box<...>::grow@plt");
	expect("f(int)", SYM_DEMANGLE_SHORT, "f(int)"); /* is not mangled */
}
