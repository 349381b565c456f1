import { expect, it } from "vitest";
import { checkDaemon } from "../src/checks.ts";
import { signal } from "../src/index.ts";
import { never } from "./harness.ts";

async function validate(settings: object): Promise<readonly string[]> {
  const { issues = [] } = await signal.config["~standard"].validate(settings);
  return issues.map(({ message }) => message);
}

it("settings name the field and the remedy", async () => {
  expect(await validate({ account: "+4915112345678" })).toEqual([]);
  expect(await validate({})).toEqual([expect.stringMatching(/^account is missing/)]);
  expect(await validate({ account: "0151 12345678" })).toEqual([
    expect.stringContaining("international format"),
  ]);
  const baseUrl = "http://user:secret@127.0.0.1:8080";
  const [issue] = await validate({ account: "+4915112345678", baseUrl });
  expect(issue).toMatch(/user name or a password/);
  expect(issue).not.toContain("secret@");
  expect(await validate({ account: "+4915112345678", baseUrl: "ftp://x" })).toEqual([
    expect.stringContaining("signal-cli -a"),
  ]);
});

it("diagnostics warn about a daemon that others can reach", async () => {
  const cli = {
    call: async (method: string) =>
      method === "version" ? { version: "0.14.6" } : [{ uuid: "u", number: "+4915112345678" }],
    open: async () => new Response(),
    events: async () => new Response(),
  };
  const check = async (baseUrl: string) => {
    const checks = await checkDaemon(cli, { account: "+4915112345678", baseUrl }, never);
    return checks.filter(({ ok }) => !ok).map(({ about }) => about);
  };
  expect(await check("http://127.0.0.1:8080")).toEqual([]);
  expect(await check("https://signal.example.org")).toEqual([]);
  expect(await check("http://signal.example.org:8080")).toEqual(["address"]);
});
