// The versions: their scores as a picture, in which the rejected hang below the line, and their list.
const STANDINGS = { stands: ["current", "good"], accepted: ["replaced", ""], refused: ["rejected", "bad"], open: ["not decided", "warn"] };

function scoresByVersion(run, picked, pick) {
  const width = 240 + Math.max(0, Math.min(1000, innerWidth - 80) - 240) * (innerWidth < 1140 ? 1 : 0);
  const [top, ground, bottom, left, right] = [22, 112, 142, 10, 16];
  const lines = run.versions.filter((each) => each.score !== null).map((each) => each.score);
  if (!lines.length) return h("p.quiet.small", null, "No version has a score yet.");
  const low = Math.min(...lines, 0.98) - 0.02;
  const high = Math.max(...lines, low + 0.02);
  const many = Math.max(1, run.versions.length - 1);
  const x = (place) => (run.versions.length === 1 ? width / 2 : left + 14 + (place * (width - left - right - 28)) / many);
  const y = (value) => ground - 12 - ((value - low) / (high - low)) * (ground - top - 18);
  const kept = [];
  let best = null;
  const marks = run.versions.map((each, place) => {
    const refused = each.standing === "refused";
    if (each.score !== null && !refused && each.standing !== "open") {
      best = each.score;
      kept.push([x(place), y(each.score)]);
    }
    const at = refused ? bottom : y(each.score ?? best ?? low);
    const label = `v${each.number} ${STANDINGS[each.standing][0]} ${score(each.score)}`;
    return svg("g", { class: `${each.standing}${place === picked ? " picked" : ""}`, on: { click: () => pick(place) } },
      svg("title", null, label),
      refused && best !== null ? svg("line.stem", { x1: x(place), x2: x(place), y1: y(best), y2: at - 5 }) : null,
      svg("circle.halo", { cx: x(place), cy: at, r: 11 }),
      svg("circle", { cx: x(place), cy: at, r: each.standing === "stands" ? 6 : 4.5 }),
      each.standing === "stands" && svg("text", { x: Math.min(width - 26, Math.max(26, x(place))), y: at - 11, "text-anchor": "middle" }, `v${each.number} · ${score(each.score)}`));
  });
  const path = kept.map(([a, b], n) => `${n ? "L" : "M"}${a.toFixed(1)} ${b.toFixed(1)}`).join("");
  const last = kept.at(-1);
  const refusals = run.versions.some((each) => each.standing === "refused");
  return svg("svg", { viewBox: `0 0 ${width} ${refusals ? 156 : 120}`, role: "img", "aria-label": `Scores by version, from ${score(Math.min(...lines))} to ${score(Math.max(...lines))}` },
    svg("line.grid", { x1: left, x2: width - right, y1: y(high), y2: y(high) }),
    svg("line.ground", { x1: left, x2: width - right, y1: ground, y2: ground }),
    last && kept.length > 1 && svg("path.area", { d: `${path}L${last[0]} ${ground}L${kept[0][0]} ${ground}Z` }),
    svg("path.rise", { d: path }),
    refusals && svg("text", { x: left, y: bottom + 14 - 24, "font-size": 10 }, "rejected"),
    marks);
}

// A decision on record, such as `better in words: 3, version 0 has 5`, beside a version that says which it is.
const plainly = (reason) => reason.replace(/^(?:better|worse) in ([^:]+): (\S+), version \d+ has ([^\s;]+)/, "$1: $2 instead of $3");

function versionList(run, picked, pick) {
  return h("ul.versions", { "data-scroll": "versions", "aria-label": "Versions" }, run.versions.map((each, place) => {
    const [name, kind] = STANDINGS[each.standing];
    return h("li", null, h("button", { type: "button", class: each.standing, "data-k": `v${place}`, "aria-current": place === picked ? "true" : "false", on: { click: () => pick(place) } },
      h("span.v.num", null, `v${each.number}`), pill(each.score === null ? name : `${name} ${score(each.score)}`, kind),
      h("span.by", null, foreign(each.author), each.usage.cost_usd ? ` · ${money(each.usage.cost_usd)}` : null),
      each.reason && place > 0 ? h("span.why", { title: each.reason }, foreign(plainly(each.reason), "span")) : null));
  }));
}
