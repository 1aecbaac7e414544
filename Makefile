# SPDX-License-Identifier: GPL-2.0-or-later
# "make help" tells the targets and settings.  Products are declared in */module.mk.

VERSION := 0.1.0

ifeq ($(origin CC),default)
CC := gcc
endif
AR ?= ar
CLANG ?= clang
PKG_CONFIG ?= pkg-config
# With sanitizers a third of the time to compile is saved.
CFLAGS ?= $(if $(SAN),-O1,-O2) -g -fno-omit-frame-pointer
CPPFLAGS ?=
LDFLAGS ?=
SAN ?=
WERROR ?=
V ?=
O ?= $(if $(SAN),build/san,build)
JOBS ?= 2
KDIR ?= /lib/modules/$(shell uname -r)/build
DESTDIR ?=
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 5
LONG_FUZZ_SECONDS ?= 60
DAEMON_SECONDS ?= 600
SOAK_MINUTES ?= 60

# The Debian packages that building and testing need; "make deps" installs them.
DEPS_BUILD := gcc make pkg-config libc6-dev libfuse3-dev fuse3 libelf-dev libdw-dev \
	libiberty-dev libzstd-dev zlib1g-dev libseccomp-dev binutils binutils-dev \
	libarchive-dev libxxhash-dev nettle-dev libconfuse-dev libsystemd-dev \
	libpfm4-dev libdebuginfod-dev
# What boots kernels, builds modules for them and the kernel of check-kernel-debug.
DEPS_QEMU := qemu-system-x86 qemu-system-arm cpio pahole gcc-aarch64-linux-gnu \
	libc6-dev-arm64-cross bc flex bison libelf-dev
# What fetches the headers of kernels, and makes a root to build for some.
DEPS_HEADERS := mmdebstrap gcc-aarch64-linux-gnu
# What builds the Debian packages, in a root of their own, and looks at them.
DEPS_DEB := mmdebstrap lintian
DEPS_TEST := libcriterion-dev bats clang libclang-rt-14-dev clang-tidy clang-format \
	sparse linux-perf python3 rsync zip unzip less file strace elfutils xz-utils \
	zstd mandoc shellcheck util-linux psmisc procps tmux libarchive-tools xxd g++ \
	llvm dwz libxml2-utils python3-jsonschema jq zsh bsdextrautils systemd mount \
	e2fsprogs chromium librsvg2-bin golang-go valgrind protobuf-compiler gdb nodejs \
	openjdk-17-jdk-headless attr fd-find ripgrep tree locales libc-l10n debuginfod \
	$(DEPS_QEMU) $(DEPS_HEADERS) $(DEPS_DEB)
# What makes a new machine for check-fresh.
DEPS_FRESH := mmdebstrap git

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' $1 $2)
MAKEFLAGS += --no-print-directory

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wold-style-definition -Wvla -Wformat=2 -Wundef -Wpointer-arith -Wwrite-strings
HARDEN := -fstack-protector-strong -fPIE \
	$(if $(SAN),,$(if $(filter -O1 -O2 -O3 -Os,$(CFLAGS)),-U_FORTIFY_SOURCE \
	-D_FORTIFY_SOURCE=2))
SANITIZE := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all)
DEFINES := -I. -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DOPFS_VERSION='"$(VERSION)"'
ALL_CFLAGS = -std=gnu17 $(DEFINES) $(CPPFLAGS) $(CFLAGS) $(WARNINGS) \
	$(if $(WERROR),-Werror) $(HARDEN) $(SANITIZE)
ALL_LDFLAGS = -pie -Wl,-z,relro,-z,now -Wl,--as-needed $(SANITIZE) $(CFLAGS) $(LDFLAGS)
FUZZ_CFLAGS = -std=gnu17 $(DEFINES) -O1 -g -fno-omit-frame-pointer -DOPFS_FUZZ \
	-fno-sanitize-recover=all

# What a recipe's shell asks pkg-config; a folder's packages are PKGS_FOLDER, and
# libraries that pkg-config does not know are LIBS_FOLDER.
pkg_libs = $(if $(strip $1),$$($(PKG_CONFIG) --libs $1))
pkg_cflags = $(if $(strip $1),$$($(PKG_CONFIG) --cflags $1))

# The files *.$2 of a folder and of those in it.
files = $(wildcard $1/*.$2 $1/*/*.$2 $1/*/*/*.$2)

objects = $(patsubst %.c,$(O)/obj/%.o,$1)
fuzz_objects = $(patsubst %.c,$(O)/fuzz/obj/%.o,$1)
archives = $(foreach a,$1,$(if $(SRCS_$a),$(O)/lib/$a.a))
archive_libs = $(call pkg_libs,$(foreach a,$1,$(PKGS_$a))) $(foreach a,$1,$(LIBS_$a))

FOLDERS := base libspec libsym libcfi events collector opfs

OBJECTS :=
PROGRAMS :=
UNITS :=
FUZZERS :=
BENCHES :=

# $(call library,NAME,SOURCES): an archive
library = $(eval $(call library_rules,$1,$2))
define library_rules
SRCS_$1 := $2
OBJECTS += $(call objects,$2)
$(O)/lib/$1.a: $(call objects,$2)
endef

# $(call program,NAME,FOLDER,ARCHIVES): FOLDER/main.c, and an archive of the rest
program = $(call library,$2,$(filter-out $2/main.c,$(call files,$2,c)))$(if \
	$(wildcard $2/main.c),$(eval $(call program_rules,$1,$2,$2 $3)))
define program_rules
OBJECTS += $(call objects,$2/main.c)
PROGRAMS += $(O)/bin/$1
LINKS_$1 := $3
$(O)/bin/$1: $(call objects,$2/main.c) $$(call archives,$3)
endef

# $(call unit,FOLDER,MODULE): a criterion program; other files of its folder help it
unit = $(eval $(call unit_rules,$1_test_$2,tests/unit/$1/test_$2.c $(filter-out \
	tests/unit/$1/test_%.c,$(wildcard tests/unit/$1/*.c)),$(UNIT_$1)))
define unit_rules
OBJECTS += $(call objects,$2)
UNITS += $(O)/test/$1
LINKS_$1 := $3
$(O)/test/$1: $(call objects,$2) $$(call archives,$3)
endef

# $(call fuzzer,NAME,FOLDERS): built by clang from the folders' sources
fuzzer = $(eval $(call fuzzer_rules,$1,$2))
define fuzzer_rules
FUZZERS += $(O)/fuzz/$1
LINKS_$1 := $2
$(O)/fuzz/$1: $$(call fuzz_objects,tests/fuzz/fuzz_$1.c $(foreach a,$2,$(SRCS_$a)))
endef

# $(call bench_program,NAME,ARCHIVES): bench/NAME.c; with no archives it is FUSE's own
bench_program = $(eval $(call bench_rules,$1,$2))
define bench_rules
OBJECTS += $(call objects,bench/$1.c)
BENCHES += $(O)/bench/$1
LINKS_bench_$1 := $2
$(O)/bench/$1: $(call objects,bench/$1.c) $$(call archives,$2)
endef

all: programs
.PHONY: all programs tests fuzzers benches

include $(wildcard base/module.mk libspec/module.mk libsym/module.mk libcfi/module.mk \
	events/module.mk collector/module.mk opfs/module.mk tests/module.mk \
	bench/module.mk)

programs: $(PROGRAMS) $(foreach a,$(FOLDERS),$(call archives,$a))
tests: $(UNITS)
fuzzers: $(FUZZERS)
benches: $(BENCHES)

# The folder of an object is the first part of its path, that of a unit test the third.
folder = $(firstword $(subst /, ,$(patsubst tests/unit/%,%,$1)))

$(O)/obj/%.o: %.c $(O)/settings
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(call pkg_cflags,$(PKGS_$(call folder,$<))) -MMD -MP -c \
		-o $@ $<

$(O)/lib/%.a:
	$(call say,AR,$@)
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)$(AR) qcs $@ $^

$(O)/bin/%:
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(call archive_libs,$(LINKS_$*))

$(O)/bench/%:
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(call archive_libs,$(LINKS_bench_$*)) \
		$(call pkg_libs,fuse3)

# A test may define anew what it wants to be otherwise: the first definition counts.
$(O)/test/%:
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -Wl,-z,muldefs -o $@ $^ \
		$(call archive_libs,$(LINKS_$*)) $(call pkg_libs,criterion)

$(O)/fuzz/obj/%.o: %.c $(O)/settings
	$(call say,CLANG,$<)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link,address,undefined \
		$(call pkg_cflags,$(PKGS_$(call folder,$<))) -MMD -MP -c -o $@ $<

$(O)/fuzz/%:
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) -fsanitize=fuzzer,address,undefined -o $@ $^ \
		$(call archive_libs,$(LINKS_$*))

# Rewritten only when a setting changed, which then rebuilds what it went into.
SETTINGS = $(CC) $(CLANG) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(FUZZ_CFLAGS)
$(O)/settings: FORCE
	@mkdir -p $(@D)
	@$(PKG_CONFIG) --exists $(PKGS_base) $(PKGS_opfs) $(PKGS_libsym) \
		$(PKGS_collector) || \
		{ echo "opfs: libraries are missing: run 'make deps'" >&2; exit 1; }
	@echo '$(subst ','\'',$(SETTINGS))' | cmp -s - $@ || \
		echo '$(subst ','\'',$(SETTINGS))' >$@
.PHONY: FORCE
.SECONDARY:
.DELETE_ON_ERROR:

# ---- checks

# Several files run at a time: the longest first, so that none is left for the end.
longest_first = $(wildcard $(patsubst %,$1/%.bats,$2)) \
	$(filter-out $(patsubst %,$1/%.bats,$2),$(wildcard $1/*.bats))
BATS_CLI := $(call longest_first,tests/cli,daemon docs_from patience completion \
	binaries symbols keep demo record_programs replay formats record_options record)
BATS_MOUNT := $(call longest_first,tests/mount,readers main_job rotate mount)
BATS_LONG := $(call longest_first,tests/long,busy)
HEADERS := $(filter-out %_list.h,$(foreach f,$(FOLDERS) kernel/uapi,$(call files,$f,h)))
SOURCES := $(filter-out events/generate/%,$(foreach f,$(FOLDERS),$(call files,$f,c)))

export CC O SAN BLESS JOBS
SUITE_UNIT = suite:unit jobs:$(JOBS) $(UNITS:%=unit:%)
# Commands that are tested wait as long as they compute.
SUITE_CLI = suite:cli jobs:$$((2*$(JOBS))) bin:$(O)/bin $(BATS_CLI:%=bats:%)
SUITE_MOUNT = suite:mount jobs:$(JOBS) bin:$(O)/bin $(BATS_MOUNT:%=bats:%)
SUITE_FUZZ = suite:fuzz jobs:$(JOBS) $(FUZZERS:%=fuzz:%:$(FUZZ_SECONDS))
SUITE_QEMU = suite:qemu jobs:$(JOBS) bin:$(O)/bin qemu:6.1:all qemu:6.12:all \
	qemu:6.1-single:all qemu:6.12-single:all qemu:arm64:all qemu:arm64-icount:all
# All on the older kernel.  The newer one has a smoke test, and what makes a kernel patch
# itself; arm64, which takes longest to emulate, what has to do with the processor.
QEMU_ARM64 := call_chains_are_exact,call_chains_of_signed_pointers,cpus_come_and_go,$\
	counters_taken_away_come_back,exiting_tasks_keep_their_application,$\
	many_starts_and_stops,runs_between_loads,stacks_are_of_the_sampled_moment,$\
	stacks_are_unwound_at_each_step,storm_of_exec,storm_of_mmap,$\
	threads_resolve_what_interrupts_may_not,tiny_buffers_count_what_they_lose,$\
	unload_while_samples_flow,writes_are_whole_and_exact
SUITE_QEMU_SOME = suite:qemu jobs:$(JOBS) bin:$(O)/bin packages:debian qemu:6.1:all \
	qemu:6.12:smoke qemu:6.12-single:all qemu:arm64:$(QEMU_ARM64)
SUITE_QEMU_SMOKE = suite:qemu jobs:1 bin:$(O)/bin qemu:6.1:smoke
SUITE_HEADERS = suite:headers headers:all
# The oldest and the newest, some between them, and those that are built another way.
SUITE_HEADERS_SOME = suite:headers headers:bookworm,bookworm-rt,bookworm-arm64,$\
	bookworm-bare,jammy-6.2,trixie,noble,resolute
SAN_O := $(O)/san
RUN = tests/run.sh $(O)/check

.PHONY: check check-now check-unit check-cli check-mount check-fuzz
check: deps
	$(Q)+$(MAKE) check-now
check-now: all lint tests fuzzers
	$(Q)$(RUN) $(SUITE_UNIT) $(SUITE_CLI) $(SUITE_MOUNT) $(SUITE_FUZZ) \
		$(SUITE_QEMU_SMOKE)
check-unit: tests
	$(Q)$(RUN) $(SUITE_UNIT)
check-cli: all
	$(Q)$(RUN) $(SUITE_CLI)
check-mount: all
	$(Q)$(RUN) $(SUITE_MOUNT)
check-fuzz: fuzzers
	$(Q)$(RUN) $(SUITE_FUZZ)

# The driver, in guests that QEMU emulates; the second on a kernel that checks itself.
.PHONY: check-qemu check-kernel-debug
check-qemu: all
	$(Q)$(RUN) $(SUITE_QEMU)
check-kernel-debug: all
	$(Q)$(RUN) suite:qemu jobs:1 bin:$(O)/bin qemu:debug:all qemu:debug-single:all

# The driver is built for the kernels of distributions.
.PHONY: check-headers
check-headers:
	$(Q)$(RUN) $(SUITE_HEADERS)

# The Debian packages, in a guest with systemd.
.PHONY: check-packages
check-packages:
	$(Q)$(RUN) suite:packages packages:debian

.PHONY: check-san check-san-now check-long check-long-now
SAN_SUITES = $(subst $(O)/test/,$(SAN_O)/test/,$(SUITE_UNIT:suite:unit=suite:san-unit)) \
	san:address,undefined $(subst $(O)/bin,$(SAN_O)/bin,$(subst suite:,suite:san-,\
	$(SUITE_CLI) $(SUITE_MOUNT)))
# What takes most of its time in compilers, browsers and other programs is left out here.
SAN_LEFT_OUT := binaries completion demo diff_random docs docs_from exports flame inlines
check-san: deps
	$(Q)+$(MAKE) check-san-now
check-san-now: san
	$(Q)$(RUN) $(SAN_SUITES)
check-long: deps
	$(Q)+$(MAKE) check-long-now
check-long-now: all fuzzers san
	$(Q)$(RUN) $(filter-out $(SAN_LEFT_OUT:%=bats:tests/cli/%.bats),$(SAN_SUITES)) \
		suite:fuzz-long jobs:$(JOBS) \
		$(FUZZERS:%=fuzz:%:$(LONG_FUZZ_SECONDS)) \
		suite:long jobs:$(JOBS) san: bin:$(O)/bin $(BATS_LONG:%=bats:%) \
		$(SUITE_HEADERS_SOME) $(SUITE_QEMU_SOME)
.PHONY: san
san:
	$(Q)+$(MAKE) SAN=address,undefined O=$(SAN_O) all tests

.PHONY: bless
bless: all
	$(Q)BLESS=1 $(RUN) $(SUITE_CLI)

# The rules of CONTRIBUTING.md that a program can check.
.PHONY: lint layers headers format
lint: all headers
	$(Q)tests/lint.sh
layers:
	$(Q)tests/lint.sh layers
format:
	$(Q)tests/lint.sh lay-out

headers:
	$(Q)rc=0; for h in $(HEADERS); do \
		$(CC) $(ALL_CFLAGS) -Werror $(call pkg_cflags,$(PKGS_opfs)) \
			-fsyntax-only -x c "$$h" || rc=1; \
	done; exit $$rc

# Findings of these checks are mistakes; the rest of what the tools can say is taste, or
# (leaks, null pointers) does not see through CLEANUP() and vec_push().
TIDY_CHECKS := -*,clang-analyzer-*,-clang-analyzer-security.insecureAPI.*,$\
	-clang-analyzer-unix.Malloc,-clang-analyzer-core.NonNullParamChecker,$\
	-clang-analyzer-core.NullDereference,bugprone-*,$\
	-bugprone-easily-swappable-parameters,-bugprone-reserved-identifier,$\
	-bugprone-assignment-in-if-condition,-bugprone-narrowing-conversions,$\
	-bugprone-branch-clone,-bugprone-suspicious-string-compare,$\
	-bugprone-macro-parentheses,-bugprone-sizeof-expression,$\
	-bugprone-implicit-widening-of-multiplication-result,misc-redundant-expression
ANALYZER := -fanalyzer -Wno-analyzer-malloc-leak -Wno-analyzer-file-leak \
	-Wno-analyzer-possible-null-dereference -Wno-analyzer-possible-null-argument \
	-Wno-analyzer-null-dereference -Wno-analyzer-null-argument \
	-Wno-analyzer-too-complex -Wno-analyzer-use-of-uninitialized-value
SPARSE := -Wno-declaration-after-statement -Wno-transparent-union -Wno-non-pointer-null

.PHONY: analyze analyze-tidy analyze-gcc analyze-sparse
analyze: analyze-tidy analyze-gcc analyze-sparse
analyze-tidy:
	$(Q)printf '%s\n' $(SOURCES) | xargs -P $(JOBS) -I{} clang-tidy --quiet \
		--checks='$(TIDY_CHECKS)' --warnings-as-errors='*' {} \
		-- -std=gnu17 $(DEFINES) $(call pkg_cflags,$(PKGS_opfs)) 2>/dev/null
analyze-gcc:
	$(Q)printf '%s\n' $(SOURCES) | xargs -P $(JOBS) -I{} $(CC) $(ALL_CFLAGS) -Werror \
		$(ANALYZER) $(call pkg_cflags,$(PKGS_opfs)) -c -o /dev/null {}
analyze-sparse:
	$(Q)printf '%s\n' $(SOURCES) | xargs -P $(JOBS) -I{} sparse -Wsparse-error \
		$(SPARSE) -std=gnu17 $(DEFINES) $(call pkg_cflags,$(PKGS_opfs)) {}

# ---- the rest

.PHONY: bench bench-inserts bench-cfi bench-collect bench-costs bench-replay \
	bench-report bench-reports bench-large bench-files bench-mount bench-driver \
	bench-daemon bench-daemon-files bench-busy bench-victim bench-soak bench-stacks \
	bench-stacks-growth bench-inlines bench-unwind bench-small
bench: bench-inserts bench-cfi bench-collect bench-costs bench-replay bench-small \
	bench-large bench-report bench-reports bench-files bench-mount bench-stacks
bench-costs: all benches
	$(Q)bench/costs.py $(O)/bin $(O)/bench/db_insert
bench-inserts: benches
	$(Q)$(O)/bench/db_insert
bench-collect: all
	$(Q)bench/collect.py $(O)/bin
bench-replay: all
	$(Q)bench/replay.py $(O)/bin
bench-daemon: all
	$(Q)bench/daemon.py $(O)/bin $(DAEMON_SECONDS)
bench-daemon-files: all
	$(Q)bench/daemon_files.py $(O)/bin $(DAEMON_FILES)
bench-busy: all
	$(Q)bench/busy.py $(O)/bin
bench-victim: all
	$(Q)bench/victim.py $(O)/bin
bench-soak: all
	$(Q)bench/soak.py $(O)/bin $(SOAK_MINUTES)
bench-cfi: benches
	$(Q)$(O)/bench/cfi /usr/bin/python3 tests/cli/unwind/spin.py
	$(Q)$(O)/bench/cfi $$(g++ -print-prog-name=cc1plus) -quiet -O2 -D_GNU_SOURCE \
		-imultiarch $$(gcc -print-multiarch) tests/cli/unwind/templates.cc \
		-o /dev/null
bench-small: all
	$(Q)bench/small.py $(O)/bin
bench-report: all
	$(Q)bench/report.py $(O)/bin
bench-reports: all tests
	$(Q)bench/reports.py $(O)/bin $(O)/test
bench-large: all
	$(Q)bench/large.py $(O)/bin $(LARGE)
bench-stacks: all
	$(Q)bench/stacks.py $(O)/bin
bench-stacks-growth: all
	$(Q)bench/stacks.py $(O)/bin --growth
bench-unwind: all
	$(Q)bench/unwind.py $(O)/bin $(WORKLOADS)
# BINARY=FILE: another one than the largest vmlinux with DWARF.
bench-inlines: all
	$(Q)bench/inlines.py $(O)/bin $(BINARY)
# What a sample costs and how fast they may come, by a clock that counts instructions in
# an emulated machine.
bench-driver: all
	$(Q)V=1 OPFS_BIN=$(O)/bin tests/qemu/run.sh 6.1-icount all
	$(Q)V=1 OPFS_BIN=$(O)/bin tests/qemu/run.sh 6.12-icount all
bench-files: all
	$(Q)bench/many_files.py $(O)/bin
bench-mount: all benches
	$(Q)bench/mount_rates.sh $(O)

# The driver is built by the kernel's own build, in a copy, for KDIR's kernel.
DRIVER = $(abspath $(O))/driver
KBUILD = $(MAKE) -C $(KDIR) M=$(DRIVER)
# To the kernel's build O= on the command line, even empty, is where the kernel was built.
driver driver-install analyze-driver: MAKEOVERRIDES := $(filter-out O=%,$(MAKEOVERRIDES))

.PHONY: driver driver-source driver-install driver-dkms
driver-source:
	$(Q)[ -e "$(KDIR)/Makefile" ] || { \
		echo "opfs: $(KDIR) is no kernel to build for:" \
		"install its headers (linux-headers-...), or set KDIR=" >&2; exit 1; }
	$(Q)mkdir -p $(DRIVER)/uapi
	$(Q)cp -pu kernel/*.[ch] kernel/probe.sh kernel/Makefile $(DRIVER)
	$(Q)cp -pu kernel/uapi/*.h $(DRIVER)/uapi
driver: driver-source
	$(Q)+$(KBUILD) modules
driver-install: driver
	$(Q)+$(KBUILD) INSTALL_MOD_PATH=$(DESTDIR) modules_install
# sparse, and checkpatch of a kernel's source if CHECKPATCH= says where it is.
.PHONY: analyze-driver
analyze-driver: driver-source
	$(Q)rm -f $(DRIVER)/*.o
	$(Q)+$(KBUILD) C=1 CF="-Wsparse-error -Wno-unknown-attribute" W=1 modules
	$(Q)[ -z "$(CHECKPATCH)" ] || perl $(CHECKPATCH) --no-tree --no-summary --terse \
		--max-line-length=90 \
		--ignore CONSTANT_COMPARISON,SPLIT_STRING \
		--file kernel/*.[ch] kernel/uapi/*.h
driver-dkms:
	$(Q)install -d $(DESTDIR)/usr/src/opfs-sampler-$(VERSION)/uapi
	$(Q)install -m 644 kernel/*.[ch] kernel/probe.sh kernel/Makefile \
		$(DESTDIR)/usr/src/opfs-sampler-$(VERSION)
	$(Q)install -m 644 kernel/uapi/*.h $(DESTDIR)/usr/src/opfs-sampler-$(VERSION)/uapi
	$(Q)sed 's/#MODULE_VERSION#/$(VERSION)/' kernel/dkms.conf.in \
		>$(DESTDIR)/usr/src/opfs-sampler-$(VERSION)/dkms.conf

# The packages that debian/ tells, in $(O)/deb.
.PHONY: deb
deb:
	$(Q)tests/deps.sh $(DEPS_DEB)
	$(Q)tests/deb/build.sh $(O)/deb
	$(Q)ls $(O)/deb/*.deb

.PHONY: deps demo clean help
deps:
	$(Q)tests/deps.sh $(DEPS_BUILD) $(DEPS_TEST)

# What README says, in a Debian that has nothing yet.
.PHONY: check-fresh
check-fresh:
	$(Q)tests/deps.sh $(DEPS_FRESH)
	$(Q)tests/fresh.sh $(O)/fresh

demo: deps
	$(Q)+$(MAKE) all
	$(Q)tests/demo/demo.sh $(O)

.PHONY: picture
picture: all
	$(Q)tests/demo/picture.sh $(O) doc/flamegraph.svg

clean:
	rm -rf $(O)

MANS := $(wildcard doc/*.1 doc/*.5 doc/*.7 doc/*.8)
BASH_COMPLETIONS := $(wildcard doc/completion/bash/*)
ZSH_COMPLETIONS := $(wildcard doc/completion/zsh/*)
BINDIR = $(DESTDIR)$(PREFIX)/bin
MANDIR = $(DESTDIR)$(PREFIX)/share/man
BASHDIR = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
ZSHDIR = $(DESTDIR)$(PREFIX)/share/zsh/site-functions
SCHEMAS := $(wildcard doc/*.xsd doc/*.schema.json)
DATADIR = $(DESTDIR)$(PREFIX)/share/opfs
UNITDIR = $(DESTDIR)$(PREFIX)/lib/systemd/system

.PHONY: install uninstall
install: all
	$(Q)install -d $(BINDIR)
	$(Q)install -m 755 $(PROGRAMS) $(BINDIR)
	$(Q)for m in $(MANS); do install -Dm 644 $$m \
		$(MANDIR)/man$${m##*.}/$${m##*/} || exit 1; done
	$(Q)for c in $(BASH_COMPLETIONS); do install -Dm 644 $$c \
		$(BASHDIR)/$${c##*/} || exit 1; done
	$(Q)for c in $(ZSH_COMPLETIONS); do install -Dm 644 $$c \
		$(ZSHDIR)/$${c##*/} || exit 1; done
	$(Q)install -d $(DATADIR)
	$(Q)install -m 644 $(SCHEMAS) $(DATADIR)
	$(Q)install -d $(UNITDIR)
	$(Q)sed 's|/usr/local/bin|$(PREFIX)/bin|' doc/opcollect.service \
		>$(UNITDIR)/opcollect.service
	$(Q)chmod 644 $(UNITDIR)/opcollect.service
	$(Q)find $(EVENTS_DIR) -type f ! -name '.*' -printf '%P\n' | while read -r t; do \
		install -Dm 644 $(EVENTS_DIR)/$$t $(DATADIR)/events/$$t || exit 1; done

uninstall:
	$(Q)rm -f $(PROGRAMS:$(O)/bin/%=$(BINDIR)/%) \
		$(BASH_COMPLETIONS:doc/completion/bash/%=$(BASHDIR)/%) \
		$(ZSH_COMPLETIONS:doc/completion/zsh/%=$(ZSHDIR)/%) \
		$(SCHEMAS:doc/%=$(DATADIR)/%) $(UNITDIR)/opcollect.service
	$(Q)rm -rf $(DATADIR)/events
	$(Q)for m in $(MANS); do rm -f $(MANDIR)/man$${m##*.}/$${m##*/}; done

define HELP
make [TARGET] [SETTING=VALUE]...

Targets:
  all           the programs, in $$(O)/bin (default)
  install       programs, manual pages, completions and event tables; uninstall takes
                them away
  deps          installs the Debian packages that building and testing need
  demo          deps, all, then shows what opfs does
  check         deps, all, then every test that is quick
  check-long    deps, then most tests with sanitizers, long fuzzing, long tests, the
                driver in guests and for kernels of distributions, check-packages
  check-fresh   demo and check of what is committed, in a new minimal Debian; needs root
  check-unit check-cli check-mount check-fuzz check-san
                one part of them
  check-qemu    the driver on kernels 6.1 and 6.12, and 6.1 on arm64, in emulated machines
                of two CPUs, and counters in one whose clock counts instructions
  check-packages
                the Debian packages are built, installed, upgraded and removed, in an
                emulated machine; needs root
  check-headers the driver can be built for the kernels of Debian and Ubuntu
  check-kernel-debug
                check-qemu on a kernel with lockdep and KASAN, which is built first
  bless         takes what reports print now for what they should print
  picture       records opfs and draws doc/flamegraph.svg, which README shows
  bench         what inserting, collecting, reading and mounting cost, beside perf
                and an empty FUSE file system
  bench-costs   of these: an insert, a sample, record -a -g and the daemon, in one table
  bench-stacks  of these: to record, keep and read stacks; OLD=DIR has another opcollect
  bench-stacks-growth
                how the costs of stacks grow, up to a million samples and nodes
  bench-unwind  stacks of programs without frame pointers, beside perf --call-graph dwarf;
                WORKLOADS="..." of g++ python3 redis node postgres
  bench-inlines lines and inlined functions of 20,000 addresses, beside addr2line;
                BINARY=FILE with DWARF
  bench-cfi     to compile unwind tables and unwind stacks by them, beside libdw
  bench-driver  what a sample costs by the driver and by perf, and the highest rate at
                which none is lost, in an emulated machine
  bench-daemon  what the daemon costs beside perf record -a, ten minutes each
  bench-busy    what record -a finds, loses and waits for beside 0 to 80 processes that
                spin, and 2,000 that sleep, and the same of perf record -a
  bench-victim  as root: how long one user of a mount waits while another attacks it
  bench-large   what reports of large sessions cost; LARGE="0.1 1 10" are their sizes
  bench-soak    as root: whether mount and daemon stay small for SOAK_MINUTES (60)
  bench-daemon-files
                drain, start, rotate and seal with 100,000 sample files; DAEMON_FILES=N
  lint          layout, sizes, modules, includes and calls are as CONTRIBUTING.md says
  layers        of these: no folder includes what is above it
  headers       of these: every header compiles alone
  analyze       clang-tidy, gcc -fanalyzer and sparse find no mistake
  format        lays out the sources with clang-format
  driver        the kernel driver for KDIR's kernel; driver-install puts it in place,
                driver-dkms its source where dkms builds it for every kernel
  deb           Debian packages, in $$(O)/deb; needs root, to make a minimal Debian
  clean         removes $$(O)

Settings:
  O=build       where outputs go
  SAN=          sanitizers, as address,undefined (then O=build/san)
  V=1           shows commands
  WERROR=1      warnings are errors
  CC CFLAGS CPPFLAGS LDFLAGS PKG_CONFIG KDIR JOBS
  PREFIX=/usr/local DESTDIR=
endef
help:
	@:$(info $(HELP))

-include $(OBJECTS:.o=.d) $(call files,$(O)/fuzz/obj/*,d) \
	$(wildcard $(O)/fuzz/obj/*/*/*/*/*.d)
