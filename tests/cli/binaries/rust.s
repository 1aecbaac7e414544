# SPDX-License-Identifier: GPL-2.0-or-later
# Functions with names as rustc makes them, old (_ZN...17h) and new (_R).
	.text
	.macro fn name
	.globl \name
	.type \name, @function
\name:
	push %rbp
	mov %rsp, %rbp
	lea 1(%rdi,%rsi,2), %rax
	call leaf
	pop %rbp
	ret
	.size \name, .-\name
	.endm
	.type leaf, @function
leaf:
	xor %eax, %eax
	ret
	.size leaf, .-leaf
	fn _RNvCs4fqI2P2rA04_5crate4main
	fn _RNvMs_NtCs1234_7mycrate3fooNtB4_3Bar3baz
	fn _RINvNtC3std3mem8align_ofdE
	fn _RNCNvCsgStHSCytQ6I_7mycrate4main0B3_
	fn _RNvXs5_NtC5alloc3vecINtB5_3VechENtNtC4core3ops4Drop4drop
	fn _ZN4core3ptr13drop_in_place17h0123456789abcdefE
	fn _ZN3std2io5Write9write_all17hdeadbeefdeadbeefE
	fn _ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE
	fn _ZN8bench_rs4main28_$u7b$$u7b$closure$u7d$$u7d$17hf0e1d2c3b4a59687E
	fn _ZN3foo3barEv
	fn _start
