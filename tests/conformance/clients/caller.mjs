// The part of a calling agent: starts a run, writes every version by the brief, reads the history.
import assert from "node:assert/strict";

const TEXT = "You get your money back within 30 days.";
const VALIDATORS = [
  { type: "content", required: ["refund"] },
  { type: "length", max_words: 10 },
];
const MOST_VERSIONS = 5;

// What a model would do, by rules: one failure is met at a time, and nothing else is looked at.
function revised(text, brief) {
  const [suggestion] = brief.failures.flatMap((failure) => failure.suggestions);
  const term = /mention '(.+)'/.exec(suggestion)?.[1];
  if (term) return `${text} That is a ${term}.`;
  const surplus = Number(/cut (\d+) words?/.exec(suggestion)[1]);
  const rest = text.split(" ").slice(surplus).join(" ");
  return rest[0].toUpperCase() + rest.slice(1);
}

async function structured(client, name, args) {
  const result = await client.callTool({ name, arguments: args });
  assert.ok(!result.isError, `${name}: ${JSON.stringify(result.content)}`);
  assert.ok(result.content[0].text, `${name} has no text for hosts that show only that`);
  return result.structuredContent;
}

// Works through a whole run and prints what there is to say about it as one line of JSON.
export async function drive(client, protocol) {
  const { tools } = await client.listTools();
  assert.ok(tools.some((tool) => tool.name === "submit_revision"));
  let out = await structured(client, "improve_text", {
    text: TEXT,
    validators: VALIDATORS,
    critics: ["lint"],
    model: "caller",
  });
  let versions = 1;
  let current = out.text ?? TEXT;
  while (out.status === "needs_revision" && versions < MOST_VERSIONS) {
    const { run_id, brief } = out;
    const parent = { run_id, parent_id: brief.parent_id };
    if (brief.sheet.length) {
      out = await structured(client, "submit_revision", { ...parent, accept: true });
      break;
    }
    current = revised(current, brief);
    out = await structured(client, "submit_revision", { ...parent, text: current });
    assert.equal(out.accepted, true, out.reason);
    current = out.text ?? current;
    versions += 1;
  }
  assert.equal(out.status, "done");
  assert.equal(current, "Your money back within 30 days. That is a refund.");
  const history = await structured(client, "get_thought_history", { run_id: out.run_id });
  assert.equal(history.run.champion_id, out.thought_id);
  assert.equal(history.thoughts.length, versions);
  const { contents } = await client.readResource({ uri: `run://${out.run_id}` });
  assert.equal(JSON.parse(contents[0].text).run.status, "done");
  console.log(JSON.stringify({ protocol, versions }));
}

// The server to talk to, as the command line names it: `stdio COMMAND ...` or `http URL`.
export function target() {
  const [kind, ...rest] = process.argv.slice(2);
  return kind === "http" ? { url: new URL(rest[0]) } : { command: rest[0], args: rest.slice(1) };
}
