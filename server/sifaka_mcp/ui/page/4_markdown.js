// Markdown as it is read: blocks, and what stands in them. What is not known here stays as text, and so does HTML; an address
// is shown beside its words and leads nowhere, and no image is loaded. Every repetition is bounded: the texts are foreign.
const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})[ \t]+(\S.*)$/;
const UNDERLINE = /^ {0,3}(=+|-+)[ \t]*$/;
const RULE = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const QUOTED = /^ {0,3}> ?/;
const ITEM = /^( {0,12})([-*+]|\d{1,9}[.)])(?:( +)(.*))?$/;
const COLUMNS = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
const DEEPEST = 8; // quotes and lists within each other
const INLINE = new RegExp([
  /\\(?<escaped>[!-/:-@[-`{-~])/, /(?<!`)(?<ticks>`+)(?!`)(?<code>.{1,1000}?)(?<!`)\k<ticks>(?!`)/,
  /(?<image>!?)\[(?<label>[^[\]]{0,500})\]\(<?(?<address>[^\s<>()]{1,1500}(?:\([^\s()]{0,300}\)[^\s()]{0,300})?)>?(?:\s{1,9}["'][^"'\n]{0,300}["'])?\)/,
  /(?<pair>\*\*|~~|(?<![\p{L}\p{N}_])__)(?=\S)(?<strong>.{1,1000}?)(?<=\S)\k<pair>(?!\*)/, /(?<one>\*|(?<![\p{L}\p{N}_])_)(?=[^\s*_])(?<em>.{0,1000}?[^\s*])\k<one>(?![\p{L}\p{N}*])/,
].map((each) => each.source).join("|"), "gsu");

function inline(text, depth = 0) {
  if (depth > DEEPEST || text.length > LONGEST) return stretch(text);
  const out = [];
  let at = 0;
  for (const { 0: all, index, groups: found } of text.matchAll(INLINE)) {
    out.push(stretch(text.slice(at, index)));
    at = index + all.length;
    const inner = (words) => inline(words, depth + 1);
    if (found.escaped) out.push(found.escaped);
    else if (found.ticks) out.push(h("code", null, stretch(found.code.replace(/^ (.*\S.*) $/s, "$1"))));
    else if (found.address) out.push(found.image ? h("span.quiet", null, "[image] ") : null, inner(found.label), h("span.to", null, " ‹", stretch(found.address), "›"));
    else if (found.pair) out.push(h(found.pair === "~~" ? "s" : "strong", null, inner(found.strong)));
    else out.push(h("em", null, inner(found.em)));
  }
  return [...out, stretch(text.slice(at))];
}

// A paragraph; two spaces or a backslash before the end of a line break it.
function paragraph(text) {
  if (text.length > LONGEST) return [...cut(text, BLOCK)].map(([piece]) => h("p", null, stretch(piece)));
  return [h("p", null, text.split(/(?: {2,9}|\\)\n/).map((line, n) => [n ? h("br") : null, inline(line)]))];
}

function table(lines) {
  const rows = lines.filter((_, n) => n !== 1).map((line) => line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((each) => each.trim()));
  if (rows[0].length > 12 || rows.length > 200) return h("pre", null, stretch(lines.join("\n")));
  const [head, ...body] = rows;
  const cells = (row, tag) => head.map((_, n) => h(row[n] ? tag : "td", null, inline(row[n] || "")));
  return h("div.scroll", { tabindex: 0, role: "region", "aria-label": "Table" }, h("table", null, h("thead", null, h("tr", null, cells(head, "th"))), h("tbody", null, body.map((row) => h("tr", null, cells(row, "td"))))));
}

// The blocks of some lines. `levels` has the level of the heading before: none is left out on the way down.
function blocksOf(lines, levels, depth = 0) {
  const out = [];
  const begins = (line) => FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTED.test(line) || ITEM.test(line);
  const heading = (level, text) => {
    levels.last = Math.min(6, level + 2, levels.last + 1);
    out.push(h(`h${levels.last}.h${level}`, null, inline(text)));
  };
  let at = 0;
  const inside = (of, more) => { const from = at; do at++; while (at < lines.length && more(lines[at], lines[at - 1])); return of(lines.slice(from, at)); };
  while (at < lines.length) {
    const line = lines[at];
    const [fence, title, item] = [FENCE.exec(line), HEADING.exec(line), depth < DEEPEST && ITEM.exec(line)];
    if (!line.trim()) at++;
    else if (fence) {
      let end = at + 1;
      while (end < lines.length && !(lines[end].trim().startsWith(fence[1]) && !lines[end].trim().replaceAll(fence[1][0], ""))) end++;
      out.push(h("pre", null, stretch(lines.slice(at + 1, end).join("\n"))));
      at = end + 1;
    } else if (title) { heading(title[1].length, title[2].trimEnd().replace(/(?<=\s)#+$/, "").trimEnd()); at++; }
    else if (RULE.test(line)) { out.push(h("hr")); at++; }
    else if (QUOTED.test(line) && depth < DEEPEST) out.push(h("blockquote", null, inside((all) => blocksOf(all.map((each) => each.replace(QUOTED, "")), levels, depth + 1), (each) => QUOTED.test(each))));
    else if (item) {
      const ordered = /\d/.test(item[2]);
      const list = h(ordered ? "ol" : "ul", { start: ordered && parseInt(item[2], 10) !== 1 ? parseInt(item[2], 10) : null });
      for (let now = item; now && /\d/.test(now[2]) === ordered && !RULE.test(lines[at]) && at < lines.length; now = ITEM.exec(lines[at] || "")) {
        const room = now[1].length + now[2].length + Math.min(4, now[3]?.length || 1);
        const own = (each, before) => !each.trim() || each.search(/\S/) >= room || (before.trim() && !begins(each));
        const rest = inside((all) => all, own);
        const blocks = blocksOf([now[4] || "", ...rest.slice(1).map((each) => each.slice(Math.min(room, Math.max(0, each.search(/\S/)))))], levels, depth + 1);
        list.append(h("li", null, blocks.map((each, n) => (n === 0 && each.tagName === "P" ? h("span", null, ...each.childNodes) : each))));
      }
      out.push(list);
    } else if (line.includes("|") && lines[at + 1]?.includes("|") && COLUMNS.test(lines[at + 1])) out.push(inside(table, (each) => each.includes("|")));
    else {
      const text = inside((all) => all.join("\n"), (each) => each.trim() && !begins(each) && !UNDERLINE.test(each));
      const under = UNDERLINE.exec(lines[at] || "");
      if (under) { heading(under[1][0] === "=" ? 1 : 2, text.trim()); at++; } else out.push(...paragraph(text.trim()));
    }
  }
  return out;
}

// The text as it is read, without marks.
function readPane(version) {
  const nodes = blocksOf(version.text.split(/\r?\n|\r/).map((line) => line.replace(/^\t+/, (tabs) => "    ".repeat(tabs.length))), { last: 2 });
  const blocks = new Blocks();
  for (const each of nodes) { if (blocks.now.length >= 40) blocks.next(); blocks.add(each, 0); }
  const area = pane(blocks);
  area.classList.add("md");
  return area;
}
