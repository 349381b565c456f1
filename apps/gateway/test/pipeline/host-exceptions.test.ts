import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { textMessage } from "@signalbox/testkit/feishu";
import { expect, it, onTestFinished } from "vitest";
import { COMPILED, deliver } from "../support/children.ts";
import {
  eventually,
  exampleConfig,
  inboxRows,
  openWorld,
  TOKEN,
  type World,
  ZHANG,
} from "../support/harness.ts";

const BUILT = new URL("../../dist/index.js", import.meta.url);

/** A host with a bug that each message meets, and that ends in good order whatever happens to it. */
const HOST = `
import { readFileSync } from "node:fs";
const { createGateway } = await import(process.env.GATEWAY);
const deadly = {
  point: "before_prompt_build",
  name: "deadly",
  run() {
    setTimeout(() => { throw new Error("a bug of the host"); }, 300);
    return {};
  },
};
const home = process.env.TEST_HOME;
const config = readFileSync(process.env.TEST_CONFIG, "utf8");
const gateway = await createGateway({ home, config, hooks: [deadly] });
process.on("uncaughtException", () => void gateway.stop().then(() => process.exit(7)));
process.stdout.write(\`\${gateway.url}\\n\`);
`;

function startHost(world: World): { url(): string; readonly exited: Promise<number | null> } {
  const env = {
    NODE_COMPILE_CACHE: COMPILED,
    ...world.env,
    GATEWAY: BUILT.href,
    TEST_HOME: world.home.dir,
    TEST_CONFIG: world.home.configFile,
  };
  const child = spawn(process.execPath, ["--input-type=module", "-e", HOST], {
    env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  onTestFinished(() => void child.kill("SIGKILL"));
  return { url: () => said.trim(), exited };
}

it("a message whose run stops its host three times is given up", async () => {
  if (!existsSync(BUILT)) throw new Error(`${fileURLToPath(BUILT)} is missing: build the gateway first`);
  const world = await openWorld();
  const gateway = { port: 0, auth: { token: TOKEN }, logLevel: "warn", shutdownMs: 0 };
  world.configure(exampleConfig({ gateway }));
  world.script(() => new Promise(() => {}));
  const first = startHost(world);
  await eventually(() => first.url() !== "", "the host listens");
  const event = textMessage("hello", { senderId: ZHANG, messageId: "om_1" });
  await deliver(world.feishu, first.url(), event);
  expect(await first.exited).toBe(7);
  for (let again = 0; again < 2; again++) expect(await startHost(world).exited).not.toBe(0);
  await world.start();
  await eventually(() => world.feishu.sent.length === 1, "the person is told");
  expect(world.feishu.sent[0]?.content).toMatch(/set it aside/);
  const [row] = await inboxRows(world);
  expect(row).toMatchObject({ state: "failed-reported", detail: { rule: "poison" } });
});
