# `make` alone prints the targets. Everything runs in .venv, which `make setup` makes.
.DEFAULT_GOAL := help
.PHONY: FORCE help setup peers databases test test-costly fast test-studies t coverage test-slow test-peers test-systems test-docker test-cluster free-threaded test-slowed framework test-framework acceptance lint check compare endure dist image site test-browser serve clean
# Two layers of .venv: what runs and compares, and on top of it what tests, lint and types need.
SETUP := .venv/setup.stamp
TESTS := .venv/tests.stamp
TOOLS := tools/setup.sh tools/halves.py
PINS := $(patsubst %,requirements/%.txt,build service locust peers)
INPUTS := $(TOOLS) $(PINS) pyproject.toml setup.py $(wildcard fib/_core.py fib/*.pxd)
ifneq ($(origin PYTHON)$(origin FIB_BUILD),undefinedundefined)
# make setup PYTHON=python3.13, or FIB_BUILD=pure: something else than what is there is asked for.
export PYTHON FIB_BUILD
AGAIN := FORCE
else ifneq ($(shell test -x .venv/bin/python && .venv/bin/python -c 'print(1)'),1)
# Its interpreter is gone, as after an upgrade of the system.
AGAIN := FORCE
endif
FRAMEWORK := .framework/record.json
BIN := .venv/bin
# make compare QUICK=1; make compare ARGS="--load walkthrough"
ARGS ?=
LAB := $(BIN)/lab
# A shell that forbids it would have each of the hundreds of programs that tests start compiled again.
unexport PYTHONDONTWRITEBYTECODE
# Several at once, as most tests wait for a server. ARGS=-n0: one after the other, their output at once.
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal
# What tests research, and not the product. `make check` and CI run it, too.
STUDIES := tests/studies
# What `make fast` leaves out: these folders and files start servers, other programs or whole
# comparisons, or simulate hundreds of runs.
DEAR := $(addprefix tests/,acceptance ci corpus deploy faults hygiene load locust probes scale servers stress watch \
	$(patsubst %,ab/test_%.py,ab checkout count decided hostile_branch index killed noise packages real) \
	$(patsubst %,analysis/test_%.py,compare margin) $(patsubst %,app/test_%.py,instructions metrics openapi replay service) \
	$(patsubst %,lint/test_%.py,acting_files ci good granian_serves hostile python_313 uwsgi_says uwsgi_serves uwsgi_starts) \
	$(patsubst %,migrate/test_%.py,asgi claims measure public switch waits) \
	$(patsubst %,profiles/test_%.py,acting asking private) $(patsubst %,tune/test_%.py,course serves) \
	workloads/test_outbound.py $(patsubst %,test_%.py,behind_nginx bind bounds_of_readers build cli cli_requests cores docs environment \
	framework generators_asked interruptions runtime temporary wrong_inputs))

help: ## print this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 24

setup: $(SETUP) ## make .venv: system packages, pinned requirements, uWSGI, the extension
$(SETUP): $(INPUTS) $(AGAIN)
	@tools/setup.sh
	@touch $@
$(TESTS): $(SETUP) requirements/dev.txt
	@tools/setup.sh tests
	@touch $@

peers: setup ## install the other servers of the articles, in .venv, .peers and by apt-get
	@tools/setup.sh peers

databases: ## unpack the databases that peers ask, into .databases; installs nothing
	@tools/databases.sh

test: $(TESTS) ## run the tests of the product (6 minutes)
	@$(PYTEST) --ignore=$(STUDIES) $(ARGS)

fast: $(TESTS) ## run those that start no server, as between two changes (2 minutes)
	@$(PYTEST) $(addprefix --ignore=,$(STUDIES) $(DEAR)) $(ARGS)

test-studies: $(TESTS) ## run the tests of studies/: the articles' claims, the self-test, the judges (2 minutes)
	@$(PYTEST) $(STUDIES) $(ARGS)

t: $(if $(F),$(TESTS)) ## run one file or folder of them, in one process: make t F=tests/lint/test_findings.py
	@$(BIN)/python -m pytest -q $(or $(F),$(error which? make t F=tests/lint/test_findings.py)) $(ARGS)

coverage: $(TESTS) ## say how much of the packages that need no server the tests run; a floor each (5 minutes of CPU)
	@$(BIN)/python tools/covered.py

test-costly: $(TESTS) ## run the tests of the product that take more than a second of CPU (4 minutes)
	@$(PYTEST) -m 'costly and not slow' --ignore=$(STUDIES) $(ARGS)

test-slow: $(TESTS) ## run the tests that take minutes
	@$(BIN)/python -m pytest -m slow --timeout 900 $(ARGS)

framework: $(FRAMEWORK) ## compile Flask and Werkzeug into .framework (1 minute)
$(FRAMEWORK): $(SETUP) tools/framework.py
	@$(BIN)/python tools/framework.py

test-framework: $(FRAMEWORK) ## run the tests of Flask and Werkzeug over it (3 minutes)
	@tools/setup.sh framework
	@$(BIN)/python studies/framework_suites.py

# What cannot be had, as without a network, is skipped by the tests, which say why.
test-peers: $(TESTS) ## start each of them with each of its workloads (10 minutes)
	-@tools/setup.sh peers
	-@tools/databases.sh
	@$(BIN)/python -m pytest -m peers $(ARGS)

test-systems: ## set up and test on Debian 12, 13 and forky, with Python 3.11 to 3.15 (root, Debian; 15 minutes each)
	@tools/systems.sh $(ARGS)

test-docker: $(TESTS) ## run the images and compose.yaml on a Docker engine of its own (root, Debian; 4 minutes, the first time 8)
	@tools/docker.sh $(ARGS)

test-cluster: $(TESTS) ## run the manifests on a Kubernetes cluster of three nodes (root, Debian, Go; 11 minutes, the first time 25)
	@tools/cluster.sh $(ARGS)

test-slowed: $(TESTS) ## run the tests that slow this machine down, and nothing beside them (root; 1 minute)
	@$(BIN)/python -m pytest -m slowed tests/test_slowdown.py $(ARGS)

free-threaded: $(SETUP) ## build CPython with and without the GIL, and measure threads (root, Debian; 15 minutes)
	@tools/free_threaded.sh $(ARGS)

acceptance: $(TESTS) ## compare applications of others, from the package index (6 minutes)
	@$(BIN)/python -m pytest -m slow tests/acceptance $(ARGS)

lint: $(TESTS) ## lint and types
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

check: lint ## lint, types, all tests: what a change must pass
	@$(PYTEST) $(ARGS)
	@$(PYTEST) -m 'costly and not slow' $(ARGS)

compare: setup ## compare the ladder of profiles (15 minutes; QUICK=1: 5)
	@checked=$$($(LAB) check) || { echo "$$checked"; \
	echo "compare: this machine is not ready to measure (above), so the result may be inconclusive." \
	"Ctrl-C ends the comparison" >&2; }
	@$(LAB) run $(if $(QUICK),--quick) $(ARGS) || { status=$$?; [ $$status = 3 ] || exit $$status; \
	echo "compare: done, but this machine was too noisy, or too few valid trials (status 3 of lab run):" \
	"the first lines of the report say why. What the report calls better or worse is larger than the noise," \
	"and stands. To decide the rest, close other programs and repeat. Where some trials are valid, a longer" \
	"run helps, too: make compare ARGS='--minutes 30'" >&2; }

endure: $(TESTS) ## the long tests of faults: a million bad and 200,000 mixed requests, stored (8 minutes)
	@$(BIN)/python studies/malformed.py --mutations 200000
	@$(BIN)/python studies/endurance.py

dist: setup ## build a release into dist/ from the last commit, twice, and check it (2 minutes)
	@tools/setup.sh dist
	@.dist/bin/python tools/dist.py

image: setup ## build the images and run the stack in containers (root, buildah, podman; 5 minutes)
	@tools/image.sh

site: $(SETUP) ## build the site into build/site: the page, its engine, the documentation (node, npm; 1 minute)
	@tools/setup.sh site
	@$(BIN)/python -m tools.site

test-browser: $(TESTS) ## build the site and use it in Chromium and Firefox (3 minutes)
	-@tools/setup.sh site
	-@tools/setup.sh browser
	@$(BIN)/python -m pytest -m browser tests/web $(ARGS)

serve: setup ## run the tuned service on port 8080
	@$(BIN)/fibonacci serve

clean: ## remove what was built (.venv, .databases, .framework, .systems, build/), keep results/
	rm -rf .venv .peers .databases .framework* .systems .dist .site dist build *.egg-info fib/_core_c.*.so fib/_core_c.json
