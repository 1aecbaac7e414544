# SPDX-License-Identifier: GPL-2.0-or-later
$(call library,events,$(wildcard events/*.c))

# The tables kept by hand are in the programs; changing one builds that object anew.
EVENT_TABLES := $(wildcard events/tables/*/events events/tables/*/unit_masks \
	events/tables/*/*/events events/tables/*/*/unit_masks)
$(call objects,events/builtin.c) $(call fuzz_objects,events/builtin.c): $(EVENT_TABLES)
