"""A host of MCP Apps: a page that frames the app as the specification says, over a real client."""

import json
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult
from playwright.sync_api import FrameLocator, Locator, Route

from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import Settings
from tests.stubs.servers import Era
from tests.ui.browser import PATIENCE, Tab

SANDBOX = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; media-src 'self' data:; connect-src 'none'; sandbox allow-scripts"
)
"""The policy for an app that asks for no domain."""
PAGE = """<!doctype html><html lang="en"><title>Host</title><style>
body { margin: 0; font: 16px sans-serif } iframe { border: 0; width: 100%; height: 500px }
</style><h1>Conversation</h1><script>
const said = window.said = [];
window.addEventListener("message", async ({ data, source }) => {
  const frame = document.querySelector("iframe");
  if (!frame || source !== frame.contentWindow || !data || data.jsonrpc !== "2.0") return;
  said.push(data.method || "answer");
  if (data.id === undefined || data.method === undefined) {
    if (data.method === "ui/notifications/initialized")
      for (const each of window.first) source.postMessage({ jsonrpc: "2.0", ...each }, "*");
    if (data.method === "ui/notifications/size-changed")
      frame.style.height = data.params.height + "px";
    return;
  }
  const answer = JSON.parse(await window.ask(JSON.stringify(data)));
  source.postMessage({ jsonrpc: "2.0", id: data.id, ...answer }, "*");
});
window.show = (first) => {
  window.first = first;
  const frame = document.createElement("iframe");
  frame.title = "Sifaka";
  frame.sandbox = "allow-scripts";
  frame.src = "http://sandbox.test/";
  document.body.append(frame);
};
window.tell = (message) => {
  const frame = document.querySelector("iframe").contentWindow;
  frame.postMessage({ jsonrpc: "2.0", ...message }, "*");
};
</script></html>"""


@dataclass
class Host:
    """What a host does for an app: it passes requests on, and says what a tool answered."""

    tab: Tab
    client: Client
    portal: BlockingPortal
    context: dict[str, Any]
    capabilities: dict[str, Any]
    is_silent: bool = False
    """True while its server cannot be reached."""
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    @property
    def app(self) -> FrameLocator:
        return self.tab.page.frame_locator("iframe")

    def call(self, tool: str, **arguments: Any) -> CallToolResult:
        """Call a tool as the model of this host would."""
        return self.portal.call(self.client.call_tool, tool, arguments)

    def show(self, tool: str, result: CallToolResult | None, **arguments: Any) -> None:
        """Open the page that a tool names, and give it the arguments and the result."""
        first: list[dict[str, Any]] = [
            {"method": "ui/notifications/tool-input", "params": {"arguments": arguments}}
        ]
        if result is not None:
            first.append({"method": "ui/notifications/tool-result", "params": wire(result)})
        listed = self.portal.call(self.client.list_tools).tools
        (meta,) = (each.meta for each in listed if each.name == tool)
        assert meta is not None
        read = self.portal.call(self.client.read_resource, meta["ui"]["resourceUri"])
        content = wire(read)["contents"][0]
        assert content["mimeType"] == "text/html;profile=mcp-app"

        def sandbox(route: Route) -> None:
            headers = {"content-security-policy": SANDBOX}
            route.fulfill(body=content["text"], content_type="text/html", headers=headers)

        self.tab.page.route("http://sandbox.test/", sandbox)
        self.tab.page.evaluate("(first) => window.show(first)", first)

    def click(self, control: Locator) -> None:
        """Click a control of the page when the mouse reaches it.

        A frame grows with its page. For a moment Chromium still sends the mouse where the frame
        was not before to the host, and a click there is lost.
        """
        end = time.monotonic() + PATIENCE
        control.hover()
        while not control.evaluate("(each) => each.matches(':hover')"):
            assert time.monotonic() < end, f"the mouse does not reach {control}"
            self.tab.page.mouse.move(0, 0)
            control.hover()
        control.click()

    def tell(self, method: str, **params: Any) -> None:
        """Send a notification to the page."""
        self.tab.page.evaluate("(told) => window.tell(told)", {"method": method, "params": params})

    def answer(self, message: str) -> str:
        """The answer to a request of the page."""
        asked: dict[str, Any] = json.loads(message)
        self.asked.append(asked)
        method: str = asked["method"]
        params: dict[str, Any] = asked.get("params", {})
        if self.is_silent:
            return json.dumps({"error": {"code": -32000, "message": "the server is away"}})
        try:
            match method:
                case "ui/initialize":
                    told: Any = {
                        "protocolVersion": "2026-01-26",
                        "hostInfo": {"name": "test", "version": "1"},
                        "hostCapabilities": self.capabilities,
                        "hostContext": self.context,
                    }
                case "tools/call":
                    given: dict[str, Any] = params.get("arguments", {})
                    told = wire(self.portal.call(self.client.call_tool, params["name"], given))
                case "resources/read" if "serverResources" in self.capabilities:
                    told = wire(self.portal.call(self.client.read_resource, params["uri"]))
                case "ui/request-display-mode":
                    told = {"mode": params["mode"]}
                case "ui/message" | "ui/open-link":
                    told = {}
                case _:
                    return json.dumps({"error": {"code": -32601, "message": "not offered"}})
        except MCPError as error:
            return json.dumps({"error": {"code": -32000, "message": str(error)}})
        return json.dumps({"result": told})


def wire(model: Any) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


Hosting = Callable[..., Host]


@contextmanager
def hosted(
    tab: Tab,
    settings: Settings,
    era: Era,
    *,
    context: dict[str, Any] | None = None,
    capabilities: dict[str, Any] | None = None,
) -> Generator[Host]:
    """A host with a client of a server in this process."""
    offered: dict[str, Any] = {"serverTools": {}, "serverResources": {}, "message": {}}
    given = {"theme": "light", "displayMode": "inline"}
    with start_blocking_portal() as portal:
        client = Client(SifakaServer(settings), mode=era)
        with portal.wrap_async_context_manager(client) as opened:
            host = Host(
                tab,
                opened,
                portal,
                {**given, "availableDisplayModes": ["inline", "fullscreen"], **(context or {})},
                offered if capabilities is None else capabilities,
            )
            tab.page.route(
                "http://host.test/",
                lambda route: route.fulfill(body=PAGE, content_type="text/html"),
            )
            tab.page.expose_function("ask", host.answer)  # pyright: ignore[reportUnknownMemberType] - its callback
            tab.page.goto("http://host.test/")
            try:
                yield host
            finally:
                tab.page.goto("about:blank")  # a page that follows a run asks until it is closed
