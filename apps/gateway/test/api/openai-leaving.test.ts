import { randomUUID } from "node:crypto";
import type OpenAI from "openai";
import { beforeEach, describe, expect, it } from "vitest";
import {
  eventually,
  exampleConfig,
  inboxRows,
  openWorld,
  type Started,
  type World,
} from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { clientOf } from "../support/openai-client.ts";
import { bearer, json } from "../support/raw-requests.ts";

let world: World;
let started: Started;
let client: OpenAI;

const say = (content: string) => ({
  model: "signalbox/coder",
  messages: [{ role: "user" as const, content }],
});

beforeEach(async () => {
  world = await openWorld();
  world.configure(exampleConfig({ channels: {} }));
  started = await world.start();
  client = clientOf(started);
});

describe("a client that leaves before the end", () => {
  it("stops the run if a client without a conversation does not wait for the response", async () => {
    const asked = Promise.withResolvers<void>();
    world.script(async () => {
      asked.resolve();
      return { text: "a long story ".repeat(200), chunks: 40, fault: { kind: "stall", afterEvents: 20 } };
    });
    const leaving = new AbortController();
    // OpenAI's own clients may come back for it, and say so if they do; others are not known to.
    const answer = fetch(`${started.url}/v1/chat/completions`, {
      method: "POST",
      headers: { ...json, ...bearer },
      body: JSON.stringify(say("tell")),
      signal: leaving.signal,
    });
    await asked.promise;
    leaving.abort();
    await expect(answer).rejects.toThrow();
    await eventually(async () => {
      const [row] = await inboxRows(world);
      return row?.state === "silent" && row.detail?.rule === "stopped";
    }, "the run stops");
  });

  it("stops the run when a client without a conversation leaves", async () => {
    world.script([
      { text: "a long story ".repeat(200), chunks: 40, fault: { kind: "stall", afterEvents: 20 } },
      { text: "still here" },
    ]);
    const stream = await client.chat.completions.create({ ...say("tell"), stream: true });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
    stream.controller.abort();
    await eventually(async () => {
      const [row] = await inboxRows(world);
      return row?.state === "silent" && row.detail?.rule === "stopped";
    }, "the run stops");
    expect((await client.chat.completions.create(say("there?"))).choices[0]?.message.content).toBe(
      "still here",
    );
  });

  it("lets the run of a named user finish after the client has left", async () => {
    world.script([{ text: "a story ".repeat(20), chunks: 20, deltaMs: 5 }, { text: "and on" }]);
    const user = randomUUID();
    const stream = await client.chat.completions.create({ ...say("tell"), user, stream: true });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
    stream.controller.abort();
    await started.settled();
    await client.chat.completions.create({ ...say("go on"), user });
    expect(modelRequests(world.anthropic)[1]?.messages[1]).toEqual({
      role: "assistant",
      text: "a story ".repeat(20),
    });
  });
});
