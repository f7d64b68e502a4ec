"""The skeleton of reStructuredText by docutils, which is taught the names it does not know."""

import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive

# Their types are not complete.
_core: Any = import_module("docutils.core")
directives: Any = import_module("docutils.parsers.rst.directives")
roles: Any = import_module("docutils.parsers.rst.roles")

PROSE = "words"
_CODE = frozenset(
    re.findall(
        r"\S+",
        """code-block sourcecode literalinclude toctree productionlist graphviz doctest testcode
        testoutput testsetup testcleanup highlight kernel-doc c:expr digraph index math
        tabularcolumns prompt ipython parsed-literal program-output automodule autoclass
        autofunction autodoc inheritance-diagram kernel-figure kernel-render
        flat-table cssclass ifconfig
        jinja plantuml mermaid""",
    )
)
_PROSE_ARGUMENT = frozenset(
    re.findall(
        r"\S+",
        """versionadded versionchanged versionremoved deprecated deprecated-removed seealso todo
        centered rubric""",
    )
)
_IGNORED = frozenset(
    {
        "ids",
        "names",
        "dupnames",
        "backrefs",
        "source",
        "refid",
        "xml:space",
        "line",
        "anonymous",
        "auto",
        "title",
    }
)


class _AnyOption(dict[str, Any]):
    """Takes each option as it is."""

    def __missing__(self, key: str) -> Any:
        return directives.unchanged


class _Unknown(Directive):
    """A directive of Sphinx or an extension: its content is read, unless it is code."""

    optional_arguments = 1
    final_argument_whitespace = True
    option_spec = _AnyOption(name=directives.unchanged)
    has_content = True

    def run(self) -> list[nodes.Node]:
        argument = self.arguments[0] if self.arguments else ""
        prose = self.name in _PROSE_ARGUMENT
        node = nodes.container(directive=self.name, options=sorted(self.options.items()))
        node["argument"] = PROSE if prose else argument
        if self.name in _CODE:
            node += nodes.literal_block("", "\n".join(self.content))
        else:
            self.state.nested_parse(self.content, self.content_offset, node)
        return [node]


def _unknown_role(
    name: str,
    rawtext: str,
    text: str,
    lineno: int,
    inliner: Any,
    options: Any = None,
    content: Any = None,
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    return [nodes.literal(rawtext, rawtext)], []


def rst(text: str) -> Iterator[object]:
    """The doctree without words; literals, targets and options as they are."""
    _teach(text)
    settings = {
        "report_level": 5,
        "halt_level": 5,
        "file_insertion_enabled": False,
        "syntax_highlight": "none",
        "_disable_config": True,
        "line_length_limit": 1_000_000,
    }
    yield from _walk(_core.publish_doctree(text, settings_overrides=settings))


def _teach(text: str) -> None:
    for name in set(re.findall(r"\.\. ([\w:.+-]+?) ?::(?:\s|$)", text)):
        if name.lower() not in directives._directive_registry:
            directives.register_directive(name, _Unknown)
    for name in set(re.findall(r":([A-Za-z][\w:+.-]*):`|`:([A-Za-z][\w:+.-]*):", text)):
        for role in name:
            if role and role.lower() not in roles._role_registry:
                roles.register_local_role(role, _unknown_role)


_EXACT = (
    nodes.literal,
    nodes.literal_block,
    nodes.math,
    nodes.math_block,
    nodes.comment,
    nodes.raw,
    nodes.doctest_block,
    nodes.target,
    nodes.substitution_definition,
    nodes.option_group,
)


def _walk(node: nodes.Node) -> Iterator[object]:
    if isinstance(node, nodes.Text):
        if re.search(r"\w", node.astext()):
            yield PROSE
        return
    assert isinstance(node, nodes.Element)
    attributes = {key: value for key, value in _attributes(node).items() if key not in _IGNORED}
    if not isinstance(node, (nodes.reference, nodes.target)):
        attributes.pop("name", None)
    if isinstance(node, nodes.reference) and "refuri" not in attributes:
        attributes = {}
    yield (node.tagname, sorted(attributes.items(), key=str))
    if isinstance(node, _EXACT):
        yield node.astext()
        return
    if isinstance(node, nodes.system_message):
        yield "message"
        return
    for child in node.children:
        yield from _walk(child)
    yield f"/{node.tagname}"


def _attributes(node: nodes.Element) -> Mapping[str, Any]:
    return node.attributes
