# Needs python3 (of any version), pip, make and git. Everything else comes through uv and the committed
# uv.lock; uv is taken from PATH or, where it is not there, installed into .uv/ and nowhere else.

UV_VERSION := $(shell sed -n 's/^uv==\([0-9.]*\).*/\1/p' .ci/uv.txt)
UV := $(shell command -v uv || echo .uv/$(UV_VERSION)/bin/uv)
UV_LOCKED := --require-hashes --requirement .ci/uv.txt
RUN := $(UV) run --locked
WORKERS ?= 2

# The environment has the newest of these Pythons that is installed, on PATH, by uv or by pyenv, which puts
# none but the chosen one on PATH; without one, uv downloads it. UV_PYTHON=3.12 chooses another. Python 3.14 comes
# last: immutables, which Snakemake needs, must be compiled for it.
SUPPORTED := $(shell sed -n 's/^requires-python = "\(.*\)"/\1/p' pyproject.toml)
READY := >=3.12,<3.14
MINORS := 3.1[2-4]
BY_PYENV := $(wildcard $(or $(PYENV_ROOT),$(HOME)/.pyenv)/versions/$(MINORS).*/bin)
export PATH := $(PATH)$(subst $() :,:,$(addprefix :,$(BY_PYENV)))
NO_PYTHON := needs Python $(SUPPORTED), found none and cannot download it; install one, for example by pyenv install 3.13

# In these locales Python 3.12 cannot read the path of a checkout whose name is not ASCII.
ifneq ($(filter C POSIX,$(LC_ALL)),)
export LC_ALL := C.UTF-8
endif

define NEW_ENVIRONMENT
python="$${UV_PYTHON:-$$(for of in '$(READY)' '$(SUPPORTED)'; do $(UV) python list --only-installed "$$of"; done 2> /dev/null \
  | awk 'NR == 1 {print $$2}')}"; \
if [ -z "$$python" ] && ! $(UV) python install --quiet '$(READY)' 2> /dev/null; \
then echo "nlobayes: error: $(NO_PYTHON)" >&2; exit 1; fi; \
$(UV) venv --quiet --clear $${python:+--python "$$python"}
endef

.DEFAULT_GOAL := help
.PHONY: help setup run studies rivals report test test-nightly test-slurm check docs audit schema package publish clean distclean

help:  ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## /\1: /p' Makefile

# Of several, EXTRAS="slurm cuda". The other targets install no extras, and `setup` without removes them.
EXTRAS ?=

setup: $(UV)  ## install the locked environment into .venv, with extras as in EXTRAS=slurm
	@echo "setting up .venv (the first time takes minutes)"
	@grep -qs '^version_info = $(MINORS)\.' .venv/pyvenv.cfg || { $(NEW_ENVIRONMENT); }
	@$(UV) sync --quiet --locked --compile-bytecode $(addprefix --extra ,$(EXTRAS))
	@$(RUN) python -m compileall -q src

define REPORT
	@$(RUN) snakemake --report report.html
	@$(RUN) nlobayes summary
endef

run: setup  ## run the default study, write the report, print the results and the commands that come next
	@NLOBAYES_PORTABLE=1 NLOBAYES_SUMMARY=later $(RUN) snakemake --prioritize quickstart
	$(REPORT)
	@$(RUN) python -m benchmarks.published

RIVALS := config/studies/rivals.yaml
STUDIES ?= $(filter-out $(RIVALS),$(wildcard config/studies/*.yaml))
EARLIER := results/earlier/old.nc

# Its first lines give the reason: planning the update needs the condensed old posterior.
$(EARLIER): setup
	@$(RUN) snakemake sequential --configfile config/studies/sequential.yaml
	@$(RUN) nlobayes condense results/thinned/old/n16/fan_in/tolerance_10/adam/hmc_sequential/s1.nc \
	  --dataset results/data/old.nc --out $@

studies: setup $(if $(filter %/sequential.yaml,$(STUDIES)),$(EARLIER))  ## run the studies of docs/studies.md but `rivals` at reduced scale, WORKERS=2 at a time, and write their rows; FIRST=1 makes the scores of the first run of each; tables that are not shipped are read from data/
	@$(RUN) python -m benchmarks.studies --at-once $(WORKERS) $(if $(FIRST),--first) $(STUDIES)

RIVALS_EMBEDDED := rivals_k rivals_raw
# What is fitted to a table that is not shipped: its file below data/, and the grids that read it.
RIVALS_OF_TABLES := prospino_chi1chi1:rivals_prospino,rivals_prospino_all naval:rivals_naval \
  concrete:rivals_concrete,rivals_concrete_deep airfoil:rivals_airfoil,rivals_airfoil_deep

rivals: setup  ## score Gaussian processes, boosted trees and plain networks on the rows of runs; tables that are not shipped are read from data/
	@grids="$(RIVALS_EMBEDDED)"; for of in $(RIVALS_OF_TABLES); do \
	  table=data/$${of%%:*}.csv.gz; named=$$(echo $${of#*:} | tr , ' '); \
	  if test -e $$table; then grids="$$grids $$named"; \
	  else echo "skipped: $$named need $$table (see the first lines of $(RIVALS))"; fi; done; \
	$(RUN) snakemake $$grids --configfile $(RIVALS)

report: setup  ## write report.html and print the results of what has been run
	$(REPORT)

# A test runs most of its programs once, so that by day XLA compiles in less time and optimises less.
# At night and in every other run programs are compiled as for users.
COMPILED_SOONER := --xla_cpu_multi_thread_eigen=false --xla_backend_optimization_level=1 \
  --xla_cpu_parallel_codegen_split_count=1

# In the order of tests/conftest.py, which ends with short files.
FILES_IN_TURN := --dist loadfile --no-loadscope-reorder

test: setup  ## run all tests of the day (WORKERS=2 processes)
	OMP_NUM_THREADS=1 XLA_FLAGS="$(COMPILED_SOONER)" \
	  $(RUN) pytest --numprocesses $(WORKERS) $(FILES_IN_TURN)

test-nightly: setup  ## run the tests that a day leaves out: minutes long, or more cases of the others
	OMP_NUM_THREADS=1 $(RUN) pytest --numprocesses $(WORKERS) $(FILES_IN_TURN) -m slow

test-slurm: setup  ## run a study through a real Slurm, started for it where none answers (as root)
	OMP_NUM_THREADS=1 $(RUN) --extra slurm pytest -m slurm tests/workflow/cluster

check: setup  ## lint, format, types, workflow and architecture; prints how readable the pages are
	$(RUN) ruff check
	$(RUN) ruff format --check
	$(RUN) snakefmt --check Snakefile workflow
	$(RUN) snakemake --lint
	$(RUN) mypy
	$(RUN) lint-imports --no-logo
	@$(RUN) python -m benchmarks.readability

# Each runs in a folder of its own, and again when it or the code is newer.
NOTEBOOKS := $(patsubst notebooks/%.py,.cache/notebooks/%.ipynb,$(wildcard notebooks/*.py))

$(NOTEBOOKS): .cache/notebooks/%.ipynb: notebooks/%.py $(wildcard notebooks/made_up/*.py src/nlobayes/*.py src/nlobayes/*/*.py src/nlobayes/*/*/*.py) | setup
	@rm -rf .cache/notebooks/$* && mkdir -p .cache/notebooks/$*
	PYTHONPATH=$(CURDIR)/notebooks $(RUN) jupytext --quiet --to ipynb --execute --run-path $(CURDIR)/.cache/notebooks/$* --output $@ $<
	@rm -r .cache/notebooks/$*

docs: setup $(NOTEBOOKS)  ## execute the notebooks, and write the pages as a site, site/index.html; a broken link ends it
	NO_MKDOCS_2_WARNING=1 $(RUN) mkdocs build --strict

audit: $(UV)  ## look up the locked packages in a database of known weaknesses (needs network access)
	mkdir -p .cache
	$(UV) export --quiet --locked --all-extras --no-emit-project --output-file .cache/requirements.txt
	$(UV) venv --quiet --clear .cache/audit
	$(UV) pip sync --quiet --python .cache/audit --require-hashes .ci/audit.txt
	.cache/audit/bin/pip-audit --strict --disable-pip --require-hashes --requirement .cache/requirements.txt

schema: setup  ## write config/schema.json, the reference in config/README.md, docs/stages.md, the keys in docs/files.md, the graph of stages, the picture of rooms and the gallery from the code
	$(RUN) python -m nlobayes.study.schema json > config/schema.json
	sed -i '/^### Study/,$$d' config/README.md
	$(RUN) python -m nlobayes.study.schema markdown >> config/README.md
	$(RUN) python -m nlobayes.workflow.stage_table > docs/stages.md
	sed -i '/^## Keys of diagnostics.json/,$$d' docs/files.md
	$(RUN) python -m nlobayes.evaluation >> docs/files.md
	$(RUN) python -m nlobayes.workflow.stage_graph > workflow/stages.svg
	$(RUN) python -m benchmarks.rooms > docs/rooms.svg
	$(RUN) python -m benchmarks.gallery > docs/gallery.md

package: $(UV)  ## build the wheel and the source distribution into dist/
	@$(UV) build --quiet --clear

publish: package  ## upload dist/ to the public index, as .github/workflows/release.yml does
	@! grep -n OWNER pyproject.toml CITATION.cff CODE_OF_CONDUCT.md \
	  || { echo "nothing is published before the owner has filled in these lines"; exit 1; }
	$(UV) publish --trusted-publishing always

clean:  ## remove results, logs, timings, caches and what was packaged
	rm -rf results logs timings report.html .snakemake dist site
	rm -rf .cache .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} +

distclean: clean  ## also remove the environment and the private uv
	rm -rf .venv .uv

# `--target` writes into one folder, so Python installations that are managed by the system allow it
# and no venv module is needed; the second line serves a python3 that has venv but no pip.
.uv/$(UV_VERSION)/bin/uv:
	@echo "installing uv into .uv/"
	@PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --no-user --upgrade --target .uv/$(UV_VERSION) $(UV_LOCKED) \
	|| { python3 -m venv .uv/$(UV_VERSION) && .uv/$(UV_VERSION)/bin/pip install --quiet $(UV_LOCKED); }
