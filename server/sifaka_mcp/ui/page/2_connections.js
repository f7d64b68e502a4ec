// Where the data comes from: blocks in this file, the server of this page, or the host of an MCP App.
// run(id, after) gives null when nothing is new; a Refusal says what the server has against it.
class Refusal extends Error {}
class Locked extends Error {} // a token is needed

function fileDoor() {
  const block = (name) => JSON.parse(document.getElementById(name).textContent);
  return {
    kind: "file",
    run: async (id, after) => (after === undefined ? block("run") : null),
    version: async (id, place) => block(`version-${place}`),
    first: () => block("run").run_id,
  };
}

function webDoor() {
  const [, base, id] = location.pathname.match(/^(.*)\/runs(?:\/([^/]*))?\/?$/) || [];
  const kept = () => { try { return sessionStorage.getItem("sifaka-token"); } catch { return null; } };
  let token = kept();
  async function ask(path, options) {
    const headers = { accept: "application/json", ...(token ? { authorization: `Bearer ${token}` } : {}), ...options?.headers };
    const answer = await fetch(base + path, { ...options, headers, cache: "no-store" });
    if (answer.status === 401) throw new Locked(token ? "This token is not accepted." : "");
    if (answer.status === 204) return null;
    if (answer.status >= 500 || answer.status === 429) throw new TypeError(`the server answered ${answer.status}`);
    const told = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Refusal(told.error || `the server answered ${answer.status}`);
    return told;
  }
  let number = 0;
  async function tool(name, args) {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "sifaka-page", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const headers = {
      accept: "application/json, text/event-stream", "content-type": "application/json",
      "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name,
    };
    if (token) headers.authorization = `Bearer ${token}`;
    const body = JSON.stringify({ jsonrpc: "2.0", id: ++number, method: "tools/call", params: { name, arguments: args, _meta } });
    const answer = await fetch(`${base}/mcp`, { method: "POST", headers, body });
    if (answer.status === 401) throw new Locked("This token is not accepted.");
    const text = await answer.text();
    const lines = text.startsWith("{") ? [text] : text.split(/\r?\n/).filter((each) => each.startsWith("data:")).map((each) => each.slice(5));
    const told = lines.filter((each) => each.trim()).map((each) => JSON.parse(each)).find((each) => each.id === number);
    return outcome(told || { error: { message: `the server answered ${answer.status}` } });
  }
  const segment = encodeURIComponent;
  return {
    kind: "web", tool,
    run: (id, after) => ask(`/runs/${segment(id)}${after === undefined ? "" : `?after=${after}`}`),
    version: (id, place) => ask(`/runs/${segment(id)}/versions/${place}`),
    list: (asked) => ask(`/runs?${new URLSearchParams(asked)}`),
    first: () => (id ? decodeURIComponent(id) : null),
    address: (id) => (id ? `${base}/runs/${segment(id)}` : `${base}/runs`),
    unlock: (given) => { token = given; try { sessionStorage.setItem("sifaka-token", given); } catch { /* kept in memory */ } },
  };
}

// The result of a tool, or the error as a Refusal.
function outcome(told) {
  if (told.error) throw new Refusal(told.error.message);
  const result = told.result ?? told;
  if (result.isError) throw new Refusal((result.content || []).map((each) => each.text || "").join(" ") || "it was refused");
  return result;
}

// The host of an MCP App: JSON-RPC over postMessage (extension io.modelcontextprotocol/ui, 2026-01-26).
function appDoor() {
  const waiting = new Map();
  const listeners = {};
  let number = 0;
  let host = {};
  const post = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const request = (method, params) => new Promise((resolve, reject) => {
    const id = ++number;
    waiting.set(id, { resolve, reject });
    post({ id, method, params });
  });
  addEventListener("message", (event) => {
    const told = event.data;
    if (event.source !== parent || !told || told.jsonrpc !== "2.0") return;
    if (told.method === undefined) {
      const asked = waiting.get(told.id);
      waiting.delete(told.id);
      if (told.error) asked?.reject(new Refusal(told.error.message || "the host refused"));
      else asked?.resolve(told.result);
    } else if (told.id !== undefined) {
      if (told.method === "ui/resource-teardown") listeners.end?.();
      const known = told.method === "ping" || told.method === "ui/resource-teardown";
      post({ id: told.id, ...(known ? { result: {} } : { error: { code: -32601, message: "unknown method" } }) });
    } else if (told.method === "ui/notifications/host-context-changed") context(told.params || {});
    else if (told.method === "ui/notifications/tool-input") listeners.input?.(told.params?.arguments || {});
    else if (told.method === "ui/notifications/tool-result") listeners.result?.(told.params || {});
    else if (told.method === "ui/notifications/tool-cancelled") listeners.cancelled?.(told.params?.reason);
  });
  function context(told) {
    if (told.theme === "dark" || told.theme === "light") theme(told.theme);
    if (told.locale) locale = told.locale;
    for (const [name, value] of Object.entries(told.styles?.variables || {})) {
      if (name.startsWith("--font-sans")) root.style.setProperty("--ui", value);
    }
    if (told.displayMode) { root.dataset.mode = told.displayMode; listeners.mode?.(told.displayMode); }
    const insets = told.safeAreaInsets;
    if (insets) root.style.setProperty("padding", `${insets.top}px ${insets.right}px ${insets.bottom}px ${insets.left}px`);
    door.modes = told.availableDisplayModes || door.modes || [];
  }
  async function read(uri) {
    const told = await request("resources/read", { uri });
    return JSON.parse(told.contents[0].text);
  }
  // Where a host reads no resources for its views, a tool that the model has as well brings the run.
  async function byTool(id) {
    const told = outcome(await request("tools/call", { name: "get_thought_history", arguments: { run_id: id, limit: 1 } }));
    const view = told._meta?.["sifaka/view"];
    if (!view) throw new Refusal("this host does not let views read runs");
    return view;
  }
  const versions = {};
  const self = {
    kind: "app", modes: [],
    async run(id, after) {
      let view;
      if (host.serverResources) view = await read(`run://${id}/view`);
      else {
        const told = await byTool(id);
        view = told.run;
        versions[id] = told.versions;
      }
      return view.entries === after ? null : view;
    },
    async version(id, place) {
      if (host.serverResources) return read(`run://${id}/view/${place}`);
      if (!versions[id]?.[place]) throw new Refusal("this host shows the best version only");
      return versions[id][place];
    },
    list: async (asked) => outcome(await request("tools/call", { name: "get_thought_history", arguments: asked.cursor ? { cursor: asked.cursor } : { query: asked.query || "", limit: 20 } })).structuredContent,
    tool: async (name, args) => outcome(await request("tools/call", { name, arguments: args })),
    first: () => null,
    open: (url) => request("ui/open-link", { url }).catch(() => null),
    say: (text) => request("ui/message", { role: "user", content: [{ type: "text", text }] }),
    // Everything in the whole window or, in a host that only shows pages in the conversation, there.
    widen() {
      if (!self.modes.includes("fullscreen")) return context({ displayMode: "whole" });
      return request("ui/request-display-mode", { mode: "fullscreen" }).then((told) => context({ displayMode: told.mode }), () => null);
    },
    listen: (told) => Object.assign(listeners, told),
    async start() {
      const told = await request("ui/initialize", {
        protocolVersion: "2026-01-26", appInfo: { name: "sifaka", version: "1" },
        appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
      });
      host = told.hostCapabilities || {};
      root.dataset.mode = "inline";
      context(told.hostContext || {});
      post({ method: "ui/notifications/initialized" });
      let last = 0;
      const tell = () => {
        const height = Math.ceil(document.getElementById("page").getBoundingClientRect().height);
        if (height !== last) post({ method: "ui/notifications/size-changed", params: { width: root.clientWidth, height: (last = height) } });
      };
      new ResizeObserver(tell).observe(document.getElementById("page"));
    },
  };
  return self;
}
