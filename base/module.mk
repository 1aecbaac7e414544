# SPDX-License-Identifier: GPL-2.0-or-later
LIBS_base := -pthread
$(call library,base,$(wildcard base/*.c base/box/*.c))
