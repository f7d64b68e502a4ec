"""Reading workflows and scripts for what they bring in, and for what they may do."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

_USES = re.compile(r"^[\s-]*uses:[ \t]*(?P<what>\S+)(?P<rest>.*)$", re.MULTILINE)
_PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")
_VERSION = re.compile(r"\s+# v\d+\.\d+\.\d+")
_BUILD = re.compile(
    r"\bmake\b|\bnpm\b|\b(?:docker|buildah|podman|buildx|uv|go|cargo|gh)\s+(?:build|bud|run|sync)\b"
    r"|-m build\b|\bpip install (?!.*--require-hashes)"
    r"|build-push-action|/setup-(?:python|node|buildx)"
)
_DOWNLOAD = re.compile(r"\b(?:curl|wget|gh release download|gh api)\b")
_CHECK = re.compile(r"\b(?:sha256sum|shasum)\b[^\n]*--check\b|\bsha256sum -c\b")
_INSTALL = re.compile(
    r"\bpip3?\"?\s+(?:install|download)\b[^\n]*|\bnpm (?:install|i)\b|\bnpx\b|\buvx\b|\buv tool\b"
)
_HASHED = re.compile(r"--require-hashes|--no-deps .*--build-constraints")


def find_loose_actions(text: str, own: str = "") -> list[str]:
    """Every action that is not named by a commit, with its version beside it.

    Args:
        text: A workflow, an action, or a document with one.
        own: An action that is ours, whose commit no file of ours can name.
    """
    return [
        found["what"]
        for found in _USES.finditer(text)
        if not (own and found["what"].startswith(f"{own}@"))
        and not (_PINNED.fullmatch(found["what"]) and _VERSION.fullmatch(found["rest"]))
    ]


def find_loose_rights(text: str) -> list[str]:
    """What is wrong with the rights of a workflow: too many, not said, or held while it builds."""
    workflow: dict[str, Any] = yaml.safe_load(text)
    faults = [] if workflow.get("permissions") == {} else ["the workflow grants rights to all jobs"]
    for name, job in workflow["jobs"].items():
        rights: Any = job.get("permissions")
        if not isinstance(rights, Mapping):
            faults.append(f"{name} does not say its rights one by one")
        elif "write" in rights.values():
            if found := _BUILD.search("\n".join(_words(job))):
                faults.append(f"{name} has rights and builds: {found[0]}")
            if "needs" not in job:
                faults.append(f"{name} publishes what no job before it made")
    return faults


def find_unchecked_downloads(script: str) -> list[str]:
    """Each download whose file is not compared with a check sum in the very next line."""
    lines = [line.strip() for line in _join(script).splitlines() if line.strip()]
    return [
        line
        for line, after in zip(lines, [*lines[1:], ""], strict=True)
        if _DOWNLOAD.search(line) and not line.startswith("#") and not _CHECK.search(after)
    ]


def find_loose_installs(script: str) -> list[str]:
    """Each installation whose files have no hash to be compared with."""
    return [
        found[0]
        for line in _join(script).splitlines()
        if not line.lstrip().startswith("#")
        for found in _INSTALL.finditer(line)
        if not _HASHED.search(found[0])
    ]


def scripts_of(text: str) -> list[str]:
    """The scripts of a workflow or of a composite action."""
    read: dict[str, Any] = yaml.safe_load(text)
    holders = [*read.get("jobs", {}).values(), read.get("runs", {})]
    return [step["run"] for each in holders for step in each.get("steps", ()) if "run" in step]


def _words(job: Mapping[str, Any]) -> Iterator[str]:
    """What a job does: its scripts, its actions and what they are told."""
    for step in job["steps"]:
        yield _join(step.get("run", ""))
        yield json.dumps([step.get("uses", ""), step.get("with", {})])


def _join(script: str) -> str:
    return re.sub(r"\\\n\s*", "", script)
