// Loaded before a program that cannot be told a token: every request of it brings one along.
import { Agent, setGlobalDispatcher } from "undici";

const authorization = `Bearer ${process.env.MCP_BEARER_TOKEN}`;

const withToken = (dispatch) => (options, handler) => {
  const given = Array.isArray(options.headers)
    ? options.headers
    : [...(options.headers?.entries?.() ?? Object.entries(options.headers ?? {}))].flat();
  return dispatch({ ...options, headers: [...given, "authorization", authorization] }, handler);
};

setGlobalDispatcher(new Agent().compose(withToken));
