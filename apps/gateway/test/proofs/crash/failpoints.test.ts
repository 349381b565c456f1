import { type ChannelDefinition, ChannelError, type MessageEvent } from "@signalbox/channel";
import { getKeys } from "@signalbox/channel/testkit";
import { gatewayToken, openVault, readConfig } from "@signalbox/home";
import { createLogger } from "@signalbox/telemetry/logger";
import { groupMention, textMessage } from "@signalbox/testkit/feishu";
import { expect, it } from "vitest";
import { resolveConfig } from "../../../src/configure/resolve-config.ts";
import { startGateway } from "../../../src/gateway.ts";
import type { Gateway } from "../../../src/gateway-options.ts";
import {
  eventually,
  exampleConfig,
  inStore,
  openWorld,
  TOKEN,
  type World,
  ZHANG,
} from "../../support/harness.ts";
import { type PlainChannel, plainChannel, plainEdit, plainMessage } from "../../support/plain-channel.ts";
import { FAILPOINTS, failpointInstrument, failpointsOf } from "./failpoints.ts";

async function start(
  world: World,
  passed: Set<string>,
  channels: ChannelDefinition[] = [],
): Promise<Gateway> {
  const { home, env } = world;
  const loaded = readConfig(home, env);
  const vault = openVault(loaded, env);
  const logger = createLogger("silent", vault.redact);
  const failpoints = (point: string): void => void passed.add(point);
  return startGateway(
    {
      home,
      loaded,
      token: gatewayToken(loaded, home, env),
      logger,
      vault,
      env,
      channels,
      consoleDir: home.dir,
      onFatal: () => {},
      instrument: failpointInstrument(failpoints),
      leaseMs: 3_000,
      drafts: { afterMs: 0, everyMs: 0 },
    },
    await resolveConfig({ home, loaded, logger, env, channels, vault }),
  );
}

const base = { gateway: { port: 0, auth: { token: TOKEN }, logLevel: "error", shutdownMs: 0 } };

/** A platform that first asks for patience, then gives no answer, then refuses. */
function failing(plain: PlainChannel): ChannelDefinition {
  const errors = (["transient", "unknown_outcome", "permission"] as const).values();
  return {
    ...plain.definition,
    capabilities: { ...plain.definition.capabilities, delivery: {} },
    async create(context) {
      const channel = await plain.definition.create(context);
      return {
        ...channel,
        async send(...sent) {
          const { value: code } = errors.next();
          if (code === undefined) return channel.send(...sent);
          throw new ChannelError(code, code, { retryAfterMs: 1 });
        },
      };
    },
  };
}

it("passes every failpoint in the normal pipeline", async () => {
  const world = await openWorld();
  world.configure(exampleConfig(base));
  let asked = 0;
  const steered = Promise.withResolvers<void>();
  world.script(async (_, index) => {
    asked = index + 1;
    if (index === 0) return { toolCalls: [{ name: "write", input: { file_path: "a.txt", content: "a" } }] };
    if (index === 1) return { toolCalls: [{ name: "message", input: { action: "send", message: "a" } }] };
    if (index === 3) {
      await steered.promise;
      return { toolCalls: [{ name: "ls", input: {} }] };
    }
    if (index === 4) return { text: "too late", delayMs: 20_000 };
    return { text: "done, and said slowly", chunks: 8, deltaMs: 40 };
  });
  const passed = new Set<string>();
  const first = await start(world, passed);
  const post = (event: unknown) =>
    world.feishu.postEvent(`${first.url}/channels/feishu/main/events`, event).then((one) => one.status);
  expect(await post(textMessage("not for you", { chatType: "group", senderId: ZHANG }))).toBe(200);
  expect(await post(textMessage("write and say", { senderId: ZHANG }))).toBe(200);
  await eventually(() => passed.has("draftEnd.after"), "the reply is out");
  expect(world.feishu.sent).toHaveLength(2);
  expect(await post(groupMention("wait", world.feishu.bot, { senderId: ZHANG }))).toBe(200);
  await eventually(() => asked === 4, "the model is asked");
  expect(await post(groupMention("no, this", world.feishu.bot, { senderId: ZHANG }))).toBe(200);
  steered.resolve();
  await eventually(() => asked === 5, "the message steers the run");
  await eventually(() => passed.has("renew.after"), "the lease is renewed");
  await first.stop();

  const plain = plainChannel();
  const channels = [failing(plain)];
  const access = { dm: "open", owners: ["plain:anna"] };
  const session = { queue: { mode: "followup" } };
  world.configure(
    exampleConfig({ ...base, channels: { plain: { accounts: { main: {} } } }, access, session }),
  );
  world.script(() => ({ text: "done" }));
  const second = await start(world, passed, channels);
  await eventually(() => passed.has("adopt.after"), "the interrupted run is taken over");
  for (const [id, text] of ["one", "two", "three", "four", "/compact", "/new"].entries())
    await plain.emit(plainMessage(String(id), text));
  const settled = ["retry", "uncertain", "dead", "compact", "reset"].map((stage) => `${stage}.after`);
  await eventually(
    () => settled.every((point) => passed.has(point)),
    "the platform and commands had their say",
  );
  world.script(() => ({ text: "late", delayMs: 20_000 }));
  const waits = plainMessage("waits", "and this");
  await plain.emit(plainMessage("busy", "answer slowly"));
  await plain.emit(waits);
  await plain.emit(plainEdit(waits, "or this"));
  const { media: _, mentions: __, ...gone } = waits;
  await plain.emit({ ...gone, type: "deleted", eventId: "gone" });
  await second.stop();

  // Accepted by a process that had no place for it yet: the gate lets its sender in only now.
  await inStore(world, (store) => store.inbox.accept(unrouted(plainMessage("unrouted", "hello"))));
  const third = await start(world, passed, channels);
  await third.stop();
  expect(FAILPOINTS.filter((point) => !passed.has(point))).toEqual([]);
});

function unrouted(event: MessageEvent) {
  return {
    ...getKeys(event),
    kind: "message",
    payload: { event, role: "guest", rule: "pairing" },
  } as const;
}

it("follows its plan at the given pass, and does nothing else", async () => {
  let kills = 0;
  const hit = failpointsOf("accept.before:2:kill, finish.after:1:throw,send.before:1:delay:1", {
    kill: () => kills++,
  });
  await hit("accept.before");
  await hit("accept.after");
  expect(kills).toBe(0);
  await hit("accept.before");
  await hit("accept.before");
  expect(kills).toBe(1);
  expect(() => hit("finish.after")).toThrow("failpoint finish.after");
  await hit("finish.after");
  await expect(hit("send.before")).resolves.toBeUndefined();
});

it.each(["nowhere:1:kill", "accept.before:0:kill", "accept.before:1:sleep", "db.sync:1:delay:5"])(
  "refuses the plan %s",
  (plan) => {
    expect(() => failpointsOf(plan)).toThrow(/is not point:count/);
  },
);
