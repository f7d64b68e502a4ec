// The beginning: the door, and what it leads to.
let door = null;
let shown = null;

function openRun(page, id) {
  shown?.end();
  if (door.kind === "web") history.replaceState(null, "", door.address(id));
  shown = new RunPage(page, id);
  shown.look();
  return shown;
}

function openList(page) {
  shown?.end();
  shown = null;
  if (door.kind === "web") history.replaceState(null, "", door.address(null));
  listPage(page, (id) => openRun(page, id));
}

// What a tool of this server has answered with, in an MCP App.
function openResult(page, result) {
  const data = result.structuredContent || {};
  const id = data.run_id || data.run?.run_id;
  if (id) return openRun(page, id);
  if (data.verdicts) return show(page, h("main", null, h("section.card", null, h("h2", null, count(data.verdicts.length, "claim")), claims(data.verdicts))));
  if (data.runs || data.hits) {
    const first = door.list;
    door.list = async (asked) => { door.list = first; return Object.keys(asked).length ? first(asked) : data; };
    return openList(page);
  }
  const text = (result.content || []).map((each) => each.text || "").join("\n");
  return show(page, h("main", null, h("section.card", null, h("h2", null, result.isError ? "It was refused" : "Answer"), h("p.plain", null, foreign(text)))));
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
    result: (result) => openResult(page, result),
    cancelled: () => show(page, h("p.loading.quiet", { role: "status" }, "Stopped.")),
    mode: () => shown?.run && shown.draw(),
    end: () => shown?.end(),
  });
  await door.start();
}

begin();
