// The TypeScript SDK of the handshake era.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { drive, target } from "./caller.mjs";

const { url, command, args } = target();
const transport = url
  ? new StreamableHTTPClientTransport(url)
  : new StdioClientTransport({ command, args, env: process.env });
const client = new Client({ name: "sdk-v1", version: "1" });
await client.connect(transport);
await drive(client, "handshake");
await client.close();
