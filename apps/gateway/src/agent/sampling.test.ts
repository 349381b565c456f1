import { expect, it } from "vitest";
import { getSamplingOptions } from "./sampling.ts";

const UNLIMITED = { maxOutputTokens: undefined };

it("asks for nothing where neither the agent nor the client does", () => {
  expect(getSamplingOptions(UNLIMITED, undefined)).toEqual({});
  expect(getSamplingOptions(UNLIMITED, {})).toEqual({});
});

it("lets a client have less output than its agent, and never more", () => {
  const agent = { maxOutputTokens: 100 };
  expect(getSamplingOptions(agent, undefined)).toEqual({ maxOutputTokens: 100 });
  expect(getSamplingOptions(agent, { sampling: { maxOutputTokens: 50 } })).toEqual({ maxOutputTokens: 50 });
  expect(getSamplingOptions(agent, { sampling: { maxOutputTokens: 500 } })).toEqual({ maxOutputTokens: 100 });
  expect(getSamplingOptions(UNLIMITED, { sampling: { maxOutputTokens: 500 } })).toEqual({
    maxOutputTokens: 500,
  });
});

it("passes on what the client states, zero included", () => {
  const sampling = { temperature: 0, topP: 0.1, seed: 0, stopSequences: ["END"] };
  expect(getSamplingOptions(UNLIMITED, { sampling })).toEqual(sampling);
});

it("takes a schema that is an object, and no other", () => {
  const schema = { type: "object", properties: { a: { type: "string" } } };
  const json = { name: "city", strict: true };
  expect(getSamplingOptions(UNLIMITED, { sampling: { json: { ...json, schema } } })).toEqual({
    json: { ...json, schema },
  });
  expect(getSamplingOptions(UNLIMITED, { sampling: { json: { ...json, schema: true } } })).toEqual({ json });
});
