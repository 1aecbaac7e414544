/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types of the standard library, whose names are long, as parameters of functions. */
#include <deque>
#include <forward_list>
#include <fstream>
#include <functional>
#include <iterator>
#include <list>
#include <locale>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <sstream>
#include <stack>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

using namespace std;

struct order {
	bool operator()(int a, int b) const;
};

namespace
{
struct hidden {
	int v;
};
__attribute__((used)) void unnamed(const vector<hidden> &)
{
}
} // namespace

template <class T, class A> struct box {
};

void vectors(vector<int> &, vector<int>::iterator, vector<const char *>::const_iterator)
{
}

void lists(list<int>::iterator, list<int>::const_iterator, forward_list<int>::iterator)
{
}

void deques(deque<char *>::iterator, deque<char *>::const_iterator)
{
}

void trees(set<int>::iterator, map<int, long>::iterator)
{
}

void strings(string::iterator, wstring::const_iterator, u16string, string_view)
{
}

void compared(map<int, int> &, map<int, int, order> &, set<int> &, set<int, less<long>> &)
{
}

void adapted(stack<int>, queue<long>, priority_queue<int>, stack<int, vector<int>>)
{
}

void streams(istream &, wofstream &, stringbuf &, streampos)
{
}

void stream_iterators(istream_iterator<int>, ostream_iterator<long>,
		      istreambuf_iterator<char>)
{
}

void hashed(unordered_map<string, int> &, unordered_multiset<int> &)
{
}

void pointers(unique_ptr<order>, function<void(int, allocator<int>)>)
{
}

void locales(moneypunct<char> &, moneypunct<char, true> &, num_put<char> &,
	     time_get<wchar_t> &)
{
}

void boxes(box<int, allocator<long>>, box<int, allocator<int>>)
{
}

void grow(map<int, vector<string>> &m)
{
	m[1].push_back("a");
}
