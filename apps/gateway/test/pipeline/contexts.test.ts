import { expect, it } from "vitest";
import { exampleConfig, openWorld, TOKEN } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { plainChannel, plainMessage } from "../support/plain-channel.ts";

const quoting = (text: string) => ({
  references: [{ kind: "reply" as const, messageId: "old", text, sender: { id: "ben" } }],
});

/** A conversation whose first model call waits until the test lets it go. */
async function open(mode: "collect" | "steer") {
  const world = await openWorld();
  world.configure(
    exampleConfig({
      gateway: { port: 0, auth: { token: TOKEN }, logLevel: "warn", shutdownMs: 100 },
      channels: { plain: { accounts: { main: {} } } },
      session: { queue: { mode, debounceMs: 0 } },
    }),
  );
  const reached = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  world.script(async (_, index) => {
    if (index > 0) return { text: "done" };
    reached.resolve();
    await goOn.promise;
    return mode === "steer" ? { toolCalls: [{ name: "ls", input: {} }] } : { text: "first" };
  });
  const plain = plainChannel();
  const started = await world.start({ channels: [plain.definition] });
  await plain.emit(plainMessage("m0", "hello"));
  await reached.promise;
  return { world, plain, started, goOn: goOn.resolve };
}

it("each message of a batch keeps its own quote", async () => {
  const { world, plain, started, goOn } = await open("collect");
  await plain.emit(plainMessage("m1", "what about this?", quoting("the red one")));
  await plain.emit(plainMessage("m2", "and this?", quoting("the blue one")));
  goOn();
  await started.settled();
  const said =
    modelRequests(world.anthropic)[1]
      ?.messages.map(({ text }) => text)
      .join("\n") ?? "";
  const places = ["the red one", "what about this?", "the blue one", "and this?"].map((text) =>
    said.indexOf(text),
  );
  expect(places.every((place) => place >= 0)).toBe(true);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
});

it("a steering message keeps its quote, and the history stores both unchanged", async () => {
  const { world, plain, started, goOn } = await open("steer");
  await plain.emit(plainMessage("m1", "what about this?", quoting("the red one")));
  goOn();
  await started.settled();
  await plain.emit(plainMessage("m2", "thanks"));
  await started.settled();
  const [, steered, next] = modelRequests(world.anthropic).map(({ messages }) =>
    messages.map(({ text }) => text),
  );
  const told = steered?.at(-1);
  expect(told).toMatch(/the red one[\s\S]*what about this\?/);
  expect(next?.filter((text) => text === told)).toHaveLength(1);
});

it("each message of a resumed run has its own quote again", async () => {
  const { world, plain, started, goOn } = await open("collect");
  const asked = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  world.script(async (_, index) => {
    if (index === 1) {
      asked.resolve();
      await stopped.promise;
    }
    return { text: "done" };
  });
  await plain.emit(plainMessage("m1", "what about this?", { ...quoting("the red one"), timestamp: 1 }));
  await plain.emit(plainMessage("m2", "and this?", { ...quoting("the blue one"), timestamp: 2 }));
  goOn();
  await asked.promise;
  await started.stop();
  stopped.resolve();
  const again = await world.start({ channels: [plain.definition] });
  await again.settled();
  const [before, after] = modelRequests(world.anthropic)
    .slice(1)
    .map(({ messages }) => messages.map(({ text }) => text).join("\n"));
  for (const request of [before, after]) {
    const places = ["the red one", "what about this?", "the blue one", "and this?"].map((text) =>
      request?.indexOf(text),
    );
    expect(places).toEqual(places.toSorted((a = 0, b = 0) => a - b));
    expect(places).not.toContain(-1);
  }
});

it("sends the model at most historyTurns turns", async () => {
  const world = await openWorld();
  world.configure(
    exampleConfig({
      channels: { plain: { accounts: { main: {} } } },
      agents: {
        defaults: { model: "anthropic/claude-sonnet-4-6", historyTurns: 1 },
        list: [{ id: "coder" }],
      },
    }),
  );
  world.script(() => ({ text: "noted" }));
  const plain = plainChannel();
  const started = await world.start({ channels: [plain.definition] });
  for (const word of ["apples", "pears"]) {
    await plain.emit(plainMessage(word, word));
    await started.settled();
  }
  const sent = modelRequests(world.anthropic).map(({ messages }) => JSON.stringify(messages));
  expect(sent[0]).toContain("apples");
  expect(sent[1]).toContain("pears");
  expect(sent[1]).not.toContain("apples");
});
