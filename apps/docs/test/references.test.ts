import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { dingtalk } from "@signalbox/channel-dingtalk";
import { discord } from "@signalbox/channel-discord";
import { feishu } from "@signalbox/channel-feishu";
import { imessage } from "@signalbox/channel-imessage";
import { signal } from "@signalbox/channel-signal";
import { slack } from "@signalbox/channel-slack";
import { telegram } from "@signalbox/channel-telegram";
import { wecom } from "@signalbox/channel-wecom";
import { whatsapp } from "@signalbox/channel-whatsapp";
import { describe, expect, it } from "vitest";
import { ROOT } from "../src/pages.ts";
import { createCommandPages } from "../src/reference/commands.ts";
import { createConfigurationPage } from "../src/reference/configuration.ts";
import { createHttpApiPage } from "../src/reference/http-api.ts";
import { createComponents, createOpenApi } from "../src/reference/open-api.ts";

const generated = [
  [
    "configuration.md",
    createConfigurationPage([dingtalk, discord, feishu, signal, imessage, slack, telegram, wecom, whatsapp]),
  ],
  ["http-api.md", createHttpApiPage()],
  ...createCommandPages(),
] as const;

it.each(generated)("docs/%s matches the code", (page, text) => {
  const file = join(ROOT, "docs", page);
  if (process.env["UPDATE_DOCS"] === "1") {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  expect(readFileSync(file, "utf8"), "run this test with UPDATE_DOCS=1").toBe(text);
});

describe("the OpenAPI document", () => {
  it("resolves every reference", () => {
    const components = createComponents();
    const references = [...JSON.stringify(createOpenApi()).matchAll(/"\$ref":"([^"]+)"/g)];
    expect(references.length).toBeGreaterThan(50);
    const missing = references.filter(([, ref = ""]) => !(ref.replace(/^.*\//, "") in components));
    expect(missing).toEqual([]);
  });

  it("describes schemas and fields with the comments of the protocol", () => {
    const { Me, MessageToSend } = createComponents();
    expect(Me).toMatchObject({
      description: "Response of `GET /api/me`.",
      properties: { version: { type: "string", description: "Version of the gateway." } },
      required: ["user", "agents", "demo", "version"],
    });
    expect(MessageToSend?.required).toEqual(["id", "agent", "text"]);
  });
});
