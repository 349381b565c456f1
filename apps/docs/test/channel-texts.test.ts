import { readFileSync } from "node:fs";
import { join } from "node:path";
import { dingtalk } from "@signalbox/channel-dingtalk";
import { discord } from "@signalbox/channel-discord";
import { feishu } from "@signalbox/channel-feishu";
import { imessage } from "@signalbox/channel-imessage";
import { signal } from "@signalbox/channel-signal";
import { slack } from "@signalbox/channel-slack";
import { telegram } from "@signalbox/channel-telegram";
import { wecom } from "@signalbox/channel-wecom";
import { whatsapp } from "@signalbox/channel-whatsapp";
import { expect, it } from "vitest";
import { z } from "zod";
import { ROOT } from "../src/pages.ts";

const FILE = "apps/console/src/pages/setup/channel-texts.zh.json";
const chinese = z.record(z.string(), z.string()).parse(JSON.parse(readFileSync(join(ROOT, FILE), "utf8")));

/** All texts of the setup of the built-in channels. */
const texts = new Set(
  [dingtalk, discord, feishu, imessage, signal, slack, telegram, wecom, whatsapp].flatMap(({ meta }) => [
    ...Object.values(meta.fields).flatMap(({ label, hint, options = [] }) => [
      ...[label, hint],
      ...options.flatMap((option) => [option.label, option.hint]),
    ]),
    ...(meta.setup ?? []).map(({ text }) => text),
  ]),
);
texts.delete(undefined);

it("every text of the setup of a built-in channel has a Chinese translation, and no others are translated", () => {
  expect(texts.size).toBeGreaterThan(100);
  expect(new Set(Object.keys(chinese))).toEqual(texts);
});

it("translations keep the placeholders and the commands of the English texts", () => {
  for (const [english, translated] of Object.entries(chinese)) {
    const literals = english.match(/\{\w+\}|`[^`]+`/g) ?? [];
    for (const literal of literals) expect(translated, english).toContain(literal);
  }
});
