import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import { getShardIndex } from "../../src/configure/shards.ts";
import type { GatewayBodies } from "../../src/store.ts";
import { eventually, exampleConfig, openWorld } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { type Node, startNode } from "../support/nodes.ts";

const SHARDS = 2;
const KEY = (conversation: string) => `agent:coder:api:direct:${conversation}`;

async function ask(node: Node, conversation: string, id: string, text: string) {
  const submitted = await node.gateway.service.submit({
    channel: "api",
    agent: "coder",
    conversation,
    id,
    text,
  });
  if (submitted.kind !== "accepted") throw new Error(submitted.kind);
  return submitted.done;
}

it("runs the shards of an agent on several gateways, each with its own sessions and workspace", async () => {
  const world = await openWorld();
  const base = exampleConfig();
  const [coder] = Object(base["agents"]).list;
  const config = { ...base, agents: { ...Object(base["agents"]), list: [{ ...coder, shards: SHARDS }] } };
  // The model writes down each conversation, and then answers.
  world.script((request) => {
    const { messages } = Object(request);
    const last = messages.at(-1);
    const isResult = JSON.stringify(last).includes("tool_result");
    const [, name] = /conversation (\w+)/.exec(JSON.stringify(messages)) ?? [];
    return isResult
      ? { text: `noted ${name}` }
      : { toolCalls: [{ name: "write", input: { file_path: `${name}.txt`, content: `of ${name}` } }] };
  });
  const one = await startNode(world, "one", config);
  const two = await startNode(world, "two", config);
  const store = await openStore<GatewayBodies>({ path: world.home.databaseFile, access: "share" });
  onTestFinished(() => store.close());
  const holders = async () => {
    const leases = await store.leases.list();
    return ["coder#1", "coder#2"].map((seat) => leases.find(({ name }) => name === `seat ${seat}`)?.holder);
  };
  await eventually(async () => {
    const held = await holders();
    return new Set(held).size === 2 && !held.includes(undefined);
  }, "each gateway runs a shard");
  const places = await holders();
  const homes = new Map([
    [one.id, "one"],
    [two.id, "two"],
  ]);

  const conversations = ["a", "b", "c", "d", "e", "f"];
  expect(new Set(conversations.map((name) => getShardIndex(KEY(name), SHARDS)))).toEqual(new Set([0, 1]));
  for (const name of conversations) {
    // Any gateway accepts the message.
    const outcome = await ask(name < "d" ? one : two, name, `m-${name}`, `This is conversation ${name}.`);
    expect(outcome).toMatchObject({ state: "replied", text: `noted ${name}` });
    const index = getShardIndex(KEY(name), SHARDS);
    const [run] = await store.runs.list({ sessionKey: KEY(name) });
    expect(run?.lease.name).toBe(`gateway ${places[index]}`);
    const workspace = (shard: number) =>
      join(world.dir, homes.get(places[index] ?? "") ?? "", "workspaces", "coder", `shard-${shard + 1}`);
    expect(readFileSync(join(workspace(index), `${name}.txt`), "utf8")).toBe(`of ${name}`);
    expect(existsSync(join(workspace(1 - index), `${name}.txt`))).toBe(false);
    const shown = JSON.stringify(modelRequests(world.anthropic).at(-1));
    expect(shown).toContain(`shard-${index + 1}`);
  }

  // A gateway that stops leaves its shard to the other one, and the conversation continues there.
  await one.stop();
  await eventually(async () => (await holders()).every((holder) => holder === two.id), "the shard moves");
  for (const name of ["a", "b", "c"]) {
    const outcome = await ask(two, name, `n-${name}`, "Again.");
    expect(outcome.state).toBe("replied");
    expect(JSON.stringify(modelRequests(world.anthropic).at(-1))).toContain(`This is conversation ${name}.`);
  }
});
