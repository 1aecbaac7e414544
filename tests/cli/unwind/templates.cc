/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps a compiler busy. */
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <regex>
#include <string>

std::map<std::string, std::function<int(int)>> all;

int main(int, char **argv)
{
	std::regex r("(a|b)*c");
	std::smatch found;
	std::string text = argv[0];

	std::cout << std::regex_search(text, found, r);
	std::sort(text.begin(), text.end());
}
