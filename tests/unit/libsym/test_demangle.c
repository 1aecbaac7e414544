/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "libsym/table/demangle.h"
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
