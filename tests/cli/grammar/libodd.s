# SPDX-License-Identifier: GPL-2.0-or-later
# Functions whose names are awkward in a path.  Their order is that of symbols.py.
	.text
.macro function name
	.globl "\name"
	.type "\name", @function
"\name":
	nop
	nop
	nop
	ret
	.size "\name", . - "\name"
.endm
	function "plain"
	function "_Zdv1XS_"
	function "_ZN1AC1Ev"
	function "_ZN1AC2Ev"
	function "all"
	function "star*"
	function "report"
	function "LONG"
	function "_Z1fi1X"
	function "percent%41"
	function "starry"
	.section .note.GNU-stack, "", @progbits
