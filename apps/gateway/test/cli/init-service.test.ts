import { existsSync, readFileSync } from "node:fs";
import { beforeEach, describe, expect, it } from "vitest";
import { openWorld } from "../support/harness.ts";
import { fakeSystemd } from "../support/systemd.ts";

beforeEach(({ skip }) => {
  if (process.platform !== "linux") skip("stands in for systemd, which is Linux's");
});

const installed = [
  "systemctl --user daemon-reload",
  "systemctl --user enable --now signalbox.service",
  "loginctl enable-linger",
];

describe("signalbox init", () => {
  it("installs the service last, where it is told to", async () => {
    const world = await openWorld();
    const { env, unit, asked } = fakeSystemd(world.dir);
    const { code, out } = await world.command(["init", "--yes", "--service"], env);
    expect(code).toBe(0);
    expect(out).toContain(`The gateway is running as a service (${unit})`);
    expect(readFileSync(unit, "utf8")).toContain(`--home ${world.home.dir}`);
    expect(asked()).toEqual(installed);
  });

  it("leaves the service out where nobody can be asked, or it is told to", async () => {
    const world = await openWorld();
    const { env, unit, asked } = fakeSystemd(world.dir);
    for (const args of [["--yes"], ["--yes", "--no-service"]])
      expect((await world.command(["init", ...args], env)).out).toContain(
        "`signalbox service install --home ",
      );
    expect(existsSync(unit)).toBe(false);
    expect(asked()).toEqual([]);
  });

  it("is done without the service where systemd does not answer, and says why and what to do", async () => {
    const world = await openWorld();
    const { env } = fakeSystemd(world.dir, "enable");
    const ended = await world.command(["init", "--service", "--model", "anthropic/claude-haiku-4-5"], env);
    expect(ended.code).toBe(0);
    expect(ended.out).toContain(`Set up in ${world.home.configFile}.`);
    expect(ended.out).toMatch(
      /The gateway is not running as a service\. .*failed \("No bus here"\)\. Sign in as/,
    );
  });

  it("says that a key of the shell alone is none of the service", async () => {
    const world = await openWorld();
    const { env } = fakeSystemd(world.dir);
    const shell = { ...env, OPENAI_API_KEY: "key-0123456789-abcdef" };
    const args = ["init", "--provider", "openai", "--no-check", "--service"];
    expect((await world.command(args, shell)).err).toContain("The service does not see OPENAI_API_KEY");
    const kept = await world.command([...args, "--api-key", shell.OPENAI_API_KEY], shell);
    expect(kept.err).not.toContain("The service does not see");
  });

  it("names the variables of the shell that the configuration takes something from", async () => {
    const world = await openWorld();
    const { env } = fakeSystemd(world.dir);
    const providers = {
      anthropic: { api: "anthropic-messages", apiKey: "${OUR_KEY}" },
      other: { api: "openai-chat", apiKey: "${OTHER_KEY}", baseUrl: "${OTHER_URL:-http://127.0.0.1:1/v1}" },
    };
    const mine = { command: [process.execPath, "-e", "console.log('0123456789-of-a-program')"] };
    world.configure({ gateway: { port: 0, auth: { token: mine } }, models: { providers } });
    const shell = { ...env, OUR_KEY: "key-0123456789", OTHER_KEY: "key-9876543210", UNUSED_KEY: "key" };
    const { code, out } = await world.command(["service", "install"], shell);
    expect(code).toBe(0);
    expect(out).toContain(
      "The service does not see OUR_KEY, OTHER_KEY from this shell. Store secrets in a file",
    );
    world.configure({ gateway: { port: 0 } });
    const again = await world.command(["service", "install"], {
      ...env,
      SIGNALBOX_TOKEN: "9f1c-7d2e-token-of-it",
    });
    expect(again.out).toContain("The service does not see SIGNALBOX_TOKEN from this shell");
  });
});

it("installs no service beside a gateway that runs by itself, and its configuration is set up", async () => {
  const world = await openWorld();
  const { env, unit } = fakeSystemd(world.dir, "is-active");
  world.configure({ gateway: { port: 0 } });
  await world.start();
  const { code, out } = await world.command(["init", "--yes", "--service"], env);
  expect(code).toBe(0);
  expect(out).toContain(`Stop it, then run \`signalbox service install --home ${world.home.dir}\``);
  expect((await world.command(["service", "install"], env)).code).toBe(75);
  expect(existsSync(unit)).toBe(false);
});
