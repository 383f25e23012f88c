# make demo    sets up and trains on data that comes along
# make test    sets up, lints, type-checks and runs all tests
# make check   lint and types alone
# make bench   every benchmark that has bars, with the bars checked

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet -c constraints.txt

.PHONY: demo test check bench clean

demo: .venv/.ready
	$(BIN)/sgcl demo

test: check
	$(BIN)/python -m pytest -n auto

check: .venv/.ready-dev
	$(BIN)/ruff check sgcl tests benchmarks examples
	$(BIN)/mypy

bench: .venv/.ready-dev
	for script in $$(grep -l 'return finish(' benchmarks/*.py); do $(BIN)/python $$script --check || exit 1; done

.venv/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(PIP) -e '.[all]'
	touch $@

.venv/.ready-dev: .venv/.ready
	$(PIP) -e '.[dev]'
	touch $@

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
