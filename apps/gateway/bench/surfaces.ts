import { request as httpRequest } from "node:http";
import { type FakeFeishu, push, textMessage } from "@signalbox/testkit/feishu";
import type { GatewayProcess } from "./gateway-process.ts";
import { now } from "./report.ts";

/** When a message was handed over and when its reply was seen, in milliseconds since the epoch. */
export interface Exchange {
  readonly sentAt: number;
  readonly repliedAt: number;
}

/** A way in: sends one message of `peer` and waits for its reply. */
export interface Surface {
  readonly name: string;
  exchange(peer: string, id: string): Promise<Exchange>;
}

/** Who waits for the reply to which message. One look at the fake server's requests serves all of them. */
export class FeishuSurface implements Surface {
  readonly name = "Feishu webhook";
  readonly #gateway: Pick<GatewayProcess, "url">;
  readonly #fakeServer: FakeFeishu;
  readonly #token: string;
  readonly #waiting = new Map<string, (at: number) => void>();
  #looked = 0;
  #looking = false;

  constructor(gateway: Pick<GatewayProcess, "url">, fakeServer: FakeFeishu, token: string) {
    this.#gateway = gateway;
    this.#fakeServer = fakeServer;
    this.#token = token;
    this.#looked = fakeServer.requests.length;
  }

  async exchange(peer: string, id: string): Promise<Exchange> {
    const { sentAt, answered } = this.post(peer, id);
    const replied = this.reply(id);
    const status = await answered;
    if (status !== 200) throw new Error(`the event was answered ${status}`);
    return { sentAt, repliedAt: await replied };
  }

  /** Delivers an event without waiting for anything. */
  post(peer: string, id: string): { readonly sentAt: number; readonly answered: Promise<number> } {
    const chatId = `oc_${peer}`;
    const senderId = `ou_${peer}`;
    const messageId = `om_${id}`;
    const event = textMessage("hello there", { eventId: `ev_${id}`, messageId, senderId, chatId });
    this.#fakeServer.plant({ messageId, chatId, msgType: "text", content: "{}", senderId });
    const { headers, body } = push(event, { token: this.#token });
    return postTo(`${this.#gateway.url}/channels/feishu/main/events`, headers, body);
  }

  reply(id: string): Promise<number> {
    return new Promise((resolve) => {
      this.#waiting.set(`om_${id}`, resolve);
      if (this.#looking) return;
      this.#looking = true;
      setImmediate(() => this.#look());
    });
  }

  #look(): void {
    const { requests } = this.#fakeServer;
    for (; this.#looked < requests.length; this.#looked++) {
      const request = requests[this.#looked];
      const messageId = /\/messages\/([^/]+)\/reply/.exec(request?.path ?? "")?.[1];
      if (request === undefined || messageId === undefined) continue;
      this.#waiting.get(messageId)?.(request.at);
      this.#waiting.delete(messageId);
    }
    this.#looking = this.#waiting.size > 0;
    if (this.#looking) setTimeout(() => this.#look(), this.#waiting.size > 1 ? 1 : 0);
  }
}

/** One message a call; `user` names the peer, whose conversation the gateway keeps. */
export class CompletionsSurface implements Surface {
  readonly name = "/v1/chat/completions";
  readonly #gateway: GatewayProcess;

  constructor(gateway: GatewayProcess) {
    this.#gateway = gateway;
  }

  async exchange(peer: string, _id: string): Promise<Exchange> {
    const body = JSON.stringify({
      model: "signalbox/main",
      user: peer,
      messages: [{ role: "user", content: "hello there" }],
    });
    const headers = { "content-type": "application/json", authorization: `Bearer ${this.#gateway.token}` };
    const { sentAt, answered } = postTo(`${this.#gateway.url}/v1/chat/completions`, headers, body);
    const status = await answered;
    if (status !== 200) throw new Error(`the call was answered ${status}`);
    return { sentAt, repliedAt: now() };
  }
}

/** The leanest client there is, so that what it costs is not taken for the gateway's. */
function postTo(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): { readonly sentAt: number; readonly answered: Promise<number> } {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const sentAt = now();
  const request = httpRequest(url, {
    method: "POST",
    headers: { ...headers, "content-length": Buffer.byteLength(body) },
  });
  request.on("error", reject);
  request.on("response", (response) => {
    response.resume();
    response.on("end", () => resolve(response.statusCode ?? 0));
    response.on("error", reject);
  });
  request.end(body);
  return { sentAt, answered: promise };
}
