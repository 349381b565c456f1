import { readFileSync } from "node:fs";
import { join } from "node:path";
import { configJsonSchema } from "@signalbox/config";
import { expect, it } from "vitest";
import { z } from "zod";
import { ROOT } from "../src/pages.ts";

const FILE = "apps/console/src/pages/configuration/setting-texts.zh.json";
const chinese = z.record(z.string(), z.string()).parse(JSON.parse(readFileSync(join(ROOT, FILE), "utf8")));

it("every description of a setting has a Chinese translation, and no others are translated", () => {
  const descriptions = findDescriptions(configJsonSchema());
  expect(descriptions.size).toBeGreaterThan(200);
  expect(new Set(Object.keys(chinese))).toEqual(descriptions);
});

it("translations keep the keys, commands and values of the English descriptions", () => {
  for (const [english, translated] of Object.entries(chinese)) {
    for (const literal of english.match(/`[^`]+`/g) ?? []) expect(translated, english).toContain(literal);
    expect(translated, english).toMatch(/\p{Script=Han}/u);
  }
});

/** Returns all descriptions in a JSON schema. */
function findDescriptions(schema: unknown): Set<string> {
  if (typeof schema !== "object" || schema === null) return new Set();
  return new Set(
    Object.entries(schema).flatMap(([name, value]) =>
      name === "description" && typeof value === "string" ? [value] : [...findDescriptions(value)],
    ),
  );
}
