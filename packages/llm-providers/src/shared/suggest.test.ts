import { expect, it } from "vitest";
import { didYouMean } from "./suggest.ts";

it.each([
  ["apikey", ["api", "apiKey", "baseUrl"], "; did you mean `apiKey`?"],
  ["opnai", ["anthropic", "openai"], "; did you mean `openai`?"],
  ["BASEURL", ["baseUrl"], "; did you mean `baseUrl`?"],
  ["nobody", ["anthropic", "openai"], ""],
  ["x", ["y"], ""],
  ["x", [], ""],
])("suggests what was probably meant by %j among %j", (written, words, suggestion) => {
  expect(didYouMean(written, words)).toBe(suggestion);
});
