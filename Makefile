# Builds, tests and checks attentiond; `make help` lists the targets.
#
# FLAVOUR says how: release, debug, sanitize (ASan and UBSan), thread (TSan), fuzz (clang, ASan and coverage),
# gcc and clang (everything is an error; for lint). Everything made lies under build/FLAVOUR.

FLAVOUR ?= release
PORT ?= 8080
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
PKG_CONFIG ?= pkg-config
VERSION := 0.1.0
REVISION ?= $(or $(shell git describe --always --dirty --exclude='*' 2>/dev/null),unknown)

MAKEFLAGS += --no-builtin-rules --no-print-directory
.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

B := build/$(FLAVOUR)
# Ends the names of files that are being made: another make, in another terminal, may make the same ones.
NEW := new.$(shell echo $$PPID)
say = @printf '%8s  %s\n' '$(1)' '$(2)'
# A variable whose command runs at most once, and only when a recipe wants it: pkg-config may not be installed before.
once = $(eval $(1) := $(shell $(2)))$($(1))

### Flags ##############################################################################################################

ifneq ($(filter default undefined,$(origin CC)),)
CC := $(if $(filter fuzz clang,$(FLAVOUR)),clang,gcc)
endif
ifneq ($(filter default undefined,$(origin AR)),)
AR := ar
endif

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef
# No contraction to fused multiply-add: the same source gives the same bits wherever it is compiled.
BASE := -std=c11 -D_GNU_SOURCE -pthread -g -ffp-contract=off -fPIE -fno-omit-frame-pointer $(WARNINGS)
HARDEN := -fstack-protector-strong -fstack-clash-protection -D_FORTIFY_SOURCE=2
LINK := -pthread -pie -Wl,-z,relro,-z,now -Wl,--as-needed

FLAGS_release := -O2 $(HARDEN)
FLAGS_debug := -O0
FLAGS_sanitize := -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
FLAGS_thread := -O1 -fsanitize=thread
FLAGS_fuzz := -O1 -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all
FLAGS_gcc := -O2 $(HARDEN) -Werror
FLAGS_clang := -O2 $(HARDEN) -Werror
ifndef FLAGS_$(FLAVOUR)
$(error FLAVOUR is release, debug, sanitize, thread, fuzz, gcc or clang)
endif
# The arithmetic gains from -O3, nothing else does.
core_FLAGS := $(if $(filter -O2,$(FLAGS_$(FLAVOUR))),-O3)
# Vector passes for processors that may or may not be there: chosen when the program runs (core/simd/simd.c).
vector_FLAGS = $(if $(findstring x86_64,$(shell $(CC) -dumpmachine)),$(1) -mfma -ffp-contract=fast)
$B/core/simd/simd_avx2.o: private CFLAGS += $(call vector_FLAGS,-mavx2)
$B/core/simd/simd_avx512.o: private CFLAGS += $(call vector_FLAGS,-mavx512f -mavx512dq)

# The reference is slow as it is and has neither threads nor pointers that move: sanitizers have nothing to find there.
$B/tests/core/refer%.o: private CFLAGS += $(if $(filter -fsanitize%,$(FLAGS_$(FLAVOUR))),-O2 -fno-sanitize=all)

COMPILE = $(CC) $(BASE) $(FLAGS_$(FLAVOUR)) $(CPPFLAGS) $(CFLAGS)
LINKER = $(CC) $(LINK) $(filter -O% -fsanitize% -fno-sanitize%,$(FLAGS_$(FLAVOUR))) $(LDFLAGS)

blas_CFLAGS = $(call once,blas_CFLAGS,$(PKG_CONFIG) --cflags openblas)
blas_LIBS = $(call once,blas_LIBS,$(PKG_CONFIG) --libs openblas)
json_CFLAGS = $(call once,json_CFLAGS,$(PKG_CONFIG) --cflags jansson zlib)
json_LIBS = $(call once,json_LIBS,$(PKG_CONFIG) --libs jansson zlib)
mhd_CFLAGS = $(call once,mhd_CFLAGS,$(PKG_CONFIG) --cflags libmicrohttpd gnutls)
mhd_LIBS = $(call once,mhd_LIBS,$(PKG_CONFIG) --libs libmicrohttpd gnutls)
pack_CFLAGS = $(call once,pack_CFLAGS,$(PKG_CONFIG) --cflags libzstd libisal)
pack_LIBS = $(call once,pack_LIBS,$(PKG_CONFIG) --libs libzstd libisal)
check_CFLAGS = $(call once,check_CFLAGS,$(PKG_CONFIG) --cflags check)
check_LIBS = $(call once,check_LIBS,$(PKG_CONFIG) --libs check)
curl_CFLAGS = $(call once,curl_CFLAGS,$(PKG_CONFIG) --cflags libcurl)
curl_LIBS = $(call once,curl_LIBS,$(PKG_CONFIG) --libs libcurl)

### Layers and rooms ###################################################################################################
# A layer is an archive; its folders are rooms. Each room is compiled seeing itself, the rooms listed before it in its
# layer, and the layers below: build/include/PART holds links to those folders and nothing else, so that an include
# that runs up does not compile.

LAYERS := core api server
core_ROOMS := core/tensor core/simd core/cache core/forward core/backward core
api_ROOMS := api/numbers api/writing api/json api/request api/decode api/reply api/raw api/infer api/layout api/text api/picture api/explain api/openapi api
server_ROOMS := server/watch server/config server/machine server/coding server/http server/tls server/listen server/service server/compute server/exchange \
	server/run
core_BELOW :=
api_BELOW := core
server_BELOW := core api
ROOMS := $(foreach layer,$(LAYERS),$($(layer)_ROOMS))
# upto(ROOM,ROOMS): the rooms of the list up to and including ROOM
upto = $(if $(2),$(firstword $(2)) $(if $(filter $(1),$(firstword $(2))),,$(call upto,$(1),$(wordlist 2,$(words $(2)),$(2)))))
core_USES = $(blas_CFLAGS)
api_USES = $(json_CFLAGS)
server_USES = $(mhd_CFLAGS) $(pack_CFLAGS)

# Tests of a layer see and link that layer and those below; tests over HTTP see nothing but the running program.
SUITES := $(patsubst tests/%/,%,$(sort $(dir $(wildcard tests/*/test_*.c))))
tests/core_SEES := core tests
tests/api_SEES := core api tests
tests/server_SEES := core api server tests
tests/http_SEES := tests
tests/fuzz_SEES := core api server tests
tests/core_USES = $(core_USES) $(check_CFLAGS)
tests/api_USES = $(api_USES) $(check_CFLAGS)
tests/server_USES = $(api_USES) $(server_USES) $(check_CFLAGS)
tests/http_USES = $(json_CFLAGS) $(pack_CFLAGS) $(curl_CFLAGS) $(check_CFLAGS)
tests/fuzz_USES = $(api_USES) $(server_USES)
tests/fault_SEES := tests
tests/fault_USES = $(json_CFLAGS)
tests/numbers_SEES := core api tests
tests/bench_SEES := core api
tests/numbers_USES = $(api_USES)
tests/bench_USES = $(api_USES)
core_ARCHIVES := $B/libcore.a
api_ARCHIVES := $B/libapi.a $(core_ARCHIVES)
server_ARCHIVES := $B/libserver.a $(api_ARCHIVES)
http_ARCHIVES :=
core_LIBS = $(blas_LIBS) -lm
api_LIBS = $(json_LIBS) $(core_LIBS)
server_LIBS = $(mhd_LIBS) $(pack_LIBS) $(api_LIBS)
http_LIBS = $(curl_LIBS) $(json_LIBS) $(pack_LIBS) -lm

# Files that go into the program: the files of a folder become rows of build/generated/FOLDER.inc, {"NAME", BYTES, SIZE},
# for a table that includes it; a zero follows the bytes. EMBEDDED_RELEASE is of the last one, and another word when any
# byte of it is. What programs make: api/ROOM/generate/X.c writes api/ROOM/X.h.
EMBEDDED := api/openapi/examples server/web
embedded = $(foreach ending,css html js json svg,$(sort $(wildcard $(1)/*.$(ending))))
PROGRAMMED := api/numbers/number_powers.h
GENERATED := $(EMBEDDED:%=build/generated/%.inc) $(PROGRAMMED:%=build/generated/%)
# The compiler for programs that run while this is built, on the machine that builds.
BUILD_CC ?= cc

HEADERS := $(wildcard $(ROOMS:%=%/*.h) tests/*/*.h)
objects = $(patsubst %.c,$B/%.o,$(wildcard $(1)/*.c))
PROGRAM := $B/attentiond
MAIN := $B/server/run/main.o
TEST_PROGRAMS := $(SUITES:%=$B/tests/%/suite)
FUZZERS := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FAULTS := $B/tests/fault/attentiond
REPLAYS := $(FUZZERS:%=$B/tests/fuzz/%)
BENCHES := $(patsubst tests/bench/%.c,$B/tests/bench/%,$(wildcard tests/bench/*.c))

# The source's revision goes into one object, made again when it changes.
$B/server/config/version.o: private CPPFLAGS += -DATTND_VERSION='"$(VERSION)"' -DATTND_REVISION='"$(REVISION)"'
$B/server/config/version.o: $B/revision

.PHONY: all programs objects
all: $(PROGRAM) ## build build/release/attentiond
programs: $(PROGRAM) $(FAULTS) $(TEST_PROGRAMS) $(REPLAYS)

$(PROGRAM): $(MAIN) $(server_ARCHIVES)
	$(call say,LINK,$@)
	@$(LINKER) -o $@.$(NEW) $^ $(server_LIBS) && mv $@.$(NEW) $@

define EMBED
build/generated/$(1).inc: $(call embedded,$(1)) $(1) Makefile
	$$(call say,EMBED,$(1))
	@mkdir -p $$(@D)
	@release=$$$$(cat $(call embedded,$(1)) | sha256sum | cut -c 1-12); \
	printf '#undef EMBEDDED_RELEASE\n#define EMBEDDED_RELEASE "%s"\n' "$$$$release" >$$@.$(NEW)
	@for file in $(call embedded,$(1)); do \
		printf '{"%s", (const unsigned char[]){' "$$$${file##*/}"; \
		od -An -v -tu1 "$$$$file" | sed 's/ *\([0-9][0-9]*\)/\1,/g'; \
		printf '0}, %d},\n' "$$$$(wc -c <"$$$$file")"; \
	done >>$$@.$(NEW) && mv $$@.$(NEW) $$@
endef

define PROGRAMMED_BY
build/generated/$(1): $(dir $(1))generate/$(basename $(notdir $(1))).c | deps-run
	$$(call say,MAKE,$(1))
	@mkdir -p $$(@D)
	@$$(BUILD_CC) -O1 -o $$@.program.$(NEW) $$<
	@$$@.program.$(NEW) >$$@.$(NEW) && mv $$@.$(NEW) $$@
	@rm $$@.program.$(NEW)
endef

$(foreach header,$(PROGRAMMED),$(eval $(call PROGRAMMED_BY,$(header))))
$(foreach folder,$(EMBEDDED),$(eval $(call EMBED,$(folder))))

# $(1) a folder of sources, $(2) the name of its links under build/include, $(3) what needs to be installed
define COMPILED
build/include/$(2)/made: Makefile
	@mkdir -p build/include
	@flock build/include sh -c '[ $$@ -nt Makefile ] || { rm -rf $$(@D) && \
		for seen in $$($(1)_SEES); do mkdir -p $$(@D)/$$$$(dirname $$$$seen) && ln -sfnr $$$$seen $$(@D)/$$$$seen; done && touch $$@; }'

$B/$(1)/%.o: $(1)/%.c $B/flags | build/include/$(2)/made $(GENERATED) $(3)
	$$(call say,CC,$$<)
	@mkdir -p $$(@D)
	@$$(COMPILE) $$($(1)_FLAGS) -Ibuild/include/$(2) -Ibuild/generated $$($(1)_USES) -MMD -MP -c $$< -o $$@

build/lint/$(1)/%.tidy: $(1)/%.c .clang-tidy tests/.clang-tidy $(HEADERS) | build/include/$(2)/made $(GENERATED) deps-lint
	$$(call say,TIDY,$$<)
	@mkdir -p $$(@D)
	@clang-tidy --quiet $$< -- -std=c11 -D_GNU_SOURCE -Ibuild/include/$(2) -Ibuild/generated $$($(1)_USES) >$$@ 2>&1 || \
		{ grep -v ' warnings\? .*generated' $$@; rm $$@; exit 1; }

-include $$(wildcard $B/$(1)/*.d)
endef

# $(1) a layer, $(2) one of its rooms; the folder of the layer itself holds all its rooms. Rooms of core see all of it.
define ROOM
$(2)_SEES := $($(1)_BELOW) $(if $(filter $(2) core,$(if $(filter core/tensor core/simd,$(2)),,$(1))),$(1),$(call upto,$(2),$($(1)_ROOMS)))
$(if $(filter $(1),$(2)),,$(2)_USES = $$($(1)_USES))
$(if $(filter $(1),$(2)),,$(2)_FLAGS = $$($(1)_FLAGS))
$(call COMPILED,$(2),$(subst /,-,$(2)),deps-run)
endef

define LAYER
$(foreach room,$($(1)_ROOMS),$(eval $(call ROOM,$(1),$(room))))

$B/lib$(1).a: $(filter-out $(MAIN),$(foreach room,$($(1)_ROOMS),$(call objects,$(room))))
	$$(call say,AR,$$@)
	@mkdir -p $$(@D)
	@$(AR) rcs $$@.$(NEW) $$^ && mv $$@.$(NEW) $$@
endef

# A folder of tests is one program: its test_*.c hold suites, its other files support them, tests/runner.c runs all.
define SUITE
$(call COMPILED,tests/$(1),tests-$(1),deps-test)

$B/tests/$(1)/suites.h: $(wildcard tests/$(1)/test_*.c) tests/$(1) Makefile
	@mkdir -p $$(@D)
	@printf 'SUITE(%s)\n' $(patsubst tests/$(1)/test_%.c,%,$(sort $(wildcard tests/$(1)/test_*.c))) >$$@

$B/tests/$(1)/runner.o: tests/runner.c $B/tests/$(1)/suites.h $B/flags | deps-test
	@$$(COMPILE) -I$B/tests/$(1) $$(check_CFLAGS) -MMD -MP -c $$< -o $$@

$B/tests/$(1)/suite: $(call objects,tests/$(1)) $B/tests/$(1)/runner.o $($(1)_ARCHIVES)
	$$(call say,LINK,$$@)
	@$$(LINKER) -o $$@ $$^ $$(check_LIBS) $$($(1)_LIBS)
endef

# A fuzz target is linked with libFuzzer in the fuzz flavour, and with what replays its corpus in the others.
define FUZZER
$B/tests/fuzz/$(1): $B/tests/fuzz/fuzz_$(1).o $(if $(filter fuzz,$(FLAVOUR)),,$B/tests/fuzz/replay.o) $(server_ARCHIVES)
	$$(call say,LINK,$$@)
	@$$(LINKER) $(if $(filter fuzz,$(FLAVOUR)),-fsanitize=fuzzer) -o $$@ $$^ $$(server_LIBS)
endef

$(foreach layer,$(LAYERS),$(eval $(call LAYER,$(layer))))
$(foreach suite,$(SUITES),$(eval $(call SUITE,$(suite))))
$(eval $(call COMPILED,tests/fuzz,tests-fuzz,deps-run))
$(foreach fuzzer,$(FUZZERS),$(eval $(call FUZZER,$(fuzzer))))

# The program once more, with allocations that fail when a test wants it.
WRAPPED := malloc calloc realloc aligned_alloc pthread_create
$(eval $(call COMPILED,tests/fault,tests-fault,deps-test))

$(FAULTS): $(MAIN) $B/tests/fault/fault.o $(server_ARCHIVES)
	$(call say,LINK,$@)
	@$(LINKER) $(WRAPPED:%=-Wl,--wrap=%) -o $@ $^ $(server_LIBS)

# Long checks and measurements: programs that `make test` leaves alone.
yyjson_LIBS = $(call once,yyjson_LIBS,$(PKG_CONFIG) --silence-errors --libs yyjson)
$(eval $(call COMPILED,tests/numbers,tests-numbers,deps-run))
$(eval $(call COMPILED,tests/bench,tests-bench,deps-run))

$B/tests/numbers/numbers: $B/tests/numbers/numbers.o $B/tests/api/number_check.o $(api_ARCHIVES)
	$(call say,LINK,$@)
	@$(LINKER) -o $@ $^ $(api_LIBS)

$(BENCHES): %: %.o $(api_ARCHIVES)
	$(call say,LINK,$@)
	@$(LINKER) -o $@ $^ $(api_LIBS) $(yyjson_LIBS)

objects: $(foreach part,$(ROOMS) $(SUITES:%=tests/%) tests/fault tests/fuzz tests/numbers tests/bench,$(call objects,$(part))) $(SUITES:%=$B/tests/%/runner.o)

# Everything is compiled again when the compiler or its flags are others than last time.
.PHONY: FORCE
$B/flags: FORCE | deps-run
	$(shell mkdir -p $(@D))$(file >$@.$(NEW),$(COMPILE) $(LINKER) $(shell $(CC) --version))
	@if cmp -s $@.$(NEW) $@; then rm $@.$(NEW); else mv $@.$(NEW) $@; fi

$B/revision: FORCE | $B/flags
	@echo '$(REVISION)' | cmp -s - $@ || echo '$(REVISION)' >$@

### What must be installed #############################################################################################
# A group is installed when one of its programs, or one of its libraries' pkg-config files, is missing, or what it tries
# fails. curl is for the line to try that `make run` prints; whoever only builds can do without.

deps-run_TOOLS := $(firstword $(CC)) $(AR) $(PKG_CONFIG) $(if $(filter run,$(MAKECMDGOALS)),curl)
deps-run_LIBRARIES := libmicrohttpd gnutls jansson openblas zlib libzstd libisal
deps-run_PACKAGES := gcc libc6-dev binutils pkg-config curl libmicrohttpd-dev libgnutls28-dev libjansson-dev libopenblas-pthread-dev zlib1g-dev libzstd-dev libisal-dev
deps-test_TOOLS := curl
deps-test_LIBRARIES := check libcurl
deps-test_PACKAGES := check curl libcurl4-openssl-dev
deps-lint_TOOLS := clang clang-tidy clang-format cppcheck shellcheck
deps-lint_PACKAGES := clang clang-tidy clang-format cppcheck shellcheck
deps-install_TOOLS := systemd-analyze man nginx
deps-install_PACKAGES := systemd man-db groff-base bash-completion nginx
deps-fuzz_TOOLS := clang
deps-fuzz_PACKAGES := clang libclang-rt-dev
deps-fuzz_TRIES = echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' | \
	clang -x c -fsanitize=fuzzer,address -o /dev/null - 2>/dev/null

APT = $(if $(filter 0,$(shell id -u)),,sudo) env DEBIAN_FRONTEND=noninteractive apt-get
.PHONY: deps deps-run deps-test deps-lint deps-fuzz deps-install deps-browser deps-node deps-drain
deps: deps-run deps-test ## install what building and testing need (Debian packages)
deps-test: | deps-run
deps-lint deps-fuzz deps-install deps-browser deps-node deps-drain: | deps-test
deps-run deps-test deps-lint deps-fuzz deps-install deps-browser deps-node deps-drain:
	@missing=; \
	for tool in $($@_TOOLS); do command -v $$tool >/dev/null || missing="$$missing $$tool"; done; \
	for library in $($@_LIBRARIES); do $(PKG_CONFIG) --exists $$library 2>/dev/null || missing="$$missing $$library"; done; \
	[ -n "$$missing" ] || { $(or $($@_TRIES),true); } || missing=' what goes with them'; \
	[ -z "$$missing" ] && exit 0; \
	echo "Missing:$$missing"; \
	command -v apt-get >/dev/null || { echo "Please install them: there is no apt-get here."; exit 1; }; \
	echo "Installing with apt-get: $($@_PACKAGES)"; \
	$(APT) update -q && $(APT) install -q -y --no-install-recommends $($@_PACKAGES)

### Checks of the source ###############################################################################################

SOURCES := $(wildcard $(ROOMS:%=%/*.[ch]) tests/*.[ch] tests/*/*.[ch])
FORMATTED := $(SOURCES) $(PROGRAMMED:api/numbers/%.h=api/numbers/generate/%.c)
SCRIPTS := $(wildcard .ci/run tests/*.sh tests/*/*.sh docker/*.sh server/install/*.bash)
FORMATTER = $(firstword $(shell command -v clang-format-14 clang-format))
TIDIED := $(patsubst %.c,build/lint/%.tidy,$(wildcard $(ROOMS:%=%/*.c) $(SUITES:%=tests/%/*.c) tests/fault/*.c tests/fuzz/*.c tests/numbers/*.c tests/bench/*.c))

.PHONY: lint lint-layers lint-format lint-gcc lint-clang lint-tidy lint-cppcheck lint-scripts format
lint: lint-layers lint-format lint-scripts lint-gcc lint-clang lint-tidy lint-cppcheck ## check the source with every tool

# forbid(files, what, why): fails when one of the files includes what it should not
forbid = @! grep -nE '^ *\# *include *[<"]($(2))' $(1) /dev/null || { echo "$(3)"; exit 1; }

lint-layers:
	$(call forbid,$(wildcard $(core_ROOMS:%=%/*.[ch])),jansson|microhttpd|zlib|zstd|isa-l|api/|server/|sys/socket,core knows nothing but numbers)
	$(call forbid,$(filter-out core/tensor/blas.c,$(SOURCES)),cblas,only core/tensor/blas.c includes cblas.h)
	$(call forbid,$(filter-out server/tls/%,$(SOURCES)),gnutls/,only server/tls includes GnuTLS)
	$(call forbid,$(wildcard $(api_ROOMS:%=%/*.[ch])),microhttpd|server/|sys/socket,api knows nothing of HTTP and sockets)
	$(call forbid,$(wildcard $(server_ROOMS:%=%/*.[ch])),jansson,server leaves JSON to api)
	$(call forbid,$(wildcard tests/http/*.[ch]),core/|api/|server/,tests over HTTP see only the running program)
	$(call forbid,$(SOURCES),\.\.?/,includes are written from the root)

# Formatters of different versions disagree; version 14, that of Debian 12, decides.
lint-format: | deps-lint
	@if $(FORMATTER) --version | grep -q 'version 14\.'; then $(FORMATTER) --dry-run -Werror $(FORMATTED); \
	else echo "clang-format 14 is not here: the format is not checked"; fi

format: | deps-lint ## format the source (clang-format 14)
	@$(FORMATTER) --version | grep 'version 14\.'
	$(FORMATTER) -i $(FORMATTED)

lint-scripts: | deps-lint
	shellcheck $(SCRIPTS)

lint-gcc lint-clang: | deps-lint
	@$(MAKE) FLAVOUR=$(@:lint-%=%) objects

lint-tidy: $(TIDIED)

lint-cppcheck: | deps-lint
	cppcheck --quiet -j2 --std=c11 -D_GNU_SOURCE --enable=warning,performance,portability --inline-suppr \
		--suppressions-list=.cppcheck --library=./.cppcheck.cfg --error-exitcode=1 -I. \
		$(filter %.c,$(SOURCES))

### Running ############################################################################################################

THE_CAT := {"tokens": ["the", "cat"], \
	"q": [[0.3, -0.2, 0.5, 0.1], [1.1, -0.8, 0.2, 0.3]], \
	"k": [[-0.4, -0.3, 0.2, 1.2], [1.6, -0.7, -0.4, -0.5]], \
	"v": [[-0.5, -0.4, 0.1, 1.1], [1.2, -0.3, -0.2, -0.6]], \
	"mask": "causal", "include": ["output", "weights", "steps"], "decimals": 4}

.PHONY: run
run: $(PROGRAM) ## build and start on 127.0.0.1:8080 (PORT=... for another port)
	@echo "It is ready when it says that it listens; Ctrl-C ends it. Try, in another terminal:"
	@echo
	@echo "  curl -s http://127.0.0.1:$(PORT)/v1/attention -d '"'$(THE_CAT)'"'"
	@echo
	@exec $(PROGRAM) --listen 127.0.0.1 --port $(PORT) --log-format text

# What is installed besides the program: its manual page and its settings as it lists them itself, units with their place.
build/install/attentiond.8: server/install/attentiond.8.in server/install/options.awk $(PROGRAM) Makefile
	@mkdir -p $(@D)
	@$(PROGRAM) --help | awk -f server/install/options.awk >build/install/options
	@sed -e 's/@VERSION@/$(VERSION)/' -e 's|@PREFIX@|$(PREFIX)|' -e '/@OPTIONS@/{r build/install/options' -e 'd}' $< >$@.new
	@mv $@.new $@

build/install/attentiond.service: server/install/attentiond.service.in
	@mkdir -p $(@D)
	@sed 's|@PREFIX@|$(PREFIX)|' $< >$@.new && mv $@.new $@

build/install/default: server/install/default.awk $(PROGRAM)
	@mkdir -p $(@D)
	@$(PROGRAM) --help | awk -f server/install/default.awk >$@.new && mv $@.new $@

deps-browser_TOOLS := chromium node npm
# A Node.js that is not Debian's brings its own npm, and the two packages exclude each other.
deps-browser_PACKAGES = chromium $(if $(shell command -v node),,nodejs) $(if $(shell command -v npm),,npm)
.PHONY: browser
browser: $(PROGRAM) | deps-browser ## run the tests that need a browser (Chromium, driven by Playwright from npm)
	tests/browser.sh $(PROGRAM)

deps-node_TOOLS := node npm
deps-node_PACKAGES = $(filter-out chromium,$(deps-browser_PACKAGES))

# A virtual environment for Python is a package without a program to look for.
.PHONY: schema-test deps-schema
deps-schema: | deps-test
	@command -v curl >/dev/null && python3 -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "Installing with apt-get: curl python3 python3-venv"; \
		$(APT) update -q && $(APT) install -q -y --no-install-recommends curl python3 python3-venv; }

schema-test: $(PROGRAM) | deps-schema deps-node ## let validators, a fuzzer and generators of clients (PyPI, npm) judge /openapi.json
	tests/schema.sh $(PROGRAM)

.PHONY: client-test
client-test: $(PROGRAM) | deps-schema ## let clients of the Open Inference Protocol (PyPI) call the service
	tests/clients.sh $(PROGRAM)

.PHONY: copy-head-test
copy-head-test: $(PROGRAM) | deps-drain ## train the example copy-head over HTTP and see its loss fall
	tests/copy_head.py $(PROGRAM)

deps-drain_TOOLS := python3 wrk
deps-drain_PACKAGES := python3 wrk
.PHONY: drain-test
drain-test: $(PROGRAM) | deps-drain ## end the service under load, 50 times
	tests/drain.sh $(PROGRAM)

.PHONY: chaos
chaos: $(PROGRAM) | deps-drain ## overload, resets at every stage, SIGTERM and SIGKILL in the middle (a minute)
	python3 tests/chaos.py $(PROGRAM)

# MODE SOURCE PLACE under PREFIX, parted by colons
INSTALLED := 755:$(PROGRAM):bin/attentiond \
	644:build/install/attentiond.8:share/man/man8/attentiond.8 \
	644:server/install/attentiond.bash:share/bash-completion/completions/attentiond \
	644:build/install/attentiond.service:lib/systemd/system/attentiond.service \
	644:server/install/attentiond.socket:lib/systemd/system/attentiond.socket \
	644:server/install/nginx.conf:share/doc/attentiond/nginx.conf \
	644:server/install/credentials.conf:share/doc/attentiond/credentials.conf \
	644:CHANGELOG.md:share/doc/attentiond/CHANGELOG.md \
	644:LICENSE:share/doc/attentiond/copyright
DEFAULTS := $(DESTDIR)/etc/default/attentiond
part = $(word $(1),$(subst :, ,$(2)))
define newline


endef

# The prefix is not known to make: what holds it is made anew each time.
.PHONY: install uninstall install-test build/install/attentiond.service build/install/attentiond.8
install: $(foreach file,$(INSTALLED),$(call part,2,$(file))) build/install/default ## install under PREFIX (/usr/local), inside DESTDIR when given
	$(foreach file,$(INSTALLED),install -D -m $(call part,1,$(file)) $(call part,2,$(file)) $(DESTDIR)$(PREFIX)/$(call part,3,$(file))$(newline))
	[ -e $(DEFAULTS) ] || install -D -m 644 build/install/default $(DEFAULTS)

uninstall: build/install/default ## remove what install has brought; settings that were changed stay
	rm -f $(foreach file,$(INSTALLED),$(DESTDIR)$(PREFIX)/$(call part,3,$(file)))
	[ ! -d $(DESTDIR)$(PREFIX)/share/doc/attentiond ] || rmdir --ignore-fail-on-non-empty $(DESTDIR)$(PREFIX)/share/doc/attentiond
	! cmp -s build/install/default $(DEFAULTS) || rm -f $(DEFAULTS)

install-test: $(PROGRAM) | deps-install ## install into a folder of its own and check what is there
	tests/install.sh


### Testing ############################################################################################################
# A test that hangs ends after 30 seconds instead of Check's 4, which a busy machine may need without any fault.
# ThreadSanitizer and valgrind are slow, and ThreadSanitizer wants the address space where it expects it.

export CK_DEFAULT_TIMEOUT ?= 30

RUN_WITH_thread := TSAN_OPTIONS="suppressions=tests/thread.supp second_deadlock_stack=1 $(TSAN_OPTIONS)" \
	CK_TIMEOUT_MULTIPLIER=$(or $(CK_TIMEOUT_MULTIPLIER),10) $(shell setarch -R true 2>/dev/null && echo setarch -R)
RUN_WITH_sanitize := ASAN_OPTIONS="detect_stack_use_after_return=1 quarantine_size_mb=16 $(ASAN_OPTIONS)" \
	UBSAN_OPTIONS="print_stacktrace=1 $(UBSAN_OPTIONS)" CK_TIMEOUT_MULTIPLIER=$(or $(CK_TIMEOUT_MULTIPLIER),5)
RUN_WITH_debug := CK_TIMEOUT_MULTIPLIER=$(or $(CK_TIMEOUT_MULTIPLIER),3)

.PHONY: test sanitize thread
test: programs ## build and run all tests
	@ATTENTIOND="$(CURDIR)/$(PROGRAM)" ATTENTIOND_FAULTS="$(CURDIR)/$(FAULTS)" $(RUN_WITH_$(FLAVOUR)) tests/run.sh $(TEST_PROGRAMS) \
		$(foreach fuzzer,$(FUZZERS),"$B/tests/fuzz/$(fuzzer) tests/fuzz/corpus/$(fuzzer)")

# For the person who edits: the suites that need no socket, side by side, and the lint of the files that git finds changed.
CHANGED = $(filter $(SOURCES),$(shell git diff --name-only HEAD 2>/dev/null; git ls-files --others --exclude-standard))
QUICK := $(filter-out http,$(SUITES))
.PHONY: quick $(QUICK:%=quick-%) quick-lint
quick: ## build, unit tests and lint of what changed, in half a minute
	@$(MAKE) -k -j$(shell nproc) $(QUICK:%=quick-%) quick-lint && echo "all good (make test runs everything)"

$(QUICK:%=quick-%): quick-%: $B/tests/%/suite
	@$< >$<.log 2>&1 && sed -n '$$s/^/$*: /p' $<.log || { grep -vE '^Running|^$$' $<.log; false; }

quick-lint: lint-layers | deps-lint
	@$(if $(CHANGED),$(MAKE) FLAVOUR=gcc $(patsubst %.c,build/gcc/%.o,$(filter %.c,$(CHANGED))))
	@$(if $(CHANGED),$(FORMATTER) --dry-run -Werror $(filter-out api/numbers/number_powers.h,$(CHANGED)))

sanitize thread: ## the same tests under ASan and UBSan (sanitize) or TSan (thread)
	@$(MAKE) FLAVOUR=$@ test

.PHONY: fuzz fuzz-corpus fuzz-programs
fuzz-programs: $(REPLAYS)
fuzz: | deps-fuzz ## feed each fuzz target random input for FUZZ_SECONDS (60), its finds kept under build/fuzz
	@$(MAKE) FLAVOUR=fuzz fuzz-programs
	@failed=; for target in $(FUZZERS); do \
		echo "== $$target"; \
		mkdir -p build/fuzz/corpus/$$target; \
		build/fuzz/tests/fuzz/$$target -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=4096 -print_final_stats=1 \
			-artifact_prefix=build/fuzz/$$target- build/fuzz/corpus/$$target tests/fuzz/corpus/$$target || \
			failed="$$failed $$target"; \
	done; \
	[ -z "$$failed" ] || { echo "found something:$$failed"; exit 1; }

fuzz-corpus: | deps-fuzz ## run the fuzz targets over their corpus once, with libFuzzer and the sanitizers
	@$(MAKE) FLAVOUR=fuzz fuzz-programs
	@set -e; for target in $(FUZZERS); do build/fuzz/tests/fuzz/$$target -runs=0 tests/fuzz/corpus/$$target; done

.PHONY: numbers bench
numbers: $B/tests/numbers/numbers ## check all float32 and 10^8 random doubles and decimals (minutes)
	@$< $(NUMBERS)
	@python3 tests/numbers/powers.py build/generated/api/numbers/number_powers.h

bench: $(BENCHES) $B/attentiond ## measure, beside the peers that are installed (BENCH_PYTHON: a python3 that has them)
	@set -e; for program in $(BENCHES); do echo "== $$program"; $$program; done
	@echo "== tests/bench/service.py"; python3 tests/bench/service.py $B/attentiond

### The container ######################################################################################################

IMAGE ?= attentiond
ALLOW_EXPIRED_RELEASE ?= no

.PHONY: docker docker-test arm64-test kubernetes-test
docker: ## build the image attentiond:latest
	docker build --network=host --build-arg ALLOW_EXPIRED_RELEASE=$(ALLOW_EXPIRED_RELEASE) \
		--build-arg VERSION=$(VERSION) --build-arg REVISION=$(REVISION) \
		--build-arg CREATED=$(shell date -u +%Y-%m-%dT%H:%M:%SZ) --tag $(IMAGE):$(VERSION) --tag $(IMAGE):latest .

docker-test: ## build the image and test it alone and behind a balancer, with an engine of its own where there is none
	ALLOW_EXPIRED_RELEASE=$(ALLOW_EXPIRED_RELEASE) tests/docker/engine.sh tests/docker/run.sh $(IMAGE):latest

arm64-test: ## build the image for arm64 and test it with an emulator
	ALLOW_EXPIRED_RELEASE=$(ALLOW_EXPIRED_RELEASE) tests/docker/engine.sh tests/docker/arm64.sh

kubernetes-test: $(PROGRAM) | deps-schema ## check the manifests for Kubernetes (tools from PyPI)
	tests/docker/kubernetes.sh $(PROGRAM)

.PHONY: clean help
clean: ## remove everything made
	rm -rf build

help: ## list the targets
	@echo "make TARGET, where TARGET is one of"
	@sed -n 's/^\([a-z][a-z0-9 -]*\):[^#]*## \(.*\)/\1|\2/p' Makefile | while IFS='|' read -r target text; do \
		printf '  %-18s %s\n' "$$target" "$$text"; done
