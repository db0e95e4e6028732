# One command each: `make run` to try it, `make test` before a commit. Nothing but python3 (3.11 or newer) is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
SHARE := .venv-share
CODE := core inspector scripts bench tests

.PHONY: setup run test check bench test-clients test-faults setup-share lock picture

setup: $(READY)

# Made anew where the lock or the project's own metadata is newer: exactly the locked files, checked by their hashes.
$(READY): requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "seamline needs Python 3.11 or newer: make $(or $(MAKECMDGOALS),setup) PYTHON=python3.12" >&2; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	touch $@

# The samples are copied, and receipts and caches go beside the copy: trying things out changes no tracked file.
# The copies are old, so that no agent is taken to be writing them; the English one is the newest.
run: setup
	rm -rf .run && mkdir -p .run && cp -R sample_sessions .run/sessions
	find .run/sessions -type f -exec touch -t 202609010000 {} +
	touch -t 202609020000 .run/sessions/pi/interface-migration.jsonl
	SEAMLINE_STATE_DIR=.run/state SEAMLINE_CACHE_DIR=.run/cache $(BIN)/seamline .run/sessions

test: check
	$(BIN)/python -m pytest -n 2 --dist loadfile

check: setup
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/ruff check $(CODE)
	$(BIN)/pyright

bench: setup
	$(BIN)/python bench/run.py

test-clients: setup
	tests/clients/run

# Needs strace and root for all of it; says what is missing and does the rest.
test-faults: setup
	tests/faults/run

# textual-web pins an old textual, so it has an environment of its own.
setup-share: $(SHARE)/.ready

$(SHARE)/.ready: requirements/share.txt
	test -x $(SHARE)/bin/python || $(PYTHON) -m venv $(SHARE)
	$(SHARE)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/share.txt
	touch $@

# Resolve the dependencies of pyproject.toml anew; `make lock UPGRADE=--upgrade` takes the newest of each.
lock:
	test -x .venv-lock/bin/python || $(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install --quiet --disable-pip-version-check "pip-tools>=7.5"
	.venv-lock/bin/python scripts/lock.py $(UPGRADE)

picture: setup
	$(BIN)/python scripts/picture.py
