import type { Model, ModelEvent } from "@signalbox/agent-core";
import { describe, expect, it } from "vitest";
import { context, kinds, model, stage } from "../../test/support/stage.ts";
import { createProviders, type Provider } from "../provider/provider.ts";
import { readTurn } from "../testkit/index.ts";
import { modelTurn } from "../turn/turn.ts";

const sayer: Provider = {
  api: "sayer",
  connect: () => (asked, _context, how) =>
    modelTurn({ model: asked, options: how }, async function* (turn) {
      yield;
      turn.append(turn.open({ type: "text" }), "hi");
      turn.finish("end_turn");
    }),
};

/** Creates a runner for one account with a third-party provider. */
function oneThirdParty(stream: (asked: Model) => AsyncGenerator<ModelEvent>) {
  const provider: Provider = { api: "odd", connect: () => (asked) => stream(asked) };
  const accounts = [{ name: "o", api: "odd", keys: [] }];
  const { runner } = stage(
    [],
    {},
    { providers: createProviders([provider]), accounts, retry: { retries: 0 } },
  );
  return { runner, asked: { ...model("o"), api: "odd" } };
}

async function* started({ provider, id }: Model): AsyncGenerator<ModelEvent> {
  yield { type: "start", request: { api: "odd", provider, model: id }, warnings: [] };
}

describe("a third party's provider", () => {
  it("tries the next model if the provider throws", async () => {
    const throws: Record<string, Provider["connect"]> = {
      connect: () => {
        throw new Error("bad settings");
      },
      stream: () => () => {
        throw new Error("bad request");
      },
      "the first event": () =>
        async function* () {
          yield* [];
          throw new Error("boom");
        },
      "after a call began": () =>
        async function* () {
          yield { type: "start", request: { api: "odd", provider: "o", model: "m" }, warnings: [] };
          yield { type: "block.start", index: 0, block: { type: "toolCall", id: "1", name: "t" } };
          yield { type: "tool.delta", index: 0, delta: "{" };
          throw new Error("boom");
        },
      "an end without a word": () =>
        async function* () {
          yield { type: "start", request: { api: "odd", provider: "o", model: "m" }, warnings: [] };
        },
    };
    for (const [name, connect] of Object.entries(throws)) {
      const { runner } = stage(
        [{ say: "hi" }],
        {},
        {
          providers: createProviders([{ api: "odd", connect }, sayer]),
          accounts: [
            { name: "o", api: "odd", keys: [] },
            { name: "a", api: "sayer", keys: [] },
          ],
        },
      );
      const turn = await readTurn(runner.withFallbacks([model("a")])({ ...model("o"), api: "odd" }, context));
      expect(turn.message.content, name).toEqual([{ type: "text", text: "hi" }]);
      expect(kinds(turn.events), name).toEqual(["protocol>retry", "protocol>retry", "protocol>model"]);
    }
  });

  it("ends with an error if the stream throws after some text", async () => {
    const odd: Provider = {
      api: "odd",
      connect: () =>
        async function* () {
          yield { type: "start", request: { api: "odd", provider: "o", model: "m" }, warnings: [] };
          yield { type: "block.start", index: 0, block: { type: "text" } };
          yield { type: "text.delta", index: 0, delta: "so far" };
          throw new Error("boom");
        },
    };
    const { runner } = stage(
      [],
      {},
      { providers: createProviders([odd]), accounts: [{ name: "o", api: "odd", keys: [] }] },
    );
    const turn = await readTurn(runner.stream({ ...model("o"), api: "odd" }, context));
    expect(turn.error).toMatchObject({ code: "protocol", emitted: true });
    expect(turn.message.content).toEqual([{ type: "text", text: "so far" }]);
  });

  it("does not wait for a stream that continues after its last event", async () => {
    const log: string[] = [];
    const after: Record<string, () => AsyncGenerator<ModelEvent>> = {
      returns: async function* () {
        yield* [];
        log.push("gives its connection back");
      },
      hangs: async function* () {
        yield* [];
        await new Promise(() => {});
      },
      goes: async function* () {
        try {
          for (;;) yield { type: "text.delta", index: 0, delta: "and" };
        } finally {
          log.push("is closed");
        }
      },
    };
    for (const more of Object.values(after)) {
      const { runner, asked } = oneThirdParty(async function* (one) {
        yield* started(one);
        const said = { api: "odd", provider: one.provider, model: one.id, stopReason: "end_turn" } as const;
        yield { type: "finish", message: { role: "assistant", content: [], ...said, timestamp: 0 } };
        yield* more();
      });
      expect((await readTurn(runner.stream(asked, context))).events).toHaveLength(2);
    }
    await expect.poll(() => log).toEqual(["gives its connection back", "is closed"]);
  });

  it("ends with an error if the stream yields something that is not an event", async () => {
    for (const odd of [
      null,
      undefined,
      7,
      {},
      { type: "finish" },
      { type: "error" },
      { type: "error", error: {} },
    ]) {
      const { runner, asked } = oneThirdParty(async function* (one) {
        yield* started(one);
        yield odd as unknown as ModelEvent;
      });
      const turn = await readTurn(runner.stream(asked, context));
      expect(turn.error, JSON.stringify(odd)).toMatchObject({ code: "protocol" });
    }
  });

  it("can be left while the stream hangs", async () => {
    const { runner, asked } = oneThirdParty(async function* (one) {
      yield* started(one);
      yield { type: "block.start", index: 0, block: { type: "text" } };
      await new Promise(() => {});
    });
    for await (const event of runner.stream(asked, context)) if (event.type === "block.start") break;
    const iterator = runner.stream(asked, context)[Symbol.asyncIterator]();
    await iterator.next();
    await iterator.next();
    void iterator.next();
    expect(await iterator.return?.()).toEqual({ done: true, value: undefined });
  });
});
