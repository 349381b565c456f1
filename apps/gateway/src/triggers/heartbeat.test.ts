import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonValue } from "@signalbox/agent-core";
import type { MessageEvent } from "@signalbox/channel";
import { ALL_SEATS } from "@signalbox/home";
import { createManualClock } from "@signalbox/lanes/testkit";
import { hasContent } from "@signalbox/prompt";
import { openStore } from "@signalbox/store";
import { describe, expect, it, onTestFinished } from "vitest";
import { fakeContext } from "../../test/support/fake-context.ts";
import type { Agent, Heartbeat } from "../configure/agents.ts";
import { isActive, readChecklist } from "./checklist.ts";
import { createHeartbeats } from "./heartbeat.ts";
import type { KeyValues } from "./schedule-store.ts";
import type { TriggerBodies } from "./types.ts";

const MINUTE = 60_000;
const START = Date.UTC(2026, 5, 1, 12);
const HALF_HOURLY: Heartbeat = { every: "30m", activeHours: undefined, to: "page" };

function agentWith(heartbeat: Heartbeat | undefined): Agent {
  return {
    id: "coder",
    name: "Coder",
    model: undefined,
    fallbacks: [],
    thinking: "off",
    limits: {},
    subAgents: { maxDepth: 1, maxAtOnce: 4, maxTasks: 20, limits: {} },
    systemPrompt: undefined,
    language: undefined,
    speech: "never",
    maxOutputTokens: undefined,
    historyTurns: undefined,
    workspaceDir: "/w",
    shards: 1,
    shardId: "coder",
    nodes: undefined,
    tools: { allow: [], deny: [], domains: [], askModes: {} },
    skills: { allow: undefined, deny: [] },
    heartbeat,
  };
}

/** Notes nothing while `fail` is set. */
function memoryKeyValues(): KeyValues & { fail: boolean } {
  const values = new Map<string, JsonValue>();
  return {
    fail: false,
    list: async () => [...values].map(([key, value]) => ({ key, value })),
    async set(_namespace, key, value) {
      if (this.fail) throw new Error("the disk is gone");
      values.set(key, JSON.parse(JSON.stringify(value)));
    },
    delete: async (_namespace, key) => values.delete(key),
  };
}

/** An agent, the gateways that have it one after the other, and what its heartbeats brought. */
async function world(heartbeat: Heartbeat | undefined = HALF_HOURLY) {
  const clock = createManualClock(START);
  const { inbox, close } = await openStore<TriggerBodies>({ path: ":memory:" });
  onTestFinished(close);
  const kv = memoryKeyValues();
  const taken: MessageEvent[] = [];
  const current = {
    agent: agentWith(heartbeat),
    text: "- look at the mail",
    busy: false,
    full: false,
    reads: 0,
    isHere: true,
  };
  const start = async () => {
    const heartbeats = createHeartbeats({
      config: fakeContext({
        config: {
          current: () => ({ agents: { all: [current.agent], at: () => current.agent } }),
        },
      }).config,
      store: { kv, inbox },
      clock,
      logger: { warn() {} },
      isOwnChannel: (channel) => channel === "web",
      seats: { ...ALL_SEATS, isHere: () => current.isHere },
      async readChecklist() {
        current.reads++;
        return hasContent(current.text) ? { text: current.text, cut: false } : undefined;
      },
    });
    await heartbeats.start({
      async trigger(event, terms) {
        if (current.full) return { outcome: "rejected" };
        taken.push(event);
        expect(terms).toMatchObject({ agentId: "coder", atMost: "system" });
        return { outcome: "taken" };
      },
      busy: () => current.busy,
    });
    return heartbeats;
  };
  const minutes = () => taken.map(({ timestamp }) => (timestamp - START) / MINUTE);
  return { clock, inbox, kv, taken, current, start, minutes };
}

/** Accepts messages of people, each in a conversation of their own. */
function writer(
  { inbox, clock }: Pick<Awaited<ReturnType<typeof world>>, "inbox" | "clock">,
  channel: string = "feishu",
) {
  return (
    senderId: string,
    role: "owner" | "member",
    kind: "direct" | "group",
    agentId: string = "coder",
    sessionKey: string = `agent:${agentId}:${channel}:direct:${senderId}`,
  ) => {
    const id = channel === "web" ? senderId : `oc_${senderId}`;
    return inbox.accept({
      channel,
      account: "main",
      eventId: senderId,
      kind: "message",
      conversationId: id,
      senderId,
      receivedAt: clock.now(),
      payload: {
        role,
        event: {
          type: "message",
          channel,
          account: "main",
          eventId: senderId,
          messageId: senderId,
          conversation: { id, kind },
          address: `${channel}:${senderId}`,
          sender: { id: senderId, isBot: false, isSelf: false },
          addressed: "dm",
          text: "hello",
          media: [],
          mentions: [],
          timestamp: clock.now(),
        },
      },
      route: { agentId, sessionKey },
    });
  };
}

describe("a heartbeat", () => {
  it("comes at its interval, to a conversation of the agent's own, and asks for silence", async () => {
    const { clock, taken, start, minutes } = await world();
    await start();
    await clock.advance(95 * MINUTE);
    expect(minutes()).toEqual([30, 60, 90]);
    expect(taken[0]).toMatchObject({
      channel: "web",
      address: "web:heartbeat-coder",
      eventId: `heartbeat:coder:${START + 30 * MINUTE}`,
      text: expect.stringMatching(/__SILENT__.*- look at the mail/s),
    });
  });

  it("is not put off by a restart, and comes once for all that passed meanwhile", async () => {
    const { clock, start, minutes } = await world();
    const first = await start();
    await clock.advance(20 * MINUTE);
    await first.stop();
    const second = await start();
    await clock.advance(15 * MINUTE);
    await second.stop();
    await clock.advance(200 * MINUTE);
    await start();
    await clock.advance(MINUTE);
    expect(minutes()).toEqual([30, 60]);
    await clock.advance(5 * MINUTE);
    expect(minutes()).toEqual([30, 60, 240]);
  });

  it("comes from the node on which the agent runs", async () => {
    const { clock, current, start, minutes } = await world();
    current.isHere = false;
    const heartbeats = await start();
    await clock.advance(40 * MINUTE);
    expect(minutes()).toEqual([]);
    current.isHere = true;
    await heartbeats.configured();
    await clock.advance(31 * MINUTE);
    expect(minutes()).toHaveLength(1);
  });

  it("is nothing where there is nothing to go through", async () => {
    const { clock, current, start, minutes } = await world();
    current.text = "# Heartbeat\n<!-- what to look at -->\n";
    await start();
    await clock.advance(31 * MINUTE);
    expect(current.reads).toBe(1);
    current.text = "- look at the mail";
    await clock.advance(30 * MINUTE);
    expect(minutes()).toEqual([60]);
  });

  it("rests outside of its hours, and makes up for nothing then", async () => {
    const activeHours = { from: "14:00", to: "15:00", zone: "UTC" };
    const { clock, current, start, minutes } = await world({ ...HALF_HOURLY, activeHours });
    await start();
    await clock.advance(6 * 60 * MINUTE);
    expect(minutes()).toEqual([120, 150]);
    expect(current.reads).toBe(2);
  });

  it("waits for what goes on in its conversation, and does not pile up behind it", async () => {
    const { clock, current, start, minutes } = await world();
    current.busy = true;
    await start();
    await clock.advance(100 * MINUTE);
    expect(minutes()).toEqual([]);
    current.busy = false;
    await clock.advance(MINUTE);
    expect(minutes()).toEqual([30]);
    await clock.advance(20 * MINUTE);
    expect(minutes()).toEqual([30, 120]);
  });

  it("is tried again where the inbox is full, as the same event", async () => {
    const { clock, current, taken, start } = await world();
    current.full = true;
    await start();
    await clock.advance(31 * MINUTE);
    current.full = false;
    await clock.advance(MINUTE);
    expect(taken.map(({ eventId }) => eventId)).toEqual([`heartbeat:coder:${START + 30 * MINUTE}`]);
  });

  it("comes as the same event where the process died before it was noted", async () => {
    const { clock, kv, taken, start } = await world();
    const first = await start();
    kv.fail = true;
    await clock.advance(30 * MINUTE);
    await first.stop();
    kv.fail = false;
    await start();
    await clock.advance(MINUTE);
    expect(taken.map(({ eventId }) => eventId)).toEqual(
      Array.from({ length: 2 }, () => `heartbeat:coder:${START + 30 * MINUTE}`),
    );
  });

  it("follows the configuration: another interval begins anew, none ends it", async () => {
    const { clock, current, start, minutes } = await world();
    const heartbeats = await start();
    await clock.advance(20 * MINUTE);
    current.agent = agentWith({ ...HALF_HOURLY, every: "1h 30m" });
    await heartbeats.configured();
    await clock.advance(95 * MINUTE);
    expect(minutes()).toEqual([110]);
    current.agent = agentWith(undefined);
    await heartbeats.configured();
    await clock.advance(200 * MINUTE);
    expect(minutes()).toEqual([110]);
  });

  it("goes where an owner wrote to the agent last, when that was said", async () => {
    const { clock, inbox, taken, start } = await world({ ...HALF_HOURLY, to: "owner" });
    const write = writer({ inbox, clock });
    await start();
    await clock.advance(31 * MINUTE);
    await expect.poll(() => taken.length).toBe(1);
    await write("zhang", "owner", "direct");
    await write("li", "member", "direct");
    await write("wang", "owner", "group");
    await write("zhao", "owner", "direct", "writer");
    await clock.advance(30 * MINUTE);
    await expect.poll(() => taken.length).toBe(2);
    expect(taken.map(({ address }) => address)).toEqual(["web:heartbeat-coder", "feishu:zhang"]);
    expect(taken[1]).toMatchObject({ conversation: { id: "oc_zhang" }, sender: { id: "zhang" } });
  });

  it("never goes to the conversation of a member in which an owner wrote last", async () => {
    const { clock, inbox, taken, start } = await world({ ...HALF_HOURLY, to: "owner" });
    const write = writer({ inbox, clock }, "web");
    await write("desk", "owner", "direct");
    await write("alice/laptop", "owner", "direct");
    await write("alice/phone", "owner", "direct", "coder", "agent:coder:main");
    await start();
    await clock.advance(31 * MINUTE);
    await expect.poll(() => taken.length).toBe(1);
    expect(taken[0]?.address).toBe("web:desk");
  });
});

describe("active hours", () => {
  const at = (time: string) => Date.parse(`2026-06-01T${time}Z`);

  it.each([
    ["08:00", "22:00", "07:59", false],
    ["08:00", "22:00", "08:00", true],
    ["08:00", "22:00", "22:00", false],
    ["08:00", "24:00", "23:59", true],
    ["08:00", "24:00", "00:00", false],
    ["22:00", "06:00", "23:30", true],
    ["22:00", "06:00", "00:00", true],
    ["22:00", "06:00", "06:00", false],
    ["22:00", "06:00", "12:00", false],
  ])("from %s to %s, at %s: %s", (from, to, time, active) => {
    expect(isActive({ from, to, zone: "UTC" }, at(time))).toBe(active);
  });

  it("are those of their zone", () => {
    const hours = { from: "08:00", to: "22:00" };
    expect(isActive({ ...hours, zone: "Asia/Shanghai" }, at("01:00"))).toBe(true);
    expect(isActive({ ...hours, zone: "Europe/Berlin" }, at("01:00"))).toBe(false);
    expect(isActive(undefined, at("01:00"))).toBe(true);
  });
});

describe("a checklist", () => {
  it("is not read through a link, and not believed while it holds what others wrote", async () => {
    const workspaceDir = mkdtempSync(join(tmpdir(), "signalbox-heartbeat-"));
    onTestFinished(() => rmSync(workspaceDir, { recursive: true }));
    const file = join(workspaceDir, "HEARTBEAT.md");
    const logger = { warn() {} };
    const foreign = new Set<string>();
    const labels = {
      get: (path: string) =>
        foreign.has(path) ? ({ path, kind: "entry", source: "web" } as const) : undefined,
    };
    const read = () => readChecklist({ workspaceDir }, { labels, logger });
    expect(await read()).toBeUndefined();
    writeFileSync(file, "look at the mail\n");
    expect(await read()).toEqual({ text: "look at the mail", cut: false });
    writeFileSync(file, "# Done\r\n\r\n- [x] look at the mail\r\n* [X] water the plants\r\n");
    expect(await read()).toBeUndefined();
    writeFileSync(file, "mail ".repeat(10_000));
    expect(await read()).toMatchObject({ cut: true });
    foreign.add(file);
    expect(await read()).toBeUndefined();
    rmSync(file);
    foreign.clear();
    writeFileSync(join(workspaceDir, "secret"), "look at the mail");
    symlinkSync(join(workspaceDir, "secret"), file);
    expect(await read()).toBeUndefined();
  });
});
