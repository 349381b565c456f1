import { describe, expect, it } from "vitest";
import { pricesFor } from "../cost.ts";
import { createCatalogue } from "./catalogue.ts";

describe("the catalogue", () => {
  const catalogue = createCatalogue([
    {
      name: "local",
      api: "openai-chat",
      models: [{ id: "qwen3", contextWindow: 32_768, tools: "text" }],
    },
    {
      name: "anthropic",
      api: "anthropic-messages",
      models: [{ id: "claude-opus-5", maxOutputTokens: 1_000 }],
    },
    { name: "proxy", api: "anthropic-messages" },
  ]);

  it("has complete data for each model, with the date and source of its prices", () => {
    const listed = createCatalogue().list();
    expect(listed.length).toBeGreaterThan(40);
    for (const model of listed) {
      expect(model.contextWindow).toBeGreaterThanOrEqual(model.maxOutputTokens);
      expect(model.input).toContain("text");
      if (model.prices !== undefined) {
        expect(model.prices.checked).toMatch(/^\d{4}-\d{2}-\d{2}$/);
        expect(model.prices.source).toMatch(/^https:/);
        for (const price of Object.values(model.prices))
          expect(price).toSatisfy((it) => typeof it === "string" || Number.isInteger(it));
      }
    }
    expect(new Set(listed.map((model) => `${model.provider}/${model.id}`)).size).toBe(listed.length);
    // These names point to changing versions, so they have no prices.
    const unpriced = listed.filter((model) => model.prices === undefined && model.api !== "demo");
    expect(unpriced.map((model) => model.id)).toEqual(["mistral-large-latest", "mistral-small-latest"]);
  });

  it("finds a model by account and id, by id alone, and by a snapshot's id", () => {
    expect(catalogue.resolve("anthropic/claude-sonnet-4-6")).toMatchObject({
      model: { contextWindow: 1_000_000 },
      warnings: [],
    });
    expect(catalogue.resolve("gpt-5.2")?.model).toMatchObject({
      provider: "openai",
      api: "openai-responses",
    });
    expect(catalogue.resolve("anthropic/claude-sonnet-4-6-20251015")).toMatchObject({
      model: { id: "claude-sonnet-4-6-20251015", name: "Claude Sonnet 4.6" },
      warnings: [],
    });
    expect(catalogue.resolve("openai/gpt-5.2-2025-12-11")?.model.contextWindow).toBe(400_000);
  });

  it("lets the configuration add and override models", () => {
    expect(catalogue.resolve("anthropic/claude-opus-5")?.model).toMatchObject({
      maxOutputTokens: 1_000,
      contextWindow: 1_000_000,
    });
    expect(catalogue.resolve("local/qwen3")).toMatchObject({
      model: { provider: "local", tools: "text" },
      warnings: [],
    });
    expect(catalogue.resolve("qwen3")?.model.provider).toBe("local");
    expect(catalogue.resolve("proxy/claude-opus-5")?.model).toMatchObject({
      provider: "proxy",
      maxOutputTokens: 128_000,
    });
  });

  it("overrides one quirk and keeps the others", () => {
    const given = { temperature: true, thinkingDisplay: null };
    const models = [{ id: "claude-opus-5", quirks: given }];
    const own = createCatalogue([{ name: "anthropic", api: "anthropic-messages", models }]);
    expect(own.resolve("anthropic/claude-opus-5")?.model.quirks).toEqual({
      ...catalogue.resolve("proxy/claude-opus-5")?.model.quirks,
      ...given,
    });
    expect(own.resolve("anthropic/claude-opus-5")?.model.quirks).toMatchObject({ thinking: "adaptive" });
  });

  it("lets those Mistral models think that the vendor documents as thinking", () => {
    const thinking = createCatalogue()
      .list()
      .filter((model) => model.provider === "mistral")
      .map((model) => [model.id, model.thinking]);
    expect(Object.fromEntries(thinking)).toEqual({
      "mistral-medium-latest": ["off", "high"],
      "mistral-medium-3-5": ["off", "high"],
      "mistral-medium-3.5": ["off", "high"],
      "mistral-small-latest": ["off", "high"],
      "mistral-large-2512": [],
      "mistral-large-latest": [],
    });
  });

  it("uses defaults for an unknown model, with a warning", () => {
    const unknown = catalogue.resolve("local/mystery");
    expect(unknown?.model).toMatchObject({
      id: "mystery",
      contextWindow: 32_768,
      thinking: [],
      tools: "native",
    });
    expect(unknown?.warnings).toMatchObject([{ code: "model_unknown" }]);
    expect(catalogue.resolve("nobody/x")).toBeUndefined();
    expect(catalogue.resolve("no-such-model")).toBeUndefined();
  });

  it("charges more for a long prompt if the vendor does", () => {
    const haiku = catalogue.resolve("claude-haiku-5-5")?.model;
    if (haiku === undefined) throw new Error("no haiku");
    expect(pricesFor(haiku, 100_000)?.input).toBe(100_000);
    expect(pricesFor(haiku, 100_001)).toMatchObject({ input: 500_000, cacheRead: 50_000 });
  });
});
