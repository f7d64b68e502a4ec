// The page of one run: it asks for what is new while the run goes on, and says when nobody answers.
const EVERY = 1000; // milliseconds between two questions while the run goes on
const SLOWEST = 15000; // milliseconds between two questions while nobody answers
const PATIENCE = 150; // milliseconds after which the page says that a text is on its way
const DOING = { started: "writing the first version", drafted: "checking the rules", retrieved: "checking the rules", validated: "asking the critics", critiqued: "comparing", decided: "writing the next version", anchored: "comparing with the input" };

class RunPage {
  constructor(page, id, { version, view, against, find }) {
    this.page = page;
    this.id = id;
    this.run = null;
    this.picked = /^\d+$/.test(version) ? +version : null; // the place of a version, or null for the current one
    this.view = ["text", "side", "read"].includes(view) ? view : "diff";
    this.against = /^\d+$/.test(against) ? +against : door.kind === "file" ? null : against || null; // the place of a version, the id of another run, or null for the input
    this.other = null; // that other run and its versions
    this.find = find?.trim() || null; // the words that a search has found
    this.kind = null; // of the changes that are shown alone
    this.open = 0;
    this.versions = new Map();
    this.stale = new Set(); // places of versions whose issues may be others by now
    this.coming = new Map(); // what was asked for, by place
    this.loads = 0;
    this.trouble = null; // why the chosen version did not open
    this.parts = { head: h("div"), main: h("main") };
    this.lost = 0;
    this.stopped = false;
    for (const each of ["draw", "head"]) this[each] = held(this[each].bind(this));
    show(page, this.parts.head, this.parts.main);
    this.keys = (event) => this.key(event);
    addEventListener("keydown", this.keys);
    this.resized = () => { clearTimeout(this.sizing); this.sizing = setTimeout(() => this.run && this.draw(), 150); };
    this.width = innerWidth;
    addEventListener("resize", () => { if (innerWidth !== this.width) { this.width = innerWidth; this.resized(); } });
  }

  end() {
    this.stopped = true;
    clearTimeout(this.timer);
    clearTimeout(this.patience);
    removeEventListener("keydown", this.keys);
  }

  async look() {
    clearTimeout(this.timer);
    if (this.stopped) return;
    try {
      const told = await door.run(this.id, this.run?.entries);
      const lost = this.lost;
      this.lost = 0;
      if (told) await this.take(told);
      else if (this.trouble) await this.load();
      if (this.lost) this.lost += lost; // the run came, its text did not
      else if (lost) { this.note = "Connected again."; this.head(); setTimeout(() => { this.note = null; this.head(); }, 3000); }
    } catch (error) {
      if (error instanceof Locked) { this.locked(error); return; }
      if (error instanceof Refusal && !(door.kind === "app" && this.run)) { this.refused(error.message); return; }
      this.lost += 1;
      if (this.run) this.head();
      else this.refused("The server does not answer.", true);
    }
    if (this.run?.status === "running" || this.lost || this.run?.status === "needs_revision") this.again();
  }

  again() {
    if (door.kind === "file" || this.stopped) return;
    clearTimeout(this.timer);
    const calm = this.run?.status === "needs_revision" || document.hidden ? 4 : 1;
    const wait = this.lost ? Math.min(SLOWEST, EVERY * 2 ** (this.lost - 1)) : (door.kind === "app" ? 2 : 1) * calm * EVERY;
    this.timer = setTimeout(() => this.look(), wait);
  }

  locked(error) {
    this.end();
    askForToken(this.page, error.message, () => openRun(this.page, this.id));
  }

  refused(message, retry) {
    show(this.parts.head, h("div.banner.bad", { role: "alert" }, foreign(message), retry ? button("Try again", () => this.look()) : null, door.list && door.kind === "web" ? button("All runs", () => openList(this.page)) : null));
    if (!this.run) show(this.parts.main);
  }

  async take(run) {
    const fresh = this.run?.run_id !== run.run_id || this.run.versions.length !== run.versions.length || this.run.champion !== run.champion;
    this.run = run;
    for (const place of this.versions.keys()) this.stale.add(place); // their issues may have come, or were declined
    this.coming.clear();
    document.title = spelt(`${run.title || run.run_id} · Sifaka`);
    if (fresh) this.open = 0;
    await this.load();
  }

  place() {
    const run = this.run;
    const last = run.versions.length - 1;
    return Math.min(this.picked ?? run.champion ?? last, last);
  }

  // Gets the texts that the chosen view needs, and draws. What takes long or fails is told meanwhile.
  async load() {
    const mine = ++this.loads;
    const place = this.place();
    let trouble = null;
    clearTimeout(this.patience);
    this.patience = setTimeout(() => { if (!this.ready(place)) this.draw(); }, PATIENCE);
    try {
      if (place >= 0) await this.version(place);
      if (this.compares && typeof this.against === "string") await this.bring(this.against);
      for (const each of this.needed(place)) await this.version(each, true);
    } catch (error) {
      if (error instanceof Locked) throw error;
      if (!(error instanceof Refusal)) this.lost += 1;
      trouble = error instanceof Refusal ? error.message : "The server does not answer.";
    }
    if (mine !== this.loads || this.stopped) return;
    clearTimeout(this.patience);
    this.trouble = trouble;
    this.draw();
  }

  // A version; one that is stale will do where only its text is needed.
  async version(place, old) {
    if (this.versions.has(place) && (old || !this.stale.has(place))) return this.versions.get(place);
    if (this.coming.has(place)) return this.coming.get(place);
    const coming = door.version(this.id, place);
    this.coming.set(place, coming);
    try {
      const told = await coming;
      if (this.coming.get(place) === coming) { this.versions.set(place, told); this.stale.delete(place); }
      return told;
    } finally {
      if (this.coming.get(place) === coming) this.coming.delete(place);
    }
  }

  // Another run, and the texts that a comparison of its best version with this one needs.
  async bring(id) {
    if (this.other?.run.run_id === id) return;
    const run = await door.run(id);
    const place = run.champion ?? run.versions.length - 1;
    if (place < 0) throw new Refusal("that run has no version");
    this.other = { run, place, line: run.versions[place], best: await door.version(id, place), input: await door.version(id, 0) };
  }

  // The place of the version that another is compared with; null for the input itself, and beside another run.
  base(place) {
    if (typeof this.against === "string") return null;
    return this.against !== null && this.against !== place && this.against < this.run.versions.length ? this.against : place ? 0 : null;
  }

  // The versions on the way from one to another, as what leads to each: up to what both are made of, and down again.
  way(from, to) {
    const parent = (place) => this.run.versions[place].parent ?? 0;
    const line = (place) => (place ? [place, ...line(parent(place))] : [0]);
    const [up, down] = [line(from), line(to)];
    const both = up.find((each) => down.includes(each));
    const way = [...up.slice(0, up.indexOf(both)).map((each) => [each, parent(each), true]), ...down.slice(0, down.indexOf(both)).reverse().map((each) => [each, parent(each), false])];
    return way.length > 8 ? [[from, 0, true], [to, 0, false]].filter(([each]) => each) : way;
  }

  // The places of the texts that the chosen view needs.
  needed(place) {
    const base = this.base(place);
    if (place < 0 || !this.compares) return place < 0 ? [] : [place];
    if (typeof this.against === "string") return [place, 0];
    return base === null ? [place] : base === 0 ? [place, 0] : [place, ...this.way(base, place).flatMap(([each, from]) => [each, from])];
  }

  get compares() {
    return ["diff", "side"].includes(this.view);
  }

  ready(place) {
    return this.needed(place).every((each) => this.versions.has(each)) && (!this.compares || typeof this.against !== "string" || this.other?.run.run_id === this.against);
  }

  // What leads to a version from one before it.
  step(place, base) {
    const version = this.versions.get(place);
    const known = Object.values(version.comparisons).find((each) => each.base === base);
    return known ? hunksOf(version, known, this.versions.get(base).text) : same(version.text);
  }

  // The hunks between the chosen version and what it is compared with; null where there is no such thing.
  hunks(place) {
    const base = this.base(place);
    if (base !== null) return base ? this.way(base, place).map(([each, from, up]) => (up ? turned(this.step(each, from)) : this.step(each, from))).reduce(joined) : this.step(place, 0);
    if (typeof this.against !== "string") return null;
    const [here, { best: there, input, place: at }] = [this.versions.get(place).text, this.other];
    const back = at ? turned(hunksOf(there, there.comparisons.input, input.text)) : same(there.text);
    const first = this.versions.get(0).text;
    if (first === input.text) return joined(back, this.step(place, 0)); // both were made of one text
    if (first === there.text) return this.step(place, 0); // this run went on from the other
    return here === there.text ? same(here) : here === input.text ? back : [{ op: "~", why: null, before: there.text, after: here }];
  }

  async choose(changes) {
    Object.assign(this, { open: 0, kind: null, trouble: null, ...changes });
    toAddress({ version: this.picked, view: this.view === "diff" ? null : this.view, against: this.against, find: this.find });
    try {
      await this.load();
      if (this.lost) this.again();
    } catch (error) { this.locked(error); }
  }

  // What stands in the place of a text that is not here.
  absent(line) {
    const retry = () => { this.trouble = null; this.draw(); this.choose({}); };
    return card(`Version ${line.number}`, this.trouble === null
      ? h("p.quiet", { role: "status" }, `Opening version ${line.number} …`)
      : h("div.banner.bad", { role: "alert" }, h("span", null, `Version ${line.number} did not open. `, foreign(this.trouble)), button("Try again", retry, { "data-k": "retry" }), this.against === null ? null : button("Compare with the input", () => this.choose({ against: null }), { "data-k": "input" })));
  }

  key(event) {
    if (!this.run || event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || document.querySelector("dialog[open]")) return;
    const many = this.run.versions.length;
    const act = { j: () => this.go(this.open + 1), k: () => this.go(this.open - 1), "[": () => this.choose({ picked: Math.max(0, this.place() - 1) }), "]": () => this.choose({ picked: Math.min(many - 1, this.place() + 1) }), d: () => this.choose({ view: "diff" }), t: () => this.choose({ view: "text" }), s: () => this.choose({ view: "side" }), r: () => this.choose({ view: "read" }), "?": () => listKeys(this.page) }[event.key];
    if (act) { event.preventDefault(); act(); }
  }

  // Shows a number in the text and its card.
  go(n, fromCard) {
    const mark = document.getElementById(`n${n}`);
    if (!mark) return;
    for (const each of this.page.querySelectorAll("[aria-expanded], .why-card.on")) { each.removeAttribute("aria-expanded"); each.classList.remove("on"); }
    this.open = n;
    mark.setAttribute("aria-expanded", "true");
    const beside = document.getElementById(`why${n}`);
    beside?.classList.add("on");
    align(this.page, n);
    if (!fromCard && beside) beside.scrollIntoView({ block: "nearest" });
    mark.scrollIntoView({ block: "nearest" });
    mark.focus({ preventScroll: true });
  }

  draw() {
    this.head();
    const run = this.run;
    const place = this.place();
    if (place < 0) {
      show(this.parts.main, h("p.loading.quiet", { role: "status" }, run.status === "running" ? "The first version is being written." : "No version was written."), researchPanel(run));
      return;
    }
    const pick = (chosen) => this.choose({ picked: chosen });
    const [reading, whys] = this.reading(place);
    show(this.parts.main,
      h(whys || !this.ready(place) ? "div.cols" : "div.cols.alone", null,
        h("section.card.scores", null, h("h2", null, "Versions"), scoresByVersion(run, place, pick), versionList(run, place, pick)),
        reading, whys, h("div.more", null, briefPanel(run), this.compares && typeof this.against === "string" && this.other ? bothPanel(this.other, run, place, () => openRun(this.page, this.other.run.run_id, { against: run.run_id })) : rulesPanel(run, place), differencesPanel(this, place), leftPanel(this), criticsPanel(run, place), evidencePanel(run, place), researchPanel(run))),
      h("p.foot", null, h("button.btn.bare", { type: "button", "data-k": "keys", on: { click: () => listKeys(this.page) } }, h("kbd", null, "?"), " keys")));
    align(this.page, this.open);
    this.markFound();
    const now = this.parts.main.querySelector(".versions [aria-current=true]");
    if (!now || this.seen === now.dataset.k) return; // its place in the list is shown once
    this.seen = now.dataset.k;
    const [rules, here] = [".scroll[data-scroll=rules]", "thead .here"].map((each) => this.parts.main.querySelector(each));
    if (here) rules.scrollLeft = here.offsetLeft + here.offsetWidth - rules.clientWidth;
    const [list, box] = [now.closest("ul"), now.getBoundingClientRect()];
    const around = list.getBoundingClientRect();
    if (box.right > around.right || box.left < around.left) list.scrollLeft += box.left - around.left - 20;
    if (box.bottom > around.bottom || box.top < around.top) list.scrollTop += box.top - around.top - 20;
  }

  head() {
    const run = this.run;
    if (!run) return;
    const live = run.status === "running";
    const best = run.champion === null ? null : run.versions[run.champion];
    show(this.parts.head,
      h("header.head", null,
        h("div.crumb", null, door.kind === "web" ? h("a.brand", { href: door.address(null), "data-k": "runs", on: { click: (event) => { event.preventDefault(); openList(this.page); } } }, "Sifaka") : h("span.brand", null, "Sifaka"), status(run, live), h("code", null, run.run_id)),
        h("h1", { dir: "auto" }, foreign(run.title || run.run_id)),
        h("div.actions", null, actions(this), door.kind === "app" && root.dataset.mode === "inline" ? button(door.modes.includes("fullscreen") ? "Full screen" : "Show all", () => door.widen(), { "data-k": "full" }) : null, door.kind === "app" ? null : themeButton())),
      this.complaint ? h("div.banner.bad", { role: "alert" }, foreign(this.complaint), button("Close", () => { this.complaint = null; this.head(); }, { "data-k": "close" })) : null,
      this.lost ? h("div.banner.bad", { role: "status" }, "Connection lost. Trying again.", button("Now", () => this.look())) : this.note ? h("div.banner.good", { role: "status" }, this.note) : null,
      run.error ? h("div.banner.bad", { role: "status" }, foreign(run.error)) : null,
      run.status === "needs_revision" ? h("div.banner", { role: "status" }, `The run waits for the next version.${root.dataset.mode === "inline" ? "" : " Its brief is below."}`) : null,
      h("div", { role: "status" }, h("p.story", null, story(run, live)), h("div.facts.num", null,
        live ? h("span", null, h("b", null, DOING[run.reached] || "at work"), `, version ${run.versions.length}`) : null,
        best && best.score !== null ? h("span", null, "score ", h("b", null, score(best.score))) : null,
        h("span", null, count(run.versions.length, "version")), h("span", null, spent(run.usage)), h("span", null, foreign(run.model)), h("span", null, when(run.updated_at)),
        run.tags.map((each) => pill(each)), run.branch_of ? h("span", null, `branch of ${run.branch_of}`) : null)));
  }

  reading(place) {
    const run = this.run;
    const line = run.versions[place];
    const version = this.versions.get(place);
    if (this.editing && this.editing !== line.id) this.editing = null;
    if (!this.ready(place)) return [this.absent(line), null];
    const beside = typeof this.against === "string" ? this.other : null;
    const compared = this.compares && this.hunks(place);
    const view = compared || !this.compares ? this.view : "text";
    const open = (n, fromCard) => this.go(n, fromCard);
    let body, cards, title;
    if (view === "read") {
      body = readPane(version);
    } else if (view === "text") {
      const marks = [...version.marks].sort((a, b) => a.start - b.start || a.end - b.end);
      body = textPane(version, marks, open);
      cards = marks.map((mark, n) => whyCard(n + 1, [version.whys[mark.why]], null, open, declining(this, version.whys[mark.why], { "data-k": `d${n + 1}`, "aria-label": `Decline: issue ${n + 1}` })));
      title = cards.length ? count(cards.length, "issue") : "No issue has a place in the text";
    } else {
      const changes = numbered(compared);
      const changed = changes.filter((each) => each.op !== "=");
      const kindsOf = (each) => (each.whys.length ? each.whys.map((why) => why.category) : ["no issue"]);
      const kinds = [...new Set(changed.flatMap(kindsOf))];
      body = view === "side" ? sidePane(changes, open, [beside ? [`Version ${beside.line.number} of `, foreign(beside.run.run_id)] : `Version ${run.versions[this.base(place)].number}`, `Version ${line.number}`]) : diffPane(changes, open);
      cards = changed.filter((each) => !this.kind || kindsOf(each).includes(this.kind)).map((each) => whyCard(each.number, each.whys, each, open, beside ? null : undoing(this, line, changes, [each], "Undo", { "data-k": `u${each.number}`, "aria-label": `Undo: change ${each.number}` })));
      title = changed.length ? count(changed.length, "change") : "No change";
      if (kinds.length > 1) title = [title, h("select", { "aria-label": "Kind of change", "data-k": "kind", on: { change: (event) => { this.kind = event.target.value || null; this.draw(); } } }, h("option", { value: "" }, "all kinds"), kinds.map((kind) => { const one = h("option", null, kind); one.value = kind; one.selected = kind === this.kind; return one; })),
        this.kind && !beside ? undoing(this, line, changes, changed.filter((each) => kindsOf(each).includes(this.kind)), "Undo all of this kind", { "data-k": "kinds" }) : null];
    }
    const code = run.versions.length && /^\s*[{[<]/.test(version.text) && !/[a-z]{3,} [a-z]{2,} /.test(version.text.slice(0, 300));
    if (code) body.classList.add("code");
    const alone = place === 0 && this.against === null;
    const modes = { ...(alone ? {} : { diff: "Diff" }), text: "Text", ...(alone ? {} : { side: "Side by side" }), read: "Read" };
    const segment = (names, now, set, label) => h("div.seg", { role: "group", "aria-label": label }, Object.entries(names).map(([name, text]) => h("button", { type: "button", "data-k": `${label}-${name}`, "aria-pressed": name === now ? "true" : "false", on: { click: () => set(name) } }, text)));
    return [
      h("section.card.text", null,
        h("div.card-head", null, h("div.named", null, h("h2", null, `Version ${line.number}`), ["refused", "stands"].includes(line.standing) ? pill(...STANDINGS[line.standing]) : null),
          h("div.named", null, compared ? this.againstWhat(place) : null, segment(modes, view, (chosen) => this.choose({ view: chosen }), "View"))),
        this.find ? h("div.banner.small", { role: "status" }, h("span.found"), button("Clear", () => this.choose({ find: null }), { class: "tiny", "data-k": "clear" })) : null,
        line.standing === "refused" && line.reason ? h("p.banner.bad.small", null, "Rejected: ", foreign(line.reason)) : null,
        this.editing ? editor(this, version, line) : body,
        h("p.quiet.small.num.under", null, h("span", null, `${count(line.words, "word")} · by `, foreign(line.author), " · ", when(line.created_at)), taking(run, line, version.text))),
      view === "read" ? null : h("aside.card.why", { "aria-label": "Why" }, h("div.card-head", null, h("h2", null, [title].flat()[0]), [title].flat().slice(1)),
        cards.length ? h(cards.length > 60 ? "ul.whys.many" : "ul.whys", { "data-scroll": "whys", tabindex: cards.length > 3 ? 0 : null, "aria-label": "Reasons" }, cards) : h("p.quiet.small", null, view === "text" ? "Issues without a place are below." : "This is the text as it came.")),
    ];
  }

  // Marks the words that were found, and shows the first of them once.
  markFound() {
    const area = this.parts.main.querySelector(".reading");
    const ranges = area && this.find ? placesOf(area, this.find) : [];
    CSS.highlights?.set("found", new Highlight(...ranges));
    const told = this.parts.main.querySelector(".found");
    if (told) told.textContent = `${count(ranges.length, "place")} with ${spelt(this.find.split(" ").map((each) => `“${each}”`).join(", "))}`;
    if (ranges.length && !this.met) scrollBy(0, ranges[0].getBoundingClientRect().top - innerHeight / 3);
    this.met ||= ranges.length > 0;
  }

  // What the version is compared with, to be chosen.
  againstWhat(place) {
    const { versions } = this.run;
    const now = typeof this.against === "string" ? this.against : this.base(place);
    const options = versions.map((each, n) => [n, n === 0 ? (each.author === "input" ? "the input" : "v0") : n === versions[place].parent ? `v${each.number}, its parent` : `v${each.number}`]).filter(([n]) => n !== place);
    if (typeof now === "string") options.push([now, `v${this.other.line.number} of ${now}`]);
    return h("label.against", null, "against ", h("select", { "data-k": "against", on: { change: (event) => { const [n] = options[event.target.selectedIndex]; this.choose({ against: n || null }); } } }, options.map(([n, name]) => h("option", { selected: n === now }, name))));
  }
}
