// The list of runs, with search and filters, and the question for a token.
const STATES = { done: ["done", "good"], needs_revision: ["waits for a version", "warn"], running: ["running", "warn"], cancelled: ["stopped", ""], failed: ["failed", "bad"] };
function status(run, live) {
  const unpassed = run.stop_reason === "rules_met" ? ["done, not judged", ""] : ["done, does not pass", "warn"];
  const [text, kind] = run.status === "done" && !run.passed ? unpassed : STATES[run.status] || [run.status, ""];
  return h("span.pill", { class: [kind, live && "live"].filter(Boolean).join(" ") }, live ? h("span.dot") : null, text);
}

// The words of a snippet that were found. Words that are bold in the text are between asterisks too.
const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
const isFound = (word, query) => plain(query).split(/[^\p{L}\p{N}]+/u).filter(Boolean).some((asked) => plain(word).startsWith(asked.slice(0, 3)) || asked.startsWith(plain(word).slice(0, 3)));
const wordsFound = (hits, query) => [...new Set(hits.flatMap((each) => each.snippet.split("**").filter((word, n) => n % 2 && word.length < 60 && isFound(word, query))))].join(" ");
const marked = (snippet, query) => snippet.split("**").map((each, n) => (n % 2 && isFound(each, query) ? h("mark", null, foreign(each)) : foreign(each)));

const FILTERS = { all: "All", needs_revision: "Waiting", running: "Running", done: "Done", failed: "Failed" };

function listPage(page, openRun) {
  const first = inAddress();
  const seen = { query: first.query || "", filter: first.filter in FILTERS ? first.filter : "all", runs: [], hits: null, cursor: null, search: "", failure: null };
  const results = h("div", { "aria-live": "polite" });
  let asked = 0;

  async function load(cursor) {
    const mine = ++asked;
    try {
      const told = await door.list({ ...(seen.query ? { query: seen.query } : {}), ...(cursor ? { cursor } : {}) });
      if (mine !== asked) return;
      seen.failure = null;
      seen.runs = cursor ? [...seen.runs, ...(told.runs || [])] : told.runs || [];
      seen.hits = told.hits ?? null;
      seen.search = told.search || "";
      seen.cursor = told.next_cursor;
    } catch (error) {
      if (error instanceof Locked) return askForToken(page, error.message, () => listPage(page, openRun));
      if (mine === asked) seen.failure = error instanceof Refusal ? error.message : "The server does not answer.";
    }
    draw();
  }

  // Two runs to compare: the first that is chosen stands for the text before.
  const compare = (id) => {
    if (seen.chosen && seen.chosen !== id) { openRun(id, { against: seen.chosen }); return; }
    seen.chosen = seen.chosen ? null : id;
    draw();
  };
  const comparing = (id) => h("button.btn.tiny", { type: "button", class: "compare", "data-k": `x${id}`, "aria-pressed": seen.chosen === id ? "true" : "false", "aria-label": `Compare run ${id}`, on: { click: () => compare(id) } }, seen.chosen === id ? "Chosen" : seen.chosen ? "With this" : "Compare");
  const leading = (tag, id, state, ...content) => h(tag, { href: `${door.address?.(id) || ""}${state ? `#${new URLSearchParams(state)}` : ""}` || "#", on: { click: (event) => { if (event.metaKey || event.ctrlKey) return; event.preventDefault(); openRun(id, state); } } }, ...content);
  // The versions of one run that match: each opens with its words marked.
  const matches = (id, hits) => h("li.group", null, h("p.m.num", null, h("span", null, id), when(hits[0].created_at)), comparing(id), [...Map.groupBy(hits, (each) => each.snippet).values()].map(([hit, ...alike]) => {
    const version = hit.thought_id.split(".").pop();
    return leading("a.hit", id, { version, view: "text", find: wordsFound(hits, seen.query) }, pill(`version ${version}`), h("span.t", null, marked(hit.snippet, seen.query), alike.length ? h("span.quiet.small", null, ` — so in ${count(alike.length, "more version")}`) : null));
  }));
  const entry = (id, title, right, meta) => h("li", null, leading("a", id, null, h("span.t", null, title), right, h("span.m.num", null, meta)), comparing(id));

  const draw = held(() => {
    const runs = seen.runs.filter((each) => seen.filter === "all" || each.status === seen.filter);
    const rows = seen.hits
      ? [...Map.groupBy(seen.hits, (each) => each.run_id)].map(([id, hits]) => matches(id, hits))
      : runs.map((each) => entry(each.run_id, foreign(each.excerpt || "(no text yet)"), status(each, each.status === "running"), [when(each.updated_at), count(each.iterations + 1, "version"), h("span", null, each.run_id)].map((one) => (typeof one === "string" ? h("span", null, one) : one))));
    show(results,
      seen.failure ? h("div.banner.bad", { role: "alert" }, foreign(seen.failure), button("Try again", () => load())) : null,
      seen.chosen ? h("div.banner", { role: "status" }, "Choose the run to compare with ", foreign(seen.chosen), button("Cancel", () => compare(seen.chosen), { "data-k": "cancel" })) : null,
      seen.search ? h("p.quiet.small.how", null, foreign(seen.search)) : null,
      rows.length ? h("ul.runs", null, rows) : seen.failure ? null : h("p.loading.quiet", null, seen.query ? "Nothing matches." : seen.filter === "all" ? "No runs yet. `sifaka improve FILE` makes one." : "No run of this kind on this page."),
      seen.cursor ? h("div.row-actions", null, button("More", () => load(seen.cursor), { "data-k": "more" })) : null);
  });

  let timer;
  const keep = () => toAddress({ query: seen.query || null, filter: seen.filter === "all" ? null : seen.filter });
  const search = h("input", { type: "search", name: "query", value: seen.query, placeholder: "Words of a text; tag:x passed:true since:7d", "aria-label": "Search past texts", autocomplete: "off", on: { input: () => { clearTimeout(timer); timer = setTimeout(() => { if (!search.isConnected) return; seen.query = search.value.trim(); keep(); load(); }, 250); } } });
  const chips = h("div.seg", { role: "group", "aria-label": "Filter" }, Object.entries(FILTERS).map(([name, label]) => h("button", { type: "button", "aria-pressed": String(name === seen.filter), on: { click: (event) => { seen.filter = name; keep(); for (const each of chips.children) each.setAttribute("aria-pressed", each === event.currentTarget); draw(); } } }, label)));
  document.title = "Runs · Sifaka";
  show(page, h("header.head", null, h("div.crumb", null, h("span.brand", null, "Sifaka")), h("h1", null, "Runs"), h("div.actions", null, themeButton())), h("main", null, h("div.find", null, search, chips), results));
  results.append(h("p.loading.quiet", null, "Opening…"));
  load();
}

function askForToken(page, problem, then) {
  const input = h("input", { type: "password", name: "token", autocomplete: "off", required: true, "aria-label": "Token" });
  const enter = (event) => { event.preventDefault(); door.unlock(input.value.trim()); then(); };
  document.title = "Sifaka";
  show(page, h("main", null, h("form.ask", { on: { submit: enter } }, h("h1", null, "Sifaka"),
    h("p.quiet", null, "This server asks for a token. It stays in this tab."),
    problem ? h("p.banner.bad", { role: "alert" }, problem) : null, input,
    h("button.btn.primary", { type: "submit" }, "Open"))));
  input.focus();
}

function themeButton() {
  const other = () => (root.dataset.theme === "dark" ? "Light" : "Dark");
  const press = (event) => { theme(root.dataset.theme === "dark" ? "light" : "dark"); event.currentTarget.textContent = other(); };
  return h("button.btn.bare", { type: "button", "data-k": "theme", on: { click: press } }, other());
}
