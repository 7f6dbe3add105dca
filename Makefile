# A thin front for CMake: `make help` lists what it does. JOBS=N limits the cores used.
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
FUZZ_SECONDS ?= 20
FUZZ_JOBS ?= $(JOBS)

.PHONY: all help demo test test-asan fuzz bench screenshots install format lint clean
.NOTPARALLEL:

all: ## build the command (build/assay) and the library, optimised
	@tools/install-packages build web
	@tools/build release $(JOBS)

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1@\2/p' Makefile | awk -F@ '{ printf "%-18s %s\n", $$1, $$2 }'

demo: all ## build, then see assay at work on the files of examples/
	@tools/demo build/assay

test: ## build and run every test
	@tools/install-packages build web test mpi
	@tools/build release $(JOBS) -DASSAY_TESTS=ON
	@tools/run-tests build $(JOBS)

test-asan: ## the same under AddressSanitizer and UndefinedBehaviorSanitizer
	@tools/install-packages build web test mpi
	@tools/build asan $(JOBS)
	@tools/run-tests build/asan $(JOBS)

fuzz: ## run every fuzz target for FUZZ_SECONDS (20), FUZZ_JOBS at a time
	@tools/install-packages build test fuzz
	@tools/build fuzz $(JOBS)
	@tools/run-fuzz build/fuzz $(FUZZ_SECONDS) $(FUZZ_JOBS)

bench: ## measure speed and memory
	@tools/install-packages build web
	@tools/build release $(JOBS) -DASSAY_BENCH=ON
	@tools/run-bench build

screenshots: all ## make the pictures of docs/images anew
	@tools/install-packages test
	@tools/screenshots build

install: all ## install to PREFIX (/usr/local), below DESTDIR if given
	cmake --install build --prefix "$(PREFIX)"

format: ## format the sources with clang-format and prettier
	@tools/install-packages lint
	find src include capture tests examples bench fuzz ! -path 'examples/heat-hpctoolkit/*' \( -name '*.[ch]' -o -name '*.cpp' \) -exec clang-format -i {} +
	npx --yes prettier@3 --log-level warn --write 'web/src/**/*.ts*' 'web/test/*.ts' 'web/*.mjs' 'tests/browser/*.ts'

lint: ## clang-tidy and cppcheck over src and capture
	@tools/install-packages build web lint
	@tools/build release $(JOBS)
	@tools/lint build $(JOBS)

clean: ## remove everything that was built
	rm -rf build
