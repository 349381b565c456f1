// The guide contains parts of create-channel's template, word for word.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "./workspace.mjs";

const template = join(root, "packages", "create-channel", "template");
const guide = readFileSync(join(root, "docs", "writing-a-channel.md"), "utf8");

it("quotes the template as it is", () => {
  const quotes = [...guide.matchAll(/^```ts title="([^"]+)"\n([\s\S]*?)\n```$/gm)];
  expect(quotes.length).toBeGreaterThan(5);
  for (const [, file, text] of quotes) {
    const path = join(template, file);
    expect(existsSync(path), file).toBe(true);
    expect(readFileSync(path, "utf8"), file).toContain(text);
  }
});

it("shows no other code than commands, settings and quotes", () => {
  const languages = [...guide.matchAll(/^```(\S+)(.*)$/gm)].map(([, language, rest]) => `${language}${rest}`);
  for (const language of languages) expect(language).toMatch(/^(?:sh|yaml|ts title=".+")$/);
});
