import { expect, it } from "vitest";
import { context, model, stage } from "../../test/support/stage.ts";
import { failure } from "../failure/failure.ts";
import { createProviders, type Provider } from "../provider/provider.ts";
import { readTurn } from "../testkit/index.ts";
import { modelTurn } from "../turn/turn.ts";

const KEY = "sk-very-secret-1";
const HEADER = "Bearer proxy-secret";

/** A vendor that quotes the request in its errors. */
const quoting: Provider = {
  api: "pretend",
  connect: (config) => (asked, _context, options) =>
    modelTurn({ model: asked, options }, async function* (turn) {
      yield;
      const said = `${config.apiKey} with ${config.headers?.authorization} and hunter2 is wrong`;
      turn.fail(failure("auth", said));
    }),
};

it("removes keys, header values and the host's secrets from error messages", async () => {
  const account = { name: "a", api: "pretend", keys: [KEY, `${KEY}0`], headers: { authorization: HEADER } };
  const { runner } = stage(
    [],
    {},
    {
      providers: createProviders([quoting]),
      accounts: [account],
      redact: (text) => text.replaceAll("hunter2", "[named]"),
    },
  );
  const { events, error } = await readTurn(runner.stream(model("a"), context));
  expect(error?.attempts).toHaveLength(2);
  expect(error?.attempts?.[1]?.message).toBe("[redacted] with [redacted] and [named] is wrong");
  for (const secret of [KEY, HEADER, "hunter2"]) expect(JSON.stringify(events)).not.toContain(secret);
});

it("truncates a long error message without leaving part of a secret", async () => {
  const long: Provider = {
    api: "pretend",
    connect: () => (asked, _context, options) =>
      modelTurn({ model: asked, options }, async function* (turn) {
        yield;
        turn.fail(failure("invalid", `${"x".repeat(3_995)}${KEY} and ${"y".repeat(1_000_000)}`));
      }),
  };
  const account = { name: "a", api: "pretend", keys: [KEY] };
  const { runner } = stage([], {}, { providers: createProviders([long]), accounts: [account] });
  const { error } = await readTurn(runner.stream(model("a"), context));
  expect(error?.message).toBe(`${"x".repeat(3_995)}[reda`);
});
