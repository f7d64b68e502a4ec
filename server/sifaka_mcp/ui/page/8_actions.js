// What a person can do. Every button calls a tool, with the rights of this connection.
async function act(view, name, args, note) {
  if (view.busy) return null;
  const from = document.activeElement?.dataset.k;
  view.busy = true;
  view.complaint = null;
  view.draw();
  try {
    const told = await door.tool(name, args);
    view.editing = null;
    view.picked = null;
    view.note = note;
    setTimeout(() => { view.note = null; view.head(); }, 4000);
    return told;
  } catch (error) {
    if (error instanceof Locked) { view.locked(error); return null; }
    view.complaint = error instanceof Refusal ? error.message : "The server does not answer. Nothing is known to have changed.";
    return null;
  } finally {
    view.busy = false;
    if (!view.stopped) { view.draw(); await view.look(); }
    if (document.activeElement === document.body) { // what was pressed was disabled or is gone
      const pressed = from && view.page.querySelector(`[data-k="${CSS.escape(from)}"]`);
      (pressed || view.page.querySelector(".versions [aria-current=true]"))?.focus({ preventScroll: true });
    }
  }
}

const choose = (view, version, more, note) => act(view, "choose_version", { run_id: view.id, version_id: version.id, ...more }, note);

function actions(view) {
  if (!door.tool) return [];
  const run = view.run;
  const place = view.place();
  const line = run.versions[place];
  const absent = !view.ready(place); // its text is still on its way
  const press = (key, label, go, kind, not) => button(label, go, { "data-k": key, class: kind || null, disabled: view.busy || not });
  if (run.status === "running") return [press("stop", "Stop", () => act(view, "cancel_run", { run_id: run.run_id }, "Stopped. The best version is kept."))];
  if (!line) return [];
  const best = run.versions[run.champion];
  return [
    place !== run.champion ? press("use", `Use version ${line.number}`, () => choose(view, line, {}, `Version ${line.number} is the current one, because you chose it.`), "primary") : null,
    press("edit", "Edit", () => { view.editing = line.id; view.draw(); view.page.querySelector(".edit")?.focus(); }, null, absent),
    best && (run.left.length || run.status === "needs_revision") && run.declined === null ? press("decline", "Decline what is left", () => declineAll(view, best)) : null,
    press("harder", "Try harder", () => harder(view, line), null, absent),
  ];
}

async function harder(view, line) {
  const version = await view.version(view.place(), true);
  const told = await act(view, "improve_text", { text: version.text, effort: "thorough", wait_seconds: 0, ...(view.run.prompt ? { prompt: view.run.prompt } : {}), ...(view.run.tags.length ? { tags: view.run.tags } : {}) }, `A new run goes on from version ${line.number}.`);
  const id = told?.structuredContent?.run_id;
  if (id) openRun(view.page, id);
}

// Asks for the reason of a decline, and sends it. There is no form: the sandbox of a host sends none.
function askWhy(view, title, note, issues, send, verb = "Decline") {
  const missing = h("p.small.bad", { id: "ask-missing", role: "alert" });
  const answer = () => {
    const told = reason.value.trim();
    if (told) { dialog.close(); send({ reason: told }); return; }
    missing.textContent = "Say a reason.";
    reason.setAttribute("aria-invalid", "true");
    reason.focus();
  };
  const enter = (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) answer(); };
  const reason = h("textarea", { name: "reason", "aria-required": "true", "aria-label": "Reason", "aria-describedby": "ask-missing", on: { keydown: enter } });
  const dialog = h("dialog", { "aria-labelledby": "ask-title" },
  h("h2", { id: "ask-title" }, title),
  h("p.small", null, note),
  h("ul.notes", null, issues.slice(0, 6).map((each) => h("li", null, each.quote ? [h("q", null, foreign(short(each.quote))), " "] : null, foreign(each.message)))),
  reason, missing,
  h("div.row-actions", null, button(verb, answer, { class: "primary" }), button("Cancel", () => dialog.close())));
  dialog.addEventListener("close", () => dialog.remove());
  view.page.append(dialog);
  dialog.showModal();
  reason.focus();
}

const declineAll = (view, version) => askWhy(view, "Decline what is left", `Version ${version.number} stays as it is. Your reason goes on record.`, view.run.left, (told) => choose(view, version, told, "Declined, and on record with your reason."));

// The button that declines one issue of the current version.
function declining(view, why, props) {
  if (!door.tool || !why?.may_decline || view.run.status === "running" || view.run.status === "failed") return null;
  const version = view.run.versions[view.run.champion];
  const send = (told) => choose(view, version, { issue: why.message, quote: why.quote, ...told }, "Declined, and on record with your reason.");
  return button("Decline", () => askWhy(view, "Decline this issue", "It is not asked for again, here and in what is made of this version.", [why], send), { class: "tiny", disabled: view.busy, ...props });
}

// The button that answers the open differences of the version that was handed in last: it is judged again with the answer.
function accepting(view, place) {
  const { run } = view;
  const [line, best] = [run.versions[place], run.versions[run.champion]];
  const open = line.differences.filter((each) => each.status === "open");
  const last = run.versions.findLastIndex((each) => each.author === "caller");
  if (!door.tool || run.status !== "needs_revision" || !open.length || place !== last || line.parent !== run.champion) return null;
  const send = (told) => act(view, "submit_revision", { run_id: run.run_id, parent_id: best.id, ...told }, "Accepted, and on record with your reason.");
  const told = open.map((each) => ({ message: [each.before, each.after].filter(Boolean).join(" → ") }));
  return h("div.row-actions", null, button(`Accept ${open.length > 1 ? "these differences" : "this difference"}`, () => askWhy(view, "Accept what differs", `Version ${line.number} is judged again, with your reason for it.`, told, send, "Accept"), { class: "tiny", "data-k": "accept", disabled: view.busy }));
}

// The button that takes some changes back.
function undoing(view, line, changes, gone, label, props) {
  if (!door.tool || view.run.status === "running") return null;
  const undo = () => choose(view, line, { text: changes.map((each) => (gone.includes(each) ? each.before : each.after)).join("") }, `${count(gone.length, "change is undone", "changes are undone")}. Your version is the current one.`);
  return button(label, undo, { class: "tiny", disabled: view.busy, ...props });
}

function editor(view, version, line) {
  const area = h("textarea.edit", { "aria-label": `Text of version ${line.number}`, "data-k": "edit-area", spellcheck: "true", value: view.draft?.id === line.id ? view.draft.text : version.text, on: { input: () => { view.draft = { id: line.id, text: area.value }; } } });
  const leave = () => { view.editing = null; view.draft = null; view.draw(); };
  const save = async () => {
    const told = await choose(view, line, { text: area.value }, "Your version is the current one, because you wrote it.");
    if (told) view.draft = null;
  };
  return h("div", null, area, h("div.row-actions", null, button("Save as my version", save, { class: "primary", "data-k": "save", disabled: view.busy }), button("Cancel", leave, { "data-k": "leave" }), h("span.quiet.small", null, "It becomes a version of its own; the rules are checked, and what it breaks is on record.")));
}

// What anybody may do with a version: take its text along.
function taking(run, line, text) {
  const copy = async (event) => {
    const pressed = event.currentTarget;
    const area = h("textarea", { value: text });
    const byHand = () => { pressed.after(area); area.select(); const done = document.execCommand("copy"); area.remove(); return done; };
    const done = await (navigator.clipboard?.writeText(text).then(() => true, byHand) ?? byHand());
    pressed.textContent = done ? "Copied" : "Not allowed here";
  };
  const save = () => {
    const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    h("a", { href: address, download: `${run.run_id}-v${line.number}.${/^#|^[-*] |\*\*|\]\(/m.test(text) ? "md" : "txt"}` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  };
  return h("span.taking", null, button("Copy", copy, { class: "tiny", "data-k": "copy" }), door.kind === "app" ? null : button("Download", save, { class: "tiny", "data-k": "download" }));
}

const KEYS = [["j", "next change"], ["k", "change before"], ["[", "version before"], ["]", "next version"], ["d", "diff"], ["t", "text"], ["s", "side by side"], ["r", "as it is read"], ["?", "these keys"]];

function listKeys(page) {
  const dialog = h("dialog", { "aria-label": "Keys" }, h("h2", null, "Keys"), h("ul.keys", null, KEYS.map(([key, does]) => h("li", null, h("kbd", null, key), ` ${does}`))), h("div.row-actions", null, button("Close", () => dialog.close())));
  dialog.addEventListener("close", () => dialog.remove());
  page.append(dialog);
  dialog.showModal();
}
