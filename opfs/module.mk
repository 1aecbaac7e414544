# SPDX-License-Identifier: GPL-2.0-or-later
PKGS_opfs := fuse3 nettle zlib
$(call program,opfs,opfs,libspec libsym events base)

# Flame graphs carry these; changing one builds that object anew.
FLAME_SOURCE := opfs/report/flame/flame.c
$(call objects,$(FLAME_SOURCE)) $(call fuzz_objects,$(FLAME_SOURCE)): \
	opfs/report/flame/flame.css opfs/report/flame/flame.js
