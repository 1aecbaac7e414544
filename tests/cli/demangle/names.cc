/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that are called the same once their names are demangled, or shortened. */
#ifdef SHIFTED
int first(int i)
{
	return i;
}
#endif

struct base {
	virtual ~base();
	int a;
};
struct left : virtual base {
	~left();
};
base::~base()
{
	a = 0;
}
left::~left()
{
	a = 1;
}
namespace std
{
int same(int i)
{
	return i;
}
} // namespace std
int same(int i)
{
	return i + 1;
}
namespace
{
__attribute__((used)) int same(long i)
{
	return (int)i;
}
} // namespace
int same(long i)
{
	return (int)i + 1;
}
static __attribute__((used)) int twin(int i)
{
	return i;
}
int r1() asm("_ZN4core3fmt5write17h0123456789abcdefE");
int r1()
{
	return 1;
}
int r2() asm("_ZN4core3fmt5write17hfedcba9876543210E");
int r2()
{
	return 2;
}
int c1(int) asm("_ZL4twini.cold");
int c1(int i)
{
	return i;
}
template <class T, class A> int shortened(T, A)
{
	return 1;
}
template <class T> struct box {
};
template int shortened<box<int>, int>(box<int>, int);
