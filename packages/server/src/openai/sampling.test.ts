import { describe, expect, it } from "vitest";
import { getSampling, refuseUnsupported } from "./sampling.ts";

describe("sampling parameters", () => {
  it("include zero and empty strings", () => {
    expect(getSampling({ temperature: 0, top_p: 0.5, seed: 0, maxOutputTokens: 10, stop: "" })).toEqual({
      temperature: 0,
      topP: 0.5,
      seed: 0,
      maxOutputTokens: 10,
      stopSequences: [""],
    });
    expect(getSampling({ stop: ["a", "b"] })).toEqual({ stopSequences: ["a", "b"] });
  });

  it("omit fields that are null or absent", () => {
    expect(getSampling({ temperature: null, top_p: null, seed: null, stop: null, format: null })).toEqual({});
    expect(getSampling({ format: { type: "text" } })).toEqual({});
  });

  it("request JSON with or without a schema", () => {
    expect(getSampling({ format: { type: "json_object" } })).toEqual({ json: { name: "answer" } });
    const schema = { type: "object" };
    expect(getSampling({ format: { type: "json_schema", name: "city", schema, strict: true } })).toEqual({
      json: { name: "city", schema, strict: true },
    });
    expect(getSampling({ format: { type: "json_schema", name: "city", strict: null } })).toEqual({
      json: { name: "city" },
    });
  });
});

describe("unsupported parameters", () => {
  it.each([
    [{ n: 2 }, "Only n = 1 is supported."],
    [{ presence_penalty: 0.5 }, "presence_penalty is not supported."],
    [{ logprobs: true }, "logprobs is not supported."],
    [
      { reasoning: { effort: "low" } },
      "The reasoning effort of an agent is set in the gateway's configuration.",
    ],
    [{ modalities: ["text", "audio"] }, "modalities is not supported."],
    [{ verbosity: "low" }, "verbosity is not supported."],
    [{ prediction: { type: "content", content: "x" } }, "prediction is not supported."],
    [{ web_search_options: {} }, "web_search_options is not supported."],
    [{ max_tool_calls: 1 }, "max_tool_calls is not supported."],
    [{ truncation: "auto" }, "truncation is not supported."],
    [{ prompt: { id: "pmpt_1" } }, "prompt is not supported."],
    [{ function_call: { name: "f" } }, "Agents use their own tools; client tools are not supported."],
    [{ tools: [{}] }, "Agents use their own tools; client tools are not supported."],
  ])("are refused by name: %j", (request, why) => {
    expect(() => refuseUnsupported(request)).toThrow(why);
  });

  it("are accepted with their default values", () => {
    const request = { n: 1, presence_penalty: 0, logprobs: false, tools: [], tool_choice: "auto" };
    expect(() =>
      refuseUnsupported({ ...request, logit_bias: {}, reasoning: { effort: null } }),
    ).not.toThrow();
    const plain = {
      modalities: ["text"],
      verbosity: "medium",
      truncation: "disabled",
      function_call: "none",
    };
    expect(() => refuseUnsupported({ ...plain, prompt: null, max_tool_calls: null })).not.toThrow();
  });
});
