"""What is code, markup or verbatim in a format stays; its prose is mended."""

import pytest

from sifaka.editor import edit, lint, protected
from sifaka.text.formats import Format, recognise

RST = """\
Teh Title
=========

We recieve it, see :ref:`teh thing`, ``recieve teh`` and `teh <recieve>`__.

.. code-block:: python
   :caption: teh

   from recieve import teh

   x = teh

.. note:: We recieve a apple.
   :class: teh

   We recieve it.

.. math::

   recieve = teh

.. |teh| replace:: recieve
.. _recieve: teh
.. a comment with teh recieve

Text::

    recieve teh

- item::

     recieve teh

  Then recieve the item.

:param untill: We recieve it.

======  =======
teh     recieve
======  =======
untill  adress
======  =======

>>> recieve teh
"""
ASCIIDOC = """\
= A Title
:teh: recieve

We recieve it. See <<teh,recieve>> and `recieve teh` or {recieve} or teh:recieve[untill].

[source,python]
----
from recieve import teh
----

.We recieve it
====
We recieve it.
====

....
recieve teh
....

++++
<p>recieve
++++

 literal recieve teh

* We recieve an item.
+
----
recieve
----

// recieve teh
|===
| recieve | teh
|===
"""
LATEX = r"""
\documentclass{article}
\usepackage{recieve}
\begin{document}
\section{We recieve it}
We recieve \emph{a apple} and \cite{recieve} with \texttt{recieve} % recieve teh
and $teh + recieve$ and \verb|teh recieve|.
\begin{verbatim}
recieve teh
\end{verbatim}
\begin{lstlisting}[language=teh]
recieve
\end{lstlisting}
\begin{equation}
recieve = teh
\end{equation}
\begin{itemize}
\item We recieve it.
\end{itemize}
\newcommand{\recieve}[1]{teh #1}
\end{document}
"""
HTML = """\
<!doctype html>
<html><head><title>We recieve it</title><script>var recieve = "teh";</script>
<style>.recieve { teh: 1 }</style></head>
<body class="teh recieve"><!-- recieve teh -->
<p>We recieve <b title="teh">it</b> &amp; use <code>recieve teh</code>.</p>
<pre>recieve
teh</pre>
<p>We recieve a apple.
</body></html>
"""
MDX = """\
import Recieve from './recieve'
export const teh = 1

# We recieve it

<Tabs recieve="teh" items={[
  'recieve', 'teh']}>
We recieve it {props.recieve + teh}.
</Tabs>

```js
recieve teh
```
"""
MENDED = {
    Format.RST: (RST, ["recieve"] * 5 + ["a"]),
    Format.ASCIIDOC: (ASCIIDOC, ["recieve"] * 4),
    Format.LATEX: (LATEX, ["recieve", "recieve", "a", "recieve"]),
    Format.HTML: (HTML, ["recieve", "recieve", "recieve", "a"]),
    Format.MDX: (MDX, ["recieve", "recieve"]),
}


@pytest.mark.parametrize("format_", MENDED)
def test_the_prose_of_a_format_is_mended_and_nothing_else(format_: Format) -> None:
    text, mended = MENDED[format_]
    assert recognise(text) is format_
    assert sorted(entry.before for entry in edit(text).edits) == sorted(mended)
    inside = protected(text, format_)
    for issue in lint(text).issues:
        start, end = issue.start or 0, issue.end or 0
        assert not any(a < end and start < b for a, b in inside), issue


PYTHON = '''\
"""We recieve teh data."""
import os


def recieve_it(untill: int) -> str:
    # We do it untill the adress is neccessary.
    return teh("recieve teh")  # noqa: teh
'''


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (PYTHON, None),
        (PYTHON, "module.py"),
        ("int recieve(int teh);\n", "recieve.h"),
        ('{"teh": "recieve it"}', None),
        ("name: We recieve it.\n", "teh.yaml"),
        ("teh,recieve\n", "teh.csv"),
    ],
)
def test_code_and_data_are_not_checked_and_that_is_said(text: str, path: str | None) -> None:
    format_ = recognise(text, path)
    assert edit(text, format=format_).text == text
    found = lint(text, format=format_)
    assert (found.issues, found.checked) == ((), False)
    (line,) = found.degraded
    assert line.startswith("format: ")
    assert line.endswith("is not checked")
