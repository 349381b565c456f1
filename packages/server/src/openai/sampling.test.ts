import { describe, expect, it } from "vitest";
import { refuseUnserved, samplingOf } from "./sampling.ts";

describe("what a client's request passes on to the model", () => {
  it("is what the request states, zero and an empty text included", () => {
    expect(samplingOf({ temperature: 0, top_p: 0.5, seed: 0, maxOutputTokens: 10, stop: "" })).toEqual({
      temperature: 0,
      topP: 0.5,
      seed: 0,
      maxOutputTokens: 10,
      stopSequences: [""],
    });
    expect(samplingOf({ stop: ["a", "b"] })).toEqual({ stopSequences: ["a", "b"] });
  });

  it("is nothing where a field is null or absent", () => {
    expect(samplingOf({ temperature: null, top_p: null, seed: null, stop: null, format: null })).toEqual({});
    expect(samplingOf({ format: { type: "text" } })).toEqual({});
  });

  it("is JSON of a schema, or of any", () => {
    expect(samplingOf({ format: { type: "json_object" } })).toEqual({ json: { name: "answer" } });
    const schema = { type: "object" };
    expect(samplingOf({ format: { type: "json_schema", name: "city", schema, strict: true } })).toEqual({
      json: { name: "city", schema, strict: true },
    });
    expect(samplingOf({ format: { type: "json_schema", name: "city", strict: null } })).toEqual({
      json: { name: "city" },
    });
  });
});

describe("what is not served", () => {
  it.each([
    [{ n: 2 }, "Only n = 1 is supported."],
    [{ presence_penalty: 0.5 }, "presence_penalty is not supported."],
    [{ logprobs: true }, "logprobs is not supported."],
    [{ reasoning: { effort: "low" } }, "How much an agent thinks is set in its configuration."],
    [{ modalities: ["text", "audio"] }, "modalities is not supported."],
    [{ verbosity: "low" }, "verbosity is not supported."],
    [{ prediction: { type: "content", content: "x" } }, "prediction is not supported."],
    [{ web_search_options: {} }, "web_search_options is not supported."],
    [{ max_tool_calls: 1 }, "max_tool_calls is not supported."],
    [{ truncation: "auto" }, "truncation is not supported."],
    [{ prompt: { id: "pmpt_1" } }, "prompt is not supported."],
    [{ function_call: { name: "f" } }, "Agents use their own tools; client tools are not supported."],
    [{ tools: [{}] }, "Agents use their own tools; client tools are not supported."],
  ])("is refused by its name: %j", (request, why) => {
    expect(() => refuseUnserved(request)).toThrow(why);
  });

  it("may be stated as it is anyway", () => {
    const request = { n: 1, presence_penalty: 0, logprobs: false, tools: [], tool_choice: "auto" };
    expect(() => refuseUnserved({ ...request, logit_bias: {}, reasoning: { effort: null } })).not.toThrow();
    const plain = {
      modalities: ["text"],
      verbosity: "medium",
      truncation: "disabled",
      function_call: "none",
    };
    expect(() => refuseUnserved({ ...plain, prompt: null, max_tool_calls: null })).not.toThrow();
  });
});
