// The beginning: the door, and what it leads to.
let door = null;
let shown = null;

// Has the address of a run, or of the list; what stood behind `#` belongs to the page before.
function goTo(id) {
  if (door.kind === "web" && location.pathname !== door.address(id)) history.replaceState(null, "", door.address(id));
}

function openRun(page, id, state) {
  shown?.end();
  goTo(id);
  if (state) toAddress(state);
  shown = new RunPage(page, id, state || inAddress());
  shown.look();
  return shown;
}

function openList(page) {
  shown?.end();
  shown = null;
  goTo(null);
  listPage(page, (id, state) => openRun(page, id, state));
}

// What a tool of this server has answered with, in an MCP App.
function openResult(page, result) {
  const data = result.structuredContent || {};
  const id = data.run_id || data.run?.run_id;
  if (id) return shown?.id === id ? shown.look() : openRun(page, id);
  if (data.verdicts) return show(page, h("main", null, h("section.card", null, h("h2", null, count(data.verdicts.length, "claim")), claims(data.verdicts))));
  if (data.runs || data.hits) {
    const first = door.list;
    door.list = async (asked) => { door.list = first; return Object.keys(asked).length ? first(asked) : data; };
    return openList(page);
  }
  const text = (result.content || []).map((each) => each.text || "").join("\n");
  return show(page, h("main", null, h("section.card", null, h("h2", null, result.isError ? "It was refused" : "Answer"), h("p.plain", null, foreign(text)))));
}

// A tool that is still at work has no id to tell: its run is the one that goes on with these words.
async function openWhenFound(page, text) {
  const excerpt = [...text].slice(0, 400).join("").split(/\s+/).filter(Boolean).join(" ").slice(0, 120);
  for (let n = 0; n < 20 && !shown; n++) {
    await new Promise((resolve) => { setTimeout(resolve, 1000); });
    if (shown) return;
    const told = await door.list({}).catch(() => null);
    const found = told?.runs?.find((each) => each.status === "running" && each.excerpt.slice(0, 100) === excerpt.slice(0, 100));
    if (found && !shown) openRun(page, found.run_id);
  }
}

async function begin() {
  const page = document.getElementById("page");
  door = { file: fileDoor, web: webDoor, app: appDoor }[root.dataset.door]();
  if (door.kind !== "app") {
    const id = door.first();
    return id ? openRun(page, id) : openList(page);
  }
  show(page, h("p.loading.quiet", { role: "status" }, h("span.pill.warn.live", null, h("span.dot"), "at work")));
  door.listen({
    input: (told) => (told.run_id ? openRun(page, told.run_id) : told.text ? openWhenFound(page, told.text) : null),
    result: (result) => openResult(page, result),
    cancelled: () => show(page, h("p.loading.quiet", { role: "status" }, "Stopped.")),
    mode: () => shown?.run && shown.draw(),
    end: () => shown?.end(),
  });
  await door.start();
}

begin();
