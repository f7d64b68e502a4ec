// The text: with its changes numbered, as it is, or side by side with the text before.
const BLOCK = 3000; // characters after which a line break begins a new block, which is laid out when it is seen
const LONGEST = 24000; // characters of a line without a break
const FIRST = 160; // blocks that are built at once; the rest follows in idle moments

// Cuts an unchanged stretch where a block may end.
function* cut(text, room) {
  let from = 0;
  while (from < text.length) {
    let to = text.indexOf("\n", from + Math.max(0, room));
    const far = from + LONGEST;
    if (to < 0 || to >= far) {
      const space = text.lastIndexOf(" ", far);
      to = text.length <= far ? text.length - 1 : space > from ? space : far - 1;
    }
    yield [text.slice(from, to + 1), to + 1 < text.length || text[to] === "\n"];
    from = to + 1;
    room = BLOCK;
  }
}

// The hunks between two texts, with their words and the issue behind each.
function hunksOf(version, comparison, base) {
  let [before, after] = [0, 0];
  return comparison.hunks.map(([op, gone, come, why]) => {
    const hunk = { op, why: version.whys[why] || null, before: base.slice(before, before + gone), after: version.text.slice(after, after + come) };
    before += gone;
    after += come;
    return hunk;
  });
}

const same = (text) => [{ op: "=", why: null, before: text, after: text }];
const turned = (hunks) => hunks.map((each) => ({ ...each, why: null, before: each.after, after: each.before }));

// The hunks from a first text to a third, by way of a second. Nothing is compared again but the ends of what both ways changed.
function joined(first, second) {
  const [left, right] = [[...first].reverse(), [...second].reverse()];
  const changes = (stack) => stack.length > 0 && stack.at(-1).op !== "=";
  const take = (stack, most) => {
    const { after: text, ...rest } = stack.pop();
    if (text.length > most) stack.push({ ...rest, before: text.slice(most), after: text.slice(most) });
    return text.slice(0, most);
  };
  const out = [];
  const keep = (text) => { if (!text) return; if (out.at(-1)?.op === "=") text = out.pop().after + text; out.push({ op: "=", why: null, before: text, after: text }); };
  while (left.length || right.length) {
    if (!changes(left) && !changes(right)) { const text = take(left, right.at(-1).before.length); take(right, text.length); keep(text); continue; }
    let [before, after, why, here, there] = ["", "", null, 0, 0]; // here and there: how far both ways are in the second text
    for (;;) {
      if (changes(left)) { const each = left.pop(); before += each.before; here += each.after.length; why ||= each.why; }
      else if (changes(right)) { const each = right.pop(); after += each.after; there += each.before.length; why = each.why || why; }
      else if (here < there) { const text = take(left, there - here); before += text; here += text.length; }
      else if (there < here) { const text = take(right, here - there); after += text; there += text.length; }
      else break;
    }
    const [head, tail] = ends(before, after);
    keep(before.slice(0, head));
    const [gone, come] = [before, after].map((each) => each.slice(head, each.length - tail));
    if (gone || come) out.push({ op: "~", why, before: gone, after: come });
    keep(before.slice(before.length - tail));
  }
  return out;
}

// The lengths of the words that two texts begin with and end with.
function ends(before, after) {
  if (before === after) return [before.length, 0];
  const most = Math.min(before.length, after.length);
  let [head, tail] = [0, 0];
  while (head < most && before[head] === after[head]) head++;
  while (head && !/\s/.test(before[head - 1])) head--;
  while (tail < most - head && before.at(-tail - 1) === after.at(-tail - 1)) tail++;
  while (tail && !/\s/.test(before.at(-tail))) tail--;
  return [head, tail];
}

// Where most of a sentence was written anew, the old one and the new one stand whole: one change with the reasons of all.
const ENDS = /[.!?…][”’"')\]]{0,2}\s+|\n|[。！？]/gu;
function wholeSentences(hunks) {
  const out = [];
  let sentence = []; // the hunks since the last end of a sentence that nothing has changed
  const words = (text) => text.split(/\s+/).filter(Boolean).length;
  const sum = (side, same) => sentence.reduce((all, each) => all + (same === (each.op === "=") ? words(each[side]) : 0), 0);
  const close = () => {
    const changed = sentence.filter((each) => each.op !== "=");
    const rewritten = changed.length > 1 && !changed.some((each) => /\n/.test(each.before + each.after)) && sum("after", true) < Math.max(sum("before", false), sum("after", false));
    if (rewritten) {
      const [before, after] = ["before", "after"].map((side) => sentence.map((each) => each[side]).join(""));
      const room = /\s*$/.exec(after)[0];
      const cut = before.endsWith(room) ? room.length : 0;
      out.push({ op: "~", whys: changed.map((each) => each.why), before: before.slice(0, before.length - cut), after: after.slice(0, after.length - cut) }, ...same(room.slice(0, cut)));
    } else out.push(...sentence);
    sentence = [];
  };
  for (const each of hunks) {
    if (each.op !== "=") { sentence.push(each); continue; }
    ENDS.lastIndex = 0;
    const first = ENDS.exec(each.after);
    const head = first ? ENDS.lastIndex : each.after.length;
    sentence.push(...same(each.after.slice(0, head)));
    if (!first) continue;
    close();
    const rest = each.after.slice(head);
    const near = Math.max(0, rest.length - 1000); // what is further away is of no sentence that has changed
    ENDS.lastIndex = 0; // matchAll begins there
    const last = [...rest.slice(near).matchAll(ENDS)].at(-1);
    const tail = last ? near + last.index + last[0].length : near && rest.length;
    out.push(...same(rest.slice(0, tail)));
    sentence.push(...same(rest.slice(tail)));
  }
  close();
  return out.filter((each) => each.before || each.after);
}

// The changes in their order, each with its number and the issues behind it.
function numbered(hunks) {
  let number = 0;
  return wholeSentences(hunks).map((each) => ({ ...each, whys: [...new Set((each.whys || [each.why]).filter(Boolean))], number: each.op === "=" ? 0 : ++number }));
}

class Blocks {
  constructor() { this.all = []; this.next(); }
  next() { this.now = []; this.size = 0; this.all.push(this.now); }
  add(node, size) { this.now.push(...[node].flat()); this.size += size; }
  text(text, tag) {
    for (const [piece, ends] of text.length < BLOCK && tag ? [[text, false]] : cut(text, BLOCK - this.size)) {
      this.add(tag ? h(tag, null, stretch(piece)) : stretch(piece), piece.length);
      if (ends && this.size >= BLOCK) this.next();
    }
  }
}

function number(n, label, open) {
  return h("button.n", { type: "button", id: `n${n}`, "data-n": n, "aria-label": label, on: { click: () => open(n) } }, String(n));
}

function diffPane(changes, open) {
  const blocks = new Blocks();
  for (const each of changes) {
    if (each.op === "=") { blocks.text(each.after); continue; }
    if (each.before) blocks.text(each.before, "del");
    if (each.after) blocks.text(each.after, "ins");
    blocks.add(number(each.number, `Change ${each.number}`, open), 0);
  }
  return pane(blocks);
}

function textPane(version, marks, open) {
  const blocks = new Blocks();
  let at = 0;
  marks.forEach((mark, n) => {
    if (mark.start > at) blocks.text(version.text.slice(at, mark.start));
    const from = Math.max(at, mark.start);
    if (mark.end > from) blocks.text(version.text.slice(from, mark.end), "mark");
    blocks.add(number(n + 1, `Issue ${n + 1}`, open), 0);
    at = Math.max(at, mark.end);
  });
  blocks.text(version.text.slice(at));
  return pane(blocks);
}

function pane(blocks) {
  const area = h("div.reading", { dir: "auto" });
  const build = (each) => h("div.block", null, each);
  area.append(...blocks.all.slice(0, FIRST).map(build));
  later(blocks.all.slice(FIRST), (each) => area.append(build(each)));
  return area;
}

// The places of words in what is shown. A word of a script without spaces may stand anywhere.
function placesOf(area, words) {
  const whole = (word) => (/[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}]/u.test(word) ? word : `(?<![\\p{L}\\p{N}])${word}(?![\\p{L}\\p{N}])`);
  const each = new RegExp(words.split(" ").filter(Boolean).map((word) => whole(word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"))).join("|"), "giu");
  const texts = document.createTreeWalker(area, NodeFilter.SHOW_TEXT);
  const found = [];
  while (texts.nextNode() && found.length < 2000) {
    for (const { 0: word, index } of texts.currentNode.data.matchAll(each)) {
      const range = new Range();
      range.setStart(texts.currentNode, index);
      range.setEnd(texts.currentNode, index + word.length);
      found.push(range);
    }
  }
  return found;
}

function later(rest, act) {
  let at = 0;
  const step = () => {
    const until = performance.now() + 12;
    while (at < rest.length && performance.now() < until) act(rest[at++]);
    if (at < rest.length) setTimeout(step);
    else shown?.markFound();
  };
  if (rest.length) setTimeout(step);
}

function sidePane(changes, open, names) {
  const rows = [[[], [], 0]];
  for (const each of changes) {
    const row = () => rows.at(-1);
    if (each.op === "=") {
      for (const [piece, ends] of cut(each.after, row()[2] > 200 ? 0 : 200)) {
        row()[0].push(stretch(piece));
        row()[1].push(stretch(piece));
        row()[2] += piece.length;
        if (ends && row()[2] > 200) rows.push([[], [], 0]);
      }
      continue;
    }
    const gone = [...cut(each.before, LONGEST)];
    const come = [...cut(each.after, LONGEST)];
    for (let n = 0; n < Math.max(gone.length, come.length); n++) {
      if (n) rows.push([[], [], 0]);
      if (gone[n]) row()[0].push(h("del", null, stretch(gone[n][0])));
      if (come[n]) row()[1].push(h("ins", null, stretch(come[n][0])));
    }
    row()[1].push(number(each.number, `Change ${each.number}`, open));
    row()[2] += each.after.length;
  }
  const area = h("div.reading.side", { dir: "auto" }, names.map((name) => h("h3", null, name)));
  const build = ([left, right]) => h("div.row", null, h("div", null, left), h("div", null, right));
  area.append(...rows.slice(0, FIRST).map(build));
  later(rows.slice(FIRST), (each) => area.append(build(each)));
  return area;
}

const declined = (why) => (why && why.declined !== null ? h("p.small", null, pill("declined"), " ", foreign(why.declined)) : null);

// The card beside a change or a mark.
function whyCard(n, [why, ...more], hunk, open, act) {
  const severity = why?.severity || 0;
  const names = why ? [...new Set([why.source, why.category === "general" ? "" : why.category])].filter(Boolean) : []; // rules are often called as their category
  const changed = hunk && h("p.swap", null,
    hunk.before ? h("del", null, stretch(short(hunk.before.trim() || "␣"))) : null, hunk.before && hunk.after ? " → " : null,
    hunk.after ? h("ins", null, stretch(short(hunk.after.trim() || "␣"))) : null);
  const quoted = !hunk && why?.quote && h("p.swap", null, "“", foreign(short(why.quote)), "”", why.fix !== null && why.fix !== undefined ? [" → ", h("ins", null, stretch(why.fix || "(nothing)"))] : null);
  return h("li.why-card", { id: `why${n}`, on: { click: (event) => { if (!event.target.closest("button, a") && !getSelection().toString()) open(n, true); } } },
    h("div.top", null, h("button.n", { type: "button", "data-k": `c${n}`, "aria-label": `Show ${n} in the text`, on: { click: () => open(n, true) } }, String(n)),
      h("p.msg", null, why ? foreign(why.message, "span") : "No issue asked for it", more.length ? h("span.quiet", null, ` +${more.length}`) : null), act || null),
    changed || quoted || null,
    more.map((each) => h("p.small.further", null, foreign(each.message))),
    declined(why),
    why && h("p.meta", null,
      names.map((name) => h("span", null, foreign(name))),
      why.rule && !names.includes(why.rule) && h("span", null, "rule ", foreign(short(why.rule, 60))),
      severity > 0 && why.source && h("span", { title: `severity ${severity} of 5` }, h("span.sev", { "aria-hidden": "true" }, "●".repeat(severity) + "○".repeat(5 - severity)), h("span.sr", null, `severity ${severity} of 5`)),
      why.usage && h("span.num", { title: "the whole opinion that reported it" }, spent(why.usage))) || null);
}

// Beside a wide text each card stands at the height of its number, the open one exactly.
function align(page, open) {
  const [cols, text, list] = [".cols", ".reading", ".whys"].map((name) => page.querySelector(name));
  if (!list) return;
  const cards = [...list.children];
  const wide = innerWidth >= 1140 && root.dataset.mode !== "inline" && cards.length <= 60 && (text?.textContent.length ?? 0) <= 60000;
  cols.classList.toggle("aligned", wide);
  list.style.height = "";
  if (!wide) return;
  list.removeAttribute("tabindex"); // nothing scrolls in it
  const from = list.getBoundingClientRect().top;
  const [gap, places] = [8, []];
  let least = 0;
  let picked = -1;
  cards.forEach((each, n) => {
    const mark = document.getElementById(each.id.replace("why", "n"));
    const place = { each, tall: each.offsetHeight + gap, top: mark ? mark.getBoundingClientRect().top - from - gap : 0 };
    if (each.id === `why${open}`) { picked = n; place.top = Math.max(place.top, least); }
    least += place.tall;
    places.push(place);
  });
  for (let n = picked - 1; n >= 0; n--) places[n].top = Math.min(places[n].top, places[n + 1].top - places[n].tall);
  let bottom = 0;
  for (const { each, tall, top } of places) {
    const at = Math.max(top, bottom);
    each.style.top = `${at}px`;
    bottom = at + tall;
  }
  list.style.height = `${bottom}px`;
}
