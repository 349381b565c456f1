import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { isChannelError } from "../contract/errors.ts";
import { type Check, required } from "./check.ts";
import { expectEqual, expectThat } from "./expect.ts";
import { createRandom, createRandomText } from "./random.ts";

const group = "definition";

/** Runs in a separate process and reports the packages that the import of a module loads. */
const PROBE = `
// A namespace import, because Node.js before 22.15 has no registerHooks.
import * as module from "node:module";
const { registerHooks } = module;
const loaded = new Set();
registerHooks?.({ resolve(specifier, context, next) { loaded.add(specifier); return next(specifier, context); } });
await import(process.argv[1]);
process.stdout.write(JSON.stringify([...loaded]));
`;

/** Checks of the definition, before any account runs. */
export const definitionChecks: readonly Check[] = [
  {
    group,
    name: "has a version, an id and capabilities as plain data",
    async run({ definition: { specVersion, id, capabilities } }) {
      expectEqual(specVersion, 1, "specVersion must be 1");
      expectThat(
        /^[a-z][a-z0-9-]*$/.test(id),
        `The id "${id}" must consist of lower-case letters, digits and hyphens and start with a letter`,
      );
      expectEqual(
        JSON.parse(JSON.stringify(capabilities)),
        capabilities,
        "The capabilities must be the same after a round trip through JSON",
      );
      expectThat(
        (capabilities.text.max ?? 16) >= 16,
        `capabilities.text.max is ${capabilities.text.max}, but must be at least 16`,
      );
      expectThat(capabilities.transports.length > 0, "capabilities.transports must not be empty");
    },
  },
  {
    group,
    name: "describes the setup with its own fields and their values",
    async run({ definition: { meta } }) {
      for (const { fields = [], when = {}, text = "" } of meta.setup ?? []) {
        for (const name of [...fields, ...Object.keys(when)])
          expectThat(
            Object.hasOwn(meta.fields, name),
            `meta.setup names the field "${name}", which is missing`,
          );
        for (const [name, value] of Object.entries(when)) {
          const values = meta.fields[name]?.options?.map((option) => option.value) ?? [""];
          expectThat(
            values.includes(value),
            `meta.setup depends on ${name} "${value}", which is not among its options`,
          );
        }
        const unknown = text.match(/\{\w+\}/g)?.filter((placeholder) => placeholder !== "{webhook}") ?? [];
        expectEqual(unknown, [], "The only placeholder in meta.setup is {webhook}");
      }
    },
  },
  {
    group,
    name: "loads no SDK when imported",
    async run({ harness }) {
      const { url, sdk } = required(harness.entry, "entry");
      const run = promisify(execFile);
      const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", PROBE, url]);
      const loaded: string[] = JSON.parse(stdout);
      const heavy = loaded.filter((name) => sdk.some((one) => name === one || name.startsWith(`${one}/`)));
      expectEqual(
        heavy,
        [],
        "Importing the definition must not load the SDK; import it in `create` or later",
      );
    },
  },
  {
    group,
    name: "has exactly the methods that its capabilities claim",
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
        reconcile: (can.delivery.readback ?? false) !== false,
      };
      const methods = new Map(
        Object.entries(bench.channel).map(([name, value]) => [name, typeof value === "function"]),
      );
      for (const [name, isClaimed] of Object.entries(claims)) {
        const isThere = methods.get(name) ?? name in bench.channel;
        if (isClaimed) expectThat(isThere, `The capabilities require the method ${name}, which is missing`);
        else expectThat(!isThere, `The channel has the method ${name}, which its capabilities do not claim`);
      }
    },
  },
  {
    group: "addresses",
    name: "round-trips addresses through text",
    async run({ definition, harness }) {
      expectThat(harness.addresses.length > 0, "The harness must provide addresses");
      for (const address of harness.addresses) {
        const text = definition.codec.encode(address);
        expectThat(
          text.startsWith(`${definition.id}:`),
          `The encoded address "${text}" must start with the channel's id and a colon`,
        );
        expectEqual(
          definition.codec.decode(text),
          address,
          `Decoding "${text}" must return the same address`,
        );
      }
    },
  },
  {
    group: "addresses",
    name: "rejects invalid addresses",
    async run({ definition, seed }) {
      const { codec, id } = definition;
      const random = createRandom(seed);
      const decode = (text: string): ReturnType<typeof codec.decode> | undefined => {
        try {
          return codec.decode(text);
        } catch (error) {
          expectThat(
            isChannelError(error) && error.code === "invalid",
            `Decoding ${JSON.stringify(text)} must throw a ChannelError with the code "invalid", but threw ${String(error)}`,
          );
          return undefined;
        }
      };
      for (const text of ["", ":", id, `${id}:`, "other:x", `x${id}:y`, `${id}x:y`])
        expectEqual(decode(text), undefined, `Decoding ${JSON.stringify(text)} must fail`);
      for (let round = 0; round < 2000; round += 1) {
        const text = `${random() < 0.9 ? `${id}:` : ""}${createRandomText(random, 12)}`;
        const address = decode(text);
        if (address !== undefined)
          expectEqual(
            codec.encode(address),
            text,
            `Decoding ${JSON.stringify(text)} succeeded, so encoding the address must return the same text`,
          );
      }
    },
  },
];
