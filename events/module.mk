# SPDX-License-Identifier: GPL-2.0-or-later
$(call library,events,$(wildcard events/*.c events/table/*.c))

# The tables kept by hand are in the programs; changing one builds that object anew.
EVENT_TABLES := $(wildcard events/tables/*/events events/tables/*/unit_masks \
	events/tables/*/*/events events/tables/*/*/unit_masks)
$(call objects,events/table/source.c) $(call fuzz_objects,events/table/source.c): \
	$(EVENT_TABLES)

# What libpfm4 knows besides, in the same syntax; beside a copy of the others it lies
# where programs look for tables: ../share/opfs/events from their directory.
LIBS_pfm := -lpfm
$(call library,pfm,events/generate/pfm.c)
EVENTS_DIR := $(O)/share/opfs/events
OBJECTS += $(call objects,events/generate/main.c)

$(O)/gen/generate-events: $(call objects,events/generate/main.c) $(O)/lib/pfm.a \
		$(O)/lib/base.a
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS_pfm) $(LIBS_base)

$(EVENTS_DIR)/.made: $(O)/gen/generate-events $(EVENT_TABLES)
	$(call say,GEN,$(EVENTS_DIR))
	@rm -rf $(EVENTS_DIR)
	@mkdir -p $(EVENTS_DIR)
	$(Q)$(O)/gen/generate-events $(EVENTS_DIR)
	$(Q)cd events/tables && cp -r --parents $(EVENT_TABLES:events/tables/%=%) \
		$(abspath $(EVENTS_DIR))
	@touch $@

all tests: $(EVENTS_DIR)/.made
