# SPDX-License-Identifier: GPL-2.0-or-later
# A unit test is tests/unit/FOLDER/test_MODULE.c.  It links the archives below and no
# more: a folder that needs what is above it does not link.
UNIT_base := base
UNIT_libspec := libspec base
UNIT_libsym := libsym base
UNIT_libcfi := libcfi base
UNIT_events := events base pfm
UNIT_collector := collector libspec libcfi events base
UNIT_opfs := opfs libspec libsym events base

$(foreach f,$(wildcard tests/unit/*/test_*.c),$(call \
	unit,$(notdir $(patsubst %/,%,$(dir $f))),$(patsubst test_%.c,%,$(notdir $f))))

# A fuzzer is tests/fuzz/fuzz_NAME.c; "links: FOLDER..." in its first lines names the
# folders it needs.  Seeds are in tests/fuzz/corpus/NAME/.
$(foreach f,$(wildcard tests/fuzz/fuzz_*.c),$(call fuzzer,$(patsubst fuzz_%.c,%,$(notdir \
	$f)),$(shell sed -n '1,5s|.*links: *\([a-z ]*\).*|\1|p' $f)))
