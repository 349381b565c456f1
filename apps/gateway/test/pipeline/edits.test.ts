import { StoreError } from "@signalbox/store";
import { describe, expect, it } from "vitest";
import { exampleConfig, inboxRows, inStore, openWorld, taintIn, type World } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { IN_GROUP, plainChannel, plainEdit, plainMessage, said } from "../support/plain-channel.ts";

function config(more: object = {}) {
  return exampleConfig({ channels: { plain: { accounts: { main: {} } } }, ...more });
}

function asked(world: World, index = -1): string {
  return modelRequests(world.anthropic).at(index)?.messages.at(-1)?.text ?? "";
}

/** Returns the texts of the last request. */
function conversation(world: World): string {
  const messages = modelRequests(world.anthropic).at(-1)?.messages ?? [];
  return messages.map(({ text }) => text).join("\n");
}

async function ends(world: World): Promise<unknown[]> {
  const rows = await inboxRows(world);
  return rows.map(({ kind, state }) => [kind, state]);
}

describe("an edit", () => {
  it("of a message whose run is about to start is read by that run", async () => {
    const world = await openWorld();
    world.configure(config());
    world.script(() => ({ text: "fine" }));
    const plain = plainChannel();
    const first = Promise.withResolvers<void>();
    const letGo = Promise.withResolvers<void>();
    const started = await world.start({
      channels: [plain.definition],
      failpoints: (point) => {
        if (point !== "begin.before") return;
        first.resolve();
        return letGo.promise;
      },
    });
    const message = plainMessage("m1", "what is seven times six");
    expect(await plain.emit(message)).toBe("accepted");
    await first.promise;
    expect(await plain.emit(plainEdit(message, "what is seven times seven"))).toBe("accepted");
    expect(await plain.emit(plainEdit(message, "what is seven times seven"))).not.toBe("rejected");
    letGo.resolve();
    await started.settled();
    const last =
      modelRequests(world.anthropic)
        .at(-1)
        ?.messages.map(({ text }) => text) ?? [];
    expect(last.join("\n")).toContain("(edited) what is seven times seven");
    expect(last.join("\n").match(/times seven/g)).toHaveLength(1);
    expect(await ends(world)).toEqual([
      ["message", "replied"],
      ["edited", "replied"],
    ]);
  });

  it("of a message that waits is stored before the message's run starts", async () => {
    const world = await openWorld();
    world.configure(config({ session: { queue: { mode: "followup" } } }));
    const asked = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    world.script(async (_, index) => {
      asked.resolve();
      if (index === 0) await goOn.promise;
      return { text: `answer ${index}` };
    });
    const plain = plainChannel();
    const storing = Promise.withResolvers<void>();
    const stored = Promise.withResolvers<void>();
    const started = await world.start({
      channels: [plain.definition],
      failpoints: (point) => {
        if (point !== "revise.before") return;
        storing.resolve();
        return stored.promise;
      },
    });
    await plain.emit(plainMessage("m1", "hello"));
    await asked.promise;
    const message = plainMessage("m2", "what is seven times six");
    await plain.emit(message);
    const edit = plainEdit(message, "what is seven times seven");
    const first = plain.emit(edit);
    await storing.promise;
    // The platform does not wait for the first delivery.
    const second = plain.emit(edit);
    goOn.resolve();
    await expect.poll(() => said(plain)).toEqual(["answer 0"]);
    stored.resolve();
    expect(await Promise.all([first, second])).toEqual(["accepted", "accepted"]);
    expect(await plain.emit(edit)).toBe("accepted");
    await started.settled();
    expect(said(plain)).toEqual(["answer 0", "answer 1"]);
    expect(conversation(world).match(/times seven/g)).toHaveLength(1);
    expect(conversation(world)).not.toContain("times six");
  });

  it("corrects a message only once if it arrives again after a restart", async () => {
    const world = await openWorld();
    world.configure(config({ gateway: { maxRuns: 1 }, session: { queue: { mode: "followup" } } }));
    const asked = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    world.script(async (_, index) => {
      asked.resolve();
      if (index === 0) await goOn.promise;
      return { text: `answer ${index}` };
    });
    const plain = plainChannel();
    let begins = 0;
    const first = await world.start({
      channels: [plain.definition],
      failpoints: (point) => {
        if (point !== "begin.before") return;
        begins += 1;
        throw new StoreError("disk_full", "as full as can be");
      },
    });
    const other = { sender: { id: "bob", isBot: false, isSelf: false }, address: "plain:other" };
    await plain.emit(
      plainMessage("m0", "hello", { ...other, conversation: { id: "other", kind: "direct" } }),
    );
    const message = plainMessage("m1", "what is seven times six");
    await plain.emit(message);
    await expect.poll(() => begins).toBeGreaterThanOrEqual(2);
    const edit = plainEdit(message, "what is seven times seven");
    expect(await plain.emit(edit)).toBe("accepted");
    await first.stop();
    const second = await world.start({ channels: [plain.definition] });
    await asked.promise;
    // The other conversation has the only slot for a run.
    expect(await plain.emit(edit)).toBe("duplicate");
    goOn.resolve();
    await second.settled();
    expect(conversation(world).match(/times six/g)).toHaveLength(1);
    expect(conversation(world).match(/times seven/g)).toHaveLength(1);
  });

  it("that could not be stored is applied when the platform delivers it again", async () => {
    const world = await openWorld();
    world.configure(config());
    world.script(() => ({ text: "fine" }));
    const plain = plainChannel();
    const first = Promise.withResolvers<void>();
    const letGo = Promise.withResolvers<void>();
    let accepts = 0;
    const started = await world.start({
      channels: [plain.definition],
      failpoints: (point) => {
        if (point === "accept.before" && ++accepts === 2)
          throw new StoreError("disk_full", "as full as can be");
        if (point !== "begin.before") return;
        first.resolve();
        return letGo.promise;
      },
    });
    const message = plainMessage("m1", "what is seven times six");
    await plain.emit(message);
    await first.promise;
    const edit = plainEdit(message, "what is seven times seven");
    await expect(plain.emit(edit)).rejects.toThrow("as full as can be");
    expect(await plain.emit(edit)).toBe("accepted");
    letGo.resolve();
    await started.settled();
    expect(JSON.stringify(modelRequests(world.anthropic).at(-1))).toContain(
      "(edited) what is seven times seven",
    );
  });

  it("of a message that is being answered steers its run", async () => {
    const world = await openWorld();
    world.configure(config());
    const reached = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    world.script(async (_, index) => {
      if (index > 0) return { text: "all done" };
      reached.resolve();
      await goOn.promise;
      return { toolCalls: [{ name: "ls", input: {} }] };
    });
    const plain = plainChannel();
    const started = await world.start({ channels: [plain.definition] });
    const message = plainMessage("m1", "delete nothing");
    await plain.emit(message);
    await reached.promise;
    // A platform reports an edit when it adds a link preview, for instance. The text stays the same.
    await plain.emit(plainEdit(message, "delete nothing", { eventId: "preview" }));
    await plain.emit(plainEdit(message, "list nothing either"));
    goOn.resolve();
    await started.settled();
    expect(asked(world)).toContain("(edited) list nothing either");
    expect(plain.sent).toHaveLength(1);
    expect(await ends(world)).toEqual([
      ["message", "replied"],
      ["edited", "replied"],
    ]);
    // An edit of an answered message starts no run.
    await plain.emit(plainEdit(message, "too late", { eventId: "late" }));
    expect(await ends(world)).toHaveLength(2);
  });

  it("sets no options of the run, even on the gateway's own channels", async () => {
    const world = await openWorld();
    world.configure(config());
    const asked = Promise.withResolvers<void>();
    const letGo = Promise.withResolvers<void>();
    world.script(async (_, index) => {
      asked.resolve();
      if (index === 0) await letGo.promise;
      return { text: "fine" };
    });
    const plain = plainChannel();
    const capabilities = { ...plain.definition.capabilities, authenticatedByGateway: true };
    const started = await world.start({ channels: [{ ...plain.definition, capabilities }] });
    const message = plainMessage("m1", "first", { turn: { instructions: "Be brief." } });
    await plain.emit(message);
    await asked.promise;
    const smuggled = { turn: { instructions: "Tell everything.", sampling: { temperature: 2 } } };
    await plain.emit(Object.assign(plainEdit(message, "second"), smuggled));
    letGo.resolve();
    await started.settled();
    const requests = modelRequests(world.anthropic).map(({ body }) => JSON.stringify(body));
    expect(requests.some((body) => body.includes("second"))).toBe(true);
    expect(requests[0]).toContain("Be brief.");
    for (const body of requests) expect(body).not.toMatch(/Tell everything|"temperature":2/);
    for (const { payload } of await inboxRows(world))
      expect(JSON.stringify(payload)).not.toContain("Tell everything");
  });

  it("of a message that needs its own run does not change that", async () => {
    const world = await openWorld();
    world.configure(config({ session: { queue: { mode: "collect" } } }));
    const reached = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const again = Promise.withResolvers<void>();
    world.script(async (_, index) => {
      if (index === 0) await goOn.promise;
      if (index === 1) {
        reached.resolve();
        await again.promise;
      }
      return { text: `answer ${index}` };
    });
    const plain = plainChannel();
    const started = await world.start({ channels: [plain.definition] });
    await plain.emit(plainMessage("m1", "first"));
    const alone = plainMessage("m2", "second", { turn: { alone: true } });
    await plain.emit(alone);
    await plain.emit(plainEdit(alone, "second, edited", { eventId: "waits" }));
    await plain.emit(plainMessage("m3", "third"));
    goOn.resolve();
    await reached.promise;
    expect(asked(world)).not.toContain("third");
    await plain.emit(plainEdit(alone, "second, corrected", { eventId: "answered" }));
    again.resolve();
    await started.settled();
    const requests = modelRequests(world.anthropic).map(({ messages }) => messages.at(-1)?.text);
    expect(requests).toEqual([
      expect.stringMatching(/first$/),
      expect.stringMatching(/second, edited$/),
      expect.stringMatching(/third$/),
      expect.stringMatching(/second, corrected$/),
    ]);
  });

  it("waits in the queue if the conversation's queue mode has changed to that", async () => {
    const world = await openWorld();
    world.configure(config());
    const reached = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    world.script(async (_, index) => {
      reached.resolve();
      await goOn.promise;
      return index === 0 ? { toolCalls: [{ name: "ls", input: {} }] } : { text: `answer ${index}` };
    });
    const plain = plainChannel();
    const started = await world.start({ channels: [plain.definition] });
    const message = plainMessage("m1", "what is seven times six");
    await plain.emit(message);
    await reached.promise;
    // Another process changes the mode. This one receives no notification of the change.
    await inStore(world, async ({ inbox, sessions }) => {
      const [row] = await inbox.list();
      await sessions.patch(row?.route?.sessionKey ?? "", { queueMode: "followup" });
    });
    await plain.emit(plainEdit(message, "what is seven times seven"));
    goOn.resolve();
    await started.settled();
    expect(said(plain)).toEqual(["answer 1", "answer 2"]);
  });

  it("by another person changes nothing", async () => {
    const world = await openWorld();
    world.configure(config());
    world.script(() => ({ text: "fine" }));
    const plain = plainChannel();
    const held = Promise.withResolvers<void>();
    const started = await world.start({
      channels: [plain.definition],
      failpoints: (point) => (point === "begin.before" ? held.promise : undefined),
    });
    const message = plainMessage("m1", "mine");
    await plain.emit(message);
    const second = plainMessage("m2", "and more");
    await plain.emit(second);
    const sender = { id: "mallory", isBot: false, isSelf: false };
    for (const one of [message, second]) await plain.emit(plainEdit(one, "theirs", { sender }));
    held.resolve();
    await started.settled();
    expect(JSON.stringify(modelRequests(world.anthropic))).not.toContain("theirs");
  });

  it("of an unaddressed group message is what the agent sees later", async () => {
    const world = await openWorld();
    world.configure(config());
    world.script(() => ({ text: "fine" }));
    const plain = plainChannel();
    const started = await world.start({ channels: [plain.definition] });
    const aside = plainMessage("m1", "lunch at noon", IN_GROUP);
    await plain.emit(aside);
    await plain.emit(plainMessage("m2", "bring spoons", IN_GROUP));
    await plain.emit(plainEdit(aside, "lunch at one"));
    await plain.emit({ ...plainMessage("m2", "", IN_GROUP), type: "deleted", eventId: "gone" });
    await plain.emit(plainMessage("m3", "when is lunch?", { ...IN_GROUP, addressed: "mention" }));
    await started.settled();
    expect(asked(world)).toContain("lunch at one");
    expect(asked(world)).not.toMatch(/noon|spoons/);
    // The agent has read the message. A further edit does not add it to the prompt again.
    await plain.emit(plainEdit(aside, "lunch at two", { eventId: "again" }));
    await plain.emit(plainMessage("m4", "and dinner?", { ...IN_GROUP, addressed: "mention" }));
    await started.settled();
    expect(asked(world)).not.toContain("lunch at two");
  });
});

describe("an edit that arrives before its direct message", () => {
  const open = async () => {
    const world = await openWorld();
    world.configure(config());
    world.script((_, index) => ({ text: `answer ${index}` }));
    const plain = plainChannel();
    const started = await world.start({ channels: [plain.definition] });
    return { world, plain, started };
  };

  it("is answered, and the message is a duplicate then", async () => {
    const { world, plain, started } = await open();
    const message = plainMessage("m1", "the meeting is at five");
    const { timestamp } = message;
    const edit = plainEdit(message, "the meeting is at six", {
      sentAt: timestamp,
      timestamp: timestamp + 3_000,
    });
    expect(await plain.emit(edit)).toBe("accepted");
    expect(await plain.emit(message)).toBe("duplicate");
    await started.settled();
    expect(said(plain)).toEqual(["answer 0"]);
    expect(asked(world)).toContain("at six");
  });

  it("is not answered if the message is old or the platform changed it", async () => {
    const { plain, started } = await open();
    const message = plainMessage("m1", "the meeting is at five");
    const { timestamp } = message;
    const old = { sentAt: timestamp, timestamp: timestamp + 3_600_000 };
    await plain.emit(plainEdit(message, "the meeting is at six", old));
    await plain.emit(plainEdit(message, "here", { sentAt: timestamp, automatic: true, eventId: "moved" }));
    await started.settled();
    expect(said(plain)).toEqual([]);
  });
});

describe("an edit of a message that was answered", () => {
  it("reaches the next run as a note if only the attachments changed", async () => {
    const world = await openWorld();
    world.configure(config());
    world.script(() => ({ text: "fine" }));
    const plain = plainChannel();
    const started = await world.start({ channels: [plain.definition] });
    const media = [{ kind: "file", mimeType: "text/plain", name: "plan.txt", ref: 1 }] as const;
    const message = { ...plainMessage("m1", "the plan"), media };
    await plain.emit(message);
    await started.settled();
    await plain.emit(
      plainEdit(message, "the plan", { media: [{ ...media[0], name: "plan-2.txt", ref: 2 }] }),
    );
    await plain.emit(plainMessage("m2", "is it good?"));
    await started.settled();
    expect(asked(world)).toContain("plan-2.txt");
  });

  it("reaches the next run as a note with the latest text, and does not taint its author's run", async () => {
    const world = await openWorld();
    world.configure(config());
    world.script(() => ({ text: "noted" }));
    const plain = plainChannel();
    const started = await world.start({ channels: [plain.definition] });
    const message = plainMessage("m1", "the meeting is at five");
    await plain.emit(message);
    await started.settled();
    await plain.emit(plainEdit(message, "the meeting is at seven", { eventId: "e1" }));
    await plain.emit(plainEdit(message, "the meeting is at six", { eventId: "e2" }));
    await started.settled();
    expect(plain.sent).toHaveLength(1);
    await plain.emit(plainMessage("m2", "when is the meeting?"));
    await started.settled();
    expect(asked(world)).toMatch(/edited since[\s\S]*"message_id": "m1"[\s\S]*the meeting is at six/);
    expect(asked(world)).not.toContain("at seven");
    expect(await taintIn(world)).toEqual([]);
    await plain.emit(plainMessage("m3", "thanks"));
    await started.settled();
    expect(modelRequests(world.anthropic).at(-1)?.messages.at(-1)?.text).not.toContain("edited since");
  });

  it("leaves no note if the text returns to the one that the agent has read", async () => {
    const world = await openWorld();
    world.configure(config());
    world.script(() => ({ text: "noted" }));
    const plain = plainChannel();
    const started = await world.start({ channels: [plain.definition] });
    const message = plainMessage("m1", "the meeting is at five");
    await plain.emit(message);
    await started.settled();
    await plain.emit(plainEdit(message, "the meeting is at six", { eventId: "e1" }));
    await plain.emit(plainEdit(message, "the meeting is at five", { eventId: "e2" }));
    await plain.emit(plainMessage("m2", "when is the meeting?"));
    await started.settled();
    expect(asked(world)).not.toContain("edited since");
  });

  it("leaves no note of a message that was deleted", async () => {
    const world = await openWorld();
    world.configure(config());
    world.script(() => ({ text: "noted" }));
    const plain = plainChannel();
    const started = await world.start({ channels: [plain.definition] });
    const message = plainMessage("m1", "the meeting is at five");
    await plain.emit(message);
    await started.settled();
    await plain.emit(plainEdit(message, "forget the meeting", { eventId: "e1" }));
    await plain.emit({ ...message, type: "deleted", eventId: "gone" });
    await plain.emit(plainMessage("m2", "and now?"));
    await started.settled();
    expect(asked(world)).not.toContain("forget the meeting");
  });
});

it("an automatic edit steers no run, and the next run sees the latest text", async () => {
  const world = await openWorld();
  world.configure(config());
  const reached = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  world.script(async (_, index) => {
    if (index === 0) {
      reached.resolve();
      await goOn.promise;
    }
    return { text: `answer ${index}` };
  });
  const plain = plainChannel();
  const started = await world.start({ channels: [plain.definition] });
  const message = plainMessage("m1", "[location: 10, 20]");
  await plain.emit(message);
  await reached.promise;
  for (const tick of [1, 2, 3])
    await plain.emit(
      plainEdit(message, `[location: 10, 2${tick}]`, { eventId: `tick ${tick}`, automatic: true }),
    );
  goOn.resolve();
  await started.settled();
  expect(modelRequests(world.anthropic)).toHaveLength(1);
  await plain.emit(plainMessage("m2", "where am I?"));
  await started.settled();
  expect(asked(world)).toContain("[location: 10, 23]");
  expect(asked(world)).not.toContain("[location: 10, 22]");
});

describe("a mention that is added by an edit", () => {
  const open = async () => {
    const world = await openWorld();
    world.configure(config({ access: { dm: "open", groups: { mode: "open" } } }));
    world.script((_, index) => ({ text: `answer ${index}` }));
    const plain = plainChannel();
    const started = await world.start({ channels: [plain.definition] });
    return { world, plain, started };
  };

  it("is answered once, and later edits are handled as edits", async () => {
    const { world, plain, started } = await open();
    const message = plainMessage("m1", "when is the fair?", IN_GROUP);
    await plain.emit(message);
    await started.settled();
    expect(plain.sent).toEqual([]);
    const mention = { ...IN_GROUP, addressed: "mention" } as const;
    const edit = plainEdit(message, "@bot when is the fair?", mention);
    expect(await plain.emit(edit)).toBe("accepted");
    await started.settled();
    expect(said(plain)).toEqual(["answer 0"]);
    expect(plain.sent[0]?.message.replyTo).toBe("m1");
    expect(asked(world)).not.toContain("not addressed to you");
    expect(await plain.emit(edit)).toBe("duplicate");
    await plain.emit(plainEdit(message, "@bot when is the fair??", { ...mention, eventId: "typo" }));
    await started.settled();
    expect(said(plain)).toEqual(["answer 0"]);
    await plain.emit({ ...message, type: "deleted", eventId: "gone" });
    await plain.emit(plainMessage("m2", "@bot and now?", mention));
    await started.settled();
    expect(asked(world)).not.toContain("fair??");
  });

  it("is answered if the bot receives the message only by the edit, unless it is old", async () => {
    const { plain, started } = await open();
    const mention = { ...IN_GROUP, addressed: "mention", timestamp: 90_000_000 } as const;
    const old = plainMessage("old", "an old one", IN_GROUP);
    await plain.emit(plainEdit(old, "@bot an old one", { ...mention, sentAt: 0 }));
    const unseen = plainMessage("unseen", "a new one", IN_GROUP);
    const edit = plainEdit(unseen, "@bot a new one", { ...mention, sentAt: 80_000_000 });
    await plain.emit(edit);
    await started.settled();
    await plain.emit(
      plainEdit(unseen, "@bot a new one!", { ...mention, sentAt: 80_000_000, eventId: "again" }),
    );
    await started.settled();
    expect(said(plain)).toEqual(["answer 0"]);
  });
});
