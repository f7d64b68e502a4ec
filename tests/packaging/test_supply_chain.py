"""What is brought in is named by its hash, and what holds rights builds nothing."""

import json
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from distribution.identity import identity
from distribution.release import checked
from distribution.wheels import PLATFORMS, refuse_foreign_wheels
from tests.docs.markdown import DOCUMENTS
from tests.packaging.dockerfile import Instruction, read_dockerfile
from tests.packaging.project import ROOT, make_targets
from tests.packaging.supply_chain import (
    find_loose_actions,
    find_loose_installs,
    find_loose_rights,
    find_unchecked_downloads,
    scripts_of,
)

WORKFLOWS = sorted((ROOT / ".github" / "workflows").iterdir())
LOCKS = sorted((ROOT / "distribution" / "locks").glob("*.txt"))
HASH = "0123456789abcdef0123456789abcdef01234567"


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def every_script() -> dict[str, list[str]]:
    """What machines of ours and of others run, by its file."""
    steps = [
        Instruction("RUN", step).command
        for stage in read_dockerfile(ROOT / "Dockerfile")
        for step in stage.all("RUN")
    ]
    return {
        **{path.name: scripts_of(read(path)) for path in (*WORKFLOWS, ROOT / "action.yml")},
        "Makefile": [read(ROOT / "Makefile")],
        ".ci/run": [read(ROOT / ".ci" / "run")],
        "Dockerfile": steps,
        **{path.name: [read(path)] for path in (ROOT / "distribution").glob("*.sh")},
    }


SCRIPTS = every_script()


@pytest.mark.parametrize("path", [*WORKFLOWS, ROOT / "action.yml"], ids=lambda path: path.name)
def test_every_action_is_named_by_its_commit(path: Path) -> None:
    assert find_loose_actions(read(path)) == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_document_shows_no_action_that_can_be_moved(document: str) -> None:
    assert find_loose_actions(read(ROOT / document), own=identity().place) == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_job_says_its_rights_and_none_that_has_some_builds(path: Path) -> None:
    assert find_loose_rights(read(path)) == []


@pytest.mark.parametrize("name", SCRIPTS)
def test_nothing_is_downloaded_or_installed_without_its_hash(name: str) -> None:
    assert SCRIPTS[name] != []
    for script in SCRIPTS[name]:
        assert find_unchecked_downloads(script) == []
        assert find_loose_installs(script) == []


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_every_line_of_a_lock_is_one_version_with_its_hashes(path: Path) -> None:
    lines = re.sub(r"\\\n\s*", "", read(path)).splitlines()
    packages = [line for line in lines if not line.startswith("#")]
    assert packages
    for line in packages:
        assert re.match(r"[\w.-]+(?:\[[\w,-]+\])?==\S+ .*--hash=sha256:[0-9a-f]{64}", line), line


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_a_lock_says_how_it_is_made_with_the_versions_that_it_has(path: Path) -> None:
    said = [line for line in read(path).splitlines() if line.startswith("#")]
    wanted = re.findall(r"[\w.-]+==[\w.]+", "".join(said))
    assert wanted
    assert all(f"\n{pin} \\\n" in read(path) for pin in wanted)


def test_a_checkout_leaves_no_token_behind() -> None:
    for path in WORKFLOWS:
        for job in yaml.safe_load(read(path))["jobs"].values():
            for step in job["steps"]:
                if step.get("uses", "").startswith("actions/checkout@"):
                    assert step["with"]["persist-credentials"] is False


def test_the_action_installs_from_the_lock() -> None:
    script = "\n".join(scripts_of(read(ROOT / "action.yml")))
    (sync,) = [line for line in script.splitlines() if " sync " in line]
    assert {"--frozen", "--no-install-project"} <= set(sync.split())


@pytest.mark.slow
def test_a_wheel_that_the_lock_does_not_have_is_not_put_into_a_bundle(tmp_path: Path) -> None:
    refuse_foreign_wheels(tmp_path)
    (tmp_path / "mcp-9-py3-none-any.whl").write_bytes(b"another")
    with pytest.raises(SystemExit, match=r"mcp-9-py3-none-any\.whl is not the file of uv\.lock"):
        refuse_foreign_wheels(tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        "- uses: actions/checkout@v4",
        "- uses: pypa/gh-action-pypi-publish@release/v1",
        f"- uses: actions/checkout@{HASH}",
        f"- uses: actions/checkout@{HASH[:7]} # v4.0.0",
        "uses: docker://alpine:3",
        "uses: me/mine@v1",
    ],
)
def test_an_action_that_can_be_moved_is_found(line: str) -> None:
    assert len(find_loose_actions(line)) == 1
    assert find_loose_actions(f"- uses: actions/checkout@{HASH} # v4.0.0\n") == []
    assert find_loose_actions("uses: me/mine@v1", own="me/mine") == []


@pytest.mark.parametrize(
    ("job", "fault"),
    [
        ("{steps: []}", "does not say its rights"),
        ("{permissions: write-all, steps: []}", "does not say its rights"),
        ("{permissions: {id-token: write}, steps: []}", "no job before it made"),
        ("{permissions: {id-token: write}, needs: a, steps: [{run: make release}]}", "builds"),
        ("{permissions: {packages: write}, needs: a, steps: [{run: docker build .}]}", "builds"),
        ("{permissions: {contents: write}, needs: a, steps: [{run: pip install .}]}", "builds"),
        (
            "{permissions: {packages: write}, needs: a,"
            " steps: [{uses: docker/build-push-action@v6}]}",
            "builds",
        ),
    ],
)
def test_a_job_with_rights_that_it_should_not_have_is_found(job: str, fault: str) -> None:
    (found,) = find_loose_rights(f"permissions: {{}}\njobs:\n  a: {job}\n")
    assert fault in found


def test_rights_for_all_jobs_are_found() -> None:
    job = "jobs: {a: {permissions: {contents: read}, steps: [{run: make}]}}"
    assert find_loose_rights(f"permissions: {{}}\n{job}") == []
    assert len(find_loose_rights(job)) == 1
    assert len(find_loose_rights(f"permissions: {{contents: read}}\n{job}")) == 1


@pytest.mark.parametrize(
    "script",
    [
        "curl -L https://example.org/tool | tar xz",
        "wget https://example.org/tool\nchmod +x tool\n./tool",
        "gh release download --repo a/b --pattern '*'\ntar xf tool.tar.gz",
        "curl -o tool https://example.org/tool\nchmod +x tool\nsha256sum --check sums",
    ],
)
def test_a_download_without_a_check_sum_is_found(script: str) -> None:
    assert len(find_unchecked_downloads(script)) == 1
    checked = f"{script.splitlines()[0]}\nsha256sum --check --strict <<< '{HASH}  tool'"
    assert find_unchecked_downloads(checked) == []


@pytest.mark.parametrize(
    "script",
    [
        "pip install uv",
        "pip install uv==0.13.9",
        '"$RUNNER_TEMP/sifaka/bin/pip" install --quiet "$SOURCE[cli]"',
        "python -m pip install \\\n  --quiet uv",
        "npm install mermaid@11",
        "npx something",
        "uvx ruff",
    ],
)
def test_an_installation_without_hashes_is_found(script: str) -> None:
    assert len(find_loose_installs(script)) == 1


def test_an_installation_with_hashes_is_none_that_is_found() -> None:
    assert find_loose_installs("pip install --quiet --require-hashes -r lock.txt\nnpm ci\n") == []


WORKFLOW: dict[Any, Any] = yaml.safe_load(
    (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
)
JOBS: dict[str, dict[str, Any]] = WORKFLOW["jobs"]


def steps(job: str) -> str:
    return json.dumps(JOBS[job]["steps"])


def test_the_workflow_makes_what_continuous_integration_makes() -> None:
    called = set(re.findall(r"\bmake ([a-z-]+)", "".join(map(steps, JOBS))))
    assert called == {"release"} <= make_targets()
    assert " release " in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert WORKFLOW[True] == {"push": {"tags": ["v*"]}}  # YAML takes `on` for true


def test_the_release_has_a_bundle_for_every_platform() -> None:
    (told,) = re.findall(r'PLATFORMS=\\"([^"\\]+)\\"', steps("files"))
    assert told.split() == list(PLATFORMS)


def test_the_image_is_tagged_as_the_entry_in_the_registry_names_it() -> None:
    (push,) = [step for step in JOBS["push"]["steps"] if step.get("id") == "push"]
    assert 'place="ghcr.io/${GITHUB_REPOSITORY,,}"' in push["run"]
    assert 'version="${GITHUB_REF_NAME#v}"' in push["run"]
    assert '"docker://$place:$version"' in push["run"]


def test_nothing_is_published_before_the_files_were_checked() -> None:
    assert set(JOBS["sign"]["needs"]) == {"files", "image"}
    assert {JOBS[name]["needs"] for name in ("release", "pypi", "push")} == {"sign"}
    assert set(JOBS["registry"]["needs"]) == {"pypi", "push"}


def test_what_builds_may_only_read_and_there_is_no_password() -> None:
    for name in ("files", "image"):
        assert JOBS[name]["permissions"] == {"contents": "read"}
    assert JOBS["pypi"]["permissions"] == {"contents": "read", "id-token": "write"}
    assert "secrets." not in json.dumps(JOBS)


def test_what_is_published_has_its_provenance_and_its_parts() -> None:
    for job, parts in (("sign", "files/sifaka-mcp.cdx.json"), ("push", "image/parts.cdx.json")):
        used = [step for step in JOBS[job]["steps"] if "/attest@" in step.get("uses", "")]
        assert [step["with"].get("sbom-path") for step in used] == [None, parts]
    assert "pypi-attestations" in steps("pypi")
    (built,) = [step for step in JOBS["image"]["steps"] if "EXTRAS" in step.get("env", {})]
    assert '--build-arg EXTRAS="$EXTRAS"' in built["run"]
    assert "--extra http $EXTRAS --format cyclonedx1.5" in built["run"]


@pytest.fixture
def made(distributions: Path, tmp_path: Path) -> Path:
    """A folder as `make wheel bundle` leaves it; what is in the bundle is tested elsewhere."""
    shutil.copytree(distributions, tmp_path / "wheel")
    (tmp_path / "sifaka-mcp.mcpb").write_bytes(b"bundle")
    return tmp_path


@pytest.mark.servers
def test_the_files_of_a_release_are_checked_and_listed_with_their_parts(made: Path) -> None:
    lines = checked(made, f"v{identity().version}")
    assert (made / "SHA256SUMS").read_text(encoding="utf-8").splitlines() == lines
    parts = json.loads((made / "sifaka-mcp.cdx.json").read_text(encoding="utf-8"))
    names = {part["name"] for part in parts["components"]}
    assert {"mcp", "pydantic-ai-slim", "harper-py"} <= names
    assert not {"pytest", "ruff", "redis"} & names


@pytest.mark.servers
def test_a_tag_of_another_version_and_a_missing_file_end_it(made: Path) -> None:
    with pytest.raises(SystemExit, match=r"the tag is v9\.9\.9"):
        checked(made, "v9.9.9")
    (made / "sifaka-mcp.mcpb").unlink()
    with pytest.raises(SystemExit, match=r"mcpb is missing"):
        checked(made)


@pytest.mark.servers
def test_the_source_distribution_tests_itself(distributions: Path, tmp_path: Path) -> None:
    (path,) = distributions.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    # Its own files come first on the path: the tests there import them, not these.
    told = "import sifaka, sifaka_mcp; print(sifaka.__file__, sifaka_mcp.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = ['.', 'server']; {told}"],
        cwd=unpacked, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert all(place.startswith(str(unpacked)) for place in done.stdout.split())
    some = ("tests/sifaka/_internal/test_suggestions.py", "tests/packaging/test_metadata.py")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *some]
    done = subprocess.run(command, cwd=unpacked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
