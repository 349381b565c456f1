import { describe, expect, it } from "vitest";
import { chatPage, missing } from "./chat-page.ts";
import { LINK_SECRET, TOKEN } from "./stub-gateway.ts";

describe.skipIf(missing !== undefined)("signing in, in Chromium", () => {
  const chat = chatPage();

  it("signs in with the token, and keeps it nowhere that a script can read", async () => {
    await chat.page.goto(chat.gateway.url);
    await chat.page.getByLabel("Gateway token").fill("a guess");
    await chat.page.getByRole("button", { name: "Sign in" }).click();
    const alert = chat.page.getByRole("alert");
    expect(await alert.textContent()).toBe("This token is not valid here, or it has been revoked.");
    await chat.shot("sign-in-wrong");

    await chat.page.getByLabel("Gateway token").fill(TOKEN);
    await chat.page.getByLabel("Gateway token").press("Enter");
    await chat.message().waitFor();
    await chat.shot("welcome");
    const readable = await chat.page.evaluate(() =>
      [
        document.cookie,
        location.href,
        JSON.stringify({ ...localStorage, ...sessionStorage }),
        document.documentElement.outerHTML,
        ...[...document.querySelectorAll("input")].map(({ value }) => value),
      ].join("\n"),
    );
    expect(readable).not.toContain(TOKEN);
    expect(chat.requested.join("\n")).not.toContain(TOKEN);
    const kept = () => chat.page.evaluate(() => Object.keys({ ...localStorage, ...sessionStorage }));
    expect(await kept()).toEqual(["signalbox.session-key"]);

    await chat.page.reload();
    await chat.message().waitFor();
    await chat.page.getByRole("button", { name: "Sign out" }).click();
    await chat.page.getByLabel("Gateway token").waitFor();
    expect(await kept()).toEqual([]);
    await chat.page.reload();
    await chat.page.getByLabel("Gateway token").waitFor();
  });

  it("signs in by a link, which leaves the address and the history and is good for one time", async () => {
    const link = `${chat.gateway.url}/#sign-in=${LINK_SECRET}`;
    await chat.page.goto(link);
    await chat.message().waitFor();
    expect(chat.page.url()).not.toContain(LINK_SECRET);
    expect(chat.requested.join("\n")).not.toContain(LINK_SECRET);
    await chat.page.goBack();
    expect(chat.page.url()).not.toContain(LINK_SECRET);

    await chat.page.goto(chat.gateway.url);
    await chat.page.getByRole("button", { name: "Sign out" }).click();
    await chat.page.getByLabel("Gateway token").waitFor();
    // Opened in the same tab, it changes the fragment alone: the page is not loaded again.
    await chat.page.goto(link);
    await chat.page.getByText("This link has been used or has expired.").waitFor();
    expect(chat.page.url()).not.toContain(LINK_SECRET);
  });

  it("connects to where it came from, whatever the address asks for", async () => {
    await chat.signIn("/?gatewayUrl=ws://127.0.0.1:9/ws&url=http://127.0.0.1:9&token=abc#token=abc");
    await chat.send("hi");
    await chat.received("send");
    expect(chat.requested.filter((url) => url.startsWith("ws"))).toEqual([
      `${chat.gateway.url.replace("http", "ws")}/ws`,
    ]);
    expect(await chat.page.evaluate(() => document.documentElement.outerHTML)).not.toContain("abc");
  });

  it("asks to sign in again when the session ends", async () => {
    await chat.signIn();
    chat.gateway.endSessions();
    await chat.page.getByText("Your session has ended.").waitFor();
    await chat.page.getByLabel("Gateway token").waitFor();
  });
});
