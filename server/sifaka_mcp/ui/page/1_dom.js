// Elements. Text goes in as text nodes only: nothing here parses markup.
const SVG = "http://www.w3.org/2000/svg";
const root = document.documentElement;

function h(tag, props, ...children) {
  const [name, ...classes] = tag.split(".");
  return fill(document.createElement(name || "div"), classes, props, children);
}

function svg(tag, props, ...children) {
  const [name, ...classes] = tag.split(".");
  return fill(document.createElementNS(SVG, name), classes, props, children);
}

function fill(node, classes, props, children) {
  if (classes.length) node.setAttribute("class", classes.join(" "));
  for (const [key, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "class") node.classList.add(...String(value).split(" ").filter(Boolean));
    else if (key === "on") for (const [event, act] of Object.entries(value)) node.addEventListener(event, act);
    else if (key === "css") for (const [name, each] of Object.entries(value)) node.style.setProperty(name, each);
    else if (key === "value") node.value = value;
    else node.setAttribute(key, value === true ? "" : key === "title" || key === "aria-label" ? spelt(value) : value);
  }
  node.append(...children.flat(Infinity).filter((each) => each !== null && each !== undefined && each !== false && each !== ""));
  return node;
}

// Characters that reorder or hide what is read. Joiners are none: emoji and some scripts are written with them.
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]/u;
const EACH = new RegExp(`(${CONTROLS.source})`, "gu");
const codeOf = (mark) => `U+${mark.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
const spelt = (text) => String(text).replace(EACH, (mark) => `[${codeOf(mark)}]`);

// A stretch of foreign text; characters that would reorder or hide it are spelt out.
function stretch(text) {
  if (!CONTROLS.test(text)) return [document.createTextNode(text)];
  return text.split(EACH).filter(Boolean).map((each) => (CONTROLS.test(each)
    ? h("span.ctl", { title: "an invisible character" }, `[${codeOf(each)}]`)
    : document.createTextNode(each)));
}

// Words of others, which cannot reorder what stands around them.
const foreign = (text, tag = "bdi") => h(tag, { dir: "auto", class: "foreign" }, stretch(String(text ?? "")));
const button = (label, act, props) => h("button.btn", { type: "button", ...props, on: { click: act } }, label);
const pill = (text, kind) => h(`span.pill.${kind || "plain"}`, null, text);

// Puts new content in the place of the old and gives the focus and the places of scrolling back.
function show(parent, ...children) {
  const key = parent.contains(document.activeElement) ? document.activeElement.dataset.k : null;
  const places = new Map([...parent.querySelectorAll("[data-scroll]")].map((each) => [each.dataset.scroll, [each.scrollTop, each.scrollLeft]]));
  parent.replaceChildren(...children.flat(Infinity).filter(Boolean));
  for (const each of parent.querySelectorAll("[data-scroll]")) {
    const [top, left] = places.get(each.dataset.scroll) || [0, 0];
    if (top) each.scrollTop = top;
    if (left) each.scrollLeft = left;
  }
  if (key) parent.querySelector(`[data-k="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}

// A click is a press and a release on one element. What would be drawn between the two comes after it.
let pressed = false;
const delayed = new Set();
const held = (draw) => () => { if (pressed) delayed.add(draw); else draw(); };
function release() {
  if (!pressed) return;
  pressed = false;
  setTimeout(() => { const due = [...delayed]; delayed.clear(); for (const draw of due) held(draw)(); }); // after the click
}
addEventListener("pointerdown", (event) => { if (event.target.tagName !== "SELECT") pressed = true; }, true); // the list of a select takes its release
addEventListener("keydown", (event) => { if (event.key === " ") pressed = true; }, true);
for (const each of ["pointerup", "pointercancel", "keyup"]) addEventListener(each, release, true);
addEventListener("blur", release); // of the window
addEventListener("pointermove", (event) => { if (!event.buttons) release(); }, true); // released elsewhere

let locale; // of the host, else of the browser
const count = (n, word, words = `${word}s`) => `${n.toLocaleString(locale)} ${n === 1 ? word : words}`;
const score = (value) => (value === null || value === undefined ? "–" : value.toFixed(2));
const seconds = (s) => (s < 10 ? `${+s.toFixed(s < 1 ? 2 : 1)} s` : s < 120 ? `${Math.round(s)} s` : `${Math.round(s / 60)} min`);
const money = (usd) => (usd === null ? "cost unknown" : usd === 0 ? "$0" : usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`);
const short = (text, most = 90) => (text.length <= most ? text : `${text.slice(0, most - 20)}…${text.slice(-18)}`);

function spent(usage) {
  if (!usage.model_calls) return usage.seconds >= 0.005 ? seconds(usage.seconds) : "no model call";
  const tokens = usage.input_tokens + usage.output_tokens;
  return [count(usage.model_calls, "call"), tokens ? count(tokens, "token") : null, money(usage.cost_usd), seconds(usage.seconds)].filter(Boolean).join(" · ");
}

function ago(iso) {
  const past = (Date.now() - Date.parse(iso)) / 1000;
  const of = new Intl.RelativeTimeFormat(locale || "en", { numeric: "auto" });
  for (const [unit, size] of [["day", 86400], ["hour", 3600], ["minute", 60]]) if (past >= size) return of.format(-Math.floor(past / size), unit);
  return "just now";
}
const when = (iso) => h("time", { datetime: iso, title: new Date(iso).toLocaleString(locale) }, ago(iso));

// A link only where it leads to the web; anything else stays text.
function link(url, text) {
  let parsed = null;
  try { parsed = new URL(url); } catch { /* no address */ }
  if (!parsed || !["http:", "https:"].includes(parsed.protocol)) return foreign(text || url);
  const open = (event) => { if (door.open) { event.preventDefault(); door.open(parsed.href); } };
  return h("a", { href: parsed.href, target: "_blank", rel: "noopener noreferrer", on: { click: open } }, foreign(text || url));
}

// What a link to this state of the page has behind `#`, or `?` when it was written by hand. A host's view has no address.
const inAddress = () => (root.dataset.door === "app" ? {} : Object.fromEntries([...new URLSearchParams(location.search), ...new URLSearchParams(location.hash.slice(1))]));
function toAddress(state) {
  if (root.dataset.door === "app") return;
  const told = new URLSearchParams(Object.entries(state).filter(([, value]) => value !== null)).toString();
  history.replaceState(null, "", location.pathname + (told ? `#${told}` : ""));
}

function theme(name) {
  root.dataset.theme = name;
}
const dark = matchMedia("(prefers-color-scheme: dark)");
theme(dark.matches ? "dark" : "light");
dark.addEventListener("change", () => theme(dark.matches ? "dark" : "light"));
