/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of a file "abi", in its order; included more than once. */

/*
 * ABI_SIZE(ID, NAME, BYTES): a type whose size is known.  ABI_PART(ID, NAME, TYPE): a
 * struct in sample files.  ABI_FIELD(ID, NAME, PART, TYPE, MEMBER): where it has a
 * member.
 */
ABI_SIZE(DOUBLE, "sizeof_double", sizeof(double))
ABI_SIZE(U64, "sizeof_u64", sizeof(uint64_t))
ABI_SIZE(U8, "sizeof_u8", sizeof(uint8_t))
ABI_SIZE(U32, "sizeof_u32", sizeof(uint32_t))
ABI_SIZE(INT, "sizeof_int", sizeof(int))
ABI_SIZE(UNSIGNED, "sizeof_unsigned_int", sizeof(unsigned int))
ABI_SIZE(KEY, "sizeof_odb_key_t", sizeof(uint64_t))
ABI_SIZE(INDEX, "sizeof_odb_index_t", sizeof(uint32_t))
ABI_SIZE(VALUE, "sizeof_odb_value_t", sizeof(uint32_t))
ABI_SIZE(NODE_NR, "sizeof_odb_node_nr_t", sizeof(uint32_t))
ABI_PART(DESCR, "sizeof_odb_descr_t", descr)
ABI_PART(NODE, "sizeof_odb_node_t", node)
ABI_PART(HEADER, "sizeof_struct_opd_header", header)
ABI_FIELD(NODE_KEY, "offsetof_node_key", NODE, node, key)
ABI_FIELD(NODE_VALUE, "offsetof_node_value", NODE, node, value)
ABI_FIELD(NODE_NEXT, "offsetof_node_next", NODE, node, next)
ABI_FIELD(SIZE, "offsetof_descr_size", DESCR, descr, size)
ABI_FIELD(USED, "offsetof_descr_current_size", DESCR, descr, current_size)
ABI_FIELD(MAGIC, "offsetof_header_magic", HEADER, header, magic)
ABI_FIELD(VERSION, "offsetof_header_version", HEADER, header, version)
ABI_FIELD(CPU_TYPE, "offsetof_header_cpu_type", HEADER, header, cpu_type)
ABI_FIELD(EVENT, "offsetof_header_ctr_event", HEADER, header, event)
ABI_FIELD(UNIT_MASK, "offsetof_header_ctr_um", HEADER, header, unit_mask)
ABI_FIELD(COUNT, "offsetof_header_ctr_count", HEADER, header, count)
ABI_FIELD(IS_KERNEL, "offsetof_header_is_kernel", HEADER, header, is_kernel)
ABI_FIELD(CPU_SPEED, "offsetof_header_cpu_speed", HEADER, header, cpu_mhz)
ABI_FIELD(MTIME, "offsetof_header_mtime", HEADER, header, mtime)
ABI_FIELD(CG_TO_IS_KERNEL, "offsetof_header_cg_to_is_kernel", HEADER, header,
	  cg_to_is_kernel)
ABI_FIELD(ANON_START, "offsetof_header_anon_start", HEADER, header, anon_start)
ABI_FIELD(CG_TO_ANON_START, "offsetof_header_cg_to_anon_start", HEADER, header,
	  cg_to_anon_start)
ABI_FLAG(LITTLE_ENDIAN, "little_endian")

#undef ABI_SIZE
#undef ABI_PART
#undef ABI_FIELD
#undef ABI_FLAG
