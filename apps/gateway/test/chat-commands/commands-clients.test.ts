import { createClient, type ServerFrame } from "@signalbox/client";
import { describe, expect, it } from "vitest";
import { exampleConfig, inboxRows, openWorld, type Started, TOKEN, type World } from "../support/harness.ts";
import { clientOf } from "../support/openai-client.ts";

async function open(): Promise<{ world: World; started: Started }> {
  const world = await openWorld();
  world.configure(exampleConfig({ channels: {} }));
  return { world, started: await world.start() };
}

describe("slash commands on the gateway's own surfaces", () => {
  it("reach the page as a message and an outcome, so that no client waits", async () => {
    const { world, started } = await open();
    const client = createClient({ baseUrl: started.url, token: TOKEN });
    const frames: ServerFrame[] = [];
    for await (const frame of client.chat("coder", "talk", "/whoami", { id: "asked" })) frames.push(frame);
    const types = frames.map(({ type }) => type).filter((type) => type !== "subscribed");
    expect(types.toSorted()).toEqual(["accepted", "message", "message", "run.end"]);
    expect(frames).toContainEqual(
      expect.objectContaining({
        type: "message",
        message: expect.objectContaining({
          role: "assistant",
          text: expect.stringContaining("You are web:token, an owner"),
        }),
      }),
    );
    expect(frames.at(-1)).toMatchObject({ type: "run.end", outcome: "replied", answers: ["asked"] });
    expect(world.anthropic.requests).toHaveLength(0);
  });

  it("are answered during a run, and later viewers still see that run", async () => {
    const { world, started } = await open();
    const asked = Promise.withResolvers<void>();
    const hold = Promise.withResolvers<void>();
    world.script(async () => {
      asked.resolve();
      await hold.promise;
      return { text: "at last" };
    });
    const client = createClient({ baseUrl: started.url, token: TOKEN });
    const turn: ServerFrame[] = [];
    const watching = (async () => {
      for await (const frame of client.chat("coder", "talk", "work", { id: "work" })) turn.push(frame);
    })();
    await asked.promise;
    for await (const frame of client.chat("coder", "talk", "/status", { id: "status" })) {
      if (frame.type === "message" && frame.message.role === "assistant")
        expect(frame.message.text).toContain("Now: running, 0 waiting");
    }
    const key = started.gateway.service.sessionKey("web", "coder", "talk");
    expect(started.gateway.service.live.running(key)[0]).toMatchObject({ type: "run.start" });
    hold.resolve();
    await watching;
    expect(turn.at(-1)).toMatchObject({ type: "run.end", outcome: "replied", answers: ["work"] });
    expect(started.gateway.service.live.running(key)).toEqual([]);
  });

  it("/stop from the page ends its run as aborted", async () => {
    const { world, started } = await open();
    const asked = Promise.withResolvers<void>();
    const hold = Promise.withResolvers<void>();
    world.script(async () => {
      asked.resolve();
      await hold.promise;
      return { text: "too late" };
    });
    const { service } = started.gateway;
    const message = { channel: "web", agent: "coder", conversation: "talk" } as const;
    const work = await service.submit({ ...message, id: "work", text: "work" });
    await asked.promise;
    const stop = await service.submit({ ...message, id: "stop", text: "/stop" });
    expect(work.kind === "accepted" && (await work.done).state).toBe("aborted");
    expect(stop.kind === "accepted" && (await stop.done)).toMatchObject({
      state: "replied",
      text: "Stopped.",
    });
    hold.resolve();
  });

  it("get a text reply over /v1, streamed and not", async () => {
    const { world, started } = await open();
    const client = clientOf(started);
    const ask = {
      model: "signalbox/coder",
      user: "lina",
      messages: [{ role: "user" as const, content: "/usage" }],
    };
    const whole = await client.chat.completions.create(ask);
    expect(whole.choices[0]).toMatchObject({
      finish_reason: "stop",
      message: { content: expect.stringContaining("This conversation: 0 tokens in") },
    });
    let streamed = "";
    for await (const chunk of await client.chat.completions.create({ ...ask, stream: true }))
      streamed += chunk.choices[0]?.delta.content ?? "";
    expect(streamed).toBe(whole.choices[0]?.message.content);
    expect(world.anthropic.requests).toHaveLength(0);
    const rows = await inboxRows(world);
    expect(rows.map(({ state, detail }) => [state, detail?.rule])).toEqual([
      ["replied", "command:usage"],
      ["replied", "command:usage"],
    ]);
  });

  it("directives also work over /v1 in a stored conversation", async () => {
    const { world, started } = await open();
    world.script([{ text: "hi" }]);
    const client = clientOf(started);
    const { choices } = await client.chat.completions.create({
      model: "signalbox/coder",
      user: "anna",
      messages: [{ role: "user", content: "/model claude-haiku-4-5 hello" }],
    });
    expect(choices[0]?.message.content).toBe("hi");
    expect(world.anthropic.requests[0]?.text).toContain('"model":"claude-haiku-4-5"');
    expect(world.anthropic.requests[0]?.text).not.toContain("/model");
  });
});
