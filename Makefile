# SPDX-License-Identifier: GPL-2.0-only
# One Makefile. `make help` lists what it does; V=1 shows every command.

VERSION := 0.1.0

OUTPUT := .output
PREFIX ?= /usr/local
SBINDIR ?= $(PREFIX)/sbin
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
UNITDIR ?= $(PREFIX)/lib/systemd/system
SYSCONFDIR ?= /etc
DESTDIR ?=

CC ?= cc
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/bin/bpftool) bpftool)

CFLAGS ?= -O2 -g
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wconversion
ifneq ($(CI)$(WERROR),)
WARNINGS += -Werror
endif
LIBS := -lbpf -ljson-c -linih
BASE_CFLAGS := -std=gnu11 -D_GNU_SOURCE -DVERSION='"$(VERSION)"' $(WARNINGS) -isystem $(OUTPUT)/skel
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

# What Debian calls what we need; `make deps` installs what is missing. Everything else is a library of libc.
DEPS := clang libbpf-dev libelf-dev zlib1g-dev bpftool libinih-dev libjson-c-dev gcc binutils libc6-dev make python3
TEST_DEPS := libcriterion-dev iproute2 procps php-cli mandoc zsh fish

JUDGE := addr argv cgroup duration lineage policy program rules traffic tree
OBSERVE := anchors arena config config_key failure gather loader observation pidref proc tracker watcher
ACT := reaper
SHOW := detail explain json log notify status text
COMMAND := check doctor explain keep metrics run status sweep tracking watch
UNIT := addr argv cgroup config duration lineage policy proc program rules shipped show text world

JUDGE_OBJECTS := $(JUDGE:%=user/judge/%.o)
PRODUCT_OBJECTS := $(JUDGE_OBJECTS) $(OBSERVE:%=user/observe/%.o) $(ACT:%=user/act/%.o) $(SHOW:%=user/show/%.o)
PROGRAM_OBJECTS := $(addprefix $(OUTPUT)/,$(PRODUCT_OBJECTS) $(COMMAND:%=user/command/%.o) user/main.o)
UNIT_OBJECTS := $(addprefix $(OUTPUT)/asan/,$(PRODUCT_OBJECTS) $(UNIT:%=tests/unit/%.o))

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-8s %s\n'
endif

.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
.PHONY: all bench check clean demo deps help host install purity uninstall unit vm zoo

all: $(OUTPUT)/listenreap

help:
	@echo 'make            build .output/listenreap'
	@echo 'make demo       leak a server on purpose, show it, reap it, clean up (sets up what is missing; root)'
	@echo 'make check      all tests (sets up what is missing; root for the host tests)'
	@echo 'make unit       unit tests under ASan and UBSan, and the proof that the judge is pure'
	@echo 'make host       tests on real processes of this kernel; ARGS=name runs those that match'
	@echo 'make zoo        N=1000 SEED=1: random trees of processes, every verdict and every survivor compared'
	@echo 'make bench      what it costs, beside ss and lsof; COMPARE=old.json shows what changed'
	@echo 'make vm         the same tests on 5.10, 6.1, 6.12 and the newest kernel in VMs; KERNEL=6.12 or a vmlinuz runs one'
	@echo 'make deps       install what building and testing needs (apt)'
	@echo 'make install    DESTDIR, PREFIX ($(PREFIX)), SYSCONFDIR ($(SYSCONFDIR)) as usual'
	@echo 'make uninstall  stop tracking and remove what install put there'
	@echo 'make clean      remove .output'
	@echo 'V=1 shows commands; WERROR=1 makes warnings errors'

# Set-up

deps:
	@missing=; for package in $(DEPS) $(if $(TESTS),$(TEST_DEPS)); do \
		dpkg-query -W -f '$${Status}\n' $$package 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$package"; \
	done; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if ! command -v apt-get >/dev/null || [ "$$(id -u)" != 0 ]; then \
		if command -v apt-get >/dev/null; then echo "install as root: apt-get install$$missing" >&2; exit 1; fi; \
		for tool in $(CC) $(CLANG) $(BPFTOOL) python3; do command -v $$tool >/dev/null || { \
			echo "no apt-get here and no $$tool: install what your distribution calls$$missing" >&2; exit 1; }; done; \
		exit 0; \
	fi; \
	echo "  APT     $$missing"; \
	{ apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $$missing; } >$(OUTPUT).apt.log 2>&1 || \
		{ cat $(OUTPUT).apt.log >&2; rm -f $(OUTPUT).apt.log; exit 1; }; \
	rm -f $(OUTPUT).apt.log

# BPF half

BPF_CFLAGS := -g -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_x86 -Wall -Wextra -Werror -Wno-unused-parameter -Ivmlinux -Ibpf

$(OUTPUT)/bpf/%.bpf.o: bpf/%.bpf.c | $(OUTPUT)/bpf
	$(say) BPF $@
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -MF $@.d -MT $@ -c $< -o $@

$(OUTPUT)/bpf/%.linked.o: $(OUTPUT)/bpf/%.bpf.o
	$(Q)$(BPFTOOL) gen object $@ $<

$(OUTPUT)/skel/%.skel.h: $(OUTPUT)/bpf/%.linked.o | $(OUTPUT)/skel
	$(say) SKEL $@
	$(Q)$(BPFTOOL) gen skeleton $< name $* >$@

$(OUTPUT)/user/observe/loader.o $(OUTPUT)/asan/user/observe/loader.o: $(OUTPUT)/skel/listenreap.skel.h
$(OUTPUT)/user/observe/watcher.o $(OUTPUT)/asan/user/observe/watcher.o: $(OUTPUT)/skel/watch.skel.h

# User half

$(OUTPUT)/%.o: %.c
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

$(OUTPUT)/asan/%.o: %.c
	$(say) CC "$< (asan)"
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) -O1 -g $(SANITIZE) -MMD -MP -c $< -o $@

# The shipped config is the built-in default.
$(OUTPUT)/shipped.o: user/etc/listenreap.conf | $(OUTPUT)
	$(say) EMBED $<
	$(Q)cd user/etc && ld -r -b binary -z noexecstack -o $(abspath $@) listenreap.conf
	$(Q)objcopy --rename-section .data=.rodata,alloc,load,readonly,data,contents $@

$(OUTPUT)/listenreap: $(PROGRAM_OBJECTS) $(OUTPUT)/shipped.o
	$(say) LINK $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(OUTPUT)/unit: $(UNIT_OBJECTS) $(OUTPUT)/shipped.o
	$(say) LINK $@
	$(Q)$(CC) $(SANITIZE) -o $@ $^ $(LIBS) -lcriterion

$(OUTPUT) $(OUTPUT)/bpf $(OUTPUT)/skel:
	$(Q)mkdir -p $@

# Tests

check:
	@$(MAKE) --no-print-directory deps TESTS=1
	@$(MAKE) --no-print-directory WERROR=1 unit host

unit: $(OUTPUT)/unit purity
	$(Q)$(OUTPUT)/unit --color=never --short-filename

# The judge opens, reads, prints, allocates and asks the time of nothing: its objects need no more than these.
PURE := mem[a-z]*|str[a-z]*|fnmatch|inet_ntop|snprintf|__[a-z]*_chk|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_|__errno_location|__ctype_b_loc
purity: $(JUDGE_OBJECTS:%=$(OUTPUT)/%)
	$(Q)nm -u $^ | awk '$$1 == "U" { print $$2 }' | sort -u >$(OUTPUT)/judge.needs
	$(Q)nm --defined-only -g $^ | awk 'NF == 3 { print $$3 }' | sort -u >$(OUTPUT)/judge.has
	$(Q)impure=$$(comm -23 $(OUTPUT)/judge.needs $(OUTPUT)/judge.has | grep -vxE '$(PURE)'); \
		[ -z "$$impure" ] || { echo "the judge is not pure: it needs" $$impure >&2; exit 1; }

STAND_INS := $(patsubst tests/host/stand-in/%.c,$(OUTPUT)/tests/%,$(wildcard tests/host/stand-in/*.c))
$(OUTPUT)/tests/%: tests/host/stand-in/%.c
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) $(CFLAGS) -o $@ $< -lutil

host: $(OUTPUT)/listenreap $(STAND_INS)
	$(Q)LR_ZOO=200:1 tests/host/run $(ARGS)

$(OUTPUT)/bench/%: tests/bench/%.c
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) $(CFLAGS) -o $@ $<

bench: $(OUTPUT)/listenreap $(OUTPUT)/bench/cost
	$(Q)tests/bench/run --json $(OUTPUT)/bench.json $(if $(COMPARE),--compare $(COMPARE)) $(ARGS)

# Random trees of real processes against a truth that comes from how they were built.
N ?= 1000
SEED ?= 1
zoo: $(OUTPUT)/listenreap $(STAND_INS)
	$(Q)LR_ZOO=$(N):$(SEED) tests/host/run zoo

# Debian's own kernels in VMs; KERNEL=6.12 or KERNEL=/path/to/vmlinuz runs one.
vm: $(OUTPUT)/listenreap $(OUTPUT)/bpf/listenreap.linked.o $(STAND_INS)
	$(Q)tests/vm/run $(KERNEL) $(ARGS)

demo: deps
	@$(MAKE) --no-print-directory all
	$(Q)tests/demo

# Install

UNITS := listenreap.service listenreap-sweep.service listenreap-sweep.timer
INSTALLED := $(SBINDIR)/listenreap $(MANDIR)/man8/listenreap.8 $(MANDIR)/man5/listenreap.conf.5 $(UNITS:%=$(UNITDIR)/%) \
	$(DATADIR)/bash-completion/completions/listenreap $(DATADIR)/zsh/site-functions/_listenreap \
	$(DATADIR)/fish/vendor_completions.d/listenreap.fish

install: $(OUTPUT)/listenreap
	$(Q)install -d $(DESTDIR)$(SYSCONFDIR) $(sort $(dir $(INSTALLED:%=$(DESTDIR)%)))
	$(Q)install -m 0755 $(OUTPUT)/listenreap $(DESTDIR)$(SBINDIR)/listenreap
	$(Q)install -m 0644 user/etc/listenreap.8 $(DESTDIR)$(MANDIR)/man8/listenreap.8
	$(Q)install -m 0644 user/etc/listenreap.conf.5 $(DESTDIR)$(MANDIR)/man5/listenreap.conf.5
	$(Q)for unit in $(UNITS); do \
		sed 's|@SBINDIR@|$(SBINDIR)|' user/etc/$$unit >$(OUTPUT)/$$unit && \
		install -m 0644 $(OUTPUT)/$$unit $(DESTDIR)$(UNITDIR)/$$unit || exit 1; done
	$(Q)install -m 0644 user/etc/completions/listenreap.bash $(DESTDIR)$(DATADIR)/bash-completion/completions/listenreap
	$(Q)install -m 0644 user/etc/completions/_listenreap $(DESTDIR)$(DATADIR)/zsh/site-functions/_listenreap
	$(Q)install -m 0644 user/etc/completions/listenreap.fish $(DESTDIR)$(DATADIR)/fish/vendor_completions.d/listenreap.fish
	$(Q)[ -e $(DESTDIR)$(SYSCONFDIR)/listenreap.conf ] || install -m 0644 user/etc/listenreap.conf $(DESTDIR)$(SYSCONFDIR)/listenreap.conf

# A config that was changed is kept.
uninstall:
	$(Q)[ -n "$(DESTDIR)" ] || [ ! -x $(SBINDIR)/listenreap ] || $(SBINDIR)/listenreap unload
	$(Q)rm -f $(INSTALLED:%=$(DESTDIR)%)
	$(Q)! cmp -s user/etc/listenreap.conf $(DESTDIR)$(SYSCONFDIR)/listenreap.conf || rm -f $(DESTDIR)$(SYSCONFDIR)/listenreap.conf

clean:
	rm -rf $(OUTPUT)

-include $(PROGRAM_OBJECTS:.o=.d) $(UNIT_OBJECTS:.o=.d) $(wildcard $(OUTPUT)/bpf/*.d)
