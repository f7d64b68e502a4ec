// The TypeScript SDK that speaks both eras; MCP_PROTOCOL pins one.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { drive, target } from "./caller.mjs";

const pin = process.env.MCP_PROTOCOL;
const { url, command, args } = target();
const transport = url
  ? new StreamableHTTPClientTransport(url)
  : new StdioClientTransport({ command, args, env: process.env });
const client = new Client(
  { name: "sdk-v2", version: "1" },
  { versionNegotiation: { mode: pin ? { pin } : "legacy" } },
);
await client.connect(transport);
await drive(client, client.getNegotiatedProtocolVersion());
await client.close();
