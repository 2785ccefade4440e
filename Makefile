# Everything a fresh machine with Python 3.11+ needs: `make demo` and `make test`.

PYTHON ?= python3
PYTHONS ?= $(PYTHON)
VENV := .venv
BIN := $(VENV)/bin
BIN3 := .venv-lightgbm3/bin
RELEASE := .venv-release/bin
OLDEST := .venv-oldest
# Versions that passed the tests, for pip.  A newer Python may need newer ones.
LOCK = $(shell $(BIN)/python -c 'import sys; sys.version_info < (3, 14) or sys.exit( \
	"No versions are locked for this Python: pip takes the newest ones."); print("-c constraints.txt")')
PAPERS := $(subst _,-,$(basename $(notdir $(wildcard papers/*_[12][0-9][0-9][0-9]*))))
MAKEFLAGS += --no-print-directory

.DELETE_ON_ERROR:

# The order of files is that of tests/conftest.py.
PYTEST := $(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder --ignore=tests/lightgbm3

COMPILE := uv pip compile --quiet --upgrade --universal --python-version 3.11 --no-annotate \
	--no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' pyproject.toml

.PHONY: demo test test-repository test-all test-lightgbm3 test-oldest test-newest mutations check docs \
	pages bench papers lock release clean

# An environment that has the command, .venv or the active one, is used as it is.
LAMBDAPLUS := $(firstword $(wildcard $(BIN)/lambdaplus) $(shell command -v lambdaplus 2>/dev/null))

demo: $(if $(LAMBDAPLUS),,$(VENV)/installed-demo)  ## compare objectives on built-in data
	@echo "16 methods on 4 folds take about a minute and a half on two idle cores, apart from the installation."
	$(or $(LAMBDAPLUS),$(BIN)/lambdaplus) compare --folds 4 --methods lightgbm,xgboost,lightgbm:mrr \
		--metrics map,mrr,auc,ndcg@10 --report --out build/demo
	@echo "lambda_mrr is trained for MRR, for which LightGBM and XGBoost have no objective."
	@echo "Accuracy on ranking data: docs/research/results/accuracy.md"

test: $(VENV)/installed  ## the fast tests of the package, on locked versions, with fewer random examples
	$(PYTEST) -m "not slow" --hypothesis-profile=fast --ignore=tests/repository

test-repository: $(VENV)/installed  ## the fast tests of pages, examples, benchmarks and the release
	$(PYTEST) -m "not slow" tests/repository

test-all: $(VENV)/installed  ## all tests
	$(PYTEST)

test-lightgbm3: .venv-lightgbm3/installed  ## what differs on LightGBM 3; on Python 3.11 or 3.12
	$(BIN3)/python -m pytest -q tests/lightgbm3 tests/frameworks/test_training.py \
		tests/frameworks/test_drop_ins.py tests/frameworks/test_same_models.py \
		tests/frameworks/test_*_contract.py

test-oldest: .venv-release/installed  ## the tests on the oldest versions that pyproject.toml allows
	$(RELEASE)/uv venv --quiet --clear --python $(PYTHON) $(OLDEST)
	VIRTUAL_ENV=$(OLDEST) $(RELEASE)/uv pip install --quiet --no-build --resolution lowest-direct \
		--editable '.[all]' --group dev 'lightgbm>=4'  # LightGBM 3 has tests of its own
	$(OLDEST)/bin/python -m pytest -q -o addopts=--strict-markers tests --ignore=tests/lightgbm3  # no doctests

test-newest:  ## the tests on the newest versions: make test-newest PYTHON=python3.14
	rm -rf .venv-newest
	$(MAKE) test-all VENV=.venv-newest LOCK=

mutations: $(VENV)/installed  ## break central lines one at a time: do the fast tests notice?
	$(BIN)/python tests/mutations.py

check: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy tests/typed_example.py

docs: $(VENV)/installed sample-report  ## the site, into build/docs; runs the code of its pages
	rm -rf docs/reference/api  # generated, and pages of modules that are gone would be errors
	$(BIN)/sphinx-build -E -W --keep-going docs build/docs

pages: $(VENV)/installed  ## write the generated tables and figures of the pages, which are committed
	$(BIN)/python docs/figures/draw.py
	$(BIN)/python docs/figures/gallery.py
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/printed.py
	$(BIN)/python docs/notebooks.py

bench: $(VENV)/installed  ## are gradients as fast beside the frameworks' own as speed.json says? a minute
	$(BIN)/python benchmarks/speed.py

.PHONY: sample-report
sample-report: $(VENV)/installed  ## the report that docs/compare.md shows
	rm -rf docs/_extra/sample-report  # or its fits would be reused
	$(BIN)/lambdaplus compare --methods lightgbm:lambdarank,lightgbm:lambda_map,pairs:ranksvm \
		--folds 2 --report --out docs/_extra/sample-report

papers: $(VENV)/installed  ## the papers' experiments, into build/papers; on DATA="FOLDER ...", or digits
	for paper in $(PAPERS); do $(BIN)/python -m papers $$paper $(DATA) || exit; done

lock: .venv-release/installed  ## lock the newest versions of what tests and docs need, for all Pythons
	$(RELEASE)/$(COMPILE) --all-extras --group dev --group docs --output-file constraints.txt
	$(RELEASE)/$(COMPILE) --group lightgbm3 --output-file tests/lightgbm3/constraints.txt

release: .venv-release/installed  ## build sdist and wheel, check both; make release PYTHONS="python3.11 python3.13"
	rm -rf dist .venv-wheel
	$(RELEASE)/python -m build
	$(RELEASE)/twine check --strict dist/*
	$(PYTHON) -m venv .venv-wheel
	.venv-wheel/bin/pip install --quiet dist/*.whl
	cd dist && ../.venv-wheel/bin/python ../tests/without_extras.py
	$(RELEASE)/python tests/from_the_wheel.py $(PYTHONS)

HIDDEN_UNLESS_IT_FAILS = >$(VENV)/pip.log 2>&1 || { cat $(VENV)/pip.log >&2; exit 1; }

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "lambdaplus needs Python 3.11 or newer: make PYTHON=python3.11 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --upgrade pip $(HIDDEN_UNLESS_IT_FAILS)

# What `lambdaplus compare` needs and no more; both may be installed one after the other.
$(VENV)/installed-demo: pyproject.toml constraints.txt | $(VENV)/pyvenv.cfg
	@echo "Installing lambdaplus, LightGBM and XGBoost into $(VENV) ..."
	@$(BIN)/pip install --quiet $(LOCK) --editable '.[lightgbm,xgboost,cli,plot]' $(HIDDEN_UNLESS_IT_FAILS)
	@touch $@

$(VENV)/installed: pyproject.toml constraints.txt | $(VENV)/pyvenv.cfg
	$(BIN)/pip install --quiet $(LOCK) --editable '.[all]' --group dev --group docs
	@touch $@ $(VENV)/installed-demo

.venv-release/installed: pyproject.toml
	$(PYTHON) -m venv .venv-release
	$(RELEASE)/pip install --quiet --upgrade pip
	$(RELEASE)/pip install --quiet --group release
	@touch $@

# LightGBM 3 needs NumPy 1, so it lives in an environment of its own.
.venv-lightgbm3/installed: pyproject.toml
	$(PYTHON) -m venv .venv-lightgbm3
	$(BIN3)/pip install --quiet --upgrade pip
	$(BIN3)/pip install --quiet -c tests/lightgbm3/constraints.txt --editable . --group lightgbm3
	@touch $@

clean:
	rm -rf .venv* build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find lambdaplus tests \( -name '*.nb[ci]' -o -name '__pycache__' \) -prune -exec rm -rf {} +
