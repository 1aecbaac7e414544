# SPDX-License-Identifier: GPL-2.0-or-later
$(call program,opcollect,collector,libspec events base)
