import type { Model, ModelErrorData, StreamModel } from "@signalbox/agent-core";
import { expectTypeOf, test } from "vitest";
import {
  type AnswerStream,
  createModels,
  defineProvider,
  loadSdk,
  type ModelProblem,
  type ModelRequest,
} from "../src/index.ts";

const models = createModels({ anthropic: { apiKey: "k" } });

test("a reference is a model and its stream, or a problem", () => {
  const resolution = models.resolve("anthropic/claude-sonnet-4-6");
  if (resolution.ok) {
    expectTypeOf(resolution.model).toEqualTypeOf<Model>();
    expectTypeOf(resolution.stream).toEqualTypeOf<StreamModel>();
    // @ts-expect-error what can be asked has no problem
    resolution.problem;
  } else expectTypeOf(resolution.problem).toEqualTypeOf<ModelProblem>();
});

test("a provider takes the fields there are, and no others", () => {
  // @ts-expect-error a slip of the hand
  createModels({ anthropic: { apikey: "k" } });
});

test("an answer has an error only where it is none", async () => {
  expectTypeOf(models.stream("demo/demo", "Hi.")).toEqualTypeOf<AnswerStream>();
  const answer = await models.complete("demo/demo", "Hi.");
  expectTypeOf(answer.text).toBeString();
  if (!answer.ok) expectTypeOf(answer.error).toEqualTypeOf<ModelErrorData>();
  // @ts-expect-error a whole answer has none
  else answer.error;
});

test("a problem's fields go by its code", () => {
  for (const problem of models.problems)
    if (problem.code === "missing_key") expectTypeOf(problem.variable).toEqualTypeOf<string | undefined>();
});

test("a provider sends a request with the fetch it is given", () => {
  defineProvider({
    api: "lines",
    vendor: "Lines",
    requestIdHeaders: [],
    send: (request) => {
      expectTypeOf(request).toEqualTypeOf<ModelRequest>();
      expectTypeOf(request.fetch).returns.resolves.toEqualTypeOf<Response>();
      return request.fetch("https://lines.test", { method: "POST", body: request.model.id });
    },
    createReader: (turn) => ({ data: () => turn.finish("end_turn") }),
  });
});

test("an SDK is what its import gives", () => {
  expectTypeOf(loadSdk("sdk", async () => ({ answer: 42 }))).resolves.toEqualTypeOf<{ answer: number }>();
});
