// What is around the text: what happened, rules, critics, evidence, what is left, the brief that waits.

// What happened, and why the current version passes or does not.
function story(run, live) {
  const best = run.champion === null ? null : run.versions[run.champion];
  if (!best) return live ? null : run.status === "failed" ? "The run failed before it had a version to keep." : "No version was kept.";
  const name = best.number ? `Version ${best.number}` : "The text as it came";
  if (run.status !== "done") return [h("b", null, name), " is the best so far", live || run.passed ? "." : [": ", listed(shortcomings(run, best)), "."]];
  const result = !best.number && run.versions.length > 1 ? ["No version was better, so ", h("b", null, "the text as it came"), " is the result"] : [h("b", null, name), " is the result"];
  if (run.stop_reason === "rules_met" && !run.passed) return [result, ": ", listed([...merits(run, best), "nobody has judged what it says"]), "."];
  return run.passed ? [result, " and passes: ", listed(merits(run, best)), ".", run.left.length ? ` ${count(run.left.length, "remark")} that it may leave ${run.left.length === 1 ? "is" : "are"} below.` : null] : [result, " but does not pass: ", listed(shortcomings(run, best)), "."];
}

const listed = (parts) => parts.map((each, n) => [n ? (n === parts.length - 1 ? " and " : ", ") : null, each]);

function merits(run, best) {
  const met = best.rules.filter((rule) => rule.required && rule.passed && !rule.unchecked).length;
  const judge = { person: "you chose it", caller: "its writer has judged it", nobody: null };
  return [met ? `it meets ${count(met, "required rule")}` : null,
    run.declined !== null || run.declines.length ? "what was left was declined" : null,
    run.judged_by in judge ? judge[run.judged_by] : [foreign(run.judged_by), " accepts it"]].filter(Boolean);
}

function shortcomings(run, best) {
  const required = best.rules.filter((rule) => rule.required && (rule.unchecked || !rule.passed));
  const open = best.differences.filter((each) => each.status === "open").length;
  const told = [
    ...required.slice(0, 2).map((rule) => [h("b", null, foreign(rule.name)), rule.unchecked ? " could not be checked" : " fails (", rule.unchecked ? null : [foreign(short(rule.message, 120)), ")"]]),
    required.length > 2 ? `${required.length - 2} more rules fail` : null,
    open ? `${count(open, "difference")} from the input ${open === 1 ? "has" : "have"} no answer` : null,
    run.left.length ? `${count(run.left.length, "issue")} ${run.left.length === 1 ? "is" : "are"} left` : null,
    run.undone ? foreign(run.undone) : run.judged_by === "nobody" ? "nobody has judged what it says" : null,
  ].filter(Boolean);
  return told.length ? told : ["what is missing is below"];
}

const card = (title, ...content) => h("section.card", null, h("h2", null, title), content);

// Versions beside each other, rule by rule.
function rulesTable(columns, rows) {
  const names = [...new Set(columns.flatMap(({ version }) => version.rules.map((rule) => rule.name)))];
  const cell = ({ version, here }, name) => {
    const rule = version.rules.find((each) => each.name === name);
    const at = here ? " here" : "";
    if (!rule) return h("td", { class: `cell quiet${at}` }, "–");
    const [mark, kind, word] = rule.unchecked ? ["?", "advice", "not checked"] : rule.passed ? ["✓", "pass", "passed"] : rule.required ? ["✗", "fail", "failed"] : ["!", "advice", "advice"];
    const value = rule.passed || rule.unchecked ? "" : ` ${score(rule.score)}`;
    return h("td", { class: `cell ${kind}${at}`, title: rule.message }, h("span", { "aria-hidden": "true" }, mark + value), h("span.sr", null, word + value));
  };
  const line = (name, cells) => h("tr", null, h("th", { scope: "row" }, name), cells);
  return names.length || rows ? h("div.scroll", { tabindex: 0, role: "region", "aria-label": "Rules by version", "data-scroll": "rules", "data-k": "rules" },
    h("table", null, h("thead", null, h("tr", null, h("th", { scope: "col" }, "Rule"), columns.map(({ name, here }) => h(here ? "th.cell.here" : "th.cell", { scope: "col" }, name)))),
      h("tbody", null, (rows || []).map(([name, of]) => line(name, columns.map((each) => h(each.here ? "td.cell.here" : "td.cell", null, of(each))))), names.map((name) => line(foreign(name), columns.map((each) => cell(each, name))))))) : null;
}

function rulesPanel(run, picked) {
  const table = rulesTable(run.versions.map((version, place) => ({ version, name: `v${version.number}`, here: place === picked })));
  const open = run.versions[picked].rules.filter((rule) => !rule.passed || rule.unchecked);
  return table && h(run.versions.length > 4 ? "section.card.wide" : "section.card", null, h("h2", null, "Rules by version"), table,
    open.length ? h("ul.notes", null, open.map((rule) => h("li", null, h("b", null, foreign(rule.name)), ": ", foreign(rule.message), rule.suggestions.length ? h("span.quiet", null, " — ", foreign(rule.suggestions.join("; "))) : null))) : null);
}

// Two runs, the best version of one beside a version of the other.
function bothPanel(other, run, picked, open) {
  const columns = [{ run: other.run, version: other.line }, { run, version: run.versions[picked], here: true }].map((each, n) => ({ ...each, name: [n ? "this run" : "the other", h("br"), `v${each.version.number}`] }));
  return h("section.card", null, h("h2", null, "Both runs"), rulesTable(columns, [
    ["score", ({ version }) => score(version.score)], ["words", ({ version }) => version.words.toLocaleString(locale)],
    ["issues", ({ version }) => version.critics.reduce((sum, each) => sum + each.issues, 0)],
    ["model", (each) => foreign(each.run.model)], ["cost", (each) => money(each.run.usage.cost_usd)], ["time", (each) => seconds(each.run.usage.seconds)],
  ]), h("div.row-actions", null, button("Open the other run", open, { class: "tiny", "data-k": "other" })));
}

const ANSWERS = { open: "bad", refused: "bad", covered: "good", accepted: "good", noted: "" };

function differencesPanel(view, picked) {
  const { run } = view;
  const told = run.versions[picked].differences;
  if (!told.length) return null;
  return card("Differences from the original",
    h("ul.notes", null, told.map((each) => h("li", null, pill(each.status, ANSWERS[each.status]), h("span.quiet", null, ` ${each.kind.replaceAll("_", " ")} `),
      each.before ? h("del", null, foreign(each.before)) : null, each.before && each.after ? " → " : null, each.after ? h("ins", null, foreign(each.after)) : null,
      each.by ? h("span.quiet", null, " — ", foreign(each.by), each.reason ? [": ", foreign(each.reason)] : null) : null))), accepting(view, picked));
}

// Critics of one version work at the same time, and versions follow each other: pauses are left out.
function criticsPanel(run, picked) {
  let at = 0;
  const groups = run.versions.map((version, place) => {
    const rows = [];
    if (version.usage.seconds > 0 || version.usage.model_calls) rows.push({ name: `${version.author} writes`, kind: "writer", from: at, usage: version.usage });
    at += version.usage.seconds;
    for (const each of version.critics) rows.push({ name: each.name, kind: each.verdict === null && each.score === null ? "silent" : "", from: at, usage: each.usage, told: each });
    at += Math.max(0, ...version.critics.map((each) => each.usage.seconds));
    return { version, place, rows };
  });
  const total = groups.reduce((sum, each) => sum + each.rows.length, 0);
  if (!total) return null;
  const shown = total > 16 ? groups.filter((each) => each.place === picked) : groups;
  const longest = at || 1;
  const said = run.versions[picked].critics.filter((each) => each.suggestions.length || each.reason);
  return h("section.card.wide", null, h("h2", null, "Critics"),
    h("div.fall", null, shown.map((group) => [h("p.group", null, `Version ${group.version.number}`), group.rows.map((row) => {
      const verdict = row.told ? row.told.verdict || (row.kind === "silent" ? "abstained" : "") : "";
      return [h("span.name", { title: row.name }, foreign(row.name)),
        h("span.track", { "aria-hidden": "true" }, h(`span.bar.${row.kind || "critic"}`, { css: { left: `${(100 * row.from) / longest}%`, width: `${(100 * row.usage.seconds) / longest}%` } })),
        h("span.cost.num", null, [verdict, row.told?.score !== null && row.told ? score(row.told.score) : null, spent(row.usage)].filter(Boolean).join(" · "))];
    })])),
    said.length ? h("ul.notes", null, said.flatMap((each) => [each.reason && h("li", null, h("b", null, foreign(each.name)), ": ", foreign(each.reason)), each.suggestions.slice(0, 6).map((line) => h("li", null, h("b", null, foreign(each.name)), ": ", foreign(line)))])) : null);
}

const VERDICTS = { supported: "good", contradicted: "bad", mixed: "bad", in_doubt: "bad", not_enough_info: "warn", unverified: "warn" };

function claims(verdicts) {
  return h("ul.claims", null, verdicts.map((each) => h("li.claim", null,
    h("div", null, pill(each.verdict.replaceAll("_", " "), VERDICTS[each.verdict])),
    h("p", null, foreign(each.claim, "span")),
    each.reason ? h("p.quiet.small.plain", { class: "claim-reason" }, foreign(each.reason)) : null,
    each.evidence.filter((one) => one.quote).map((one) => h(`blockquote.${/^\w+$/.test(one.stance) ? one.stance : "unknown"}`, null,
      foreign(short(one.quote, 600), "span"),
      h("footer", null, one.stance.replaceAll("_", " "), " · ", one.url ? link(one.url, one.title || one.url) : foreign(one.title || "a document"),
        one.adapter ? [" · ", foreign(one.adapter)] : null, one.published ? ` · ${one.published.slice(0, 10)}` : null))))));
}

function evidencePanel(run, picked) {
  const told = run.evidence;
  if (!told) return null;
  const sources = Object.fromEntries(told.sources.map((each) => [each.id, each]));
  const of = told.versions.find((each) => each.thought_id === run.versions[picked].id);
  if (!of) return null;
  const verdicts = of.verdicts.map((each) => ({ ...each, evidence: each.evidence.map((one) => ({ ...sources[one.source], ...one })) }));
  const documents = of.documents.map((id) => sources[id]).filter(Boolean);
  return card("Evidence",
    verdicts.length ? claims(verdicts) : null,
    documents.length ? h("ul.notes", null, documents.map((each) => h("li", null, each.url ? link(each.url, each.title || each.url) : foreign(each.title || each.id), h("span.quiet", null, " · ", foreign(each.adapter))))) : null);
}

function briefPanel(run) {
  const brief = run.brief;
  if (!brief) return null;
  const list = (title, items) => (items.length ? [h("h3.small", null, title), h("ul.notes", null, items.map((each) => h("li", null, each)))] : null);
  return h("section.card.wide", { id: "brief" }, h("h2", null, "The brief that waits"),
    h("p.plain", null, door.tool ? foreign(brief.instructions) : ["A file only shows. In a shell: ", h("code", null, `sifaka submit ${run.run_id} FILE`)]),
    list("Must pass", brief.failures.map((each) => [h("b", null, foreign(each.validator)), ": ", foreign(each.message), each.suggestions.length ? h("span.quiet", null, " — ", foreign(each.suggestions.join("; "))) : null])),
    list("Read it once more by", brief.sheet.map((each) => foreign(each))),
    list("Judge it by", brief.rubric.map((each) => foreign(each))),
    list("Learned in similar runs", brief.lessons.map((each) => foreign(each))));
}

function leftPanel(view) {
  const run = view.run;
  const unchecked = run.checked.filter((each) => !each.done || each.reason);
  if (!run.left.length && !unchecked.length && !run.degraded.length && !run.declines.length && run.declined === null) return null;
  return card("Left, and not checked",
    run.declined !== null ? h("p.small", null, "Declined by a person", run.declined ? [": ", foreign(run.declined)] : null) : null,
    h("ul.notes", null,
      run.left.map((each, n) => h("li", null, each.quote ? [h("q", null, foreign(short(each.quote))), " "] : null, foreign(each.message), h("span.quiet", null, each.source ? [" — ", foreign(each.source)] : null), " ", declining(view, each, { "data-k": `l${n}`, "aria-label": `Decline: ${short(each.message, 60)}` }))),
      run.declines.map((each) => h("li.quiet", null, each.quote ? [h("q", null, foreign(short(each.quote))), " "] : null, foreign(each.message), declined(each))),
      unchecked.map((each) => h("li.quiet", null, each.done ? "Checked in part: " : "Not checked: ", foreign(each.what), each.reason ? [" — ", foreign(each.reason)] : null)),
      run.degraded.map((each) => h("li", null, pill("degraded", "warn"), " ", foreign(each)))));
}

function researchPanel(run) {
  const told = run.research;
  if (!told || !(told.sections.length || told.references.length)) return null;
  const kinds = { done: "good", failed: "bad", running: "warn" };
  return card("Research",
    h("ul.notes", null, told.sections.map((each) => h("li", null, foreign(each.title), " ", pill(each.status, kinds[each.status]), each.error ? [" ", foreign(each.error)] : null))),
    told.references.length ? h("ol.notes", null, told.references.map((each) => h("li", null, `[${each.n}] `, each.url ? link(each.url, each.title || each.url) : foreign(each.title), each.adapter ? h("span.quiet", null, " · ", foreign(each.adapter)) : null))) : null);
}
