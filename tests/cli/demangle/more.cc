/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Another file of the same library, with static functions of the same names. */
static __attribute__((used)) int twin(int i)
{
	return i + 2;
}
namespace
{
__attribute__((used)) int same(long i)
{
	return (int)i + 5;
}
} // namespace
