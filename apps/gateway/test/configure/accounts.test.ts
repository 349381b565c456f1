import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { type ChannelDefinition, createInMemoryCache, systemClock } from "@signalbox/channel";
import { feishu } from "@signalbox/channel-feishu";
import { createWebHub } from "@signalbox/channel-web";
import { loadConfig } from "@signalbox/config";
import { createVault } from "@signalbox/redaction";
import { expect, it, onTestFinished } from "vitest";
import { resolveAccounts } from "../../src/configure/accounts.ts";
import { PACKAGES } from "./packages.ts";

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** What becomes of a channel whose package says this of it. */
async function plan(
  id: string,
  capabilities: string,
  definitions: readonly ChannelDefinition[] = [],
  settings: Readonly<Record<string, unknown>> = {},
  { fields = "{}", validate = "(value) => ({ value })" } = {},
) {
  const dir = mkdtempSync(join(tmpdir(), "channel-package-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, "index.mjs");
  writeFileSync(
    file,
    `export default {
      specVersion: 1, id: "${id}", meta: { label: "X", fields: ${fields} },
      config: { "~standard": { version: 1, vendor: "x", validate: ${validate} } },
      capabilities: { ${capabilities} },
      codec: { encode: String, decode: (text) => text },
      create: async () => { throw new Error("not to be made") },
    };`,
  );
  const text = JSON.stringify({
    channels: { [id]: { package: pathToFileURL(file).href, accounts: { main: {} }, ...settings } },
  });
  const fetchUrl = () => Promise.reject(new Error("nothing is fetched here"));
  const own = [createWebHub({ fetchUrl }), createWebHub({ id: "api", label: "API", fetchUrl })].map(
    ({ definition: hub }) => hub,
  );
  const accounts = await resolveAccounts({
    loaded: loadConfig({ file: "signalbox.json", text, env: {} }),
    definitions,
    channelPackages: {},
    own,
    logger: () => SILENT,
    packages: PACKAGES,
    cache: createInMemoryCache({ clock: systemClock }),
    home: { dir: dirname(file) },
    workspaces: [],
    vault: createVault(),
  });
  const problems = accounts.problems.map(({ message }) => message);
  return { problems, definition: accounts.definition(id, "main"), own, listed: accounts.list() };
}

it("runs the channel that a package brings", async () => {
  const { problems, definition, listed } = await plan("mine", "");
  expect(problems).toEqual([]);
  expect(definition?.id).toBe("mine");
  expect(listed.map(({ channel }) => channel)).toEqual(["mine"]);
});

it("refuses a package whose senders are said to hold the gateway's token", async () => {
  const { problems, definition } = await plan("mine", "authenticatedByGateway: true");
  expect(problems).toEqual([expect.stringContaining("claims that its senders hold the gateway's token")]);
  expect(definition).toBeUndefined();
});

it("refuses a package that takes the name of a channel of the gateway's own", async () => {
  const { own } = await plan("mine", "");
  expect(own.length).toBeGreaterThan(0);
  for (const { id, capabilities } of own) {
    const { problems, definition, listed } = await plan(id, "");
    expect(problems).toEqual([`${id} is already the name of a built-in channel`]);
    // What runs under the name is the gateway's own all the same, and no account of the configuration.
    expect(definition?.capabilities).toEqual(capabilities);
    expect(listed).toEqual([]);
  }
});

it("gives an account a process of its own where the channel is in a package, with the words of its schema", async () => {
  const { problems, definition, listed } = await plan("mine", "", [], { process: true });
  expect(problems).toEqual([]);
  expect(listed.map(({ channel }) => channel)).toEqual(["mine"]);
  const { problems: refused, listed: none } = await plan("feishu", "", [feishu], { process: true });
  expect(refused).toContain("is not possible: this channel is built into the gateway");
  expect(none).toEqual([]);
  expect(definition?.id).toBe("mine");
});

it("says that a package is ignored for a channel that comes with the gateway", async () => {
  const { problems } = await plan("feishu", "", [feishu]);
  expect(problems).toContain("feishu comes with the gateway");
});

it("runs no account of which a setting could not be had: it might be the one that keeps strangers out", async () => {
  const accounts = { main: { key: "${NOT_SET}" }, other: {} };
  const { listed } = await plan("mine", "", [], { accounts });
  expect(listed.map(({ account }) => account)).toEqual(["other"]);
});

it("leaves an account out at whose settings the package's own check fails", async () => {
  const accounts = { main: {}, other: { key: " a " } };
  const validate = "({ key }) => ({ value: { key: key.trim() } })";
  const { problems, listed } = await plan("mine", "", [], { accounts }, { validate });
  expect(problems).toEqual([
    expect.stringContaining("the channel could not check them: Cannot read properties"),
  ]);
  expect(listed.map(({ account }) => account)).toEqual(["other"]);
});

it("says that a package brings no whole channel", async () => {
  const { problems, listed } = await plan("mine", "", [], {}, { fields: "undefined" });
  expect(problems).toEqual([expect.stringContaining("exports no channel definition of version 1")]);
  expect(listed).toEqual([]);
});
