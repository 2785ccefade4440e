# Everything a fresh machine with Python 3.11+ needs: `make demo` and `make test`.

PYTHON ?= python3
BIN := .venv/bin
BIN3 := .venv-lightgbm3/bin
RELEASE := .venv-release/bin
OLDEST := .venv-oldest
PAPERS := $(subst _,-,$(basename $(notdir $(wildcard papers/*_[12]???*))))
MAKEFLAGS += --no-print-directory

.DELETE_ON_ERROR:

# The order of files is that of tests/conftest.py.
PYTEST := $(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder --ignore=tests/lightgbm3

.PHONY: demo test test-fast test-oldest mutations check docs bench papers release clean

demo: .venv/installed-demo  ## compare our objectives with the frameworks' own on built-in data
	@echo "11 methods on 5 folds take about two minutes."
	$(BIN)/lambdaplus compare --report --out build/demo
	@echo "Accuracy on ranking data: docs/results/accuracy.md"

test: check .venv-lightgbm3/installed  ## lint, types, tests, and the tests on LightGBM 3
	$(PYTEST)
	$(BIN3)/python -m pytest -q tests/lightgbm3 tests/test_training.py tests/test_drop_ins.py

test-fast: .venv/installed  ## the tests of what you change most, with fewer random examples
	$(PYTEST) -m "not slow" --hypothesis-profile=fast

mutations: .venv/installed  ## break central lines one at a time: do the fast tests notice?
	$(BIN)/python tests/mutations.py

check: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy tests/typed_example.py

docs: .venv/installed  ## the site, into build/docs; runs the code of its pages
	rm -rf docs/reference/api  # generated, and pages of modules that are gone would be errors
	$(BIN)/python docs/figures/draw.py
	$(BIN)/sphinx-build -E -W --keep-going docs build/docs

bench: .venv/installed  ## are gradients as fast beside the frameworks' own as speed.json says? a minute
	$(BIN)/python benchmarks/speed.py

papers: .venv/installed  ## the papers' experiments, into build/papers; on DATA="FOLDER ...", or digits
	for paper in $(PAPERS); do $(BIN)/python -m papers $$paper $(DATA) || exit; done

test-oldest: .venv-release/installed  ## the tests on the oldest versions that pyproject.toml allows
	$(RELEASE)/uv venv --quiet --clear --python $(PYTHON) $(OLDEST)
	VIRTUAL_ENV=$(OLDEST) $(RELEASE)/uv pip install --quiet --no-build --resolution lowest-direct \
		--editable '.[all]' --group dev 'lightgbm>=4'  # LightGBM 3 has tests of its own
	$(OLDEST)/bin/python -m pytest -q -o addopts=--strict-markers tests --ignore=tests/lightgbm3  # no doctests

release: .venv-release/installed  ## build sdist and wheel, check both, try the wheel alone
	rm -rf dist .venv-wheel
	$(RELEASE)/python -m build
	$(RELEASE)/twine check --strict dist/*
	$(PYTHON) -m venv .venv-wheel
	.venv-wheel/bin/pip install --quiet dist/*.whl
	cd dist && ../.venv-wheel/bin/python ../tests/without_extras.py

.venv/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "lambdaplus needs Python 3.11 or newer: make PYTHON=python3.11 ..."; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade pip

# What `lambdaplus compare` needs and no more; both may be installed one after the other.
.venv/installed-demo: pyproject.toml | .venv/pyvenv.cfg
	$(BIN)/pip install --quiet --editable '.[lightgbm,xgboost,cli,plot]'
	@touch $@

.venv/installed: pyproject.toml | .venv/pyvenv.cfg
	$(BIN)/pip install --quiet --editable '.[all]' --group dev --group docs
	@touch $@ .venv/installed-demo

.venv-release/installed: pyproject.toml
	$(PYTHON) -m venv .venv-release
	$(RELEASE)/pip install --quiet --upgrade pip
	$(RELEASE)/pip install --quiet --group release
	@touch $@

# LightGBM 3 needs NumPy 1, so it lives in an environment of its own.
.venv-lightgbm3/installed: pyproject.toml
	$(PYTHON) -m venv .venv-lightgbm3
	$(BIN3)/pip install --quiet --upgrade pip
	$(BIN3)/pip install --quiet --editable . --group lightgbm3
	@touch $@

clean:
	rm -rf .venv .venv-lightgbm3 .venv-release .venv-oldest .venv-wheel build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find lambdaplus tests \( -name '*.nb[ci]' -o -name '__pycache__' \) -prune -exec rm -rf {} +
