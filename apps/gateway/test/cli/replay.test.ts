import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { openWorld } from "../support/harness.ts";

const folder = fileURLToPath(new URL("../../../../scenarios", import.meta.url));
const example = join(folder, "feishu-create-script.yaml");

async function replay(...args: string[]) {
  const world = await openWorld();
  return world.command(["replay", ...args]);
}

describe("replay", () => {
  it("fails where things go another way than expected, and says which", async () => {
    const world = await openWorld();
    const changed = join(world.dir, "changed.yaml");
    const text = readFileSync(example, "utf8").replace(
      "name: read, isError: false",
      "name: read, isError: true",
    );
    writeFileSync(changed, text);
    const { code, out, err } = await replay("--check", changed, example);
    expect(code).toBe(1);
    expect(out).toMatch(
      /^FAIL feishu-create-script\n {5}tools\[0\]: .*"isError":false.* instead of .*"isError":true/,
    );
    // Nothing of ours or of an SDK's own log stands between.
    expect(out.trimEnd().split("\n")).toEqual([
      expect.stringMatching(/^FAIL /),
      ...Array(out.match(/^ {5}/gm)?.length ?? 0).fill(expect.stringMatching(/^ {5}/)),
      "ok   feishu-create-script",
    ]);
    expect(err).toBe("signalbox: 1 of 2 scenarios did not go as expected.\n");
  });

  it("shows each layer in the order of the way", async () => {
    const { code, out } = await replay(example);
    expect(code).toBe(0);
    const layers = [
      /^## Platform event 1 \(answered 200\)$/m,
      /"message_type": "text"/,
      /^## Inbound message om_6123456789abcdefghijklmnopqrstu$/m,
      /^ {3}admit {4}agent coder by binding\.peer, session agent:coder:feishu:direct:ou_\w+; answer: dm_bound$/m,
      /^## System prompt for om_\S+: \d+ sections/m,
      /^ {3}stable {3}tooling +\d+ characters {2}~\d+ tokens$/m,
      /^ {3}volatile runtime +\d+ characters/m,
      /^## Model request 1 \(answered 200\)$/m,
      /"cache_control"/,
      /^## Model response 1$/m,
      /^## Tool read$/m,
      /^## Model request 2/m,
      /^## Tool ls$/m,
      /"entries"/,
      /^## Model request 3/m,
      /^## Tool write$/m,
      /Wrote list_files\.py \(\d+ bytes\)/,
      /^## Model response 4$/m,
      /^## Outbox \S+: sent, key \S+$/m,
      /^## Platform call POST \/open-apis\/im\/v1\/messages\/om_6123456789abcdefghijklmnopqrstu\/reply$/m,
      /"uuid"|\\"uuid\\"|uuid/,
      /^ {3}om_6123456789abcdefghijklmnopqrstu: replied$/m,
    ];
    let from = 0;
    for (const layer of layers) {
      const at = out.slice(from).search(layer);
      expect([String(layer), at >= 0]).toEqual([String(layer), true]);
      from += at;
    }
  });

  it("gives the same as data", async () => {
    const { code, out } = await replay("--json", "--home", "unused", example);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      name: "feishu-create-script",
      problems: [],
      events: [{ status: 200 }],
      messages: [{ state: "replied", agent: "coder" }],
      requests: Array(4).fill({ status: 200 }),
      tools: [{ name: "read" }, { name: "ls" }, { name: "write", isError: false }],
      outbox: [{ state: "sent", channel: "feishu" }],
      // Where the turn takes its time, a mark that it is being answered comes before the reply.
      sent: expect.arrayContaining([
        expect.objectContaining({
          channel: "feishu",
          method: "POST",
          path: expect.stringMatching(/\/reply$/),
        }),
      ]),
    });
  });

  it("says what is wrong with a file that is no scenario", async () => {
    const world = await openWorld();
    const file = join(world.dir, "wrong.yaml");
    writeFileSync(file, "name: x\ndescription: y\nconfig: {}\nevents: []\nmodel: [{ txt: hello }]\n");
    const wrong = await replay(file);
    expect(wrong.code).toBe(64);
    expect(wrong.err).toMatch(/wrong\.yaml: events: /);
    expect(wrong.err).toMatch(/wrong\.yaml: model\.0: .*txt/);
    const none = await replay(join(world.dir, "none.yaml"));
    expect([none.code, none.err]).toEqual([64, expect.stringMatching(/There is no file .*none\.yaml/)]);
  });
});
