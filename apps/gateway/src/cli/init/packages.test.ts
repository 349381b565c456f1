import { expect, it } from "vitest";
import { installCommand } from "../../configure/host-packages.ts";
import { type Asker, askNobody } from "./asker.ts";
import { addPackages } from "./packages.ts";

async function linesOf(env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const lines: string[] = [];
  const asker: Asker = { ...askNobody(), say: (line) => void lines.push(line) };
  await addPackages(asker, ["grammy"], env);
  return lines;
}

it("says how to build the image with a missing package, instead of running npm in the container", async () => {
  const remedy = "Add grammy to SDKS in .env next to compose.yaml, and run `docker compose up -d --build`.";
  expect(await linesOf({ SIGNALBOX_IMAGE: "1" })).toEqual([`grammy is needed. ${remedy}`]);
  expect(installCommand(["grammy"], { SIGNALBOX_IMAGE: "1" })).toBe(remedy);
});

it("prints the npm command outside of the image", async () => {
  expect((await linesOf({})).join("\n")).toMatch(/grammy must be installed .*npm install .*grammy/);
  expect(installCommand(["grammy"], {})).toMatch(/npm install grammy$/);
});
