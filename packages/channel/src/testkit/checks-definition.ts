import { strict as assert } from "node:assert";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { isChannelError } from "../contract/errors.ts";
import { type Check, needed } from "./check.ts";
import { createRandom, randomText } from "./random.ts";

const group = "definition";

/** Run in a process of its own: reports which packages the import of a module loads. */
const probe = `
// By namespace: before Node.js 22.15 there is no such name to import.
import * as module from "node:module";
const { registerHooks } = module;
const loaded = new Set();
registerHooks?.({ resolve(specifier, context, next) { loaded.add(specifier); return next(specifier, context); } });
await import(process.argv[1]);
process.stdout.write(JSON.stringify({ known: registerHooks !== undefined, loaded: [...loaded] }));
`;

/** What a definition is before any account of it runs. */
export const definitionChecks: readonly Check[] = [
  {
    group,
    name: "states version, id and capabilities as plain data",
    async run({ definition }) {
      assert.equal(definition.specVersion, 1);
      assert.match(definition.id, /^[a-z][a-z0-9-]*$/);
      assert.deepEqual(JSON.parse(JSON.stringify(definition.capabilities)), definition.capabilities);
      assert.ok((definition.capabilities.text.max ?? 16) >= 16, "a part holds at least 16");
      assert.ok(definition.capabilities.transports.length > 0, "a way in");
    },
  },
  {
    group,
    name: "loads no SDK",
    async run({ harness }) {
      const { url, sdk } = needed(harness.entry, "entry");
      const run = promisify(execFile);
      const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", probe, url]);
      const found: { known: boolean; loaded: string[] } = JSON.parse(stdout);
      const heavy = found.loaded.filter((name) =>
        sdk.some((one) => name === one || name.startsWith(`${one}/`)),
      );
      assert.deepEqual(heavy, []);
    },
  },
  {
    group,
    name: "has a method for each capability, and none without",
    async run({ open, definition }) {
      await using bench = await open();
      const { capabilities: can } = definition;
      const claims = {
        webhook: can.transports.includes("webhook"),
        edit: can.edit !== undefined,
        remove: can.remove === true,
        closePoll: can.polls !== undefined,
        react: can.reactions === true,
        typing: can.typing === true,
        openDirect: can.openDirect === true,
        history: can.history === true,
        resolve: can.resolve === true,
        openDraft: can.stream !== "none",
        fetchMedia: can.media !== undefined,
        reconcile: can.delivery.readback === true,
      };
      const has = new Map(
        Object.entries(bench.channel).map(([name, value]) => [name, typeof value === "function"]),
      );
      for (const [method, claimed] of Object.entries(claims)) {
        assert.equal(has.get(method) ?? method in bench.channel, claimed, `${method}: claimed ${claimed}`);
      }
    },
  },
  {
    group: "addresses",
    name: "reads back what it wrote",
    async run({ definition, harness }) {
      assert.ok(harness.addresses.length > 0, "the harness has no addresses");
      for (const address of harness.addresses) {
        const text = definition.codec.encode(address);
        assert.ok(text.startsWith(`${definition.id}:`), `${text} does not start with the channel's id`);
        assert.deepEqual(definition.codec.decode(text), address);
      }
    },
  },
  {
    group: "addresses",
    name: "refuses what it did not write",
    async run({ definition, seed }) {
      const { codec } = definition;
      const random = createRandom(seed);
      const foreign = [
        "",
        ":",
        definition.id,
        `${definition.id}:`,
        "other:x",
        `x${definition.id}:y`,
        `${definition.id}x:y`,
      ];
      for (const text of foreign)
        assert.throws(() => codec.decode(text), isChannelError, JSON.stringify(text));
      for (let round = 0; round < 2000; round += 1) {
        const text = `${random() < 0.9 ? `${definition.id}:` : ""}${randomText(random, 12)}`;
        let address: ReturnType<typeof codec.decode>;
        try {
          address = codec.decode(text);
        } catch (error) {
          assert.ok(
            isChannelError(error) && error.code === "invalid",
            `${JSON.stringify(text)}: ${String(error)}`,
          );
          continue;
        }
        assert.equal(codec.encode(address), text);
      }
    },
  },
];
