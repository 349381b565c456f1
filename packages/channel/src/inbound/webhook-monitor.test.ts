import { describe, expect, it } from "vitest";
import { createWebhook, createWebhookMonitor, systemClock } from "../index.ts";

const remedy = "Compare signingSecret with the platform's.";

function open() {
  const logged: string[] = [];
  const log = (level: string) => (message: string) => void logged.push(`${level} ${message}`);
  const logger = { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
  const monitor = createWebhookMonitor("Mine", { clock: { ...systemClock, now: () => 0 }, logger });
  const webhook = createWebhook<object>({
    maxBytes: 100,
    logger,
    monitor,
    verify(body) {
      const text = new TextDecoder().decode(body);
      if (text === "event") return { kind: "event", event: {} };
      if (text === "challenge") return { kind: "answer", body: {} };
      const forged = { kind: "forged", reason: "the signature is wrong" } as const;
      return text === "signed" ? { ...forged, remedy } : forged;
    },
    challenge: ({ search }) =>
      search === "?right" ? "text" : { kind: "forged", reason: "another verify token", remedy },
    handle: async () => "accepted",
  });
  const post = (body: string) => webhook(new Request("http://gateway/e", { method: "POST", body }));
  const get = (query: string) => webhook(new Request(`http://gateway/e?${query}`));
  return { monitor, post, get, logged };
}

describe("a webhook monitor", () => {
  it("reports that no event was received yet", async () => {
    const { monitor, post } = open();
    await post("challenge");
    expect(monitor.health()).toBeUndefined();
    expect(monitor.check()).toMatchObject({
      ok: true,
      detail: expect.stringContaining("no event was received"),
    });
  });

  it("makes an account degraded after a refused request, with the setting to compare, until an event is verified", async () => {
    const { monitor, post } = open();
    expect((await post("signed")).status).toBe(401);
    expect(monitor.health()).toEqual({
      state: "degraded",
      reason: `Mine's requests are refused, and none was accepted since the start: the signature is wrong. ${remedy}`,
    });
    expect(monitor.check()).toMatchObject({ ok: false, remedy });
    await post("challenge");
    expect(monitor.health()).toBeDefined();
    await post("event");
    expect(monitor.health()).toBeUndefined();
    expect(monitor.check()).toMatchObject({
      ok: true,
      detail: expect.stringContaining("1970-01-01T00:00:00"),
    });
  });

  it("ignores forged requests once an event was verified, and requests without the platform's form", async () => {
    const { monitor, post } = open();
    await post("anything");
    expect(monitor.health()).toBeUndefined();
    await post("event");
    await post("signed");
    expect(monitor.health()).toBeUndefined();
  });

  it("logs one warning for any number of forged requests", async () => {
    const { post, logged } = open();
    for (let count = 0; count < 5; count += 1) await post("signed");
    expect(logged.filter((line) => !line.startsWith("debug"))).toEqual(["warn refused a webhook request"]);
  });

  it("forgets a refused challenge once the platform repeats it with the right token", async () => {
    const { monitor, get } = open();
    expect((await get("wrong")).status).toBe(403);
    expect(monitor.health()).toMatchObject({
      state: "degraded",
      reason: expect.stringContaining("verify token"),
    });
    expect((await get("right")).status).toBe(200);
    expect(monitor.health()).toBeUndefined();
  });
});
