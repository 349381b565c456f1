// Plays the part of a channel author: creates a channel from the packed packages in a separate folder, and runs it in a
// gateway.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, it } from "vitest";
import { packAll, root, run } from "./workspace.mjs";

const LONGEST_MS = 300_000;
const folder = mkdtempSync(join(tmpdir(), "signalbox-created-"));
const closing = [];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
  rmSync(folder, { recursive: true, force: true });
});

const program = join(root, "apps", "gateway", "dist", "signalbox.js");
const quiet = ["--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];

async function must(command, parameters, cwd) {
  const { code, output } = await run(command, parameters, { cwd });
  expect(code, `${command} ${parameters.join(" ")}\n${output}`).toBe(0);
  return output;
}

/** Creates the package of a channel, and makes it use the channel package of this repository. */
async function createChannel(name) {
  const packages = await packAll(folder);
  const tarballOf = (wanted) => packages.find(({ manifest }) => manifest.name === wanted).tarball;
  const tools = join(folder, "tools");
  mkdirSync(tools);
  await must("npm", ["install", ...quiet, tarballOf("@signalbox/create-channel")], tools);
  await must(join(tools, "node_modules", ".bin", "create-channel"), [name], folder);
  const project = join(folder, name);
  const manifestFile = join(project, "package.json");
  const manifest = JSON.parse(readFileSync(manifestFile, "utf8"));
  manifest.dependencies["@signalbox/channel"] = `file:${tarballOf("@signalbox/channel")}`;
  writeFileSync(manifestFile, JSON.stringify(manifest, null, 2));
  return project;
}

/** Starts the gateway on a home. Resolves with its address. */
function startGateway(home) {
  const child = spawn(process.execPath, [program, "start", "--home", home], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  closing.push(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return new Promise((resolve, reject) => {
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text) => {
      said += text;
      const url = /listens on (http:\S+)/.exec(said)?.[1];
      if (url !== undefined) resolve(url);
    });
    void ended.then(() => reject(new Error(`the gateway did not start:\n${said}`)));
  });
}

it(
  "a channel made by create-channel builds, passes the kit, and answers through a gateway that finds it in its home",
  async () => {
    const project = await createChannel("my-chat");
    await must("npm", ["install", ...quiet], project);
    await must("npm", ["run", "build"], project);
    await must("npm", ["run", "typecheck"], project);
    expect(await must("npm", ["test"], project)).toContain("| lifecycle | reports its health | ✓ |");

    const { startPlatform } = await import(pathToFileURL(join(project, "test", "platform.ts")).href);
    const secrets = { token: "token-of-the-bot", signingSecret: "secret-of-the-webhook" };
    const platform = await startPlatform(secrets);
    closing.push(() => platform.stop());
    const home = join(folder, "home");
    mkdirSync(join(home, "node_modules"), { recursive: true });
    symlinkSync(project, join(home, "node_modules", "signalbox-channel-my-chat"));
    const account = { apiUrl: platform.url, ...secrets };
    const config = {
      gateway: { port: 0 },
      access: { dm: "open" },
      channels: {
        "my-chat": { package: "signalbox-channel-my-chat", accounts: { main: account } },
      },
    };
    writeFileSync(join(home, "signalbox.json"), JSON.stringify(config));

    const schema = JSON.parse(
      await must(process.execPath, [program, "config", "schema", "--home", home], folder),
    );
    const described =
      schema.properties.channels.properties["my-chat"].properties.accounts.additionalProperties;
    expect(Object.keys(described.properties)).toEqual(["apiUrl", "token", "signingSecret"]);
    expect(described.properties.token.description).toBe("Token: From the settings of the bot");

    const url = await startGateway(home);
    const event = JSON.parse(readFileSync(join(project, "test", "fixtures", "direct-message.json"), "utf8"));
    const answer = await fetch(`${url}/channels/my-chat/main/events`, platform.signed(event));
    expect(answer.status).toBe(200);
    await expect.poll(() => platform.messages.length).toBeGreaterThan(0);
    expect(platform.messages[0]).toMatchObject({ conversation: "c1", isDeleted: false });
  },
  LONGEST_MS,
);
