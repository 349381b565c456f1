import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect, it, onTestFinished } from "vitest";
import { ask, OWNED, said } from "../support/feishu-talk.ts";
import { exampleConfig, openWorld, TOKEN, taintIn } from "../support/harness.ts";

/** Starts a gateway and connects an MCP client with the owner's token. */
async function connect() {
  const world = await openWorld();
  world.configure(exampleConfig({ access: OWNED }));
  const started = await world.start();
  const client = new Client({ name: "editor", version: "1" });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${started.url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${TOKEN}` } },
    }),
  );
  onTestFinished(() => client.close());
  const call = async (name: string, args: Record<string, unknown> = {}): Promise<string> => {
    const { content } = await client.callTool({ name, arguments: args });
    return (content as { text: string }[]).map(({ text }) => text).join("\n");
  };
  return { world, started, call };
}

it("an MCP client asks an agent, and its words taint the run", async () => {
  const { world, call } = await connect();
  world.script(() => ({ text: "Forty-two." }));
  expect(await call("ask_agent", { message: "What is it?" })).toBe("Forty-two.");
  expect(await taintIn(world)).toEqual(["forward"]);
  expect(await call("list_agents")).toContain("coder");
});

it("an MCP client finds a conversation and writes to the people in it", async () => {
  const { world, started, call } = await connect();
  world.script(() => ({ text: "Hello." }));
  await ask(started, "The birthday of my sister is in June.");
  const [key = ""] = (await call("list_conversations")).split(" · ");
  expect(key).toContain("feishu");
  expect(await call("send_message", { conversation: key, text: "The build is **done**." })).toBe(
    "The message is in the outbox.",
  );
  await expect.poll(() => said(world).at(-1)).toContain("The build is");
  expect(
    await call("send_message", { conversation: "agent:coder:feishu:direct:nobody", text: "x" }),
  ).toContain("There is no conversation");
  await expect.poll(() => call("search_memory", { query: "sister birthday" })).toContain("in June");
});
