import { describe, expect, it } from "vitest";
import { chatPage, missing } from "./chat-page.ts";
import { LINK_SECRET, TOKEN } from "./stub-gateway.ts";

describe.skipIf(missing !== undefined)("signing in, in Chromium", () => {
  const chat = chatPage({ isSignedOut: true });

  it("signs in with the token and does not store it", async () => {
    await chat.page.goto(chat.gateway.url);
    await chat.page.getByLabel("Gateway token").fill("a guess");
    await chat.page.getByRole("button", { name: "Sign in" }).click();
    const alert = chat.page.getByRole("alert");
    expect(await alert.textContent()).toBe("This token is wrong or has been revoked.");
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
    await chat.signOut();
    await chat.page.getByLabel("Gateway token").waitFor();
    expect(await kept()).toEqual([]);
    await chat.page.reload();
    await chat.page.getByLabel("Gateway token").waitFor();
  });

  it("signs in with a one-time link and removes it from the URL and the history", async () => {
    const link = `${chat.gateway.url}/#sign-in=${LINK_SECRET}`;
    await chat.page.goto(link);
    await chat.message().waitFor();
    expect(chat.page.url()).not.toContain(LINK_SECRET);
    expect(chat.requested.join("\n")).not.toContain(LINK_SECRET);
    await chat.page.goBack();
    expect(chat.page.url()).not.toContain(LINK_SECRET);

    await chat.page.goto(chat.gateway.url);
    await chat.signOut();
    await chat.page.getByLabel("Gateway token").waitFor();
    // In the same tab, the link changes only the fragment, so the page is not reloaded.
    await chat.page.goto(link);
    await chat.page.getByText("This link has been used or has expired.").waitFor();
    expect(chat.page.url()).not.toContain(LINK_SECRET);
  });

  it.each([
    ["en", "The disk of the gateway is full", "Free some space"],
    ["zh", "网关的磁盘已满", "释放一些空间"],
  ])("says that the disk is full, and what to do, in the language %s", async (language, problem, remedy) => {
    const { page, gateway } = chat;
    await page.context().addCookies([{ name: "language", value: language, url: gateway.url }]);
    const error = { code: "disk_full", message: "It is full.", remedy: "Free it." };
    await page.route("**/api/login", (route) => route.fulfill({ status: 503, json: { error } }));
    await page.goto(gateway.url);
    await page.locator("#token").fill(TOKEN);
    await page.locator("#token").press("Enter");
    await page.getByRole("alert").getByText(problem).waitFor();
    await page.getByRole("alert").getByText(remedy).waitFor();
    await page.goto("about:blank");
    await page.goto(`${gateway.url}/#sign-in=${LINK_SECRET}`);
    const notice = page.getByRole("status").filter({ hasText: problem });
    await notice.getByText(remedy).waitFor();
    await page.unroute("**/api/login");
  });

  it("signs in at the company's provider and returns to the page", async () => {
    chat.gateway.methods = { token: true, proxy: false, oidc: { label: "Example Inc." } };
    // The provider sends the browser back with the secret of a link, and the query names the page.
    chat.gateway.providerUrl = `${chat.gateway.url}/?page=%2Factivity#sign-in=${LINK_SECRET}`;
    await chat.page.goto(`${chat.gateway.url}/#/activity`);
    await chat.page.getByRole("button", { name: "Sign in with Example Inc." }).click();
    await chat.page.waitForURL(`${chat.gateway.url}/#/activity`);
    await chat.page.locator("main[data-ready]").waitFor({ state: "attached" });
    expect(chat.requested.join("\n")).not.toContain(LINK_SECRET);
  });

  it("offers no token if the gateway accepts none, and explains why a sign-in failed", async () => {
    chat.gateway.methods = { token: false, proxy: false, oidc: { label: "Example Inc." } };
    await chat.page.goto(`${chat.gateway.url}/#sign-in-error=no_role`);
    await chat.page.getByRole("button", { name: "Sign in with Example Inc." }).waitFor();
    expect(await chat.page.getByLabel("Gateway token").count()).toBe(0);
    await chat.page.getByText("None of your groups may use this gateway.").waitFor();
    expect(chat.page.url()).not.toContain("sign-in-error");
    await chat.page.goto(`${chat.gateway.url}/#sign-in-error=<b>call 555</b>`);
    await chat.page.getByText("The sign-in failed.").waitFor();
    expect(await chat.page.locator("body").textContent()).not.toContain("555");
  });

  it("connects only to the host that served it", async () => {
    await chat.signIn(
      "/?gatewayUrl=ws://127.0.0.1:9/ws&url=http://127.0.0.1:9&token=abc#/?url=http://127.0.0.1:9&token=abc",
    );
    await chat.send("hi");
    await chat.received("send");
    expect(chat.requested.filter((url) => url.startsWith("ws"))).toEqual([
      `${chat.gateway.url.replace("http", "ws")}/ws`,
    ]);
    expect(await chat.page.evaluate(() => document.documentElement.outerHTML)).not.toContain("abc");
  });

  it("shows the sign-in form when the session ends", async () => {
    await chat.signIn();
    chat.gateway.endSessions();
    await chat.page.getByText("Your session has ended.").waitFor();
    await chat.page.getByLabel("Gateway token").waitFor();
  });
});
