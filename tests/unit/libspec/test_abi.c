/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "libspec/sample/abi.h"
#include "tests/unit/libspec/scratch.h"

Test(abi, is_31_lines_and_is_read_again_as_that_of_this_machine)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	struct spec_abi abi;
	size_t lines = 0;

	cr_expect_eq(spec_abi_read(s.fd, &abi, NULL), -ENOENT);
	cr_assert_eq(spec_abi_write(s.fd, NULL), 0);
	CLEANUP(free_ptr) char *text = scratch_read(&s, "abi", NULL);
	for (const char *c = text; *c; c++)
		lines += *c == '\n';
	cr_expect_eq(lines, 31);
	cr_expect(strstr(text, "\nsizeof_struct_opd_header 72\n"));
	cr_expect(
		strstr(text, "\noffsetof_header_cg_to_anon_start 64\nlittle_endian 1\n"));
	cr_assert_eq(spec_abi_read(s.fd, &abi, NULL), 0);
	cr_expect(spec_abi_is_native(&abi));
	cr_expect_str_eq(spec_abi_describe(&abi), "little endian");
	cr_expect_eq(spec_abi_nodes_off(&abi), SPEC_SAMPLE_NODES_OFF + 16);
}

/* A file of a big endian machine that aligns numbers of 64 bits to 4 bytes. */
struct big_file {
	uint8_t header[64], descr[32], nodes[128][16], table[128][4];
};

static void put(uint8_t *to, size_t bytes, uint64_t value)
{
	while (bytes--) {
		to[bytes] = (uint8_t)value;
		value >>= 8;
	}
}

static void make(struct big_file *f)
{
	*f = (struct big_file){ .header = { 'D', 'A', 'E', '\n' } };
	put(f->header + 4, 4, SPEC_SAMPLE_VERSION);
	put(f->header + 8, 4, 80);
	put(f->header + 20, 4, 100000);
	put(f->header + 28, 8, 0x4059000000000000); /* 100.0 */
	put(f->header + 36, 8, 0x100000002);
	put(f->header + 48, 8, 0x7000deadbeef);
	put(f->descr, 4, 128);
	put(f->descr + 4, 4, 2);
	put(f->nodes[1], 8, 0x123456789abc);
	put(f->nodes[1] + 8, 4, 7);
}

Test(abi, a_file_is_recognised_and_converted)
{
	struct spec_sample_header h;
	struct spec_sample_descr d;
	struct spec_sample_node node;
	struct spec_abi abi;
	struct big_file f;

	make(&f);
	cr_assert(spec_abi_recognise(&f, 104, sizeof(f), &abi));
	cr_expect_str_eq(spec_abi_describe(&abi), "big endian, 32 bit");
	cr_expect(!spec_abi_is_native(&abi));
	spec_abi_start(&abi, &f, &h, &d);
	cr_expect_eq(h.cpu_type, 80);
	cr_expect_eq(h.count, 100000);
	cr_expect(h.cpu_mhz == 100.0);
	cr_expect_eq(h.mtime, 0x100000002);
	cr_expect_eq(h.anon_start, 0x7000deadbeef);
	cr_expect_eq(d.size, 128);
	cr_expect_eq(d.current_size, 2);
	spec_abi_nodes(&abi, (const uint8_t *)&f + spec_abi_nodes_off(&abi), 1, &node);
	cr_expect_eq(node.key, 0x123456789abc);
	cr_expect_eq(node.value, 7);
}

Test(abi, nothing_is_recognised_that_is_not_certain)
{
	struct spec_abi abi;
	struct big_file f;

	make(&f);
	cr_expect(!spec_abi_recognise(&f, 95, sizeof(f), &abi));
	cr_expect(!spec_abi_recognise(&f, 104, sizeof(f) - 1, &abi));
	put(f.descr + 4, 4, 0);
	cr_expect(!spec_abi_recognise(&f, 104, sizeof(f), &abi));
	put(f.descr + 4, 4, 129);
	cr_expect(!spec_abi_recognise(&f, 104, sizeof(f), &abi));
	make(&f);
	f.header[7]++;
	cr_expect(!spec_abi_recognise(&f, 104, sizeof(f), &abi));
	make(&f);
	f.header[0] = 'X';
	cr_expect(!spec_abi_recognise(&f, 104, sizeof(f), &abi));
}
