import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { discord } from "@signalbox/channel-discord";
import { feishu } from "@signalbox/channel-feishu";
import { slack } from "@signalbox/channel-slack";
import { telegram } from "@signalbox/channel-telegram";
import { expect, it } from "vitest";
import { commandReference } from "../src/command-reference.ts";
import { configurationReference } from "../src/configuration-reference.ts";
import { ROOT } from "../src/pages.ts";

it.each([
  { page: "docs/configuration.md", made: () => configurationReference([discord, feishu, slack, telegram]) },
  { page: "docs/commands.md", made: commandReference },
])("$page is what the code says", ({ page, made }) => {
  const file = join(ROOT, page);
  if (process.env["UPDATE_DOCS"] === "1") writeFileSync(file, made());
  expect(readFileSync(file, "utf8"), "run this with UPDATE_DOCS=1").toBe(made());
});
