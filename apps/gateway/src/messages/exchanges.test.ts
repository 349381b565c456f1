import { plainMessage } from "@signalbox/channel/testkit";
import { createWebHub } from "@signalbox/channel-web";
import { openStore } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import { fakeContext } from "../../test/support/fake-context.ts";
import { createExchanges } from "./exchanges.ts";
import type { PlacedMessage, ServiceBodies } from "./service-store.ts";

const { definition } = createWebHub({ fetchUrl: () => Promise.reject(new Error("nothing is fetched")) });

function askedOn(channel: string): PlacedMessage {
  const event = plainMessage({ channel, messageId: "m-1", text: "/why\nand more", timestamp: 5 });
  return { sessionKey: "s", agentId: "main", stored: { event } };
}

it("keeps what was said for those who look back, once and without secrets, until it is removed", async () => {
  const store = await openStore<ServiceBodies>({ path: ":memory:" });
  onTestFinished(store.close);
  const exchanges = createExchanges(
    fakeContext({
      store,
      getCapabilities: (channel: string) => (channel === "web" ? definition.capabilities : undefined),
      redact: (text: string) => text.replaceAll("hunter2", "…"),
      now: () => 7,
    }),
  );
  const error = { code: "internal", message: "hunter2 was refused" };
  const said = { id: "r-1", text: "Something went wrong.", outcome: "failed", error } as const;
  await exchanges.keep("s", [askedOn("web")], said);
  await exchanges.keep("s", [askedOn("web")], said);
  await exchanges.keep("s", [askedOn("elsewhere")], { ...said, id: "r-2" });
  const [kept, ...others] = await exchanges.list("s");
  expect(others).toEqual([]);
  expect(kept?.messages).toMatchObject([
    { id: "m-1", role: "user", text: "/why\nand more", at: 5, runId: "r-1" },
    { role: "assistant", text: "Something went wrong.", at: 7, runId: "r-1" },
  ]);
  expect(kept?.end).toMatchObject({ outcome: "failed", error: { message: "… was refused" } });
  expect(await store.sessions.get("s")).toMatchObject({ agentId: "main", peer: "anna", title: "/why" });
  await exchanges.remove("s");
  expect(await exchanges.list("s")).toEqual([]);
});
