# Everything a fresh machine with Python 3.11+ needs: `make demo` and `make test`.

PYTHON ?= python3
BIN := .venv/bin
BIN3 := .venv-lightgbm3/bin
MAKEFLAGS += --no-print-directory

.PHONY: demo test check docs bench clean

demo: .venv/installed  ## train every objective on the built-in data and show who wins
	$(BIN)/lambdaplus compare --rounds 100 --out build/demo

test: check .venv-lightgbm3/installed  ## lint, types, tests, and the tests on LightGBM 3
	$(BIN)/python -m pytest -q --ignore=tests/lightgbm3
	$(BIN3)/python -m pytest -q tests/lightgbm3

check: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: .venv/installed  ## the site, into build/docs; runs the code of its pages
	$(BIN)/python docs/figures/draw.py
	$(BIN)/sphinx-build -E -W --keep-going docs build/docs

bench: .venv/installed  ## speed beside the frameworks' own, as ratios, in three minutes
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/evaluation.py

.venv/installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "lambdaplus needs Python 3.11 or newer: make PYTHON=python3.11 ..."; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable '.[all]' --group dev
	@touch $@

# LightGBM 3 needs NumPy 1, so it lives in an environment of its own.
.venv-lightgbm3/installed: pyproject.toml
	$(PYTHON) -m venv .venv-lightgbm3
	$(BIN3)/pip install --quiet --upgrade pip
	$(BIN3)/pip install --quiet --editable . --group lightgbm3
	@touch $@

clean:
	rm -rf .venv .venv-lightgbm3 build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find lambdaplus tests \( -name '*.nb[ci]' -o -name '__pycache__' \) -prune -exec rm -rf {} +
