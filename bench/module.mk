# SPDX-License-Identifier: GPL-2.0-or-later
# A benchmark program is bench/NAME.c; "links: FOLDER..." in its first lines names the
# archives it needs.  Scripts drive them beside the tool a user would pick instead.
$(foreach f,$(wildcard bench/*.c),$(call bench_program,$(patsubst bench/%.c,%,$f),$\
	$(shell sed -n '1,8s|.*links: *\([a-z ]*\).*|\1|p' $f)))
