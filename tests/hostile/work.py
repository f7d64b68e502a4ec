"""The functions that take texts of strangers: those found by their arguments, and those listed."""

import importlib
import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import FunctionType

import sifaka
from sifaka.critics.opinion import anchored
from sifaka.editor.edit import apply
from sifaka.editor.facts import keeps_facts, keeps_surroundings
from sifaka.editor.protection import named_inline, tokens_of, verbatim_inline
from sifaka.editor.rules import wanted
from sifaka.editor.style import Prose, habits
from sifaka.evidence.claims.comparison import (
    disagreement,
    judged_by_rule,
    rows,
    sentences_of,
    with_neighbours,
)
from sifaka.evidence.claims.extraction import claims_given
from sifaka.evidence.documents import SourceDocument, plain_line
from sifaka.evidence.passages import QuotableText, excerpt, overlap, stretches
from sifaka.evidence.sources.folder import title_of
from sifaka.evidence.sources.readers import decoded
from sifaka.models.draft_extraction import Source, draft_of, mended
from sifaka.models.prompt import contents, frame
from sifaka.models.sectioned import in_place_of
from sifaka.models.writing import revised
from sifaka.record.diff import diff, edited, edits_of
from sifaka.record.results import Issue
from sifaka.record.rule_choice import RuleChoice
from sifaka.record.thought import Thought
from sifaka.research.draft import tidied
from sifaka.research.report import renumbered
from sifaka.text.anchoring import anchor
from sifaka.text.differences import compare
from sifaka.text.formats import Format, marks, underlined
from sifaka.text.formats.markup_spans import view
from sifaka.text.language import is_enough, language_of_script
from sifaka.text.limits import asked_of, outside_scope, scope_of
from sifaka.text.names import names_in
from sifaka.text.prose import blanked, cut_line, trimmed, urls, whole_words
from sifaka.text.search_terms import parts, places, term_counts, text_terms
from sifaka.text.sections import shared_terms, split
from sifaka.text.words import nth_character, nth_word
from sifaka.validators.format import csv_text, html_text, json_text, toml_text, xml_text, yaml_text
from sifaka.validators.preserve import lost_spans

Work = Callable[[str], object]

PACKAGES = ("text", "record", "editor", "models", "evidence", "validators", "research", "critics")
"""Where texts are read."""
NAMES = frozenset({"text", "html", "reply", "answer", "sentence", "prose", "task"})
"""What parameters are called that take such texts."""

_QUOTE = "they have said that it is so"
_SHORT = "It is a text of 12 men."


def changed(text: str) -> str:
    """The text with a change at its beginning, and many in its later half."""
    middle = len(text) // 2
    return f"now {text[:middle]} now {text[middle:].replace('a', 'b')}"


def _issue(text: str) -> Issue:
    middle = len(text) // 2
    return Issue(
        message="x", quote=text[middle : middle + 5], fix="y", start=middle, end=middle + 5
    )


def _issues(text: str) -> Iterator[Issue]:
    return (Issue(message="x", start=at, end=at + 5) for at in range(0, len(text), 50))


def _commented(text: str) -> str:
    return "".join(f"{text[at : at + 100]} # sifaka: ignore\n" for at in range(0, len(text), 100))


def _edits_of(text: str) -> str:
    places = range(0, len(text), 1 + len(text) // 100)
    return json.dumps({"edits": [{"find": text[at : at + 40], "replace": "x"} for at in places]})


def _page(text: str) -> SourceDocument:
    return SourceDocument(text=text, title="A page")


def _marks(format_: Format, text: str) -> object:
    return marks(text, format_)


LISTED: Mapping[str, tuple[Callable[..., object], Work]] = {
    "issues that quote it": (anchored, lambda t: anchored([], t)),
    "facts kept by an edit": (keeps_facts, lambda t: keeps_facts(t, _issue(t))),
    "words around an edit": (keeps_surroundings, lambda t: keeps_surroundings(t, _issue(t))),
    "code and addresses": (
        verbatim_inline,
        lambda t: verbatim_inline(t, Format.MARKDOWN, tokens_of(t)),
    ),
    "stock prose": (habits, lambda t: habits(Prose(t, t))),
    "findings with comments": (wanted, lambda t: wanted(_issues(t), _commented(t), RuleChoice())),
    "names": (names_in, lambda t: names_in(t, "en")),
    "names and quotes": (named_inline, lambda t: named_inline(t, tokens_of(t))),
    "claims that are given": (claims_given, lambda t: claims_given([_SHORT, t[:500]], t)),
    "figures that differ": (disagreement, lambda t: disagreement(t, changed(t))),
    "a claim by rule": (judged_by_rule, lambda t: judged_by_rule(t[:2_000], _page(t))),
    "sentences of a quote": (sentences_of, lambda t: sentences_of(t[-900:-3], QuotableText(t))),
    "neighbours": (with_neighbours, lambda t: with_neighbours(t[-900:-3], QuotableText(t))),
    "stretches": (stretches, lambda t: stretches(t, 700)),
    "an excerpt": (excerpt, lambda t: excerpt(t, "closed firm of men", 2_000)),
    "overlap": (overlap, lambda t: overlap("the firm is closed", t)),
    "a quote": (QuotableText, lambda t: QuotableText(t).find(_QUOTE)),
    "its own end as a quote": (QuotableText, lambda t: QuotableText(t).find(t[-900:-3])),
    "as a quote": (QuotableText, lambda t: QuotableText(_SHORT).find(t)),
    "its title": (title_of, lambda t: title_of(t, "a.md")),
    "bytes": (decoded, lambda t: decoded(t.encode())),
    "an answer": (draft_of, lambda t: draft_of(t, Source(_SHORT))),
    "an answer of edits": (revised, lambda t: revised(Thought(text=_SHORT), t)),
    "edits of it": (revised, lambda t: revised(Thought(text=t), _edits_of(t))),
    "a short answer": (draft_of, lambda t: draft_of(f"Here it is:\n\n{_SHORT}", Source(t))),
    "its next version": (draft_of, lambda t: draft_of(changed(t), Source(t))),
    "an answer, mended": (mended, lambda t: mended(t, Source(_SHORT))),
    "framed": (frame, lambda t: contents(frame("text", t))),
    "a prompt": (contents, contents),
    "diff": (diff, lambda t: diff(t, changed(t))),
    "diff with a short text": (diff, lambda t: diff(t, _SHORT)),
    "diff with itself reversed": (diff, lambda t: diff(t, t[::-1])),
    "edits": (edits_of, lambda t: edits_of(diff(t, changed(t)))),
    "edits, made": (edited, lambda t: edited(t, edits_of(diff(t, f"{t} now")) or ())),
    "a draft": (tidied, lambda t: tidied(t, "Title")),
    "numbers of references": (renumbered, lambda t: renumbered(t, {1: 2})),
    "a similar quote": (anchor, lambda t: anchor(t, _QUOTE)),
    "quotes": (anchor, lambda t: anchor(t, t[100:300].replace("a", "e", 3) + "x")),
    **{f"marks of {each}": (marks, partial(_marks, each)) for each in Format},
    "underlined headings": (underlined, lambda t: underlined(t, Format.RST)),
    "prose of LaTeX": (view, lambda t: view(t, marks(t, Format.LATEX))),
    "shared terms": (shared_terms, lambda t: shared_terms([t, t])),
    "sections": (split, lambda t: split(t, 3_000)),
    "parts": (parts, lambda t: parts(t, (0, len(t)))),
    "places": (places, lambda t: places(t, (0, len(t)), frozenset({"firm"}), "en")),
    "counted terms": (term_counts, lambda t: term_counts(t, "en")),
    "terms": (text_terms, lambda t: text_terms(t, "en")),
    "the last word": (nth_word, lambda t: nth_word(t, 10**6)),
    "the last character": (nth_character, lambda t: nth_character(t, 10**7)),
    "CSV": (csv_text.read, lambda t: csv_text.read(f"a,b\n{t}", None)),
    "HTML": (html_text.read, lambda t: html_text.read(t, None)),
    "JSON": (json_text.read, lambda t: json_text.read(t, None)),
    "JSON, its keys": (json_text.parse, lambda t: json_text.parse(json.dumps([t, {t: t}]))),
    "TOML": (toml_text.read, lambda t: toml_text.read(t, None)),
    "TOML, a key": (toml_text.read, lambda t: toml_text.read(f"{t} = 1", None)),
    "XML": (xml_text.read, lambda t: xml_text.read(f"<a>{t}</a>", None)),
    "a place in JSON": (
        json_text.locate,
        lambda t: json_text.locate(json.dumps([t, {"a": t}]), (1, "a")),
    ),
    "YAML": (yaml_text.read, lambda t: yaml_text.read(t, None)),
    "a language": (is_enough, lambda t: is_enough(t, t)),
    "trimmed": (trimmed, lambda t: trimmed(t, 0, len(t))),
    "one line": (cut_line, lambda t: cut_line(t, len(t) // 2)),
    "whole words": (whole_words, lambda t: whole_words(t, len(t) // 2)),
    "without spans": (blanked, lambda t: blanked(t, urls(t))),
    "a language by its script": (language_of_script, lambda t: language_of_script("cyrillic", t)),
    "one edit": (apply, lambda t: apply(t, [_issue(t)])),
    "a section": (in_place_of, lambda t: in_place_of(split(_SHORT, 500)[0], t)),
    "a line of it": (plain_line, lambda t: plain_line(t, 300)),
    "rows of a table": (rows, lambda t: rows(t, 0, len(t))),
    "what differs": (compare, lambda t: compare(t[:20_000], changed(t[:20_000]))),
    "a task of it": (compare, lambda t: compare(_SHORT, f"{_SHORT} Now.", task=t[:20_000])),
    "limits": (asked_of, lambda t: asked_of(t[:20_000], t)),
    "a part": (scope_of, lambda t: scope_of("only section 3", t)),
    "what is outside a part": (
        outside_scope,
        lambda t: outside_scope("only section 3", t, changed(t)),
    ),
    "what is lost": (lost_spans, lambda t: lost_spans(t, changed(t))),
}
"""By what it is: a function, and how it is given a text."""
ELSEWHERE: Mapping[str, str] = {
    "sifaka.critics.lint.find_stock_prose": "the critic `style` runs it",
    "sifaka.editor.edit.settle": "`edit` does it",
    "sifaka.editor.report.lint": "`edit` finds the same",
    "sifaka.evidence.sources.catalogue.parse_adapter": "takes a setting of the server's owner",
    "sifaka.text.formats.markup_spans.pairs": "`marks` of LaTeX and MDX",
    "sifaka.text.formats.markup_spans.with_its_word": "`marks` of LaTeX and HTML",
    "sifaka.validators.format.reading.checked": "calls `read` of a format",
    "sifaka.validators.guardrails.run": "the code of others; in a thread that is given up",
}
"""Functions that take texts, and are not tried by themselves for a reason."""


def name_of(function: Callable[..., object]) -> str:
    """Its name with its module's."""
    return f"{function.__module__}.{function.__qualname__}"


def _takes_texts() -> Iterator[tuple[FunctionType, bool]]:
    """The public functions that take a text, and whether they need nothing else."""
    root = Path(sifaka.__file__).parent
    for file in sorted(each for name in PACKAGES for each in (root / name).rglob("*.py")):
        place = file.relative_to(root.parent).with_suffix("").parts
        module = importlib.import_module(".".join(place).removesuffix(".__init__"))
        for name, value in vars(module).items():
            if not isinstance(value, FunctionType) or name.startswith("_"):
                continue
            if value.__module__ != module.__name__ or inspect.iscoroutinefunction(value):
                continue
            given = inspect.signature(value).parameters.values()
            texts = [p for p in given if p.name in NAMES and p.annotation in (str, "str")]
            required = [p for p in given if p.default is p.empty]
            if texts:
                yield value, len(required) == 1 and required[0] in texts


FOUND: Mapping[str, Work] = {name_of(each): each for each, alone in _takes_texts() if alone}
"""Those that need nothing but a text."""
OTHERS: frozenset[str] = frozenset(name_of(each) for each, alone in _takes_texts() if not alone)
"""Those that need more, which have to be listed."""
WORK: Mapping[str, Work] = {
    **{name: work for name, work in FOUND.items() if name not in ELSEWHERE},
    **{name: work for name, (_, work) in LISTED.items()},
}
