# rein: build, test, install. `make help` lists the targets.
#
# Nothing but gcc and make is needed to read this file: packages are installed
# by a rule (dev/install), pkg-config is asked by rules, after that.
#
# build/VARIANT/  plain (gcc, what is installed)   asan (gcc, ASan and UBSan: tests)
#                 clang (compiled, not linked)     fuzz (clang, libFuzzer)
#   obj/…            objects, in the tree's own shape
#   libFLOOR.a       one archive per folder of src/
#   tests/FLOOR/X    one program per tests/FLOOR/test_X.c

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:
B ?= build
PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= 2
JOBFLAG := $(if $(findstring -j,$(MAKEFLAGS)),,-j$(JOBS))
MAKEFLAGS += --no-builtin-rules $(JOBFLAG)
CLANG ?= clang
VERSION := 0.1.0

PURE := base text json regex schema policy pack rpc core wire
HOSTED := host store tools driver
FLOORS := $(PURE) $(HOSTED) cli

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 -Werror
COMMON := -std=c17 -D_GNU_SOURCE $(WARN) -Iinclude -Isrc -fPIC -fvisibility=hidden
CFLAGS ?= -O2 -g

CC_plain := $(if $(filter default,$(origin CC)),gcc,$(CC))
CC_asan := $(CC_plain)
CC_clang := $(CLANG)
CC_fuzz := $(CLANG)
SAN := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FLAGS_plain := $(CFLAGS) -fstack-protector-strong
FLAGS_asan := -O1 -g $(SAN)
FLAGS_clang := -O0
FLAGS_fuzz := -O1 -g $(SAN) -fsanitize=fuzzer-no-link
LINK_plain := $(LDFLAGS)
LINK_asan := $(SAN)
LINK_fuzz := $(SAN) -fsanitize=fuzzer
VARIANTS := plain asan clang fuzz

# pkg-config modules; a floor's programs are linked with those of its row alone.
MODULES_pure := libpcre2-16 libutf8proc
MODULES_host := $(MODULES_pure) libuv libcurl sqlite3 libseccomp
MODULES_cli := $(MODULES_host) libmicrohttpd
kind = $(if $(filter $(1),$(PURE)),pure,$(if $(filter $(1),cli),cli,host))

comma := ,
say = @$(if $(V),,printf '  %-5s %s\n' $(1) $(2);)
sources = $(sort $(wildcard src/$(1)/*.c))
floor_objects = $(patsubst %.c,$(B)/$(1)/obj/%.o,$(filter-out src/cli/main.c,$(call sources,$(2))))
upto = $(if $(filter $(1),$(PURE)),$(if $(filter core wire,$(1)),$(PURE),$(call until,$(1),$(PURE))),$(call until,$(1),$(FLOORS)))
until = $(if $(2),$(firstword $(2)) $(if $(filter $(1),$(firstword $(2))),,$(call until,$(1),$(wordlist 2,99,$(2)))))

TESTS := $(sort $(wildcard tests/*/test_*.c))
SUPPORT := $(sort $(wildcard tests/support/*.c))
FUZZ := $(sort $(wildcard fuzz/fuzz_*.c))
EXAMPLES := $(sort $(wildcard examples/*.c))
# Tests make every allocation fail in turn through this wrapper.
WRAP := $(if $(wildcard tests/support/oom.c),-Wl$(comma)--wrap=mem_resize)

# ---- what must be there first ----------------------------------------------

$(B)/have-build: dev/packages-build dev/install
	@mkdir -p $(@D)
	@dev/install dev/packages-build
	@touch $@

$(B)/have-test: dev/packages-test dev/packages-npm dev/install dev/install-npm $(B)/have-build
	@dev/install dev/packages-test
	@dev/install-npm $(B)/npm dev/packages-npm
	@touch $@

# Compilers read these with @file: pkg-config is asked once, and not by make.
$(B)/cflags: $(B)/have-build
	@pkg-config --cflags $(MODULES_cli) > $@.new && mv $@.new $@

# SQLite and libseccomp go into the program: one library more to load is a millisecond of
# each start.
$(B)/%.libs: $(B)/have-build Makefile
	@pkg-config --libs $(MODULES_$*) $(if $(filter cli,$*),| sed 's/-lsqlite3/-l:libsqlite3.a/; s/-lseccomp/-l:libseccomp.a/') > $@.new && echo -lm -lpthread >> $@.new && mv $@.new $@

# Changes only when the flags do, so that everything is compiled anew then.
$(VARIANTS:%=$(B)/%/flags): $(B)/%/flags: force
	@mkdir -p $(@D)
	@echo '$(CC_$*) $(COMMON) $(FLAGS_$*)' | cmp -s - $@ || \
	  echo '$(CC_$*) $(COMMON) $(FLAGS_$*)' > $@

# The guard of commands: a static program of its own (it starts in a fifth of the time,
# and needs nothing inside a sandbox), carried in the object of host/guard_image.c.
$(B)/guard: $(sort $(wildcard src/child/*.c)) $(wildcard src/child/*.h) Makefile | $(B)/have-build
	$(call say,LD,$@)
	@gcc $(COMMON) -fno-pic -O2 -static $(filter %.c,$^) -Wl,-s -o $@.$$$$ && mv $@.$$$$ $@

$(VARIANTS:%=$(B)/%/obj/src/host/guard_image.o): $(B)/guard
$(VARIANTS:%=$(B)/%/obj/src/host/guard_image.o): EXTRA = -DGUARD_FILE='"$(B)/guard"'

# Packs and their form are read into objects by the assembler, which tells make nothing.
$(foreach v,$(VARIANTS),$(B)/$(v)/obj/src/pack/shape.o $(B)/$(v)/obj/src/pack/shipped.o): \
  $(wildcard packs/*.json)

# ---- objects, archives, tests: the same for each variant ---------------------
# Results are written beside their place and moved in, so that two makes in one
# tree do not meet in half-written files.

define VARIANT_RULES
$(B)/$(1)/obj/%.o: %.c $(B)/$(1)/flags | $(B)/cflags
	@mkdir -p $$(@D)
	$$(call say,CC,'$$< ($(1))')
	$$(if $$(V),,@)$(CC_$(1)) $(COMMON) -Itests $(FLAGS_$(1)) $$(EXTRA) @$(B)/cflags -MMD -MP -MT $$@ \
	  -MF $$@.$$$$$$$$.d -c $$< -o $$@.$$$$$$$$ && mv $$@.$$$$$$$$.d $$(@:.o=.d) && mv $$@.$$$$$$$$ $$@

$(B)/$(1)/libsupport.a: $(patsubst %.c,$(B)/$(1)/obj/%.o,$(SUPPORT))
	$$(call archive,$$@,$$^)
endef

archive = @rm -f $(1).$$$$ && ar rcs $(1).$$$$ $(2) && mv $(1).$$$$ $(1)

define FLOOR_RULES
$(B)/$(1)/lib$(2).a: $(call floor_objects,$(1),$(2))
	@mkdir -p $$(@D)
	$$(call archive,$$@,$$^)
endef

# $(1) variant, $(2) tests/FLOOR/test_X.c, $(3) FLOOR
define TEST_RULES
$(B)/$(1)/$(2:.c=): $(B)/$(1)/obj/$(2:.c=.o) $(B)/$(1)/libsupport.a \
    $(patsubst %,$(B)/$(1)/lib%.a,$(call upto,$(3))) | $(B)/$(call kind,$(3)).libs
	@mkdir -p $$(@D)
	$$(call say,LD,'$$@')
	$$(if $$(V),,@)$(CC_$(1)) $(LINK_$(1)) $(WRAP) $$< -Wl,--start-group $$(filter %.a,$$^) \
	  -Wl,--end-group -lcmocka @$(B)/$(call kind,$(3)).libs -o $$@.$$$$$$$$ && mv $$@.$$$$$$$$ $$@
endef

define PROGRAM_RULES
$(B)/$(1)/rein: $(B)/$(1)/obj/src/cli/main.o $(FLOORS:%=$(B)/$(1)/lib%.a) | $(B)/cli.libs
	$$(call say,LD,'$$@')
	$$(if $$(V),,@)$(CC_$(1)) $(LINK_$(1)) $$< -Wl,--start-group $$(filter %.a,$$^) \
	  -Wl,--end-group @$(B)/cli.libs -o $$@.$$$$$$$$ && mv $$@.$$$$$$$$ $$@
endef

define FUZZ_RULES
$(B)/fuzz/$(notdir $(1:.c=)): $(B)/fuzz/obj/$(1:.c=.o) $(PURE:%=$(B)/fuzz/lib%.a) | $(B)/pure.libs
	$$(call say,LD,'$$@')
	$$(if $$(V),,@)$(CC_fuzz) $(LINK_fuzz) $$< -Wl,--start-group $$(filter %.a,$$^) \
	  -Wl,--end-group @$(B)/pure.libs -o $$@.$$$$$$$$ && mv $$@.$$$$$$$$ $$@
endef

floor_of = $(word 2,$(subst /, ,$(1)))
$(foreach v,$(VARIANTS),$(eval $(call VARIANT_RULES,$(v))))
$(foreach v,plain asan fuzz,$(foreach f,$(FLOORS),$(eval $(call FLOOR_RULES,$(v),$(f)))))
$(foreach v,plain asan,$(eval $(call PROGRAM_RULES,$(v))))
$(foreach v,plain asan,$(foreach t,$(TESTS),\
  $(if $(filter $(call floor_of,$(t)),$(FLOORS)),\
    $(eval $(call TEST_RULES,$(v),$(t),$(call floor_of,$(t)))))))
$(foreach f,$(FUZZ),$(eval $(call FUZZ_RULES,$(f))))

BUILT_TESTS := $(foreach t,$(TESTS),$(if $(filter $(call floor_of,$(t)),$(FLOORS)),$(t:.c=)))
ALL_C := $(sort $(wildcard src/*/*.c) $(TESTS) $(SUPPORT) $(FUZZ) $(EXAMPLES) dev/states.c)

-include $(foreach v,$(VARIANTS),$(patsubst %.c,$(B)/$(v)/obj/%.d,$(ALL_C)))

# ---- the library and the examples --------------------------------------------

LIBRARY_OBJECTS := $(foreach f,$(PURE) $(HOSTED),$(call floor_objects,plain,$(f)))

# One object in which only rein_* is visible: librein.a cannot clash with its host.
$(B)/plain/librein.o: $(LIBRARY_OBJECTS)
	@ld -r -o $@.$$$$ $^ && objcopy --wildcard --keep-global-symbol='rein_*' $@.$$$$ && mv $@.$$$$ $@

librein.a: $(B)/plain/librein.o
	$(call say,AR,$@)
	$(call archive,$@,$<)

librein.so: $(LIBRARY_OBJECTS) | $(B)/host.libs
	$(call say,LD,$@)
	@$(CC_plain) -shared -Wl,-soname,librein.so.0 -Wl,-z,defs $(LINK_plain) $^ @$(B)/host.libs \
	  -o $@.$$$$ && mv $@.$$$$ $@

# All pure floors in one archive: dev/check-pure reads what it leaves undefined.
$(B)/plain/libpure.a: $(foreach f,$(PURE),$(call floor_objects,plain,$(f)))
	$(call archive,$@,$^)

$(B)/plain/examples/%: examples/%.c librein.a include/rein.h | $(B)/host.libs
	@mkdir -p $(@D)
	$(call say,CC,$<)
	@$(CC_plain) -std=c17 $(WARN) $(CFLAGS) -Iinclude $< librein.a @$(B)/host.libs -o $@

$(B)/plain/bench/%: bench/%.c | $(B)/host.libs
	@mkdir -p $(@D)
	$(call say,CC,$<)
	@$(CC_plain) -std=c17 -D_GNU_SOURCE $(WARN) $(CFLAGS) $< @$(B)/host.libs -o $@

# Runs a tool in its own process, so it is linked with the floors.
$(B)/plain/bench/search: $(B)/plain/obj/bench/search.o $(patsubst %,$(B)/plain/lib%.a,$(call upto,tools)) \
    | $(B)/host.libs
	@mkdir -p $(@D)
	$(call say,LD,$@)
	@$(CC_plain) $(LINK_plain) $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group \
	  @$(B)/host.libs -o $@

# Prints the machine's table of states, for docs/ARCHITECTURE.md.
$(B)/plain/states: $(B)/plain/obj/dev/states.o
	@$(CC_plain) $< -o $@

rein: $(B)/plain/rein
	@cp $< $@.new && mv $@.new $@

COMPLETIONS_bash := $(PREFIX)/share/bash-completion/completions
COMPLETIONS_zsh := $(PREFIX)/share/zsh/site-functions
COMPLETIONS_fish := $(PREFIX)/share/fish/vendor_completions.d

# ---- targets -------------------------------------------------------------------

.PHONY: all demo lib examples objects-clang tests check check-long build-check fuzz clean help \
  install bench docs format force $(FLOORS:%=check-%) check-dev check-cases
force:

all: rein ## install what is missing, build ./rein

lib: librein.a librein.so ## build the library alone

examples: $(EXAMPLES:%.c=$(B)/plain/%) ## build examples/ against the library

tests: $(BUILT_TESTS:%=$(B)/asan/%) ## build the C tests

fuzz: $(patsubst fuzz/%.c,$(B)/fuzz/%,$(FUZZ)) ## build the fuzz targets

objects-clang: $(patsubst %.c,$(B)/clang/obj/%.o,$(ALL_C))

demo: rein ## build, then run the first tutorial task: offline, no key
	./rein -m demo 'README.md의 첫 줄을 읽고, 그다음 지금 몇 시인지 알려 줘' --lang ko

build-check: rein lib examples tests fuzz objects-clang $(B)/asan/rein $(B)/plain/libpure.a \
  $(B)/plain/states

# All errors at once, and no test of half a build.
BUILD_ALL = @$(MAKE) --no-print-directory -k build-check || \
  { echo 'the build failed, so no test was run'; echo '0 passed, 1 failed'; exit 1; }

# Half of a test's time it waits for a server or a limit: two to a core.
check: $(B)/have-test ## what CI runs: every test, at most 8 minutes
	$(BUILD_ALL)
	@dev/run-tests --build $(B) --jobs $$((2 * $(JOBS)))

check-long: $(B)/have-test ## the campaigns, at most 60 minutes
	$(BUILD_ALL)
	@REIN_LONG=1 dev/run-tests --build $(B) --jobs $(JOBS)

define CHECK_FLOOR
check-$(1): $(B)/have-test $(patsubst %,$(B)/asan/%,$(filter tests/$(1)/%,$(BUILT_TESTS)))
	@dev/run-tests --build $(B) --jobs $(JOBS) tests/$(1)
endef
$(foreach f,$(FLOORS) dev cases,$(eval $(call CHECK_FLOOR,$(f))))
check-cli check-cases: $(B)/asan/rein

format: $(B)/have-test ## format the C files in place
	@clang-format-14 -i $(ALL_C) $(wildcard include/*.h src/*/*.h tests/support/*.h)

MEASURED := $(B)/plain/bench/mock $(B)/plain/bench/bare_curl $(B)/plain/bench/search \
  $(B)/plain/tests/schema/test_pairs
bench: rein examples $(B)/have-test $(MEASURED) ## figures, into docs/BENCH*.md
	@bench/run --build $(B) --write
	@bench/schema --build $(B) --write
	@bench/search --build $(B) --write
	@bench/store --build $(B) --write

docs: rein $(B)/plain/states ## put what the program prints of itself into docs/
	@dev/check-docs --build $(B) --write

install: rein lib ## PREFIX=/usr/local DESTDIR=
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/include
	install -m 755 rein $(DESTDIR)$(PREFIX)/bin/rein
	install -m 644 include/rein.h $(DESTDIR)$(PREFIX)/include/rein.h
	install -m 644 librein.a $(DESTDIR)$(PREFIX)/lib/librein.a
	install -m 755 librein.so $(DESTDIR)$(PREFIX)/lib/librein.so.$(VERSION)
	ln -sf librein.so.$(VERSION) $(DESTDIR)$(PREFIX)/lib/librein.so.0
	ln -sf librein.so.0 $(DESTDIR)$(PREFIX)/lib/librein.so
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' dev/rein.pc.in \
	  > $(DESTDIR)$(PREFIX)/lib/pkgconfig/rein.pc
	install -d $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(COMPLETIONS_bash) \
	  $(DESTDIR)$(COMPLETIONS_zsh) $(DESTDIR)$(COMPLETIONS_fish)
	./rein help --man > $(DESTDIR)$(PREFIX)/share/man/man1/rein.1
	./rein help --completion bash > $(DESTDIR)$(COMPLETIONS_bash)/rein
	./rein help --completion zsh > $(DESTDIR)$(COMPLETIONS_zsh)/_rein
	./rein help --completion fish > $(DESTDIR)$(COMPLETIONS_fish)/rein.fish

clean: ## remove what was built
	rm -rf $(B) rein librein.a librein.so

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /  make \1\t/p' Makefile | expand -t 22
	@echo '  make check-FLOOR    one floor: $(FLOORS) dev cases'
