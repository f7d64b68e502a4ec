"""What is published: the workflow calls what is here, and the files are checked before."""

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
from distribution.wheels import PLATFORMS
from tests.packaging.makefile import make_targets
from tests.packaging.project import ROOT

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
    some = ("tests/sifaka/_internal/test_suggestions.py", "tests/packaging/test_identity.py")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *some]
    done = subprocess.run(command, cwd=unpacked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
